//! A chat as `/api/assistant/chat` gives it: the words of the person and those for the person, and
//! none that were for the model.

use reqwest::Method;
use serde_json::{Value, json};

use super::Talk;
use crate::support::{api, of_type, text};

/// The newest messages: who said each, and the words.
async fn messages(talk: &Talk) -> Vec<Value> {
    let chat = api::ask(&talk.app, Method::GET, "/api/assistant/chat", None).await.1;
    chat["messages"].as_array().unwrap_or_else(|| panic!("{chat}")).clone()
}

fn words(messages: &[Value]) -> Vec<(&str, &str)> {
    messages.iter().map(|said| (said["role"].as_str().unwrap(), said["content"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn a_question_and_the_words_that_decided_it_are_messages_and_a_call_has_a_reason_for_the_person() {
    let mut talk = Talk::start().await;
    talk.create("Milk").await;
    let asked = ("assistant", "Should I create a task called “Milk”?");
    let said = messages(&talk).await;
    assert_eq!(words(&said), [("user", "go on"), ("assistant", ""), asked, ("user", "yes"), ("assistant", "I see.")]);
    let calls = &said[1]["functionCalls"];
    assert_eq!((&calls[0]["name"], &calls[0]["success"], &calls[0]["error"]), (&json!("createTask"), &json!(true), &Value::Null));
    assert!(calls[0]["result"]["message"].as_str().unwrap().contains("Milk"), "{calls}");
    talk.asks("deleteTask", json!({"taskName": "milk", "confirmed": false})).await;
    talk.app.script([text("It stays.")]);
    talk.say("no").await;
    let frames = talk.client.turn().await;
    let ended = of_type(&frames, "tool_result");
    assert_ne!(ended["said"], ended["result"]);
    let said = messages(&talk).await;
    let asked = ("assistant", "Should I delete the task “Milk” with 3 subtasks?");
    assert_eq!(words(&said)[5..], [("user", "go on"), ("assistant", ""), asked, ("user", "no"), ("assistant", "It stays.")]);
    let refused = json!([{"name": "deleteTask", "success": false, "error": ended["said"]}]);
    assert_eq!(said[6]["functionCalls"], refused);
    // Each is where its frame is.
    let last = frames.iter().rfind(|frame| frame["type"] == "assistant").unwrap();
    assert_eq!(said[9]["id"], last["seq"]);
    talk.app.check_replay().await;
}

#[tokio::test]
async fn a_task_that_falls_due_is_told_in_the_words_for_the_person() {
    let mut talk = Talk::start().await;
    talk.create("DueSoon").await;
    let due = json!({"due_at": "2026-11-20T09:00:00Z"});
    assert_eq!(api::ask(&talk.app, Method::PATCH, "/api/tasks/1", Some(due)).await.0, 202);
    talk.app.run_until_idle().await;
    talk.app.script([text("DueSoon is due.")]);
    talk.app.advance(3600);
    let frames = talk.client.until(|frame| frame["content"] == "DueSoon is due.").await;
    let fired = of_type(&frames, "fired")["content"].as_str().unwrap();
    let said = messages(&talk).await;
    let newest = &words(&said)[said.len() - 2..];
    assert_eq!(newest, [("assistant", fired), ("assistant", "DueSoon is due.")]);
    assert!(!json!(said).to_string().contains("[heartbeat]"), "{said:?}");
    talk.app.check_replay().await;
}
