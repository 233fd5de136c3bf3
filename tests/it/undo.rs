//! The rows that the agent deletes or overwrites are kept and put back; a person is asked about too
//! many, or about all of a table.

use std::sync::atomic::{AtomicU32, Ordering};

use level3::domain::{Effect, OperationKind, Outcome};
use level3::store::{AgentLogin, AgentSql, CallEnd, Judgement, RowLimits, SqlEnd, UndoError};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Executor};

use crate::operations::Held;
use crate::sql::run;
use crate::support::api::{ask, level3};
use crate::support::{Client, TestApp, call, of_type, text};

/// Everything in these tables, as text.
async fn rows(app: &TestApp, tables: &[&str]) -> Vec<String> {
    let mut behind = app.behind().await;
    let mut rows = Vec::new();
    for table in tables {
        let query = format!("SELECT '{table} ' || t::text FROM ONLY agent.{table} t ORDER BY 1");
        rows.extend(sqlx::query_scalar::<_, String>(AssertSqlSafe(query)).fetch_all(&mut behind).await.unwrap());
    }
    rows
}

pub async fn made(app: &TestApp, statements: &[&str]) {
    for (result, statement) in run(app, statements).await.iter().zip(statements) {
        assert!(result.0, "{statement}: {}", result.1);
    }
}

/// The agent runs this. Returns the frames up to the end of the turn, or to the question.
async fn tried(app: &TestApp, client: &mut Client, query: &str) -> Vec<Value> {
    app.script([call("execute_sql", json!({ "query": query })), text("All right.")]);
    // The client hears of other turns, too.
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let id = format!("go-{}", COUNT.fetch_add(1, Ordering::Relaxed));
    client.send(json!({ "type": "message", "content": "go", "id": id })).await;
    let turn = client.until(|frame| frame["id"] == id).await.pop().unwrap()["turn"].clone();
    let ends = |frame: &Value| frame["type"] == "approval" || frame["state"] == "completed" || frame["state"] == "aborted";
    client.until(|frame| frame["turn"] == turn && ends(frame)).await
}

/// The agent runs this unasked. Returns the frame of its result.
pub async fn ran(app: &TestApp, client: &mut Client, query: &str) -> Value {
    let frames = tried(app, client, query).await;
    assert_eq!(frames.last().unwrap()["state"], "completed", "{query}: {frames:#?}");
    let result = of_type(&frames, "tool_result");
    assert_eq!(result["ok"], true, "{query}: {result}");
    result.clone()
}

/// The agent tries this. Returns the question to the person.
pub async fn asked(app: &TestApp, client: &mut Client, query: &str) -> Value {
    let frames = tried(app, client, query).await;
    let last = frames.last().unwrap();
    assert_eq!((&last["type"], &last["state"]), (&json!("approval"), &json!("pending")), "{query}: {frames:#?}");
    last.clone()
}

pub async fn decided(client: &mut Client, asking: &Value, decision: &str) -> Vec<Value> {
    client.send(json!({ "type": decision, "approval": asking["id"] })).await;
    client.until(|frame| frame["type"] == "turn" && frame["state"] == "completed").await
}

async fn undo(app: &TestApp, call: &Value) -> (u16, Value) {
    ask(app, Method::POST, &format!("/api/calls/{call}/undo"), Some(json!({}))).await
}

pub fn words(asking: &Value) -> String {
    asking["what"].to_string()
}

