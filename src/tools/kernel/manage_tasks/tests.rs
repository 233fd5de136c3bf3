//! How dates, ids and names of models are read.

use super::*;

fn read(text: &str) -> Result<Option<String>, String> {
    match due_date(text) {
        Ok(date) => Ok(date.map(|date| date.to_rfc3339())),
        Err(ToolError::Refused(refusal)) => Err(refusal.message),
        Err(ToolError::Store(error)) => panic!("{error}"),
    }
}

#[test]
fn dates_are_read_in_every_iso_form_and_empty_means_none() {
    for (text, date) in [
        ("2026-11-20T09:30:00Z", "2026-11-20T09:30:00+00:00"),
        ("2026-11-20T09:30:00+02:00", "2026-11-20T07:30:00+00:00"),
        ("2026-11-20T09:30", "2026-11-20T09:30:00+00:00"),
        ("2026-11-20 09:30:15", "2026-11-20T09:30:15+00:00"),
        ("2026-11-20", "2026-11-20T00:00:00+00:00"),
        ("2026-12-31T23:59:60Z", "2027-01-01T00:00:00+00:00"),
    ] {
        assert_eq!(read(text), Ok(Some(date.to_owned())), "{text}");
    }
    assert_eq!(read(""), Ok(None));
}

#[test]
fn a_date_that_is_none_is_answered_with_an_example() {
    let refused = read("tomorrow").unwrap_err();
    assert!(refused.contains("`due_at` is `tomorrow`") && refused.contains("2026-11-20T09:30:00Z"), "{refused}");
}

#[test]
fn a_time_in_a_title_is_noticed() {
    for text in ["Call the dentist at 14:30 on 15 March 2031", "at 9:05", "in 2027"] {
        assert!(names_a_time(text), "{text}");
    }
    for text in ["Buy stamps", "Pay 120 euros", "Read chapter 12:1", "Room 2100"] {
        assert!(!names_a_time(text), "{text}");
    }
}

#[test]
fn a_model_that_is_none_is_answered_with_the_choices() {
    let read = |text: &str| match model(text) {
        Ok(model) => Ok(model),
        Err(ToolError::Refused(refusal)) => Err(refusal.message),
        Err(ToolError::Store(error)) => panic!("{error}"),
    };
    assert_eq!(read(" "), Ok(None));
    assert_eq!(read("llama.cpp/qwen3"), Ok(Some("llamacpp/qwen3".into())));
    let refused = read("gpt-4.1").unwrap_err();
    assert!(refused.contains("provider/model") && refused.contains("ollama, lmstudio, llamacpp"), "{refused}");
}

#[test]
fn an_id_may_be_written_as_text() {
    let request: Request = serde_json::from_value(json!({"action": "get", "id": "3"})).unwrap();
    assert_eq!(request.id, Some(3));
    let refused = serde_json::from_value::<Request>(json!({"action": "get", "id": "three"})).err().unwrap();
    assert!(refused.to_string().contains("`id` must be a whole number"), "{refused}");
}
