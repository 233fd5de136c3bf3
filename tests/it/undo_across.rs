//! A call is put back as a whole: through all of its statements, and past the rows that it added.

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use crate::support::api::ask;
use crate::support::{Client, TestApp, call, of_type, text};
use crate::undo::{made, ran};

/// How many of the first six rows are as they were.
async fn rows(app: &TestApp, table: &str) -> i64 {
    let query = format!("SELECT count(*) FROM agent.{table} t WHERE id <= 6 AND t.t = 'o' || id AND t.u = 'u' || id");
    sqlx::query_scalar(AssertSqlSafe(query)).fetch_one(&mut app.behind().await).await.unwrap()
}

async fn undo(app: &TestApp, call: &Value) -> (u16, Value) {
    ask(app, Method::POST, &format!("/api/calls/{call}/undo"), Some(json!({}))).await
}

/// A capability runs each of these by itself. Returns the frame of its result.
async fn one_by_one(app: &TestApp, client: &mut Client, statements: &[String]) -> Value {
    app.script([call("several", json!({ "s": statements })), text("done")]);
    // The client hears of other turns, too.
    let id = format!("several {statements:?}").chars().take(100).collect::<String>();
    client.send(json!({ "type": "message", "content": "go", "id": id })).await;
    let turn = client.until(|frame| frame["id"] == *id).await.pop().unwrap()["turn"].clone();
    let frames = client.until(|frame| frame["turn"] == turn && frame["state"] == "completed").await;
    of_type(&frames, "tool_result").clone()
}

#[tokio::test]
async fn rows_come_back_whatever_the_call_left_under_their_keys() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    app.script([
        call(
            "write_capability",
            json!({
                "name": "several", "description": "For the test.", "grants": {"sql": {"access": "write"}},
                "code": "export default async function several(p) { for (const s of p.s) await host.sql(s); return 1; }",
                "parameters_schema": {"type": "object", "properties": {"s": {"type": "array", "items": {"type": "string"}}}},
            }),
        ),
        text("done"),
    ]);
    client.allow("write it").await;
    let ways: &[&[&str]] = &[
        &["UPDATE v SET t = 'a' WHERE id = 1", "UPDATE v SET t = 'b' WHERE id = 1"],
        &["DELETE FROM v WHERE id = 1", "INSERT INTO v VALUES (1, 'new')"],
        &["UPDATE v SET t = 'a' WHERE id = 1", "DELETE FROM v WHERE id = 1", "INSERT INTO v VALUES (1, 'new')"],
        &["DELETE FROM v WHERE id = 1", "INSERT INTO v VALUES (1, 'x')", "DELETE FROM v WHERE id = 1"],
        &["DELETE FROM v WHERE id = 1", "INSERT INTO v VALUES (1, 'x')", "UPDATE v SET id = 50 WHERE id = 1"],
        &[
            "DELETE FROM v WHERE id = 1",
            "INSERT INTO v VALUES (1, 'x')",
            "UPDATE v SET t = 'y' WHERE id = 1",
            "DELETE FROM v WHERE id = 1",
            "INSERT INTO v VALUES (1, 'z')",
        ],
        &["UPDATE v SET id = 102 WHERE id = 2", "INSERT INTO v VALUES (2, 'n')"],
        &["UPDATE v SET id = 102 WHERE id = 2", "DELETE FROM v WHERE id = 102", "INSERT INTO v VALUES (2, 'n')"],
        &[
            "UPDATE v SET id = 102 WHERE id = 2",
            "INSERT INTO v VALUES (2, 'n')",
            "DELETE FROM v WHERE id = 2",
            "INSERT INTO v VALUES (2, 'm')",
        ],
        &["UPDATE v SET id = id + 100 WHERE id IN (2, 3)", "UPDATE v SET id = 2 WHERE id = 103", "INSERT INTO v VALUES (3, 'n')"],
        &["UPDATE v SET id = 99 WHERE id = 1", "UPDATE v SET id = 1 WHERE id = 2", "UPDATE v SET id = 2 WHERE id = 99"],
        &[
            "UPDATE v SET id = 99 WHERE id = 1",
            "DELETE FROM v WHERE id = 3",
            "UPDATE v SET id = 1 WHERE id = 2",
            "UPDATE v SET id = 2 WHERE id = 99",
        ],
        // A key that is none of the primary one.
        &["UPDATE v SET u = 'other' WHERE id = 4", "INSERT INTO v VALUES (70, 'n', 'u4')"],
    ];
    for (at, statements) in ways.iter().enumerate() {
        for apart in [true, false] {
            let table = format!("v{at}_{apart}");
            let create = format!("CREATE TABLE {table} (id int PRIMARY KEY, t text, u text UNIQUE)");
            let insert = format!("INSERT INTO {table} SELECT i, 'o' || i, 'u' || i FROM generate_series(1, 6) i");
            made(&app, &[&create, &insert]).await;
            let statements: Vec<_> = statements.iter().map(|said| said.replace(" v ", &format!(" {table} "))).collect();
            let result = match apart {
                true => one_by_one(&app, &mut client, &statements).await,
                false => ran(&app, &mut client, &statements.join("; ")).await,
            };
            assert_eq!(result["ok"], true, "{statements:?}: {result}");
            assert!(rows(&app, &table).await < 6, "{statements:?}");
            let (status, undone) = undo(&app, &result["call"]).await;
            assert_eq!((status, rows(&app, &table).await), (200, 6), "{statements:?}: {undone}");
        }
    }
    assert_eq!(app.count("SELECT count(*) FROM kept_rows").await, 0);
    assert_eq!(app.count("SELECT kept FROM undo_quota").await, 0, "nothing takes room any more");
    app.check_replay().await;
}