#[tokio::test]
async fn whatever_way_rows_are_lost_they_are_put_back_as_they_were() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    // Each way: the statements before it, the tables to compare, the statement that loses rows, and
    // how many.
    let ways: &[(&[&str], &[&str], &str, i64)] = &[
        (
            &["CREATE TABLE plain (id int PRIMARY KEY, body text)", "INSERT INTO plain VALUES (1, 'one'), (2, NULL), (3, '')"],
            &["plain"],
            "DELETE FROM plain WHERE id IS NOT NULL AND id < 3",
            2,
        ),
        (&["INSERT INTO plain VALUES (4, 'a \"b\", (c) \\ d')"], &["plain"], "UPDATE plain SET body = NULL WHERE id > 2", 2),
        (&[], &["plain"], "INSERT INTO plain VALUES (1, 'new'), (2, 'new') ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body", 2),
        (
            &[],
            &["plain"],
            "MERGE INTO plain USING (VALUES (1), (2), (3)) AS v (n) ON plain.id = v.n
             WHEN MATCHED AND n = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET body = 'merged'",
            3,
        ),
        (&[], &["plain"], "WITH gone AS (DELETE FROM plain WHERE id = 1 RETURNING id) SELECT count(*) FROM gone", 1),
        // The same row is changed twice in one call, and so is one that the call had made itself.
        (&[], &["plain"], "UPDATE plain SET body = 'x' WHERE id = 1; UPDATE plain SET body = 'y' WHERE id = 1", 1),
        (&[], &["plain"], "UPDATE plain SET body = 'x' WHERE id = 2; DELETE FROM plain WHERE id = 2", 1),
        // Keys that move into each other's places.
        (&[], &["plain"], "DELETE FROM plain WHERE id = 1; UPDATE plain SET id = 1 WHERE id = 2; UPDATE plain SET id = 2 WHERE id = 3", 3),
        // Rows that the call deletes and adds again, under the primary key and under another one.
        (
            &["CREATE TABLE again (id int PRIMARY KEY, word text UNIQUE)", "INSERT INTO again VALUES (1, 'a'), (2, 'b'), (3, 'c')"],
            &["again"],
            "DELETE FROM again WHERE id IS NOT NULL; INSERT INTO again VALUES (1, 'new'), (2, NULL)",
            3,
        ),
        (&[], &["again"], "DELETE FROM again WHERE id = 2; INSERT INTO again VALUES (7, 'b')", 1),
        // A key that others follow, one of which changes besides.
        (
            &[
                "CREATE TABLE followers (id int PRIMARY KEY, again int REFERENCES again ON UPDATE CASCADE, body text)",
                "INSERT INTO followers VALUES (1, 2, 'x'), (2, 2, 'x'), (3, 1, 'x')",
            ],
            &["again", "followers"],
            "UPDATE again SET id = 20 WHERE id = 2; UPDATE followers SET body = 'y' WHERE id = 2",
            3,
        ),
        (
            &[
                "CREATE TABLE parents (id int PRIMARY KEY)",
                "CREATE TABLE children (id int PRIMARY KEY, parent int REFERENCES parents ON DELETE CASCADE)",
                "CREATE TABLE orphans (id int PRIMARY KEY, parent int REFERENCES parents ON DELETE SET NULL)",
                "INSERT INTO parents SELECT generate_series(1, 3)",
                "INSERT INTO children SELECT n, (n + 2) / 3 FROM generate_series(1, 9) n",
                "INSERT INTO orphans SELECT n, (n + 2) / 3 FROM generate_series(1, 9) n",
            ],
            &["parents", "children", "orphans"],
            "DELETE FROM parents WHERE id = 1",
            7,
        ),
        (
            &[
                "CREATE TABLE bare (word text, other text)",
                "INSERT INTO bare VALUES ('a', '1'), ('b', '2'), ('b', '2'), ('c', '3'), (NULL, NULL)",
            ],
            &["bare"],
            "UPDATE bare SET word = 'same', other = NULL WHERE word IN ('a', 'b')",
            3,
        ),
        (&[], &["bare"], "DELETE FROM bare WHERE word IS DISTINCT FROM 'c'", 4),
        (
            &["CREATE VIEW seen AS SELECT id, body FROM plain WHERE id < 3"],
            &["plain"],
            "UPDATE seen SET body = 'through the view' WHERE id = 1; DELETE FROM seen WHERE id = 2",
            2,
        ),
        (
            &[
                "CREATE TABLE parts (id int, day date) PARTITION BY RANGE (day)",
                "CREATE TABLE parts_a PARTITION OF parts FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')",
                "CREATE TABLE parts_b PARTITION OF parts FOR VALUES FROM ('2027-01-01') TO ('2028-01-01')",
                "INSERT INTO parts SELECT n, '2026-12-30'::date + n FROM generate_series(1, 6) n",
                "INSERT INTO parts VALUES (7, '2026-01-02')",
            ],
            &["parts_a", "parts_b"],
            "DELETE FROM parts WHERE id = 7; UPDATE parts SET id = id * 100 WHERE id > 4",
            3,
        ),
        (
            &["CREATE TABLE heir (more text) INHERITS (plain)", "INSERT INTO heir VALUES (50, 'h', 'm'), (51, 'h', 'm')"],
            &["plain", "heir"],
            "DELETE FROM plain WHERE id IN (1, 50)",
            2,
        ),
        (
            &[
                "CREATE TYPE mood AS ENUM ('calm', 'merry')",
                "CREATE TYPE pair AS (a int, b text)",
                "CREATE TABLE kinds (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n numeric, f float8, j json, b jsonb,
                     raw bytea, list int[], m mood, p pair, at timestamptz, span interval, days daterange, cash money,
                     code char(5), ok boolean, twice numeric GENERATED ALWAYS AS (n * 2) STORED, r regclass)",
                "INSERT INTO kinds (n, f, j, b, raw, list, m, p, at, span, days, cash, code, ok, r) VALUES
                     (1.10, 0.1, '{\"a\" : 1, \"a\": 2}', '{\"a\": [1]}', '\\x00ff', '[2:3]={1,2}', 'merry', '(1,\"x, y\")',
                      '2026-03-01 10:00:00.123456+02', '-1 day 02:03', '[2026-01-01,2026-02-01)', 12.34, 'ab', true, 'plain'),
                     ('NaN', 'Infinity', '\"\\u0000\"', NULL, '', '{{1,NULL},{3,4}}', NULL, NULL, '-infinity', '1 mon', 'empty', NULL, '',
                      NULL, NULL),
                     (3, 3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
            ],
            &["kinds"],
            "SET extra_float_digits = -3; UPDATE kinds SET n = 7, f = 7, j = NULL, list = NULL, p = '(2,)' WHERE id = 1; DELETE FROM kinds WHERE id = 2",
            2,
        ),
    ];
    for (made_before, tables, losing, lost) in ways {
        made(&app, made_before).await;
        let before = rows(&app, tables).await;
        let mut result = tried(&app, &mut client, losing).await;
        if result.last().unwrap()["type"] == "approval" {
            // If the text does not tell what is lost, a person is asked; the rows are kept all the
            // same.
            let asking = result.last().unwrap().clone();
            result = decided(&mut client, &asking, "approve").await;
        }
        let result = of_type(&result, "tool_result");
        assert_eq!((&result["ok"], &result["kept"]), (&json!(true), &json!(lost)), "{losing}: {result}");
        assert_ne!(rows(&app, tables).await, before, "{losing}");
        let (status, undone) = undo(&app, &result["call"]).await;
        assert_eq!((status, &undone["rows"]), (200, &json!(lost)), "{losing}: {undone}");
        assert_eq!(rows(&app, tables).await, before, "{losing}");
    }
    assert_eq!(app.count("SELECT count(*) FROM kept_rows").await, 0, "what was put back is kept no longer");
    app.check_replay().await;
}

