//! That events are read and written as they always were, and shown to clients as docs/protocol.md
//! says.

use serde_json::{Value, json};

use super::*;

/// Every kind of event as it is stored, a line each; with and without the fields that may be
/// absent.
const STORED: &str = include_str!("stored.jsonl");

fn event(text: &str) -> Event {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn record(event: Event) -> EventRecord {
    EventRecord { conversation: ConversationId(1), sequence: 7, at: DateTime::UNIX_EPOCH, event }
}

/// The frame of an event.
fn shown(event: Value) -> Value {
    let record = record(self::event(&event.to_string()));
    let mut frame = serde_json::to_value(record.frame().expect("a frame")).unwrap();
    assert_eq!(frame.as_object_mut().unwrap().remove("at"), Some(json!(record.at)));
    frame
}

/// The words for the log lines of an event.
fn logged(event: Value) -> Vec<&'static str> {
    self::event(&event.to_string()).log(None).into_iter().map(|line| line.event).collect()
}

#[test]
fn every_kind_of_event_is_read_and_written_as_it_is_stored() {
    for text in STORED.lines() {
        let event = event(text);
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
        assert!(text.starts_with(&format!("{{\"kind\":\"{}\",", event.kind())), "{text}");
    }
    for kind in Event::KINDS {
        assert!(STORED.lines().any(|text| event(text).kind() == *kind), "no `{kind}` is stored");
    }
}

#[test]
fn a_second_model_that_gave_no_judgement_is_shown_as_saying_nothing() {
    let classified = |answered: bool| {
        let strictest = json!({"complexity": "high", "risk": "high", "impact": "systemic", "requires_confirmation": true});
        json!({"kind": "proposal_classified", "turn": 1, "call": 3, "classification": strictest, "answered": answered})
    };
    assert_eq!(shown(classified(true))["impact"], "systemic");
    assert!(record(event(&classified(false).to_string())).frame().is_none());
}

#[test]
fn every_event_of_an_older_version_is_read() {
    for old in [
        json!({"kind": "step_answered", "turn": 1, "step": 2, "number": 1, "model": "m", "finish_reason": "stop", "usage": null,
            "content": "c", "last": true}),
        json!({"kind": "tool_call_proposed", "turn": 1, "step": 2, "call": 3,
            "request": {"id": "a", "name": "n", "arguments": ""}}),
        json!({"kind": "tool_call_ended", "turn": 1, "call": 3, "name": "n", "outcome": {"ok": true, "result": "r"}}),
        json!({"kind": "approval_decided", "turn": 1, "call": 3, "approval": 8, "state": "denied", "channel": "page", "reason": null}),
        json!({"kind": "operation_recorded", "turn": 1, "call": 3, "ordinal": 1, "power": "kv", "class": "T", "request": {},
            "state": "done"}),
        json!({"kind": "tasks_fired", "tasks": [4], "turn": 1}),
        json!({"kind": "capability_installed", "name": "n", "version": 1, "sha256": "ab", "grants": {}}),
    ] {
        assert_eq!(event(&old.to_string()).kind(), old["kind"]);
    }
}

#[test]
fn every_event_changes_tables_that_replay_compares_and_is_about_what_it_says() {
    for text in STORED.lines() {
        let record = record(event(text));
        let changes = record.changes();
        assert!(!changes.is_empty());
        for change in changes {
            assert!(TABLES.contains(&change.table), "{}", change.table.name);
        }
        let said: Value = serde_json::from_str(text).unwrap();
        let About { turn, step: _, call } = record.event.about();
        assert_eq!((json!(turn), json!(call)), (said["turn"].clone(), said["call"].clone()), "{text}");
    }
}

#[test]
fn a_campaign_is_made_with_its_conversation_and_in_older_streams_as_all_were_made() {
    let conversation = |text: &str, sequence: i64| {
        let record = EventRecord { sequence, ..record(event(text)) };
        let rows = record.changes().into_iter().filter(|change| change.table.name == "conversations");
        rows.filter_map(|change| change.row).find(|row| row.contains_key("profile")).map(Value::Object)
    };
    let said = json!({"user_id": 1, "profile": "campaign", "created_at": "2026-11-20T08:00:00Z"});
    let changes: Vec<_> = STORED.lines().filter(|text| event(text).kind() == "campaign_changed").collect();
    let [older, newer] = changes[..] else { panic!("one does not say it, and one does: {changes:?}") };
    assert_eq!(conversation(newer, 7), Some(said.clone()));
    assert_eq!((conversation(older, 1), conversation(older, 7)), (Some(said), None), "the first of a stream makes it");
}

/// True if a model is shown another conversation than before this change.
fn changes_history(change: &Change) -> bool {
    match change.table.name {
        "messages" | "tool_calls" | "steps" | "turns" => true,
        "conversations" => change.row.as_ref().is_none_or(|row| row.contains_key("anew_after")),
        _ => false,
    }
}

#[test]
fn of_the_events_about_no_turn_the_database_knows_those_that_change_the_history() {
    let about_none = STORED.lines().map(|text| record(event(text))).filter(|record| record.event.about().turn.is_none());
    let mut kinds: Vec<_> = about_none
        .filter(|record| record.changes().iter().any(changes_history))
        .map(|record| format!("'{}'", record.event.kind()))
        .collect();
    kinds.dedup();
    // The newest text of the function `standing`.
    let standing = include_str!("../../migrations/20261211000000_know_messages_past_other_events.sql");
    assert!(standing.contains(&format!("e.kind IN ({})", kinds.join(", "))), "{kinds:?}");
}

