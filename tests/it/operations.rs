//! What a capability's call does in the database: the ledger, `host.sql`, `host.kv`. Nothing happens twice, and reading changes nothing.

use chrono::TimeDelta;
use level3::domain::{CallRequest, EffectClass, Event, OperationState, Power, SqlAccess, ToolCallId};
use level3::store::{CallEnd, Database, Earlier, KvOp, Lease, NewOperation, NewStep, RowLimits, Store, StoreError};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::Executor;

use crate::support::{TestApp, cluster};

/// A turn in hand with one call without an outcome, on a store of its own; the server behind is stopped.
struct Held {
    app: TestApp,
    store: Store,
    lease: Lease,
    call: ToolCallId,
}

impl Held {
    async fn start() -> Self {
        let mut app = TestApp::start().await;
        app.stop().await;
        let store = Database::inside(cluster(), app.database()).prepare(&level3::clock::SystemRandom).await.unwrap();
        let now = app.now();
        let main = store.main_conversation(now).await.unwrap();
        store.accept_message(main, None, "work", now).await.unwrap();
        let lease = store.claim("one", now, TimeDelta::seconds(60)).await.unwrap().expect("a turn");
        let calls = [CallRequest { id: "a".into(), name: "mine".into(), arguments: "{}".into() }];
        let step =
            NewStep { number: 1, model: "m", finish_reason: "tool_calls", usage: None, content: "", calls: &calls, last: false };
        let call = store.store_step(&lease, step, now).await.unwrap()[0].call;
        Self { app, store, lease, call }
    }

    fn operation<'a>(&self, ordinal: i32, power: Power, request: &'a Value) -> NewOperation<'a> {
        let class = EffectClass::Transactional;
        let request_sha256 = Sha256::digest(request.to_string()).into();
        NewOperation { call: self.call, ordinal, power, class, request, request_sha256 }
    }

    /// Runs a statement for a capability.
    async fn sql(
        &self,
        ordinal: i32,
        text: &str,
        params: Value,
        access: SqlAccess,
    ) -> Result<Result<String, String>, StoreError> {
        let request = json!({ "text": text, "params": params });
        let operation = self.operation(ordinal, Power::Sql, &request);
        self.store.run_operation_sql(&self.lease, operation, text, params.as_array().unwrap(), access, self.app.now()).await
    }

    async fn write(&self, ordinal: i32, text: &str, params: Value) -> Result<String, String> {
        self.sql(ordinal, text, params, SqlAccess::Write).await.unwrap()
    }

    async fn read(&self, text: &str, params: Value) -> Result<String, String> {
        self.sql(99, text, params, SqlAccess::Read).await.unwrap()
    }

    async fn kv(&self, ordinal: i32, capability: &str, request: KvOp) -> Result<Result<String, String>, StoreError> {
        let shown = json!(format!("{request:?}"));
        self.store.run_kv(&self.lease, self.operation(ordinal, Power::Kv, &shown), capability, request, self.app.now()).await
    }

    /// Lets another take the turn.
    async fn lose_lease(&self) {
        let later = self.app.now() + TimeDelta::seconds(61);
        self.store.claim("two", later, TimeDelta::seconds(60)).await.unwrap().expect("the lease ran out");
    }

    async fn end(self) {
        self.store.close().await;
    }
}

