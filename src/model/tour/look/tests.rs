//! Tests of `model::tour::look`.

use super::*;

#[test]
fn a_heartbeat_names_tasks_in_lines_of_their_own_and_not_in_titles() {
    let text = "[heartbeat] These tasks are due.\n- task 3, due 2026-11-20T06:30:00Z: call #7, see task 8\n  - task 9, \n- task 4, due x: y";
    assert_eq!(task_numbers(text), [3, 4]);
    assert_eq!(task_numbers("[heartbeat] something"), [0; 0]);
}

#[test]
fn failures_are_told_from_results() {
    for failure in [r#"{"error":"syntax_error","line":1}"#, "error: no", "There is no tool `x`.", "Refused: no"] {
        assert!(failed(failure), "{failure}");
    }
    for result in ["MMXXVI", r#"{"id":1,"title":"errors"}"#, r#"{"error":null,"x":1}"#, "[]", "\"error\""] {
        assert!(!failed(result), "{result}");
    }
}

#[test]
fn the_time_is_read_from_before_the_message() {
    let told = |text: &str| time(&Entry::User(text.into())).map(|time| time.to_rfc3339());
    assert_eq!(told("[2026-11-20T06:30:00Z] [heartbeat] hi"), Some("2026-11-20T06:30:00+00:00".into()));
    assert_eq!(told("It is Friday.\n#1 Milk\n\n[2026-11-20T06:30:00Z] hi"), Some("2026-11-20T06:30:00+00:00".into()));
    assert_eq!(told("[late] hi"), None);
    assert_eq!(told("one\n\n[late] hi"), None);
    assert_eq!(told("hi"), None);
}
