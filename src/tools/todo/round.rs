//! A task that comes round: the next one is made in the statement that completes it, whoever completes it.

use super::work::make_task;
use crate::domain::todo::{CompletedTask, NextOfTask, SubtaskView, TaskView, complete_task};
use crate::domain::{Task, TaskStatus};
use crate::governor::Permit;
use crate::store::{Lease, Store, StoreError, TodoChanges};

/// Makes the task that follows.
pub(super) async fn make_next(
    store: &Store,
    changes: &mut TodoChanges,
    permit: &Permit,
    lease: &Lease,
    title: &str,
    next: NextOfTask,
) -> Result<TaskView, StoreError> {
    let NextOfTask { subtasks, recurrence, date, reminder } = next;
    let task = TaskView { reminder, recurrence: Some((recurrence, date)), ..TaskView::new(title.to_owned()) };
    make_task(store, changes, permit, lease, &task, &subtasks).await
}

/// After a change: makes the task that follows, if the change completed a task that comes round. `before`: the task as it was.
///
/// # Errors
/// If the database does not answer.
pub async fn comes_round(
    store: &Store,
    changes: &mut TodoChanges,
    permit: &Permit,
    lease: &Lease,
    before: &Task,
    after: &Task,
) -> Result<(), StoreError> {
    if before.recurrence.is_none() || !before.status.is_active() || after.status != TaskStatus::Done {
        return Ok(());
    }
    let mut task = TaskView::try_from(before).map_err(StoreError::Unreadable)?;
    // A task that is completed in this way is completed with its subtasks.
    task.subtasks = task.subtasks.into_iter().map(|subtask| SubtaskView { completed: true, ..subtask }).collect();
    if let Ok(CompletedTask { next: Some(next), .. }) = complete_task(&task, changes.now()) {
        make_next(store, changes, permit, lease, &after.title, next).await?;
    }
    Ok(())
}
