//! Installed capabilities of campaigns: called where a person named them, and nowhere else.

use level3::model::Entry;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, two_tasks};
use crate::support::{Reply, TestApp, call, text};

impl Desk {
    /// The snapshot of the newest request.
    pub(super) fn snapshot(&self) -> String {
        let requests = self.app.script.requests();
        let entries = requests.last().expect("a request").entries.iter();
        let words = entries.rev().find_map(|entry| if let Entry::User(words) = entry { Some(words.clone()) } else { None });
        words.expect("a snapshot")
    }
}

/// A server on which the capability `double` is installed.
async fn with_double() -> TestApp {
    let app = TestApp::start().await;
    let written = json!({
        "name": "double",
        "description": "Doubles a number.",
        "code": "export default async function double(params) { return params.n * 2 }",
        "parameters_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        "tests": [{"params": {"n": 2}, "expect": 4}],
    });
    app.script([call("write_capability", written), text("It is there.")]);
    app.connect().await.ask("write a capability that doubles").await;
    app
}

fn runs(tool: &str, n: Value) -> Reply {
    call("execute_tool", json!({"task": 1, "tool": tool, "arguments": {"n": n}}))
}

#[tokio::test]
async fn campaign_calls_a_capability_that_the_environment_names_and_its_result_is_shown() {
    let app = with_double().await;
    let tasks = json!([
        {"description": "Double it", "requires": [{"kind": "tool_succeeded", "tool": "double", "arguments": {"n": 21}}]},
        {"description": "Keep it", "preconditions": [{"kind": "task_done", "nth": 1}],
         "requires": [{"kind": "artifact_exists", "type": "heuristic", "key": "note"}]},
    ]);
    let desk = Desk::start_on(app, tasks).await;
    desk.keep("environment", "environment", r#"{"capabilities": ["double"]}"#).await;
    desk.app.script([runs("double", json!("two")), runs("double", json!(21))]);
    desk.present().await;
    let approval = desk.asked().await;
    let shown = approval["shown"]["what"].to_string();
    for words in ["Runs double with", "the capability `double`, version 1", "It reaches nothing outside its sandbox."] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(approval["shown"]["can_always"], json!(false), "{approval}");
    assert_eq!(desk.app.count("SELECT count(*) FROM events WHERE kind = 'proposal_refused'").await, 1, "`two` is no integer");
    assert!(desk.snapshot().contains("\ndouble Doubles a number.; its arguments have the schema {"), "{}", desk.snapshot());
    desk.app.script([call("persist_artifact", json!({"task": 2, "type": "heuristic", "key": "note", "content": "42"}))]);
    desk.decide(&approval, "approve").await;
    let approval = desk.asked().await;
    let shown = desk.snapshot();
    assert!(shown.contains("The capability double version 1 did its work; its result has 2 bytes: 42"), "{shown}");
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    let shown = desk.get("/1").await;
    assert_eq!(shown["campaign"]["status"], "completed", "{shown}");
    assert_eq!(shown["tasks"][0]["metadata"]["evidence"][0]["calls"].as_array().map(Vec::len), Some(1), "{shown}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_capabilities_that_are_not_named_or_not_installed_are_refused_before_anybody_is_asked() {
    let desk = Desk::start_on(with_double().await, two_tasks()).await;
    let named = r#"{"capabilities": ["triple"]}"#;
    desk.keep("environment", "environment", named).await;
    desk.app.script([runs("double", json!(21)), runs("triple", json!(21)), runs("double", json!(21))]);
    desk.present().await;
    desk.app.run_until_idle().await;
    let refused = desk.get("/1/log?log=events&kind=proposal_refused").await.to_string();
    for words in ["`double` is no tool of a campaign", "the capability triple is not installed"] {
        assert!(refused.contains(words), "{words}: {refused}");
    }
    assert_eq!(desk.app.count("SELECT count(*) FROM approvals").await, 0);
    assert!(!desk.snapshot().contains("\ndouble ") && !desk.snapshot().contains("\ntriple "), "{}", desk.snapshot());

    assert_eq!(desk.ask(Method::POST, "", Some(json!({"name": "Second", "tasks": two_tasks()}))).await.0, 200);
    let keep = json!({"type": "environment", "key": "environment", "content": named});
    assert_eq!(desk.ask(Method::POST, "/2/artifacts", Some(keep)).await.0, 200);
    desk.app.script([text("ready")]);
    let (status, refused) = desk.ask(Method::POST, "/2/start", None).await;
    let told = refused["error"].as_str().unwrap();
    assert!(status == 409 && told.contains("the capability triple, which is not installed"), "{refused}");
    desk.check().await;
}