#[tokio::test]
async fn what_loses_nothing_is_neither_kept_nor_asked_about() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(&app, &["CREATE TABLE t (id int PRIMARY KEY, a text)", "INSERT INTO t SELECT n, 'a' FROM generate_series(1, 3) n"])
        .await;
    for harmless in [
        "UPDATE t SET a = 'a'",
        "INSERT INTO t VALUES (9, 'x'); UPDATE t SET a = 'y' WHERE id = 9; DELETE FROM t WHERE id = 9",
        "CREATE TABLE u (n int); INSERT INTO u SELECT generate_series(1, 3000); UPDATE u SET n = n + 1; DELETE FROM u WHERE n > 5",
        "DELETE FROM t WHERE id = 77",
        "INSERT INTO t VALUES (10, 'b')",
    ] {
        let result = ran(&app, &mut client, harmless).await;
        assert_eq!(result.get("kept"), None, "{harmless}: {result}");
    }
    // A new column gets a value in every row: all rows change, and none loses a value.
    ran(&app, &mut client, "ALTER TABLE t ADD COLUMN b text").await;
    let filled = ran(&app, &mut client, "UPDATE t SET b = upper(a)").await;
    assert_eq!(filled["kept"], 4, "it can be undone all the same");
    assert_eq!(undo(&app, &filled["call"]).await.0, 200);
    assert_eq!(app.count("SELECT count(b) FROM agent.t").await, 0);
    assert_eq!(app.count("SELECT count(*) FROM kept_own").await, 0);
}

