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
    let tasks = [task(1, ""), task(2, "one\ntwo")];
    let listed = "\n- task 1, due 1970-01-01T00:00:00Z: title 1\n- task 2, due 1970-01-01T00:00:00Z: title 2\n  one\n  two";
    let begun = "[heartbeat] These tasks are due. Do what they ask, tell the user";
    // To the byte as the builder has always read it.
    assert_eq!(describe(Some("manage_tasks"), &tasks), format!("{begun}, and complete each with manage_tasks.{listed}"));
    let told = "[heartbeat] These tasks are due. They are for the user to do: tell the user of them, and complete or change none before the \
                user says so.";
    assert_eq!(describe(None, &tasks), format!("{told}{listed}"));
}
