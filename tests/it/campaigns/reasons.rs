//! The reason for which a campaign waits, and the needs of a task before it begins or is done: a
//! person reads both in words.

use level3::domain::CallRequest;
use level3::model::ModelErrorKind;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, note, two_tasks};
use crate::support::api::level3;
use crate::support::{Reply, TestApp, call, text};

const NO_KEY: &str = "The model gave no answer: it wants a key (401): set LLM_API_KEY";

fn wants_a_key() -> Reply {
    Reply::Fail(ModelErrorKind::Unauthorized, "it wants a key (401): set LLM_API_KEY".to_owned())
}

fn finish() -> Option<Value> {
    Some(json!({"deed": "finish"}))
}

#[tokio::test]
async fn campaign_whose_model_gives_no_answer_says_so_in_list_show_cycle_and_audit() {
    let desk = Desk::start(two_tasks()).await;
    desk.app.script([wants_a_key()]);
    desk.present().await;
    desk.app.run_until_idle().await;
    // A sign of presence changes nothing of that.
    desk.present().await;
    for found in [desk.get("/1").await["campaign"].clone(), desk.get("").await["campaigns"][0].clone()] {
        assert!(found["waits_for"].as_str().unwrap().starts_with(NO_KEY), "{found}");
    }
    for ask in [&["campaign", "list"][..], &["campaign", "show", "1"]] {
        let ran = level3(&desk.app, ask).await;
        assert!(ran.out.contains(NO_KEY), "{ran:?}");
    }
    let audit = desk.get("/1/log?log=audit&kind=no%20answer").await;
    assert_eq!((audit.as_array().unwrap().len(), &audit[0]["payload"]["why"]), (1, &json!(NO_KEY)), "{audit}");
    desk.check().await;

    assert_eq!(desk.ask(Method::POST, "/1/pause", None).await.0, 200);
    let rested = async |reply: Reply| {
        desk.app.script([reply]);
        assert_eq!(desk.ask(Method::POST, "/1/cycle", None).await.0, 200);
        desk.app.run_until_idle().await;
        desk.get("/1").await["campaign"]["reason"].as_str().unwrap().to_owned()
    };
    let reason = rested(wants_a_key()).await;
    assert_eq!(reason, format!("paused again: it did the one cycle that a person asked for. {NO_KEY}"));
    let reason = rested(call("no_op", json!({"task": 1, "why": "enough"}))).await;
    assert_eq!(reason, "paused again: it did the one cycle that a person asked for");
    desk.check().await;
}

