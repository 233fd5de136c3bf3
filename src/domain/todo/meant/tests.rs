//! Tests of `domain::todo::meant`.

use super::*;

fn meant(kind: NamedKind, words: &str, number: i64, of: Option<i64>) -> Meant {
    Meant { kind, words: folded(words), number, of: of.map(TaskId) }
}

#[test]
fn the_names_of_a_call_stand_with_the_numbers_of_its_result() {
    use NamedKind::{Subtask, Task};
    for (arguments, data, expected) in [
        (r#"{"taskName":"Tea"}"#, r#"{"task":{"id":1},"next":{"id":2}}"#, vec![meant(Task, "tea", 1, None)]),
        (
            r#"{"taskName":"Note","confirmed":true}"#,
            r#"{"id":3,"title":"Note","subtasks":2}"#,
            vec![meant(Task, "note", 3, None)],
        ),
        (
            r#"{"subtaskName":"call","taskName":"trip"}"#,
            r#"{"task":{"id":1},"subtask":{"id":7}}"#,
            vec![meant(Task, "trip", 1, None), meant(Subtask, "call", 7, Some(1))],
        ),
        (
            r#"{"taskName":"tea","newName":"Coffee"}"#,
            r#"{"task":{"id":1}}"#,
            vec![meant(Task, "tea", 1, None), meant(Task, "coffee", 1, None)],
        ),
        (r#"{"taskName":12}"#, r#"{"task":{"id":12}}"#, vec![]),
        (r#"{"minutes":25,"taskName":"tea"}"#, r#"{"state":"running"}"#, vec![]),
        (r#"{"confirmed":true}"#, r#"{"tasks":[1,2],"subtasks":3}"#, vec![]),
    ] {
        let result = format!(r#"{{"success":true,"data":{data},"message":"Done."}}"#);
        assert_eq!(Meant::by(arguments, &result), expected, "{arguments}");
    }
    assert_eq!(Meant::by("{", "There is no tool `x`."), []);
}