#[tokio::test]
async fn more_than_a_thousand_rows_and_all_of_a_table_are_asked_about_with_their_number() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(
        &app,
        &[
            "CREATE TABLE big (id int PRIMARY KEY, body text)",
            "INSERT INTO big SELECT n, 'body ' || n FROM generate_series(1, 5000) n",
            "CREATE TABLE pair (id int PRIMARY KEY, body text)",
            "INSERT INTO pair VALUES (1, 'a'), (2, 'b')",
            "CREATE TABLE one (id int PRIMARY KEY, body text)",
            "INSERT INTO one VALUES (1, 'a')",
        ],
    )
    .await;
    let before = rows(&app, &["big", "pair", "one"]).await;
    for (query, told) in [
        ("DELETE FROM big WHERE id <= 1001", "It deletes 1001 rows of `big`."),
        ("UPDATE big SET body = NULL WHERE id > 10", "It overwrites 4990 rows of `big`."),
        ("DELETE FROM pair WHERE id IS NOT NULL", "It deletes all 2 rows of `pair`."),
        ("DELETE FROM pair", "It deletes all 2 rows of `pair`."),
        ("MERGE INTO pair USING one ON true WHEN MATCHED THEN DELETE", "It deletes all 2 rows of `pair`."),
        ("UPDATE pair SET body = NULL", "It overwrites all 2 rows of `pair`."),
        (
            "DELETE FROM pair WHERE id = 1; UPDATE pair SET body = 'z'",
            "It changes all rows of `pair`: 1 are deleted, 1 overwritten.",
        ),
        ("DELETE FROM one WHERE id = 1; DELETE FROM pair WHERE id > 0", "It deletes all 2 rows of `pair`."),
    ] {
        let asking = asked(&app, &mut client, query).await;
        assert!(words(&asking).contains(told), "{query}: {asking}");
        assert!(words(&asking).contains("it can be undone"), "{query}: {asking}");
        assert_eq!(rows(&app, &["big", "pair", "one"]).await, before, "{query}: nothing happened yet");
        decided(&mut client, &asking, "deny").await;
        assert_eq!(rows(&app, &["big", "pair", "one"]).await, before, "{query}: nothing happened");
    }
    // A thousand rows, and the only row of a table, are kept and nobody is asked.
    for (query, kept) in [("DELETE FROM big WHERE id <= 1000", 1000), ("DELETE FROM one WHERE id = 1", 1), ("DELETE FROM one", 1)]
    {
        let result = ran(&app, &mut client, query).await;
        assert_eq!(result["kept"], kept, "{query}");
        assert_eq!(undo(&app, &result["call"]).await.0, 200, "{query}");
    }
    // Rows lost by an approved call are kept as well.
    let asking = asked(&app, &mut client, "DELETE FROM big WHERE id > 500").await;
    assert!(words(&asking).contains("It deletes 4500 rows of `big`."), "{asking}");
    let frames = decided(&mut client, &asking, "approve").await;
    let result = of_type(&frames, "tool_result");
    assert_eq!((&result["ok"], &result["kept"]), (&json!(true), &json!(4500)), "{result}");
    assert_eq!(app.count("SELECT count(*) FROM agent.big").await, 500);
    assert_eq!(undo(&app, &result["call"]).await, (200, json!({ "call": result["call"], "rows": 4500 })));
    assert_eq!(rows(&app, &["big", "pair", "one"]).await, before);
    app.check_replay().await;
}

