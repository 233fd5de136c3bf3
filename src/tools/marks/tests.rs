//! Tests of `tools::marks`.

use super::*;
use crate::domain::ToolCallId;

#[test]
fn a_mark_is_there_for_as_long_as_its_call() {
    let place = tempfile::tempdir().unwrap();
    let marks = Marks::open(&place.path().join("calls")).unwrap();
    let crash = Crash { call: ToolCallId(4), fence: 2, name: "n".into(), version: 1 };
    let mark = marks.set(&crash);
    assert_eq!(marks.left_over().unwrap()[0].1, Some(crash));
    drop(mark);
    assert!(marks.left_over().unwrap().is_empty());
}
