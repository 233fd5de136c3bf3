//! That frames are read and written as docs/api.md says.

use super::*;
use crate::domain::{CallRequest, StepId};

fn record(event: Event) -> EventRecord {
    EventRecord { conversation: ConversationId(1), sequence: 7, at: chrono::DateTime::UNIX_EPOCH, event }
}

fn shown(event: Event) -> Value {
    serde_json::to_value(frame_of(&record(event)).expect("a frame")).unwrap()
}

#[test]
fn the_first_turn_frame_acknowledges_the_message() {
    let event = Event::TurnQueued {
        turn: TurnId(3),
        message: crate::domain::MessageId(9),
        client_id: Some("abc".into()),
        origin: Origin::Message,
        content: "hi".into(),
        moved: None,
        images: Vec::new(),
    };
    assert_eq!(
        shown(event),
        json!({"type":"turn","turn":3,"state":"queued","id":"abc","origin":"message","content":"hi","conversation":1,"seq":7})
    );
}

#[test]
fn tool_frames_have_the_fields_of_the_requirements() {
    let request = CallRequest { id: "c".into(), name: "execute_sql".into(), arguments: r#"{"query":"SELECT 1"}"#.into() };
    let call = shown(Event::ToolCallProposed { turn: TurnId(1), step: StepId(1), call: ToolCallId(4), request, position: 0 });
    assert_eq!(call["type"], "tool_call");
    assert_eq!(call["arguments"], json!({"query":"SELECT 1"}));
    let outcome = Outcome::ok("[]");
    let (turn, call, name) = (TurnId(1), ToolCallId(4), "execute_sql".to_owned());
    let result = shown(Event::ToolCallEnded { turn, call, name, outcome, verdict: None, approval: None, kept: None });
    assert_eq!((result["type"].as_str(), result["result"].as_str()), (Some("tool_result"), Some("[]")));
}

#[test]
fn arguments_that_are_no_json_are_shown_as_they_came() {
    let request = CallRequest { id: "c".into(), name: "x".into(), arguments: "{oops".into() };
    let call = shown(Event::ToolCallProposed { turn: TurnId(1), step: StepId(1), call: ToolCallId(4), request, position: 0 });
    assert_eq!(call["arguments"], "{oops");
}

#[test]
fn a_failed_turn_is_an_error_frame_and_an_aborted_one_is_not() {
    let end = |state| Event::TurnEnded { turn: TurnId(1), state, reason: Some("why".into()), failure: None, retry_after: None };
    assert_eq!(shown(end(TurnState::Failed))["type"], "error");
    assert_eq!(shown(end(TurnState::Aborted))["type"], "turn");
}

#[test]
fn a_frame_with_only_type_and_content_is_a_message() {
    let frame: ClientFrame = serde_json::from_str(r#"{"type":"message","content":"hi"}"#).unwrap();
    assert_eq!(
        frame,
        ClientFrame::Message {
            content: "hi".into(),
            id: None,
            conversation: None,
            profile: None,
            steer: false,
            images: Vec::new()
        }
    );
}
