//! A task that comes round: the next one is made in the statement that completes it, whoever
//! completes it.

use chrono::{DateTime, Utc};

use super::work::make_task;
use crate::domain::todo::{NextOfTask, TaskView, next_of};
use crate::domain::{Task, TaskStatus};
use crate::governor::Permit;
use crate::store::{Lease, Store, StoreError, TodoChanges};

/// Makes the task that follows.
///
/// # Errors
/// If the database does not answer.
pub async fn make_next(
    store: &Store,
    changes: &mut TodoChanges,
    permit: &Permit,
    lease: &Lease,
    title: &str,
    next: NextOfTask,
) -> Result<TaskView, StoreError> {
    let NextOfTask { subtasks, recurrence, date, reminder, due, apart } = next;
    let task = TaskView { reminder, due, recurrence: Some((recurrence, date)), apart, ..TaskView::new(title.to_owned()) };
    make_task(store, changes, permit, lease, &task, &subtasks).await
}

/// The task that follows, if a change completes a task that comes round. The rule goes on with it,
/// so the completed one loses it: who takes that up again and completes it once more makes no
/// second one. `before`: the task as it was.
///
/// # Errors
/// If the task cannot be read.
pub fn comes_round(before: &Task, after: &mut Task, now: DateTime<Utc>) -> Result<Option<NextOfTask>, StoreError> {
    if before.recurrence.is_none() || !before.status.is_active() || after.status != TaskStatus::Done {
        return Ok(None);
    }
    let next = next_of(&TaskView::try_from(before).map_err(StoreError::Unreadable)?, now);
    if next.is_some() {
        after.recurrence = None;
    }
    Ok(next)
}
