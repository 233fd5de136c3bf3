//! `host.sql`: what a capability writes happens once, parameters are values, and a capability that
//! may only read changes nothing.

use futures::future::join_all;
use level3::domain::{Effect, OperationKind};
use level3::store::{AgentLogin, AgentSql, Earlier, RowLimits, SqlEnd, StoreError};
use serde_json::{Value, json};

use crate::operations::Held;

impl Held {
    /// Runs a statement for a capability.
    async fn sql(
        &self,
        ordinal: i32,
        text: &str,
        params: Value,
        login: AgentLogin,
    ) -> Result<Result<String, String>, StoreError> {
        let request = json!({ "text": text, "params": params });
        let operation = self.operation(ordinal, OperationKind::Sql, &request);
        self.store.run_operation_sql(&self.lease, operation, text, params.as_array().unwrap(), login, self.app.now()).await
    }

    async fn write(&self, ordinal: i32, text: &str, params: Value) -> Result<String, String> {
        self.sql(ordinal, text, params, AgentLogin::Tables).await.unwrap()
    }

    async fn read(&self, text: &str, params: Value) -> Result<String, String> {
        self.sql(99, text, params, AgentLogin::Reader).await.unwrap()
    }

    /// Sleeps in a statement, and in another one once the time of that is over.
    async fn sleep_for_ever(&self) {
        loop {
            let _ = self.read("SELECT pg_sleep(600)", json!([])).await;
        }
    }
}

fn statement<'a>(statement: &'a [&'a str], params: &'a [Value], login: AgentLogin) -> AgentSql<'a> {
    AgentSql { statements: statement, params, limits: RowLimits::default(), login, promised: false, shown: &[] }
}

