//! That frames are read as docs/protocol.md says.

use super::*;

#[test]
fn a_frame_is_an_object() {
    for other in [r#"["message","hi"]"#, r#""message""#, "7", "null", ""] {
        assert!(ClientFrame::read(other).unwrap_err().to_string().contains("no object"), "{other}");
    }
}

#[test]
fn what_is_no_frame_keeps_its_id() {
    for wrong in [
        r#"{"type":"message","id":"m1","content":5}"#,
        r#"{"type":"message","content":"hi","id":"m1","conversation":"5"}"#,
        r#"{"type":"message","content":"hi","id":"m1","images":[{}]}"#,
        r#"{"type":"message","content":"hi","id":"m1","steer":1}"#,
        r#"{"type":"dance","id":"m1"}"#,
    ] {
        assert_eq!(ClientFrame::read(wrong).unwrap_err().id.as_deref(), Some("m1"), "{wrong}");
    }
    for nameless in [r#"{"type":"message","id":5}"#, r#"{"type":"message"}"#, r#"{"id":"m1""#, r#"["m1"]"#] {
        assert_eq!(ClientFrame::read(nameless).unwrap_err().id, None, "{nameless}");
    }
}

#[test]
fn what_is_no_frame_is_told_with_its_field_and_what_is_expected() {
    let types = "it is one of: message, stop, approve, deny, resume, present";
    for (wrong, told) in [
        (r#"{"type":"message","content":5}"#.to_owned(), "`content`: expected a text, not 5".to_owned()),
        (r#"{"type":"message"}"#.to_owned(), "missing field `content`".to_owned()),
        (
            r#"{"type":"message","content":"hi","id":"m1","conversation":"5"}"#.to_owned(),
            "`conversation`: expected a whole number, not the text \"5\"".to_owned(),
        ),
        (r#"{"type":"message","content":"hi","images":[{}]}"#.to_owned(), "`images`: missing field `media_type`".to_owned()),
        (r#"{"type":"approve","approval":1,"always":"yes"}"#.to_owned(), "`always`: expected true or false".to_owned()),
        (r#"{"content":"hi"}"#.to_owned(), format!("`type` is missing; {types}")),
        (r#"{"type":"dance"}"#.to_owned(), format!("`type` is \"dance\"; {types}")),
        (r#"{"type":"#.to_owned(), "it is no JSON".to_owned()),
    ] {
        let said = ClientFrame::read(&wrong).unwrap_err().to_string();
        assert!(said.contains(&told) && !said.contains(" at line ") && !said.contains("variant"), "{wrong}: {said}");
    }
    let long = format!(r#"{{"type":"stop","conversation":"{}"}}"#, "x".repeat(10_000));
    assert!(ClientFrame::read(&long).unwrap_err().to_string().len() < 500, "a long value is not repeated");
}

#[test]
fn half_a_character_is_marked() {
    let frame = ClientFrame::read(r#"{"type":"message","content":"a\ud800","id":"m1"}"#).unwrap();
    assert!(matches!(frame, ClientFrame::Message { content, .. } if content == "a\u{fffd}"));
}

#[test]
fn a_frame_with_only_type_and_content_is_a_message() {
    let frame = ClientFrame::read(r#" {"type":"message","content":"hi"}"#).unwrap();
    assert_eq!(
        frame,
        ClientFrame::Message {
            content: "hi".into(),
            id: None,
            conversation: None,
            profile: None,
            steer: false,
            images: Vec::new(),
            call: None,
        }
    );
}

#[test]
fn the_answers_of_the_api_have_their_keys_in_the_order_of_the_alphabet() {
    let removed = api::RemovedUser { conversations: 2, removed: "ada".to_owned() };
    assert_eq!(serde_json::to_string(&removed).unwrap(), r#"{"conversations":2,"removed":"ada"}"#);
    assert_eq!(serde_json::to_string(&api::RemovedWebhook {}).unwrap(), "{}");
    assert_eq!(serde_json::to_string(&api::RevokedTokens { revoked: 3 }).unwrap(), r#"{"revoked":3}"#);
}

#[test]
fn a_test_of_a_capability_that_expects_null_says_so_to_the_command_line_as_well() {
    let text = r#"{"expected":null,"ok":false,"params":{},"result":"1"}"#;
    let tested: api::TestedCase = serde_json::from_str(text).unwrap();
    assert_eq!(tested.expected, Some(Value::Null));
    assert_eq!(serde_json::to_string(&tested).unwrap(), text);
}

#[test]
fn the_pace_in_force_is_the_pace_and_nothing_around_it() {
    let pace = crate::domain::relay::Pace::default();
    let bare = serde_json::to_string(&pace).unwrap();
    assert_eq!(serde_json::to_string(&api::PaceInForce { pace }).unwrap(), bare);
}