#[tokio::test]
async fn what_has_no_room_is_asked_about_and_said_to_be_lost() {
    let app = TestApp::with(&[("LEVEL3_UNDO_QUOTA", "1MiB")]).await;
    let mut client = app.connect().await;
    made(
        &app,
        &["CREATE TABLE t (id int, body text)", "INSERT INTO t SELECT n, repeat('x', 400000) FROM generate_series(1, 6) n"],
    )
    .await;
    let first = ran(&app, &mut client, "DELETE FROM t WHERE id <= 2").await;
    assert_eq!(first["kept"], 2);
    let asking = asked(&app, &mut client, "DELETE FROM t WHERE id = 3").await;
    let told = words(&asking);
    assert!(
        told.contains("It deletes 1 row of `t`.")
            && told.contains("It cannot be undone: keeping what it loses takes about 391 KiB"),
        "{told}"
    );
    assert_eq!(app.count("SELECT count(*) FROM agent.t").await, 4);
    let frames = decided(&mut client, &asking, "approve").await;
    let result = of_type(&frames, "tool_result");
    assert_eq!((&result["ok"], result.get("kept")), (&json!(true), None), "{result}");
    let (status, told) = undo(&app, &result["call"]).await;
    assert!(status == 409 && told["error"].as_str().unwrap().starts_with("nothing is kept of call"), "{told}");
    // Undoing makes room again.
    assert_eq!(undo(&app, &first["call"]).await.0, 200);
    assert_eq!(ran(&app, &mut client, "DELETE FROM t WHERE id = 4").await["kept"], 1);
}

#[tokio::test]
async fn undoing_happens_once_and_the_model_is_told_of_it() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(&app, &["CREATE TABLE t (id int PRIMARY KEY, body text)", "INSERT INTO t SELECT n, 'b' FROM generate_series(1, 5) n"])
        .await;
    let before = rows(&app, &["t"]).await;
    let result = ran(&app, &mut client, "DELETE FROM t WHERE id < 3").await;
    let call_id = result["call"].to_string();

    let listed = level3(&app, &["undo"]).await;
    assert!(listed.code == 0 && listed.out.contains("execute_sql") && listed.out.contains(&call_id), "{listed:?}");
    let (first, second) = tokio::join!(undo(&app, &result["call"]), undo(&app, &result["call"]));
    let mut both = [first.0, second.0];
    both.sort_unstable();
    assert_eq!(both, [200, 409], "{first:?} {second:?}");
    assert_eq!(rows(&app, &["t"]).await, before, "put back once");
    let undone = client.until(|frame| frame["type"] == "undone").await.pop().unwrap();
    assert_eq!((&undone["call"], &undone["rows"]), (&result["call"], &json!(2)));
    let again = level3(&app, &["undo", &call_id]).await;
    assert!(again.code == 1 && again.err.contains("was undone already, on 2026-11-20"), "{again:?}");
    let unknown = level3(&app, &["undo", "4711"]).await;
    assert!(unknown.code == 1 && unknown.err.contains("there is no call 4711"), "{unknown:?}");

    // The next request shows the model what became of its call. Its own call of `undo` finds no
    // such tool.
    app.script([call("undo", json!({ "call": result["call"] })), text("all right")]);
    client.say("and now?").await;
    let frames = client.turn().await;
    assert_eq!(of_type(&frames, "tool_result")["ok"], false);
    let shown = format!("{:?}", app.script.requests().last().unwrap());
    assert!(shown.contains("The user undid this call at 2026-11-20T08:00:00Z"), "{shown}");
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE tool = 'undo' AND outcome = 'done'").await, 1);
    app.check_replay().await;
}

