//! No code reads English: the stories of grants, corrections and heartbeats end as they should if
//! every refusal and every heartbeat has other words.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{TestApp, call, of_type, text};

const REWORDED: &str = "LEVEL3_TEST_REWORDED";

/// Rewords every refusal and heartbeat of this process, if it is the process for that.
fn in_other_words() -> bool {
    let other = std::env::var_os(REWORDED).is_some();
    if other {
        level3::domain::reword();
    }
    other
}

#[test]
fn the_stories_below_end_as_they_do_when_every_sentence_is_another() {
    // The stories run in a process of their own: all its words for models change at once.
    let stories = Command::new(std::env::current_exe().unwrap())
        .args(["reworded::told_", "--test-threads=2"])
        .env(REWORDED, "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&stories.stdout);
    assert!(stories.status.success() && told.contains("4 passed"), "{told}\n{}", String::from_utf8_lossy(&stories.stderr));
}

#[tokio::test]
async fn told_grants_are_asked_for_in_the_authors_place() {
    let other = in_other_words();
    let app = TestApp::start().await;
    let fetch = |url: &str| {
        json!({
            "name": "look", "description": "d", "code": format!("export default async () => (await fetch('{url}')).status"),
            "parameters_schema": {"type": "object", "properties": {}},
        })
    };
    let mut client = app.connect().await;
    app.script([call("write_capability", fetch("https://api.example.com/x")), text("I see.")]);
    client.say("write it").await;
    let asking = client.asked().await;
    assert_eq!(asking["capability"]["grants"]["http"]["hosts"], json!(["api.example.com"]));
    client.deny(&asking).await;
    let frames = client.turn().await;
    let refused = of_type(&frames, "tool_result")["result"].as_str().unwrap().to_owned();
    assert_eq!(refused.contains("The user refused this."), !other, "{refused}");
}

#[tokio::test]
async fn told_corrections_are_insisted_on_and_refusals_of_a_person_are_not() {
    in_other_words();
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    app.script([
        call("execute_sql", json!({"query": "SELECT nothing_like_it"})),
        call("execute_sql", json!({"query": "SELECT 2"})),
        text("2"),
    ]);
    client.ask("go").await;
    let wanted: Vec<_> = app.script.requests().iter().map(|request| request.must_call).collect();
    assert_eq!(wanted, [false, true, false]);
    app.script([call("execute_sql", json!({"query": "CREATE TABLE t (n int); DROP TABLE t"})), text("Then not.")]);
    client.say("drop it").await;
    let asking = client.asked().await;
    client.deny(&asking).await;
    client.turn().await;
    assert!(!app.script.requests().last().unwrap().must_call, "who was refused may talk");
}

#[tokio::test]
async fn told_heartbeats_are_known_by_what_began_the_turn() {
    let other = in_other_words();
    let app = TestApp::tour().await;
    let mut client = app.connect().await;
    client.ask("make a task").await;
    app.advance(60);
    let frames = client.turn().await;
    let task: &Value = &of_type(&frames, "task")["task"];
    assert_eq!((&frames[0]["origin"], &task["status"]), (&json!("task"), &json!("done")));
    let input = frames[0]["content"].as_str().unwrap();
    assert_eq!(input.contains("These tasks are due."), !other, "{input}");
}

#[tokio::test]
async fn told_a_no_is_known_by_its_kind_to_the_model_that_is_code() {
    in_other_words();
    let app = TestApp::tour().await;
    let mut client = app.connect().await;
    client.send(json!({"type": "message", "content": "add buy milk", "profile": "lea"})).await;
    let asking = client.asked().await;
    client.deny(&asking).await;
    assert_eq!(of_type(&client.turn().await, "assistant")["content"], "All right, I leave it as it is.");
    assert_eq!(app.count("SELECT count(*) FROM tasks").await, 0);
}