#[tokio::test]
async fn rows_that_change_places_keep_their_children_or_are_left_as_they_are() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    let swap = "UPDATE v SET id = 99 WHERE id = 1; UPDATE v SET id = 1 WHERE id = 2; UPDATE v SET id = 2 WHERE id = 99";
    made(
        &app,
        &[
            "CREATE TABLE v (id int PRIMARY KEY, t text, u text)",
            "INSERT INTO v SELECT i, 'o' || i, 'u' || i FROM generate_series(1, 6) i",
            "CREATE TABLE child (id int PRIMARY KEY, v int REFERENCES v DEFERRABLE INITIALLY DEFERRED)",
            "INSERT INTO child VALUES (1, 1), (2, 2)",
        ],
    )
    .await;
    let swapped = ran(&app, &mut client, swap).await;
    ran(&app, &mut client, "ALTER TABLE v ADD COLUMN more text DEFAULT 'x'").await;
    ran(&app, &mut client, "UPDATE v SET more = 'mine' WHERE id = 2").await;
    let (status, undone) = undo(&app, &swapped["call"]).await;
    assert_eq!((status, rows(&app, "v").await), (200, 6), "{undone}");
    assert_eq!(app.count("SELECT count(*) FROM agent.v WHERE more = 'mine' AND t = 'o1'").await, 1, "it stays with its row");
    assert_eq!(app.count("SELECT count(*) FROM agent.child").await, 2);

    made(
        &app,
        &[
            "ALTER TABLE child DROP CONSTRAINT child_v_fkey",
            "ALTER TABLE child ADD FOREIGN KEY (v) REFERENCES v ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED",
        ],
    )
    .await;
    let swapped = ran(&app, &mut client, swap).await;
    let (status, told) = undo(&app, &swapped["call"]).await;
    let says = "rows of `v` would have to be deleted first, and rows of `child` would change with them";
    assert!(status == 409 && told["error"].as_str().unwrap().ends_with(says), "{told}");
    assert_eq!(app.count("SELECT count(*) FROM agent.child").await, 2, "nothing is lost");
}
