//! Tests of `model::tour::contact`.

use super::*;
use crate::domain::ToolSpec;
use crate::model::tour::reply;
use crate::model::{Entry, Request};

fn system(todos: &str) -> Entry {
    let order =
        "You write to one person.\n\nYour objective, from the person who ordered this conversation:\nArrange a viewing.\n\n";
    Entry::System(format!("{order}Your to-dos (id, status, words): \n{todos}\n\nThe state is ACTIVE."))
}

/// The calls for these entries, each as its name and arguments.
fn calls(entries: Vec<Entry>) -> Vec<(String, Value)> {
    let tool = ToolSpec { name: END_CONVERSATION.into(), description: String::new(), parameters: json!({ "type": "object" }) };
    let answer = reply(&Request { entries, tools: vec![tool.into()], ..Request::default() });
    answer.calls.into_iter().map(|call| (call.name, serde_json::from_str(&call.arguments).unwrap())).collect()
}

fn user(words: &str) -> Entry {
    Entry::User(words.into())
}

#[test]
fn it_greets_with_the_objective_and_the_first_todo() {
    let made = calls(vec![
        system("1 [done] Find the number\n2 [pending] Ask for a time"),
        user("[relay] Begin the conversation: write."),
    ]);
    let text = "Hello! I write to you about this: Arrange a viewing. First: Ask for a time";
    assert_eq!(made, [(SEND_MESSAGE.to_owned(), json!({ "text": text }))]);
}

#[test]
fn each_answer_ticks_one_todo_off_and_the_last_one_ends_it() {
    let written = "[relay] The contact has written. Read the end.";
    let names = |made: Vec<(String, Value)>| made.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let first = calls(vec![system("1 [pending] Ask\n2 [in_progress] Confirm"), user(written)]);
    assert_eq!(first[0].1, json!({ "todo_id": 1, "status": "done" }));
    assert_eq!(names(first), [MARK_TODO_ITEM, SEND_MESSAGE]);
    let last = calls(vec![system("1 [done] Ask\n2 [in_progress] Confirm"), user(written)]);
    assert_eq!(last[0].1, json!({ "todo_id": 2, "status": "done" }));
    assert_eq!(names(last), [MARK_TODO_ITEM, SEND_MESSAGE, END_CONVERSATION]);
    assert_eq!(names(calls(vec![system("none"), user(written)])), [SEND_MESSAGE, END_CONVERSATION]);
}

#[test]
fn silence_is_followed_by_a_reminder_and_a_turn_by_nothing() {
    let silent = calls(vec![system("none"), user("[relay] The contact has not answered. Write one.")]);
    assert!(silent[0].1["text"].as_str().unwrap().contains("reminder"), "{silent:?}");
    let call = crate::domain::CallRequest { id: "a".into(), name: SEND_MESSAGE.into(), arguments: "{}".into() };
    let step = Entry::Assistant { content: String::new(), calls: vec![call] };
    let result = Entry::Tool { call_id: "a".into(), content: "ok".into(), refusal: None };
    let after = calls(vec![system("none"), user("[relay] Begin."), step, result]);
    assert_eq!(after, []);
}
