//! Tests of `tools::marks`.

use super::*;
use crate::domain::ToolCallId;

fn crash(call: i64, name: &str) -> Crash {
    Crash { call: ToolCallId(call), fence: 2, name: name.into(), version: 1 }
}

/// The calls that a start would find marked.
fn marked(marks: &Marks) -> Vec<Crash> {
    marks.left_over().unwrap().into_iter().filter_map(|(_, crash)| crash).collect()
}

#[test]
fn a_mark_is_there_for_as_long_as_its_call() {
    let place = tempfile::tempdir().unwrap();
    let marks = Marks::open(&place.path().join("calls")).unwrap();
    let mark = marks.set(&crash(4, "a_long_name"));
    assert_eq!(marked(&marks), [crash(4, "a_long_name")]);
    drop(mark);
    assert!(marked(&marks).is_empty());
    // The file is used again, and nothing of the longer mark before is read.
    let (second, third) = (marks.set(&crash(5, "n")), marks.set(&crash(6, "m")));
    assert_eq!(marked(&marks), [crash(5, "n"), crash(6, "m")]);
    drop((second, third));
    assert!(marked(&marks).is_empty());
    assert_eq!(marks.left_over().unwrap().len(), 2, "as many files as calls were under way at once");
}
