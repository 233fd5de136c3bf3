//! Tests of `runner::heartbeat`.

use super::*;
use crate::domain::{ConversationId, TaskId, TaskStatus};

#[test]
fn the_input_names_every_task() {
    let task = |id, details: &str| Task {
        id: TaskId(id),
        title: format!("title {id}"),
        details: details.into(),
        status: TaskStatus::Pending,
        due_at: Some(DateTime::UNIX_EPOCH),
        subtasks: Vec::new(),
        remind_at: None,
        recurrence: None,
        model: None,
        conversation: ConversationId(1),
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    };
    let text = describe(&[task(1, ""), task(2, "one\ntwo")]);
    assert!(text.starts_with("[heartbeat] "));
    assert!(
        text.ends_with(
            "\n- task 1, due 1970-01-01T00:00:00Z: title 1\n- task 2, due 1970-01-01T00:00:00Z: title 2\n  one\n  two"
        )
    );
}