#[test]
fn the_first_turn_frame_acknowledges_the_message() {
    let queued =
        json!({"kind": "turn_queued", "turn": 3, "message": 9, "client_id": "abc", "origin": "message", "content": "hi"});
    assert_eq!(
        shown(queued),
        json!({"type":"turn","turn":3,"state":"queued","id":"abc","origin":"message","content":"hi","conversation":1,"seq":7})
    );
}

fn proposed(arguments: &str) -> Value {
    json!({"kind": "tool_call_proposed", "turn": 1, "step": 1, "call": 4,
        "request": {"id": "c", "name": "look", "arguments": arguments}})
}

fn ended(ok: bool, verdict: Option<&str>) -> Value {
    let outcome = json!({"ok": ok, "result": "[]"});
    json!({"kind": "tool_call_ended", "turn": 2, "call": 3, "name": "look", "outcome": outcome, "verdict": verdict})
}

#[test]
fn tool_frames_have_the_fields_of_the_requirements() {
    let call = shown(proposed(r#"{"query":"SELECT 1"}"#));
    assert_eq!((&call["type"], &call["arguments"]), (&json!("tool_call"), &json!({"query": "SELECT 1"})));
    let result = shown(ended(true, None));
    assert_eq!((result["type"].as_str(), result["result"].as_str()), (Some("tool_result"), Some("[]")));
}

#[test]
fn arguments_that_are_no_json_are_shown_as_they_came() {
    assert_eq!(shown(proposed("{oops"))["arguments"], "{oops");
}

#[test]
fn a_failed_turn_is_an_error_frame_and_an_aborted_one_is_not() {
    let end = |state: &str| json!({"kind": "turn_ended", "turn": 1, "state": state, "reason": "why", "failure": null});
    assert_eq!(shown(end("failed"))["type"], "error");
    assert_eq!(shown(end("aborted"))["type"], "turn");
}

#[test]
fn a_call_says_in_the_log_what_the_law_had_said_of_it() {
    assert_eq!(logged(ended(true, Some("allow"))), ["decision", "execution_started", "execution_result"]);
    assert_eq!(logged(ended(false, Some("ask"))), ["execution_started", "execution_error"]);
    assert_eq!(logged(ended(false, Some("deny"))), ["decision", "execution_error"]);
    assert_eq!(logged(ended(false, None)), ["execution_error"]);
    // A beginning of its own says all but the outcome.
    let begun = |verdict: &str| json!({"kind": "call_begun", "turn": 2, "call": 3, "name": "look", "verdict": verdict});
    assert_eq!(logged(begun("allow")), ["decision", "execution_started"]);
    assert_eq!(logged(begun("ask")), ["execution_started"]);
    let mut ended = ended(true, Some("allow"));
    ended["outcome"]["account"] = json!({"begun": true});
    assert_eq!(logged(ended), ["execution_result"]);
}

#[test]
fn words_of_the_controller_at_a_limit_are_no_plan() {
    let answered = |model: &str| {
        json!({"kind": "step_answered", "turn": 2, "step": 1, "number": 1, "model": model, "finish_reason": "limit", "content": "c",
            "last": true})
    };
    assert_eq!(logged(answered("level3")), ["limit_exceeded"]);
    assert_eq!(logged(answered("m")), ["model_answered", "planner_output"]);
}

#[test]
fn a_call_that_is_refused_as_it_is_written_stands_in_the_log_as_it_is_written() {
    for arguments in [r#"{"version":0,"document":{"a":1,"a":2}}"#, r#"{"n":12345678901234567890123}"#] {
        let request = json!({"id": "c", "name": "update_global_context", "arguments": arguments});
        let proposed = json!({"kind": "tool_call_proposed", "turn": 2, "step": 1, "call": 3, "request": request});
        let line = event(&proposed.to_string()).log(None).pop().unwrap();
        assert_eq!(line.body["action"]["arguments"], arguments);
    }
}

#[test]
fn a_note_is_shown_behind_the_answer_and_kept_apart_from_it() {
    let answered = json!({"kind": "step_answered", "turn": 2, "step": 1, "number": 1, "model": "m", "finish_reason": "stop",
        "content": "I cannot.", "last": true, "note": "No action was taken."});
    let whole = "I cannot.\n\nNo action was taken.";
    assert_eq!(shown(answered.clone())["content"], whole);
    assert_eq!(event(&answered.to_string()).headline().1, whole);
    assert_eq!(logged(answered.clone()), ["model_answered", "planner_output", "no_action"]);
    // The row of the message is shown to models.
    let rows = record(event(&answered.to_string())).changes().into_iter().filter_map(|change| change.row);
    let contents: Vec<_> = rows.filter_map(|row| row.get("content").cloned()).collect();
    assert_eq!(contents, ["I cannot."]);
}

#[test]
fn the_outcome_of_an_order_stands_in_the_log_of_its_turn() {
    let said = "The task is on the list.";
    let answered = json!({"kind": "step_answered", "turn": 2, "step": 1, "number": 2, "model": "level3",
        "finish_reason": "command", "content": "", "last": true, "note": said});
    assert_eq!(logged(answered.clone()), ["model_answered", "planner_output"]);
    let ends = event(&answered.to_string()).log(None).pop().unwrap();
    assert_eq!((&ends.body["reasoning"], &*ends.words), (&json!(said), said));
}

#[test]
fn an_event_without_words_of_its_own_is_printed_as_it_is_stored() {
    let (heading, text) = event(r#"{"kind":"capability_changed","name":"n","version":1,"enabled":false}"#).headline();
    assert_eq!(
        (&*heading, &*text),
        ("capability_changed", r#"{"enabled":false,"kind":"capability_changed","name":"n","version":1}"#)
    );
}
