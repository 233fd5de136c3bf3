//! The tour: the real thing, end to end, with no key and no network.

use serde_json::json;

use crate::support::{TestApp, of_type};

#[tokio::test]
async fn the_tour_builds_a_capability_uses_it_and_says_what_came_of_it() {
    let app = TestApp::tour().await;
    let mut client = app.connect().await;
    assert_eq!(client.hello["model"]["kind"], "tour");
    let frames = client.ask("hello").await;
    assert!(of_type(&frames, "assistant")["content"].as_str().unwrap().contains("not a language model"));
    let frames = client.ask("build a capability").await;
    assert_eq!(of_type(&frames, "capability")["version"], 1);
    let results: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_result").collect();
    assert!(results.len() >= 2 && results.iter().all(|frame| frame["ok"] == true), "{results:#?}");
    let frames = client.ask("some sql please").await;
    assert_eq!(of_type(&frames, "tool_result")["ok"], true);
}

#[tokio::test]
async fn the_tour_makes_a_task_and_the_heartbeat_fires_it() {
    let app = TestApp::tour().await;
    let mut client = app.connect().await;
    let frames = client.ask("make a task").await;
    assert_eq!(of_type(&frames, "task")["task"]["status"], "pending");
    app.advance(60);
    let frames = client.turn().await;
    assert_eq!(frames[0]["origin"], "task");
    assert_eq!(of_type(&frames, "task")["task"]["status"], json!("done"));
}
