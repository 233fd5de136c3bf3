//! A campaign has 200 tasks at most, whoever asks for one more.

use reqwest::Method;
use serde_json::{Value, json};

use super::Desk;
use crate::support::call;

const TASKS: &str = "SELECT count(*) FROM campaign_tasks";

/// So many tasks, each with a note of its own.
fn tasks(count: usize) -> Value {
    let wants = |n: usize| json!([{"kind": "artifact_exists", "type": "heuristic", "key": format!("note-{n}")}]);
    (1..=count).map(|n| json!({"description": format!("Keep note {n}"), "requires": wants(n)})).collect()
}

#[tokio::test]
async fn campaign_takes_no_201st_task_from_a_person_or_a_model() {
    let desk = Desk::start(tasks(200)).await;
    let (status, refused) = desk.ask(Method::POST, "", Some(json!({"name": "More", "tasks": tasks(201)}))).await;
    assert_eq!(status, 400, "{refused}");
    assert!(refused["error"].as_str().unwrap().contains("tasks: has 201; a campaign has at most 200"), "{refused}");
    let (status, refused) = desk.ask(Method::POST, "/1/tasks", Some(json!({"description": "One more"}))).await;
    assert_eq!((status, &refused["error"]), (409, &json!("a campaign has at most 200 tasks")), "{refused}");

    let more = json!({"why": "More is needed.", "description": "One more"});
    desk.app.script([call("create_task", more), call("no_op", json!({"task": 1, "why": "enough"}))]);
    desk.present().await;
    desk.app.run_until_idle().await;
    let told = desk.get("/1/log?log=audit&kind=answer%20refused").await.to_string();
    assert!(told.contains("the campaign has 200 tasks, which is the most"), "{told}");
    assert_eq!(desk.app.count("SELECT count(*) FROM approvals").await, 0, "nobody is asked about it");
    assert_eq!((desk.app.count(TASKS).await, desk.app.count("SELECT count(*) FROM campaigns").await), (200, 1));
    desk.check().await;
}

#[tokio::test]
async fn campaign_log_is_asked_for_one_line_at_least() {
    let desk = Desk::start(json!([{"description": "Keep a note"}])).await;
    for limit in ["0", "-1", "10001"] {
        let (status, refused) = desk.ask(Method::GET, &format!("/1/log?log=events&limit={limit}"), None).await;
        let told = refused["error"].as_str().unwrap();
        assert!(status == 400 && told.contains("a number from 1 to 10000"), "{limit}: {refused}");
    }
    assert_eq!(desk.get("/1/log?log=events&limit=1").await.as_array().map(Vec::len), Some(1));
    desk.check().await;
}