#[tokio::test]
async fn campaign_approval_that_waits_is_named_wherever_it_is_said_what_a_campaign_waits_for() {
    let desk = Desk::start(two_tasks()).await;
    desk.app.script([call("persist_artifact", note())]);
    desk.present().await;
    let approval = desk.asked().await;
    let words = format!("approval {} (persist_artifact) waits for your decision", approval["id"]);
    for found in [desk.get("/1").await["campaign"].clone(), desk.get("").await["campaigns"][0].clone()] {
        assert!(found["waits_for"].as_str().is_some_and(|why| why.starts_with(&words)), "{found}");
    }
    for ask in [&["campaign", "list"][..], &["campaign", "show", "1"]] {
        let ran = level3(&desk.app, ask).await;
        assert!(ran.out.contains(&words), "{ran:?}");
    }
    desk.app.script([call("request_user_input", json!({"task": 2, "question": "tone", "text": "Formal?"}))]);
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    let shown = desk.get("/1").await;
    assert!(shown["campaign"]["waits_for"].as_str().unwrap().starts_with("task 2: the question tone waits"), "{shown}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_answers_have_the_schema_exactly_and_a_new_task_is_shown_with_its_conditions_in_words() {
    let desk = Desk::start(two_tasks()).await;
    let new = |requires: Value| {
        let begins = json!([{"kind": "task_done", "task": 1}]);
        call("create_task", json!({"why": "More", "description": "Another", "preconditions": begins, "requires": requires}))
    };
    let arguments = r#"{"task": 1, "task": 2, "why": "x"}"#.to_owned();
    let twice = CallRequest { id: "call_0".to_owned(), name: "no_op".to_owned(), arguments };
    desk.app.script([
        new(json!([["task_done", 2]])),
        Reply::Answer(String::new(), vec![twice]),
        new(json!([{"kind": "user_answered", "question": "tone"}, {"kind": "task_done", "task": 2}])),
    ]);
    desk.present().await;
    let approval = desk.asked().await;
    let refused = desk.get("/1/log?log=events&kind=proposal_refused").await.to_string();
    for words in ["requires[0]: expected an object, not a list", "the field `task` stands twice"] {
        assert!(refused.contains(words), "{words}: {refused}");
    }
    let shown = approval["shown"]["what"].to_string();
    for words in
        ["It begins when task 1 is done.", "It counts as done when the person has answered tone and when task 2 is done."]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    desk.decide(&approval, "deny").await;
    desk.app.run_until_idle().await;
    for (task, told) in [
        (json!({"description": "d", "requires": [["task_done", 1]]}), "requires[0]: expected an object, not a list"),
        (json!({"description": "d", "needs": [["context"]]}), "needs[0]: expected an object, not a list"),
    ] {
        let (status, refused) = desk.ask(Method::POST, "/1/tasks", Some(task)).await;
        assert!(status == 400 && refused["error"].as_str().unwrap().contains(told), "{refused}");
    }
    let (status, refused) = desk.ask(Method::POST, "", Some(json!({"name": "x", "tasks": [["d"]]}))).await;
    assert!(
        status == 400 && refused["error"].as_str().unwrap().contains("`tasks`: task 1: expected an object, not a list"),
        "{refused}"
    );
    desk.check().await;
}

#[tokio::test]
async fn campaign_task_is_finished_by_a_person_only_once_its_preconditions_hold() {
    let begins = json!([{"kind": "task_done", "nth": 1}]);
    let desk = Desk::start(json!([{"description": "One"}, {"description": "Two", "preconditions": begins}])).await;
    let (status, refused) = desk.ask(Method::POST, "/1/tasks/2", finish()).await;
    assert_eq!(
        (status, &refused["error"]),
        (409, &json!("task 2 cannot be finished yet: it begins when task 1 is done")),
        "{refused}"
    );
    let second = desk.get("/1").await["tasks"][1].clone();
    assert_eq!(second["begins_when"], json!([{"words": "task 1 is done", "holds": false}]), "{second}");
    assert_eq!((&second["status"], &second["hindrance"]), (&json!("pending"), &json!("it begins when task 1 is done")));
    let ran = level3(&desk.app, &["campaign", "show", "1"]).await;
    assert!(ran.out.contains("BEGINS WHEN") && ran.out.contains("task 1 is done"), "{ran:?}");
    assert_eq!(desk.ask(Method::POST, "/1/tasks/1", finish()).await.0, 200);
    assert_eq!(desk.get("/1").await["tasks"][1]["begins_when"][0]["holds"], true);
    assert_eq!(desk.ask(Method::POST, "/1/tasks/2", finish()).await.0, 200);
    desk.check().await;
}

#[tokio::test]
async fn campaign_that_needs_a_tool_that_there_is_not_does_not_start() {
    let desk = Desk { app: TestApp::start().await };
    let requires = json!([{"kind": "tool_succeeded", "tool": "nope"}]);
    let more = json!([{"kind": "tool_succeeded", "tool": "score_leads"}]);
    let tasks = json!([{"description": "One", "requires": requires}, {"description": "Two", "requires": more}]);
    assert_eq!(desk.ask(Method::POST, "", Some(json!({"name": "Outreach", "tasks": tasks}))).await.0, 200);
    desk.app.script([text("ready"), text("ready")]);
    let (status, refused) = desk.ask(Method::POST, "/1/start", None).await;
    let told = refused["error"].as_str().unwrap();
    let fault = "task 1 needs that nope has succeeded, which is no tool of a campaign and no installed capability";
    assert!(status == 409 && told.contains(fault) && !told.contains("score_leads"), "{told}");
    let block = json!({"deed": "block", "reason": "There is no such tool."});
    assert_eq!(desk.ask(Method::POST, "/1/tasks/1", Some(block)).await.0, 200);
    assert_eq!(desk.ask(Method::POST, "/1/start", None).await.0, 200);
    desk.check().await;
}
