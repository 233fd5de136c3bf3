//! Tests of `model::tour::talk`.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::domain::todo::{BREAKDOWN_PROMPT, Breakdown};
use crate::domain::{CallRequest, ToolSpec};
use crate::model::tour::reply;
use crate::model::{Entry, Request};

const SYSTEM: &str = "You are Lea.\n\nIt is Friday, 2026-11-20T09:30 (Europe/Rome). No timer is running.";

fn request(entries: Vec<Entry>) -> Request {
    let tool = |function: &TodoFunction| ToolSpec {
        name: function.as_str().into(),
        description: String::new(),
        parameters: json!({ "type": "object" }),
    };
    let entries = std::iter::once(Entry::System(SYSTEM.into())).chain(entries).collect();
    Request { entries, tools: TodoFunction::ALL.iter().map(tool).map(Into::into).collect(), ..Request::default() }
}

fn said(words: &str) -> Entry {
    Entry::User(format!("[2026-11-20T08:30:00Z] {words}"))
}

#[test]
fn each_sentence_that_it_says_it_knows_is_a_function_of_its_own() {
    let mut functions = BTreeSet::new();
    for sentence in SENTENCES {
        let answer = reply(&request(vec![said(sentence)]));
        assert_eq!(answer.calls.len(), 1, "{sentence}: {}", answer.content);
        functions.insert(answer.calls[0].name.clone());
    }
    assert_eq!(functions.len(), 20, "{functions:?}");
    let hello = reply(&request(vec![said("good morning")])).content;
    assert!(hello.contains("the built-in tour and play Lea") && SENTENCES.iter().all(|known| hello.contains(known)), "{hello}");
}

#[test]
fn names_numbers_and_times_are_taken_out_of_a_sentence() {
    let call = |sentence: &str| {
        let answer = reply(&request(vec![said(sentence)]));
        serde_json::from_str::<Value>(&answer.calls[0].arguments).unwrap()
    };
    assert_eq!(call("Add prepare the dinner party!"), json!({ "description": "prepare the dinner party", "confirmed": false }));
    assert_eq!(call("add step lay the table to dinner"), json!({ "subtaskName": "lay the table", "taskName": "dinner" }));
    assert_eq!(call("timer 25 minutes for Dinner"), json!({ "minutes": 25, "taskName": "Dinner" }));
    assert_eq!(call("remind me of milk at 18:00"), json!({ "taskName": "milk", "at": "2026-11-20T18:00" }));
    assert_eq!(call("remind me of milk at 09:30"), json!({ "taskName": "milk", "at": "2026-11-21T09:30" }));
    assert_eq!(call("list completed"), json!({ "filter": "completed" }));
    assert_eq!(call("repeat milk never"), json!({ "taskName": "milk", "rule": "never" }));
    assert_eq!(call("Stop repeating the milk."), json!({ "taskName": "the milk", "rule": "none" }));
    assert_eq!(call("tick shop"), json!({ "subtaskName": "shop" }));
}

#[test]
fn it_says_what_the_result_says_and_answers_words_said_into_the_turn() {
    let call = CallRequest { id: "tour_1".into(), name: "createTask".into(), arguments: "{}".into() };
    let result = |content: &str| Entry::Tool { call_id: "tour_1".into(), content: content.into(), refusal: None };
    let refused = |code| Entry::Tool { call_id: "tour_1".into(), content: "In words.".into(), refusal: Some(code) };
    let asked = Entry::Assistant { content: String::new(), calls: vec![call] };
    let mut entries = vec![said("add milk"), asked, result(r#"{"success":true,"message":"Created the task “milk”."}"#)];
    assert_eq!(reply(&request(entries.clone())).content, "Created the task “milk”.");
    for (code, told) in [
        (RefusalCode::Expired, "Nobody answered, so I left it as it is."),
        (RefusalCode::Forbidden, "In words."),
        (RefusalCode::Denied, "All right, I leave it as it is."),
    ] {
        entries[2] = refused(code);
        assert_eq!(reply(&request(entries.clone())).content, told);
    }
    entries.push(Entry::User("[said while you work on this] [2026-11-20T08:31:00Z] add lunch".into()));
    assert_eq!(reply(&request(entries)).calls[0].arguments, r#"{"confirmed":false,"description":"lunch"}"#);
}

#[test]
fn it_breaks_any_task_down() {
    for title in ["milk".to_owned(), "x".repeat(200), "”\\\"".to_owned()] {
        let entries = vec![Entry::System(BREAKDOWN_PROMPT.into()), Entry::User(json!({ "task": title }).to_string())];
        let answer = reply(&Request { entries, ..Request::default() });
        assert_eq!(Breakdown::read(&answer.content).unwrap().subtasks.len(), 4, "{}", answer.content);
    }
}