fn error_json(answer: Result<String, String>) -> Value {
    let text = answer.expect_err("an error");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[tokio::test]
async fn a_statement_of_a_capability_happens_once_and_its_answer_is_kept() {
    let held = Held::start().await;
    assert_eq!(held.write(1, "CREATE TABLE notes (n int, words text)", json!([])).await.unwrap(), r#"{"done":"CREATE"}"#);
    let insert = "INSERT INTO notes VALUES ($1, $2)";
    assert_eq!(held.write(2, insert, json!([1, "one"])).await.unwrap(), r#"{"row_count":1}"#);

    let request = json!({ "text": insert, "params": [1, "one"] });
    let earlier = held.store.earlier_operation(&held.operation(2, OperationKind::Sql, &request)).await.unwrap();
    assert_eq!(earlier, Earlier::Done(Ok(r#"{"row_count":1}"#.into())));
    let twice = held.sql(2, insert, json!([1, "one"]), AgentLogin::Tables).await;
    assert!(matches!(twice, Err(StoreError::LostLease)), "{twice:?}");
    assert_eq!(held.read("SELECT count(*) FROM notes", json!([])).await.unwrap(), r#"[{"count":1}]"#);

    let request = json!({ "text": insert, "params": [1, "one"] });
    let operation = held.operation(2, OperationKind::Sql, &request);
    let failing = held.store.run_operation_sql(&held.lease, operation, "SELEC", &[], AgentLogin::Tables, held.app.now()).await;
    assert_eq!(failing.unwrap().unwrap(), r#"{"row_count":1}"#, "what was recorded is what happened");

    let wrong = "INSERT INTO notes VALUES ($1, 'two')";
    assert_eq!(error_json(held.write(3, wrong, json!(["two"])).await)["code"], "22P02");
    let request = json!({ "text": wrong, "params": ["two"] });
    let earlier = held.store.earlier_operation(&held.operation(3, OperationKind::Sql, &request)).await.unwrap();
    assert!(matches!(earlier, Earlier::Done(Err(_))), "{earlier:?}");

    held.lose_lease().await;
    let lost = held.sql(4, insert, json!([4, "four"]), AgentLogin::Tables).await;
    assert!(matches!(lost, Err(StoreError::LostLease)), "{lost:?}");
    assert_eq!(held.app.count("SELECT count(*) FROM agent.notes").await, 1, "without the lease nothing is written");
    held.end().await;
}

#[tokio::test]
async fn parameters_are_values_and_take_the_type_of_their_place() {
    let held = Held::start().await;
    held.write(1, "CREATE TABLE t (n int, p numeric, b bool, s text, j jsonb, at timestamptz, many int[])", json!([]))
        .await
        .unwrap();
    let evil = r"'); DROP TABLE t; -- \' $1 E'";
    let row = json!([7.0, 1.5, true, evil, {"a": [1, "it's"]}, "2026-11-20T08:00:00Z", [1, null, 3]]);
    held.write(2, "INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7)", row).await.unwrap();
    let rows = held.read("SELECT * FROM t WHERE s = $1 AND n = ANY($2)", json!([evil, [7, 8]])).await.unwrap();
    let rows: Value = serde_json::from_str(&rows).unwrap();
    assert_eq!(
        rows,
        json!([{"n": 7, "p": 1.5, "b": true, "s": evil, "j": {"a": [1, "it's"]}, "at": "2026-11-20T08:00:00+00:00", "many": [1, null, 3]}])
    );
    // A setting decides what a backslash means in a plain literal; a parameter is beyond its reach.
    let set = "SELECT set_config('standard_conforming_strings', 'off', false), $1::text AS s";
    assert!(held.read(set, json!([evil])).await.unwrap().contains("DROP TABLE"));
    assert_eq!(held.read("SELECT $1::text IS NULL AS nothing", json!([null])).await.unwrap(), r#"[{"nothing":true}]"#);

    for (text, params, said) in [
        ("SELECT $1::int", json!([]), "parameter"),
        ("SELECT $1::int", json!([1, 2]), "1 parameters ($1, $2, …), and 2 were given"),
        ("SELECT 1", json!([1]), "0 parameters"),
        ("SELECT $1::int; SELECT 2", json!([1]), "takes one statement in a call"),
        ("CREATE TABLE u AS SELECT 1 AS n", json!([1]), "0 parameters"),
        ("DROP TABLE $1", json!(["t"]), "syntax error"),
        ("SELECT '\0'", json!([]), "zero characters"),
        ("SELECT $1::text", json!(["\0"]), "zero characters"),
        ("  ", json!([]), "empty"),
    ] {
        let error = held.read(text, params).await.expect_err(text);
        assert!(error.contains(said), "{text}: {error}");
    }
    let wrong = error_json(held.read("SELECT 1 + $1::int AS n", json!(["seven"])).await);
    assert_eq!((&wrong["code"], wrong.get("position")), (&json!("22P02"), None));
    held.end().await;
}

#[tokio::test]
async fn the_agents_own_call_takes_parameters_too() {
    let held = Held::start().await;
    let params = [json!("it's"), json!([1, 2])];
    let text = "SELECT $1::text AS a, cardinality($2::int[]) AS b";
    let outcome = held
        .store
        .run_agent_sql(&held.lease, &held.permit, "mine", statement(&[text], &params, AgentLogin::Tables), held.app.now())
        .await
        .unwrap()
        .outcome()
        .unwrap();
    assert_eq!(outcome.result, r#"[{"a":"it's","b":2}]"#);
    assert_eq!(held.app.count("SELECT count(*) FROM audit_entries WHERE verdict = 'allow'").await, 1);
    // The call is over. If it is run again, which nobody does, it keeps its outcome.
    let again = held
        .store
        .run_agent_sql(&held.lease, &held.permit, "mine", statement(&["SELECT 1"], &[], AgentLogin::Tables), held.app.now())
        .await;
    assert!(matches!(again, Err(StoreError::LostLease)), "{again:?}");
    let failing = held
        .store
        .run_agent_sql(&held.lease, &held.permit, "mine", statement(&["SELEC"], &[], AgentLogin::Tables), held.app.now())
        .await
        .unwrap();
    assert_eq!(
        failing,
        SqlEnd::Outcome(outcome),
        "as when time was up in the moment of the commit: what was recorded is what happened"
    );
    held.end().await;
}

#[tokio::test]
async fn what_was_judged_as_reading_changes_nothing_whatever_its_functions_would() {
    let held = Held::start().await;
    for (ordinal, text) in (1..).zip([
        "CREATE TABLE log (n int)",
        "CREATE FUNCTION harmless() RETURNS int LANGUAGE sql AS 'INSERT INTO log VALUES (1) RETURNING n'",
        "CREATE FUNCTION tricky() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
             BEGIN PERFORM set_config('transaction_read_only', 'off', false); EXCEPTION WHEN OTHERS THEN NULL; END;
             INSERT INTO log VALUES (2); RETURN 2; END $$",
    ]) {
        held.sql(ordinal, text, json!([]), AgentLogin::Full).await.unwrap().unwrap();
    }
    for text in ["SELECT harmless()", "SELECT tricky()"] {
        // It takes several calls to record each as an operation, so the read fails before its
        // outcome.
        let told = held.read(text, json!([])).await.expect_err(text);
        assert!(told.contains("25006"), "{told}");
    }
    let read = statement(&["SELECT tricky()"], &[], AgentLogin::Reader);
    let asked = held.store.run_agent_sql(&held.lease, &held.permit, "mine", read, held.app.now()).await.unwrap();
    let SqlEnd::Asks(finding) = asked else { panic!("{asked:?}") };
    assert_eq!(finding.effects, [Effect::Write].into(), "the law hears of it");
    assert_eq!(held.app.count("SELECT count(*) FROM agent.log").await, 0);
    assert_eq!(held.app.count("SELECT count(*) FROM audit_entries").await, 0, "and the call has no outcome yet");
    held.end().await;
}

#[tokio::test]
async fn who_may_only_read_changes_nothing_by_no_trick() {
    let held = Held::start().await;
    for (ordinal, text) in (1..).zip([
        "CREATE TABLE t (n int)",
        "INSERT INTO t VALUES (1)",
        "CREATE SEQUENCE s",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'INSERT INTO agent.t VALUES (2) RETURNING n'",
        "CREATE FUNCTION d() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO agent.t VALUES (3) RETURNING n'",
        "CREATE FUNCTION w() RETURNS int LANGUAGE plpgsql AS 'BEGIN SET transaction_read_only = off; INSERT INTO agent.t VALUES (4); RETURN 1; END'",
        "CREATE FUNCTION x() RETURNS int LANGUAGE plpgsql SET transaction_read_only = off AS 'BEGIN INSERT INTO agent.t VALUES (5); RETURN 1; END'",
        "CREATE PROCEDURE leave() LANGUAGE plpgsql AS 'BEGIN ROLLBACK; INSERT INTO agent.t VALUES (6); COMMIT; END'",
    ]) {
        held.sql(ordinal, text, json!([]), AgentLogin::Full).await.unwrap().unwrap();
    }
    let recorded = held.app.count("SELECT count(*) FROM operations").await;
    let sequence = "SELECT last_value + is_called::int FROM agent.s";
    let before = held.app.count(sequence).await;
    for (text, code) in [
        ("INSERT INTO t VALUES (9)", "25006"),
        ("WITH w AS (INSERT INTO t VALUES (9) RETURNING n) SELECT * FROM w", "25006"),
        ("SELECT n INTO u FROM t", "25006"),
        ("CREATE TABLE u (n int)", "25006"),
        ("SELECT f()", "25006"),
        ("SELECT d()", "25006"),
        ("SELECT w()", "25001"),
        ("SELECT x()", "25001"),
        ("SELECT nextval('s')", "42501"),
        ("SELECT setval('s', 100)", "42501"),
        ("SELECT n FROM t FOR UPDATE", "25006"),
        ("SELECT set_config('transaction_read_only', 'off', true), f()", "25001"),
        ("SET TRANSACTION READ WRITE", "25001"),
        ("SET transaction_read_only = off", "25001"),
        ("EXPLAIN ANALYZE INSERT INTO t VALUES (9)", "25006"),
        ("DO $$ BEGIN INSERT INTO agent.t VALUES (9); END $$", "25006"),
        ("DO $$ BEGIN SET TRANSACTION READ WRITE; INSERT INTO agent.t VALUES (9); END $$", "25001"),
        ("CALL leave()", "2D000"),
        ("COMMIT", ""),
        ("SELECT 1; COMMIT; INSERT INTO t VALUES (9)", "42601"),
        ("ALTER ROLE CURRENT_USER SET search_path = nowhere", "25006"),
    ] {
        let error = error_json(held.read(text, json!([])).await);
        assert_eq!(error["code"].as_str().unwrap_or_default(), code, "{text}: {error}");
    }
    // A setting for later transactions of the session does not reach any.
    held.read("SELECT set_config('default_transaction_read_only', 'off', false)", json!([])).await.unwrap();
    assert_eq!(error_json(held.read("SELECT f()", json!([])).await)["code"], "25006");
    assert_eq!(held.read("SELECT * FROM t", json!([])).await.unwrap(), r#"[{"n":1}]"#);
    assert_eq!(held.app.count(sequence).await, before);
    assert_eq!(held.app.count("SELECT count(*) FROM operations").await, recorded, "reading leaves no mark");
    held.end().await;
}

#[tokio::test]
async fn a_capability_gets_the_whole_result_or_none() {
    let held = Held::start().await;
    let rows = held.read("SELECT n FROM generate_series(1, 10000) n", json!([])).await.unwrap();
    assert_eq!(serde_json::from_str::<Vec<Value>>(&rows).unwrap().len(), 10_000);
    let long = held.read("SELECT repeat('x', 1000000) AS long", json!([])).await.unwrap();
    assert!(long.len() > 1_000_000 && !long.contains('…'), "{}", long.len());
    for text in [
        "SELECT n FROM generate_series(1, 10001) n",
        "SELECT repeat('x', 1100000) AS long",
        "SELECT repeat('x', 600000) AS long FROM generate_series(1, 2)",
        "SELECT array_agg(repeat('x', 1000)) AS long FROM generate_series(1, 1200)",
    ] {
        let error = error_json(held.read(text, json!([])).await);
        assert_eq!(error["error"], "too_much", "{text}");
        assert!(error["message"].as_str().unwrap().contains("LIMIT and OFFSET"), "{error}");
    }
    held.write(1, "CREATE TABLE t (n int)", json!([])).await.unwrap();
    let many = held.write(2, "INSERT INTO t SELECT generate_series(1, 10001) RETURNING n", json!([])).await;
    assert_eq!(error_json(many)["error"], "too_much");
    assert_eq!(held.app.count("SELECT count(*) FROM agent.t").await, 0, "what was not answered was not done");
    held.end().await;
}

#[tokio::test]
async fn a_statement_that_finds_no_free_connection_says_so() {
    let held = Held::start().await;
    let sleepers = join_all((0..4).map(|_| held.sleep_for_ever()));
    let fifth = async {
        let busy = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%' AND state = 'active'
             AND datname = current_database()";
        held.app.until(busy, 4).await;
        // It may get the connection of a sleeper whose time is over just then.
        loop {
            let answer = held.read("SELECT 1", json!([])).await;
            if answer.is_err() {
                return error_json(answer);
            }
        }
    };
    let told = tokio::select! {
        _ = sleepers => unreachable!("they begin again and again"),
        told = fifth => told,
    };
    assert_eq!(told["error"], "busy", "{told}");
    held.end().await;
}
