//! Tests of `model::tour::look`.

use super::*;

#[test]
fn a_heartbeat_names_tasks_in_lines_of_their_own_and_not_in_titles() {
    let text = "[heartbeat] These tasks are due.\n- task 3, due 2026-11-20T06:30:00Z: call #7, see task 8\n  - task 9, \n- task 4, due x: y";
    assert_eq!(task_numbers(text), [3, 4]);
    assert_eq!(task_numbers("[heartbeat] something"), [0; 0]);
}

#[test]
fn failures_are_told_from_results_and_kinds_of_refusals_and_never_from_words() {
    let call = CallRequest { id: "a".into(), name: "x".into(), arguments: "{}".into() };
    let failed = |result: &'static str, refusal| PastCall { call: &call, result: Some(result), refusal }.failed();
    for failure in [r#"{"error":"syntax_error","line":1}"#, r#"{"ok":false}"#] {
        assert!(failed(failure, None), "{failure}");
    }
    for result in ["MMXXVI", r#"{"id":1,"title":"errors"}"#, r#"{"error":null,"x":1}"#, "[]", "\"error\"", "There is no way."] {
        assert!(!failed(result, None), "{result}");
        assert!(failed(result, Some(RefusalCode::Forbidden)), "{result}");
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
