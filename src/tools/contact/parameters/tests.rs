//! Tests of what a model may write.

use serde_json::json;

use super::*;

fn delay(written: Value) -> Option<i32> {
    ScheduleNextHeartbeat { delay: written }.seconds().ok()
}

#[test]
fn a_delay_is_a_minute_to_thirty_days() {
    for (written, seconds) in [
        (json!("45m"), 2_700),
        (json!(" 2 hours "), 7_200),
        (json!("3d"), 259_200),
        (json!("60s"), 60),
        (json!(30), 1_800),
        (json!("30"), 1_800),
        (json!("30d"), 2_592_000),
    ] {
        assert_eq!(delay(written.clone()), Some(seconds), "{written}");
    }
    for wrong in
        [json!("59s"), json!("31d"), json!("soon"), json!("-5m"), json!(0), json!(null), json!("99999999999999d"), json!("1w")]
    {
        assert_eq!(delay(wrong.clone()), None, "{wrong}");
    }
}

#[test]
fn a_message_has_words_and_not_too_many() {
    let sent = |text: &str| SendMessage { text: text.into() }.checked();
    assert_eq!(sent(" Hello ").unwrap(), "Hello");
    assert!(sent(" \n ").is_err() && sent("\u{200b} \u{2060}").is_err() && sent(&"x".repeat(4_097)).is_err());
}

#[test]
fn a_todo_is_named_by_its_number_also_as_a_text() {
    let id = |todo_id: Value| MarkTodoItem { todo_id, status: RelayTodoStatus::Done }.id().ok();
    assert_eq!((id(json!(2)), id(json!("#2")), id(json!("second"))), (Some(2), Some(2), None));
}

#[test]
fn a_reason_says_something() {
    assert_eq!(reason(" done ").unwrap(), "done");
    assert!(reason("  ").is_err() && reason("\u{200b}").is_err());
}