#[tokio::test]
async fn what_changed_since_is_told_and_then_nothing_is_put_back() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(
        &app,
        &["CREATE TABLE t (id int PRIMARY KEY, body text)", "INSERT INTO t SELECT n, 'body ' || n FROM generate_series(1, 50) n"],
    )
    .await;
    let updated = ran(&app, &mut client, "UPDATE t SET body = 'new' WHERE id <= 40").await;
    let deleted = ran(&app, &mut client, "DELETE FROM t WHERE id > 45").await;
    ran(&app, &mut client, "UPDATE t SET body = 'newer' WHERE id = 17").await;
    ran(&app, &mut client, "INSERT INTO t VALUES (46, 'mine')").await;
    let before = rows(&app, &["t"]).await;
    for (call, told) in
        [(&updated["call"], "is not as the call left it, (17,new)"), (&deleted["call"], "Key (id)=(46) already exists")]
    {
        let (status, answer) = undo(&app, call).await;
        let error = answer["error"].as_str().unwrap();
        assert!(status == 409 && error.starts_with("nothing was put back") && error.contains(told), "{answer}");
        assert_eq!(rows(&app, &["t"]).await, before, "nothing at all");
    }
    // Once that row is gone, the undo succeeds.
    ran(&app, &mut client, "DELETE FROM t WHERE id = 46").await;
    assert_eq!(undo(&app, &deleted["call"]).await.0, 200);
    // A further column is no obstacle; a missing column is.
    ran(&app, &mut client, "UPDATE t SET body = 'new' WHERE id = 17; ALTER TABLE t ADD COLUMN more int DEFAULT 5").await;
    assert_eq!(undo(&app, &updated["call"]).await.0, 200);
    assert_eq!(app.count("SELECT count(*) FROM agent.t WHERE body = 'body ' || id AND more = 5").await, 50);
    let last = ran(&app, &mut client, "DELETE FROM t WHERE id = 1").await;
    app.behind().await.execute("ALTER TABLE agent.t DROP COLUMN body").await.unwrap();
    let (_, answer) = undo(&app, &last["call"]).await;
    assert!(answer["error"].as_str().unwrap().contains("`t` is gone, or has no column `body` any more"), "{answer}");
}

#[tokio::test]
async fn what_is_kept_goes_after_thirty_days() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(&app, &["CREATE TABLE t (id int)", "INSERT INTO t VALUES (1), (2)"]).await;
    let result = ran(&app, &mut client, "DELETE FROM t WHERE id = 1").await;
    assert_eq!(app.count("SELECT count(*) FROM wake_ups WHERE kind = 'kept'").await, 1);
    app.advance(29 * 86_400);
    app.store().forget_kept(app.now()).await.unwrap();
    assert_eq!(app.count("SELECT count(*) FROM kept_rows").await, 1);
    app.advance(2 * 86_400);
    app.store().forget_kept(app.now()).await.unwrap();
    assert_eq!(app.count("SELECT count(*) FROM kept_rows").await, 0);
    assert_eq!(app.count("SELECT count(*) FROM wake_ups").await, 0, "it is settled");
    let (status, told) = undo(&app, &result["call"]).await;
    assert!(status == 409 && told["error"].as_str().unwrap().contains("more than 30 days ago"), "{told}");
}

#[tokio::test]
async fn what_a_capability_deletes_is_kept_and_what_would_be_asked_about_is_refused() {
    let held = Held::start().await;
    let now = held.app.now();
    let write = async |ordinal: i32, text: &str| {
        let request = json!({ "sql": text });
        let operation = held.operation(ordinal, OperationKind::Sql, &request);
        held.store.run_operation_sql(&held.lease, operation, text, &[], AgentLogin::Tables, now).await.unwrap()
    };
    write(1, "CREATE TABLE t (id int PRIMARY KEY, body text)").await.unwrap();
    write(2, "INSERT INTO t SELECT n, 'b' FROM generate_series(1, 2000) n").await.unwrap();
    write(3, "UPDATE t SET body = 'c' WHERE id <= 5").await.unwrap();
    write(4, "DELETE FROM t WHERE id <= 3").await.unwrap();
    let refused = write(5, "DELETE FROM t WHERE id > 10").await.unwrap_err();
    assert!(refused.contains("It deletes 1990 rows of `t`.") && refused.contains("execute_sql"), "{refused}");
    assert_eq!(held.app.count("SELECT count(*) FROM agent.t").await, 1997);

    assert!(matches!(held.store.undo_call(held.call, now).await, Err(UndoError::Running(_))));
    let end = CallEnd { judged: Judgement::Permitted(&held.permit), tool: "mine", outcome: Outcome::ok("1") };
    held.store.end_call(&held.lease, end, now).await.unwrap();
    assert_eq!(held.store.undo_call(held.call, now).await.unwrap(), 8, "both operations, the last one first");
    assert_eq!(held.app.count("SELECT count(*) FROM agent.t WHERE body = 'b'").await, 2000);
    held.end().await;
}

