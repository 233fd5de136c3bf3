//! Tests of `http::mcp::words`.

use super::*;
use crate::domain::{ConversationId, ToolCallId, TurnState};
use crate::wire::api::CallResult;

fn report(ok: bool, result: &str) -> TurnReport {
    let call = CallResult { call: ToolCallId(1), tool: "t".into(), ok, result: result.into() };
    let (turn, conversation) = (TurnId(1), ConversationId(1));
    let (reason, approval, behind) = (None, None, None);
    TurnReport { turn, conversation, state: TurnState::Completed, reason, approval, behind, results: vec![call] }
}

#[test]
fn only_an_object_is_given_as_structured_content_too() {
    let structured = |text: &str| outcome(report(true, text), None).structured_content;
    assert_eq!(structured("{\"a\": 1}"), Some(json!({"a": 1})));
    for text in ["[1]", "7", "plain", ""] {
        assert_eq!(structured(text), None, "{text}");
    }
    assert_eq!(outcome(report(false, "{\"a\": 1}"), None).structured_content, None, "a failure has none");
}

#[test]
fn what_a_limit_said_is_told_instead_of_the_call_it_cut_off() {
    let result = outcome(report(false, "Not run: the turn ended first."), Some("I stopped here: limit.".into()));
    assert!(result.is_error == Some(true) && format!("{:?}", result.content).contains("I stopped here"));
}

#[test]
fn a_result_beyond_every_measure_is_cut_in_the_middle() {
    let text = without_middle(format!("a{}z", "é".repeat(MAX_RESULT_BYTES)), MAX_RESULT_BYTES);
    assert!(text.len() < MAX_RESULT_BYTES + 100 && text.starts_with("aé") && text.ends_with("éz"), "{}", text.len());
    assert!(text.contains("bytes left out here"));
}

#[test]
fn a_name_of_a_client_is_one_line_and_is_never_cut_to_that_of_another() {
    let named = |name: Option<&str>| client(name).unwrap();
    assert_eq!(named(Some("  Some\nClient\u{1b} ")), "Some Client");
    assert_eq!(named(Some(&"é".repeat(MAX_CLIENT))), "é".repeat(MAX_CLIENT));
    for nothing in [None, Some(""), Some("\n\t")] {
        assert_eq!(named(nothing), "unnamed");
    }
    let refused = client(Some(&"x".repeat(MAX_CLIENT + 1))).unwrap_err();
    assert!(refused.code == ErrorCode::INVALID_PARAMS && refused.message.contains("81 characters; 80"), "{refused}");
}
