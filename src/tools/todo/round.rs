//! A task that comes round: the next one is made in the transaction that completes it, whoever completes it.

use chrono::{DateTime, Utc};

use crate::domain::todo::{CompletedTask, NextOfTask, SubtaskView, TaskView, complete_task};
use crate::domain::{Task, TaskStatus};
use crate::governor::Permit;
use crate::store::{Lease, StoreError, Unit};

/// Makes the task that follows.
pub(super) async fn make_next(
    unit: &mut Unit,
    permit: &Permit,
    lease: &Lease,
    title: &str,
    next: NextOfTask,
) -> Result<TaskView, StoreError> {
    let NextOfTask { subtasks, recurrence, date, reminder } = next;
    let task = TaskView { reminder, recurrence: Some((recurrence, date)), ..TaskView::new(title.to_owned()) };
    unit.make_todo(permit, lease, &task, &subtasks).await
}

/// After a change: makes the task that follows, if the change completed a task that comes round. `before`: the task as it was.
///
/// # Errors
/// If the database does not answer.
pub async fn comes_round(
    unit: &mut Unit,
    permit: &Permit,
    lease: &Lease,
    before: &Task,
    after: &Task,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    if before.recurrence.is_none() || !before.status.is_active() || after.status != TaskStatus::Done {
        return Ok(());
    }
    let mut task = TaskView::try_from(before).map_err(StoreError::Unreadable)?;
    // A task that is completed in this way is completed with its subtasks.
    task.subtasks = task.subtasks.into_iter().map(|subtask| SubtaskView { completed: true, ..subtask }).collect();
    if let Ok(CompletedTask { next: Some(next), .. }) = complete_task(&task, now) {
        make_next(unit, permit, lease, &after.title, next).await?;
    }
    Ok(())
}
