//! Questions about parts of a table that lose all their rows, about rows for which there is no
//! room, and an undo that another one or another statement is in the way of.

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Executor;

use crate::support::TestApp;
use crate::support::api::ask;
use crate::undo::{asked, decided, made, ran, words};

async fn undo(app: &TestApp, call: &Value) -> (u16, String) {
    let (status, told) = ask(app, Method::POST, &format!("/api/calls/{call}/undo"), Some(json!({}))).await;
    (status, told.to_string())
}

#[tokio::test]
async fn a_partition_or_an_heir_that_is_emptied_is_asked_about_though_others_keep_their_rows() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(
        &app,
        &[
            "CREATE TABLE base (a int)",
            "INSERT INTO base VALUES (0)",
            "CREATE TABLE kid (b text) INHERITS (base)",
            "INSERT INTO kid SELECT n, 'precious' FROM generate_series(1, 900) n",
            "CREATE TABLE log (n int) PARTITION BY LIST (n)",
            "CREATE TABLE log_1 PARTITION OF log FOR VALUES IN (1)",
            "CREATE TABLE log_2 PARTITION OF log FOR VALUES IN (2)",
            "INSERT INTO log VALUES (1), (1), (2), (2)",
        ],
    )
    .await;
    for (query, what) in [
        ("DELETE FROM kid", "It deletes all 900 rows of `kid`."),
        ("UPDATE kid SET b = 'gone'", "It overwrites all 900 rows of `kid`."),
        ("DELETE FROM log_1", "It deletes all 2 rows of `log_1`."),
        ("DELETE FROM log WHERE n = 2", "It deletes all 2 rows of `log_2`."),
    ] {
        let asking = asked(&app, &mut client, query).await;
        assert!(words(&asking).contains(what), "{query}: {asking}");
        decided(&mut client, &asking, "deny").await;
    }
    ran(&app, &mut client, "DELETE FROM kid WHERE a > 1").await;
    app.check_replay().await;
}

#[tokio::test]
async fn rows_for_which_there_is_no_room_are_said_to_have_none() {
    let app = TestApp::with(&[("LEVEL3_UNDO_QUOTA", "1MiB")]).await;
    let mut client = app.connect().await;
    made(
        &app,
        &[
            "CREATE TABLE wide (id int PRIMARY KEY, b text)",
            "INSERT INTO wide SELECT n, repeat(md5(n::text), 100) FROM generate_series(1, 950) n",
        ],
    )
    .await;
    let asking = asked(&app, &mut client, "DELETE FROM wide WHERE id <= 900").await;
    let told = words(&asking);
    assert!(told.contains("keeping what it loses takes about") && told.contains("there is room for 1025 KiB"), "{told}");
    decided(&mut client, &asking, "deny").await;
}

#[tokio::test]
async fn rows_without_columns_cannot_be_put_back_and_are_asked_about() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(&app, &["CREATE TABLE bare ()", "INSERT INTO bare SELECT FROM generate_series(1, 3)"]).await;
    let asking = asked(&app, &mut client, "DELETE FROM bare WHERE ctid = '(0,1)'").await;
    assert!(words(&asking).contains("It cannot be undone"), "{asking}");
    let frames = decided(&mut client, &asking, "approve").await;
    let result = frames.iter().find(|frame| frame["type"] == "tool_result").unwrap();
    let (status, told) = undo(&app, &result["call"]).await;
    assert!(status == 409 && told.contains("nothing is kept of call"), "{told}");
}

#[tokio::test]
async fn an_undo_that_comes_twice_or_meets_a_lock_says_so() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(&app, &["CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t SELECT generate_series(1, 5)"]).await;
    let result = ran(&app, &mut client, "DELETE FROM t WHERE id < 3").await;
    let mut holder = app.behind().await;
    holder.execute("BEGIN; LOCK TABLE agent.t").await.unwrap();
    let (status, told) = undo(&app, &result["call"]).await;
    assert!(status == 409 && told.contains("another statement is at work on the same rows"), "{status} {told}");
    holder.execute("ROLLBACK").await.unwrap();
    let mut all = futures::future::join_all((0..3).map(|_| undo(&app, &result["call"]))).await;
    all.sort_unstable_by_key(|(status, _)| *status);
    assert_eq!(all.iter().map(|(status, _)| *status).collect::<Vec<_>>(), [200, 409, 409], "{all:?}");
    assert!(all[1..].iter().all(|(_, told)| told.contains("was undone already")), "{all:?}");
    assert_eq!(app.count("SELECT count(*) FROM agent.t").await, 5);
    app.check_replay().await;
}