fn told(answer: Result<String, String>) -> Value {
    let text = answer.expect_err("an error");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[tokio::test]
async fn the_ledger_knows_what_was_begun_and_what_came_of_it() {
    let held = Held::start().await;
    let (store, lease, now) = (&held.store, &held.lease, held.app.now());
    let (request, other) = (json!({"url": "https://a.example/\0"}), json!({"url": "https://b.example/"}));
    let one = held.operation(1, Power::Http, &request);
    assert_eq!(store.earlier_operation(&one).await.unwrap(), Earlier::New);

    let mut events = store.signals().events();
    store.intend_operation(lease, &one, now).await.unwrap();
    assert_eq!(store.earlier_operation(&one).await.unwrap(), Earlier::Intended);
    assert_eq!(store.earlier_operation(&held.operation(1, Power::Http, &other)).await.unwrap(), Earlier::Different);
    assert_eq!(store.earlier_operation(&held.operation(1, Power::Kv, &request)).await.unwrap(), Earlier::Different);
    let again = store.intend_operation(lease, &one, now).await;
    assert!(matches!(again, Err(StoreError::LostLease)), "{again:?}");
    let replaced =
        store.end_operation(lease, &held.operation(1, Power::Http, &other), OperationState::Done, Some("x"), now).await;
    assert!(matches!(replaced, Err(StoreError::LostLease)), "{replaced:?}");

    store.end_operation(lease, &one, OperationState::Done, Some("200"), now).await.unwrap();
    assert_eq!(store.earlier_operation(&one).await.unwrap(), Earlier::Done(Ok("200".into())));
    let twice = store.end_operation(lease, &one, OperationState::Done, Some("201"), now).await;
    assert!(matches!(twice, Err(StoreError::LostLease)), "{twice:?}");

    let two = held.operation(2, Power::Http, &other);
    store.end_operation(lease, &two, OperationState::Failed, Some("refused"), now).await.unwrap();
    assert_eq!(store.earlier_operation(&two).await.unwrap(), Earlier::Done(Err("refused".into())));
    let three = held.operation(3, Power::Http, &other);
    store.intend_operation(lease, &three, now).await.unwrap();
    store.end_operation(lease, &three, OperationState::Unknown, None, now).await.unwrap();
    assert_eq!(store.earlier_operation(&three).await.unwrap(), Earlier::Intended);

    let announced: Vec<_> = std::iter::from_fn(|| events.try_recv().ok()).collect();
    let stored = store.events_after(lease.conversation, 0, 100).await.unwrap();
    assert_eq!(announced, stored[stored.len() - 5..], "what is announced is what is stored");
    let states = announced.iter().map(|record| match &record.event {
        Event::OperationRecorded { ordinal, state, .. } => (*ordinal, *state),
        other => panic!("{other:?}"),
    });
    use OperationState::{Done, Failed, Intended, Unknown};
    assert_eq!(states.collect::<Vec<_>>(), [(1, Intended), (1, Done), (2, Failed), (3, Intended), (3, Unknown)]);

    held.lose_lease().await;
    let four = held.operation(4, Power::Http, &other);
    for lost in [
        store.intend_operation(lease, &four, now).await,
        store.end_operation(lease, &four, OperationState::Done, None, now).await,
    ] {
        assert!(matches!(lost, Err(StoreError::LostLease)), "{lost:?}");
    }
    assert_eq!(store.earlier_operation(&four).await.unwrap(), Earlier::New);
    held.end().await;
}

#[tokio::test]
async fn a_statement_of_a_capability_happens_once_and_its_answer_is_kept() {
    let held = Held::start().await;
    assert_eq!(held.write(1, "CREATE TABLE notes (n int, words text)", json!([])).await.unwrap(), r#"{"done":"CREATE"}"#);
    let insert = "INSERT INTO notes VALUES ($1, $2)";
    assert_eq!(held.write(2, insert, json!([1, "one"])).await.unwrap(), r#"{"row_count":1}"#);

    let request = json!({ "text": insert, "params": [1, "one"] });
    let earlier = held.store.earlier_operation(&held.operation(2, Power::Sql, &request)).await.unwrap();
    assert_eq!(earlier, Earlier::Done(Ok(r#"{"row_count":1}"#.into())));
    let twice = held.sql(2, insert, json!([1, "one"]), SqlAccess::Write).await;
    assert!(matches!(twice, Err(StoreError::LostLease)), "{twice:?}");
    assert_eq!(held.read("SELECT count(*) FROM notes", json!([])).await.unwrap(), r#"[{"count":1}]"#);

    let wrong = "INSERT INTO notes VALUES ($1, 'two')";
    assert_eq!(told(held.write(3, wrong, json!(["two"])).await)["code"], "22P02");
    let request = json!({ "text": wrong, "params": ["two"] });
    let earlier = held.store.earlier_operation(&held.operation(3, Power::Sql, &request)).await.unwrap();
    assert!(matches!(earlier, Earlier::Done(Err(_))), "{earlier:?}");

    held.lose_lease().await;
    let lost = held.sql(4, insert, json!([4, "four"]), SqlAccess::Write).await;
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
    // What a backslash means in a plain literal is a setting; here it is none.
    let set = "SELECT set_config('standard_conforming_strings', 'off', false), $1::text AS s";
    assert!(held.read(set, json!([evil])).await.unwrap().contains("DROP TABLE"));
    assert_eq!(held.read("SELECT $1::text IS NULL AS nothing", json!([null])).await.unwrap(), r#"[{"nothing":true}]"#);

    for (text, params, said) in [
        ("SELECT $1::int", json!([]), "parameter"),
        ("SELECT $1::int", json!([1, 2]), "1 parameters ($1, $2, …), and 2 were given"),
        ("SELECT 1", json!([1]), "0 parameters"),
        ("SELECT $1::int; SELECT 2", json!([1]), "multiple commands"),
        ("CREATE TABLE u AS SELECT 1 AS n", json!([1]), "0 parameters"),
        ("DROP TABLE $1", json!(["t"]), "syntax error"),
        ("SELECT '\0'", json!([]), "zero characters"),
        ("SELECT $1::text", json!(["\0"]), "zero characters"),
        ("  ", json!([]), "empty"),
    ] {
        let error = held.read(text, params).await.expect_err(text);
        assert!(error.contains(said), "{text}: {error}");
    }
    let wrong = told(held.read("SELECT 1 + $1::int AS n", json!(["seven"])).await);
    assert_eq!((&wrong["code"], wrong.get("position")), (&json!("22P02"), None));
    held.end().await;
}

#[tokio::test]
async fn the_agents_own_call_takes_parameters_too() {
    let held = Held::start().await;
    let end = CallEnd {
        call: held.call,
        tool: "mine",
        outcome: level3::domain::Outcome::ok(""),
        proposal_sha256: &[0; 32],
        verdict: "allow",
    };
    let params = [json!("it's"), json!([1, 2])];
    let text = "SELECT $1::text AS a, cardinality($2::int[]) AS b";
    let outcome =
        held.store.run_agent_sql(&held.lease, text, &params, RowLimits::default(), end.clone(), held.app.now()).await.unwrap();
    assert_eq!(outcome.result, r#"[{"a":"it's","b":2}]"#);
    assert_eq!(held.app.count("SELECT count(*) FROM audit_entries WHERE verdict = 'allow'").await, 1);
    // The call is over. Run again, which nobody does, it keeps its outcome.
    let again = held.store.run_agent_sql(&held.lease, "SELECT 1", &[], RowLimits::default(), end, held.app.now()).await;
    assert!(matches!(again, Err(StoreError::LostLease)), "{again:?}");
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
        held.write(ordinal, text, json!([])).await.unwrap();
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
        ("SELECT nextval('s')", "25006"),
        ("SELECT setval('s', 100)", "25006"),
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
        let error = told(held.read(text, json!([])).await);
        assert_eq!(error["code"].as_str().unwrap_or_default(), code, "{text}: {error}");
    }
    // A setting for later transactions of the session does not come to one.
    held.read("SELECT set_config('default_transaction_read_only', 'off', false)", json!([])).await.unwrap();
    assert_eq!(told(held.read("SELECT f()", json!([])).await)["code"], "25006");
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
        let error = told(held.read(text, json!([])).await);
        assert_eq!(error["error"], "too_much", "{text}");
        assert!(error["message"].as_str().unwrap().contains("LIMIT and OFFSET"), "{error}");
    }
    held.write(1, "CREATE TABLE t (n int)", json!([])).await.unwrap();
    let many = held.write(2, "INSERT INTO t SELECT generate_series(1, 10001) RETURNING n", json!([])).await;
    assert_eq!(told(many)["error"], "too_much");
    assert_eq!(held.app.count("SELECT count(*) FROM agent.t").await, 0, "what was not answered was not done");
    held.end().await;
}

#[tokio::test]
async fn values_are_kept_for_each_capability_alone() {
    let held = Held::start().await;
    let set = |key: &str, value: Value| KvOp::Set(key.into(), value);
    assert_eq!(held.kv(1, "mine", KvOp::Get("a".into())).await.unwrap().unwrap(), "null");
    assert_eq!(held.kv(1, "mine", set("a", json!({"n": [1, "\0"]}))).await.unwrap().unwrap(), "true");
    assert_eq!(held.kv(2, "mine", set("b", json!(2))).await.unwrap().unwrap(), "true");
    assert_eq!(held.kv(3, "mine", set("b", json!(3))).await.unwrap().unwrap(), "true");
    assert_eq!(held.kv(4, "mine", KvOp::Get("b".into())).await.unwrap().unwrap(), "3");
    assert_eq!(held.kv(4, "mine", KvOp::Get("a".into())).await.unwrap().unwrap(), "{\"n\":[1,\"\u{FFFD}\"]}");
    assert_eq!(held.kv(4, "other", KvOp::Get("a".into())).await.unwrap().unwrap(), "null");
    assert_eq!(held.kv(4, "mine", KvOp::List(String::new())).await.unwrap().unwrap(), r#"["a","b"]"#);
    assert_eq!(held.kv(4, "mine", KvOp::List("b".into())).await.unwrap().unwrap(), r#"["b"]"#);
    assert_eq!(held.kv(4, "other", KvOp::Delete("a".into())).await.unwrap().unwrap(), "false");
    assert_eq!(held.kv(5, "mine", KvOp::Delete("a".into())).await.unwrap().unwrap(), "true");
    assert_eq!(held.kv(6, "mine", KvOp::Get("a".into())).await.unwrap().unwrap(), "null");
    assert_eq!(held.app.count("SELECT count(*) FROM operations WHERE power = 'kv' AND state = 'done'").await, 5, "changes only");

    let twice = held.kv(5, "mine", set("a", json!(1))).await;
    assert!(matches!(twice, Err(StoreError::LostLease)), "{twice:?}");
    held.lose_lease().await;
    for lost in [held.kv(6, "mine", set("a", json!(1))).await, held.kv(6, "mine", KvOp::Get("b".into())).await] {
        assert!(matches!(lost, Err(StoreError::LostLease)), "{lost:?}");
    }
    assert_eq!(held.app.count("SELECT count(*) FROM kv_entries").await, 1);
    held.end().await;
}

#[tokio::test]
async fn values_have_limits_that_are_said() {
    let held = Held::start().await;
    let fill = "INSERT INTO kv_entries SELECT 'mine', 'k' || to_char(n, 'FM00000'), '0', now() FROM generate_series(1, 9999) n";
    held.app.behind().await.execute(fill).await.unwrap();
    let long = "k".repeat(257);
    for request in [KvOp::Get(long.clone()), KvOp::Set(long.clone(), json!(1)), KvOp::Delete(long.clone()), KvOp::List(long)] {
        let refused = held.kv(1, "mine", request).await.unwrap().unwrap_err();
        assert!(refused.contains("257 bytes; at most 256"), "{refused}");
    }
    let zero = held.kv(1, "mine", KvOp::Get("a\0".into())).await.unwrap().unwrap_err();
    assert!(zero.contains("zero character"), "{zero}");
    let large = held.kv(1, "mine", KvOp::Set("a".into(), json!("x".repeat(64 * 1024)))).await.unwrap().unwrap_err();
    assert!(large.contains("at most 65536"), "{large}");
    held.kv(2, "mine", KvOp::Set("a".into(), json!("x".repeat(64 * 1024 - 2)))).await.unwrap().unwrap();
    let full = held.kv(3, "mine", KvOp::Set("b".into(), json!(1))).await.unwrap().unwrap_err();
    assert!(full.contains("10000 keys"), "{full}");
    held.kv(4, "mine", KvOp::Set("a".into(), json!(1))).await.unwrap().unwrap();
    held.kv(5, "other", KvOp::Set("b".into(), json!(1))).await.unwrap().unwrap();

    let listed: Value = serde_json::from_str(&held.kv(6, "mine", KvOp::List("k".into())).await.unwrap().unwrap()).unwrap();
    assert_eq!((listed["keys"].as_array().unwrap().len(), &listed["keys"][0]), (1000, &json!("k00001")));
    assert!(listed["cut"].as_str().unwrap().contains("longer prefix"), "{listed}");
    let some: Value = serde_json::from_str(&held.kv(6, "mine", KvOp::List("k012".into())).await.unwrap().unwrap()).unwrap();
    assert_eq!(some.as_array().unwrap().len(), 100);
    held.end().await;
}