#[tokio::test]
async fn triggers_that_are_switched_off_and_on_again_hide_nothing() {
    let held = Held::start().await;
    let now = held.app.now();
    let run = async |text: &str| {
        let sql = AgentSql {
            statements: &[text],
            params: &[],
            limits: RowLimits::default(),
            login: AgentLogin::Tables,
            promised: false,
            shown: &[],
        };
        held.store.run_agent_sql(&held.lease, &held.permit, "execute_sql", sql, now).await.unwrap()
    };
    let set_up = async |ordinal: i32, text: &str| {
        let request = json!({ "sql": text });
        let operation = held.operation(ordinal, OperationKind::Sql, &request);
        held.store.run_operation_sql(&held.lease, operation, text, &[], AgentLogin::Tables, now).await.unwrap().unwrap();
    };
    set_up(1, "CREATE TABLE t (id int PRIMARY KEY, body text)").await;
    set_up(2, "INSERT INTO t SELECT n, 'b' FROM generate_series(1, 5) n").await;
    set_up(3, "CREATE TABLE p (id int, k int) PARTITION BY LIST (k)").await;
    set_up(4, "CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)").await;
    set_up(5, "CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2)").await;
    set_up(6, "INSERT INTO p VALUES (1, 1), (2, 1), (3, 2)").await;
    for hidden in [
        "DO $$ BEGIN ALTER TABLE t DISABLE TRIGGER ALL; DELETE FROM t WHERE id = 1; ALTER TABLE t ENABLE TRIGGER ALL; END $$",
        "DO $$ BEGIN ALTER TABLE t DISABLE TRIGGER USER; UPDATE t SET body = NULL WHERE id = 1; ALTER TABLE t ENABLE TRIGGER USER; END $$",
        "DO $$ BEGIN DROP TRIGGER \"0_level3_keep\" ON t; DELETE FROM t WHERE id = 1; END $$",
        "DO $$ BEGIN UPDATE t SET id = 1; EXCEPTION WHEN unique_violation THEN DELETE FROM t WHERE id = 1; END $$",
        "UPDATE p SET k = 2 WHERE id = 1",
    ] {
        let end = run(hidden).await;
        let SqlEnd::Asks(finding) = &end else { panic!("{hidden}: {end:?}") };
        assert!(finding.effects.contains(&Effect::Delete) && !finding.kept, "{hidden}: {finding:?}");
        assert_eq!(held.app.count("SELECT count(body) FROM agent.t").await, 5, "{hidden}");
    }
    held.end().await;
}

#[tokio::test]
async fn a_function_of_the_agents_never_runs_with_the_rights_of_what_keeps_its_rows() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    // A type's own cast to text or JSON, and a policy that binds its owner too: each would record
    // the login that runs it.
    let mut behind = app.behind().await;
    for statement in [
        "CREATE TYPE agent.mood AS ENUM ('calm', 'merry')",
        "CREATE TABLE public.ran (who text)",
        "GRANT ALL ON public.ran TO PUBLIC; GRANT USAGE ON SCHEMA public TO PUBLIC",
        "CREATE FUNCTION agent.tells(agent.mood) RETURNS text LANGUAGE plpgsql AS
             'BEGIN INSERT INTO public.ran VALUES (current_user); RETURN ''calm''; END'",
        "CREATE FUNCTION agent.tells_json(agent.mood) RETURNS json LANGUAGE plpgsql AS
             'BEGIN INSERT INTO public.ran VALUES (current_user); RETURN ''1''; END'",
        "CREATE CAST (agent.mood AS text) WITH FUNCTION agent.tells(agent.mood)",
        "CREATE CAST (agent.mood AS json) WITH FUNCTION agent.tells_json(agent.mood)",
        "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA agent TO PUBLIC",
    ] {
        behind.execute(statement).await.unwrap();
    }
    made(&app, &["CREATE TABLE t (id int, m mood)", "INSERT INTO t VALUES (1, 'calm'), (2, 'merry'), (3, 'merry')"]).await;
    let result = ran(&app, &mut client, "UPDATE t SET m = 'calm' WHERE id = 2; DELETE FROM t WHERE id = 3").await;
    assert_eq!(undo(&app, &result["call"]).await.0, 200);
    assert_eq!(app.count("SELECT count(*) FROM public.ran WHERE who NOT LIKE '%agent%'").await, 0, "with no rights of ours");
    assert_eq!(app.count("SELECT count(*) FROM agent.t WHERE m = 'merry'").await, 2);
}
