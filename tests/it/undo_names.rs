//! Kept rows go back into the table and the columns that they came from, not into others that have
//! their names now.

use reqwest::Method;
use serde_json::json;

use crate::support::TestApp;
use crate::support::api::ask;
use crate::undo::{made, ran};

#[tokio::test]
async fn a_name_that_passed_to_another_table_or_column_gets_nothing_back() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(
        &app,
        &[
            "CREATE TABLE s1 (id int PRIMARY KEY, a text, b text)",
            "INSERT INTO s1 VALUES (1, 'a', 'b'), (2, 'a', 'b')",
            "CREATE TABLE s2 (id int PRIMARY KEY, a text, b text)",
            "INSERT INTO s2 VALUES (7, 'x', 'y')",
        ],
    )
    .await;
    let lost = ran(&app, &mut client, "DELETE FROM s1 WHERE id = 1").await;
    let path = format!("/api/calls/{}/undo", lost["call"]);
    let swap = "ALTER TABLE s1 RENAME TO s3; ALTER TABLE s2 RENAME TO s1; ALTER TABLE s3 RENAME TO s2";
    let exchange = "ALTER TABLE s1 RENAME a TO c; ALTER TABLE s1 RENAME b TO a; ALTER TABLE s1 RENAME c TO b";
    for (change, told) in [(swap, "`s1` is another table now"), (exchange, "`a` of `s1` is another column now")] {
        made(&app, &change.split("; ").collect::<Vec<_>>()).await;
        let (status, answer) = ask(&app, Method::POST, &path, Some(json!({}))).await;
        assert!(status == 409 && answer["error"].as_str().unwrap().contains(told), "{answer}");
        assert_eq!(app.count("SELECT count(*) FROM agent.s1").await + app.count("SELECT count(*) FROM agent.s2").await, 2);
        made(&app, &change.split("; ").collect::<Vec<_>>()).await;
    }
    // Rows that were kept in another database go by names: a restore numbers all anew.
    let elsewhere = "WITH kept AS (UPDATE kept_tables SET home = 'elsewhere' RETURNING 1) SELECT count(*) FROM kept";
    assert_eq!(app.count(elsewhere).await, 1);
    made(&app, &swap.split("; ").collect::<Vec<_>>()).await;
    assert_eq!(ask(&app, Method::POST, &path, Some(json!({}))).await.0, 200);
}
