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
        ("2026-11-20T09:30Z", "2026-11-20T09:30:00+00:00"),
        ("2026-11-20T09:30+02", "2026-11-20T07:30:00+00:00"),
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

fn refused(arguments: Value) -> String {
    match Request::of(&arguments) {
        Err(ToolError::Refused(refusal)) => refusal.for_model(),
        Err(ToolError::Store(error)) => panic!("{error}"),
        Ok(_) => panic!("{arguments} was taken"),
    }
}

#[test]
fn an_argument_that_there_is_not_is_named_beside_those_that_there_are() {
    let told = refused(json!({"action": "create", "title": "x", "description": "y", "priority": 1}));
    let named = "there is no argument `description`; the arguments are: action, id, title, details, status, due_at, model";
    assert!(told.contains(named) && told.contains("priority") && told.contains("invalid_arguments"), "{told}");
    let forgiven = json!({"action": "get", "id": "3", "title": null, "priority": null});
    assert!(Request::of(&forgiven).is_ok_and(|request| request.id == Some(3)));
    assert!(Request::of(&json!({"action": "update", "id": 1, "subtasks": []})).is_ok(), "a person's own order");
}

#[test]
fn all_arguments_that_a_model_is_told_of_are_known() {
    let told: Vec<_> = ManageTasks.spec().parameters["properties"].as_object().unwrap().keys().cloned().collect();
    let mut known = KNOWN;
    known.sort_unstable();
    let mut sorted = told;
    sorted.sort_unstable();
    assert_eq!(sorted, known);
}

#[test]
fn a_title_is_one_line_of_any_list() {
    let read = |title: &str| match one_line(title) {
        Ok(title) => Ok(title),
        Err(ToolError::Refused(refusal)) => Err(refusal.message),
        Err(ToolError::Store(error)) => panic!("{error}"),
    };
    assert_eq!(read(" Buy \u{202e}milk "), Ok("Buy milk".to_owned()));
    assert_eq!(read("Buy\nmilk"), Err("A title stands on one line.".to_owned()));
    let long = "That title has 201 characters, and 200 is the most.";
    assert_eq!(read(&"ä".repeat(201)), Err(long.to_owned()));
}
