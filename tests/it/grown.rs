//! An approval holds for the rows that were shown: a call that would lose more by the time it goes
//! on is asked about again.

use serde_json::{Value, json};

use crate::support::{Client, TestApp, of_type};
use crate::undo::{asked, decided, made, ran, words};

/// Approves, and returns the question that comes in place of the deed.
async fn asked_again(client: &mut Client, asking: &Value) -> Value {
    client.send(json!({ "type": "approve", "approval": asking["id"] })).await;
    let pending = |frame: &Value| frame["type"] == "approval" && frame["state"] == "pending";
    let ends = |frame: &Value| frame["type"] == "turn" && frame["state"] == "completed";
    let frames = client.until(|frame| pending(frame) || ends(frame)).await;
    let last = frames.last().unwrap().clone();
    assert!(pending(&last) && last["id"] != asking["id"], "{frames:#?}");
    last
}

/// Somebody else does this meanwhile.
async fn meanwhile(app: &TestApp, sql: &'static str) {
    sqlx::raw_sql(sql).execute(&mut app.behind().await).await.unwrap();
}

#[tokio::test]
async fn rows_of_another_table_than_was_shown_are_asked_about_again() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(
        &app,
        &[
            "CREATE TABLE v1 (i int)",
            "CREATE TABLE v2 (i int)",
            "INSERT INTO v1 SELECT generate_series(1, 2000)",
            "INSERT INTO v2 SELECT generate_series(1, 1500)",
            "CREATE VIEW vv AS SELECT * FROM v1",
        ],
    )
    .await;
    let asking = asked(&app, &mut client, "DELETE FROM vv WHERE i > 10").await;
    assert!(words(&asking).contains("It deletes 1990 rows of `v1`."), "{asking}");
    meanwhile(&app, "CREATE OR REPLACE VIEW agent.vv AS SELECT * FROM agent.v2").await;
    let again = asked_again(&mut client, &asking).await;
    assert!(words(&again).contains("It deletes 1490 rows of `v2`.") && !words(&again).contains("`v1`"), "{again}");
    assert_eq!(app.count("SELECT count(*) FROM agent.v2").await, 1500, "nothing happened yet");
    let frames = decided(&mut client, &again, "approve").await;
    assert_eq!(of_type(&frames, "tool_result")["kept"], 1490);
    assert_eq!(app.count("SELECT count(*) FROM agent.v1").await, 2000);
    assert_eq!(app.count("SELECT count(*) FROM agent.v2").await, 10);
    app.check_replay().await;
}

#[tokio::test]
async fn rows_that_a_cascade_takes_besides_are_asked_about_again() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(
        &app,
        &[
            "CREATE TABLE pa (id int PRIMARY KEY)",
            "CREATE TABLE kid (id int PRIMARY KEY, pa int REFERENCES pa ON DELETE CASCADE)",
            "INSERT INTO pa SELECT generate_series(1, 1490)",
        ],
    )
    .await;
    let asking = asked(&app, &mut client, "DELETE FROM pa WHERE id > 0").await;
    assert!(words(&asking).contains("1490 rows of `pa`"), "{asking}");
    meanwhile(&app, "INSERT INTO agent.kid SELECT n, n FROM generate_series(1, 1490) n").await;
    let again = asked_again(&mut client, &asking).await;
    assert!(words(&again).contains("1490 rows of `kid`") && words(&again).contains("1490 rows of `pa`"), "{again}");
    decided(&mut client, &again, "deny").await;
    assert_eq!(app.count("SELECT count(*) FROM agent.kid").await, 1490);
    assert_eq!(app.count("SELECT count(*) FROM agent.pa").await, 1490);
    app.check_replay().await;
}

#[tokio::test]
async fn whole_tables_are_asked_about_with_their_rows_and_again_if_they_grew() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(
        &app,
        &[
            "CREATE TABLE \"Big one\" (i int PRIMARY KEY)",
            "INSERT INTO \"Big one\" SELECT generate_series(1, 12)",
            "CREATE TABLE kid (i int REFERENCES \"Big one\")",
            "INSERT INTO kid VALUES (1), (2), (3)",
            "CREATE TABLE bare (i int)",
        ],
    )
    .await;
    let emptied = "TRUNCATE agent.\"Big one\" CASCADE";
    let (big, kid, none) = ("It deletes all 12 rows of `Big one`.", "It deletes all 3 rows of `kid`.", "`bare` has no rows.");
    let dropped = "DROP TABLE \"Big one\" CASCADE";
    for (query, told, with_kid) in [(dropped, big, false), (emptied, big, true), ("DROP TABLE bare", none, false)] {
        let asking = asked(&app, &mut client, query).await;
        assert!(words(&asking).contains(told) && words(&asking).contains(kid) == with_kid, "{query}: {asking}");
        decided(&mut client, &asking, "deny").await;
    }
    for (query, more, told) in [
        (emptied, "INSERT INTO agent.kid VALUES (4)", "It deletes all 4 rows of `kid`."),
        ("DROP TABLE IF EXISTS bare", "INSERT INTO agent.bare VALUES (1)", "It deletes 1 row of `bare`."),
    ] {
        let asking = asked(&app, &mut client, query).await;
        meanwhile(&app, more).await;
        let again = asked_again(&mut client, &asking).await;
        assert!(words(&again).contains(told) && words(&again).contains("It cannot be undone"), "{query}: {again}");
        decided(&mut client, &again, "approve").await;
    }
    let left = "SELECT (SELECT count(*) FROM agent.\"Big one\") + (SELECT count(*) FROM agent.kid)
                       + (SELECT count(*) FROM pg_class WHERE relname = 'bare')";
    assert_eq!(app.count(left).await, 0, "each of them happened");
    app.check_replay().await;
}

#[tokio::test]
async fn nobody_is_asked_about_dropping_what_is_not_there() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    let anew = "DROP TABLE IF EXISTS plan, draft CASCADE; CREATE TABLE plan (i int)";
    ran(&app, &mut client, "DROP VIEW IF EXISTS plan").await;
    ran(&app, &mut client, anew).await;
    assert_eq!(app.count("SELECT count(*) FROM pg_class WHERE relname = 'plan'").await, 1);
    let asking = asked(&app, &mut client, anew).await;
    assert!(words(&asking).contains("`plan` has no rows."), "{asking}");
    decided(&mut client, &asking, "approve").await;
    app.check_replay().await;
}

#[tokio::test]
async fn more_rows_than_were_shown_are_asked_about_again_and_fewer_are_not() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(&app, &["CREATE TABLE k (i int)", "INSERT INTO k SELECT generate_series(1, 1900)"]).await;
    let asking = asked(&app, &mut client, "DELETE FROM k WHERE i > 10").await;
    assert!(words(&asking).contains("It deletes 1890 rows of `k`."), "{asking}");
    meanwhile(&app, "INSERT INTO agent.k SELECT generate_series(2001, 2100)").await;
    let again = asked_again(&mut client, &asking).await;
    assert!(words(&again).contains("It deletes 1990 rows of `k`.") && !words(&again).contains("1890"), "{again}");
    meanwhile(&app, "TRUNCATE agent.k; INSERT INTO agent.k SELECT generate_series(1, 1500)").await;
    let frames = decided(&mut client, &again, "approve").await;
    assert_eq!(of_type(&frames, "tool_result")["kept"], 1490, "fewer rows are within the yes");
    assert_eq!(app.count("SELECT count(*) FROM agent.k").await, 10);
    app.check_replay().await;
}
