//! Completing: when it may be done, and what comes round again.

use chrono::{DateTime, Utc};

use super::list::{SubtaskView, TaskView};
use super::question::counted;
use super::recurrence::Recurrence;
use super::time::moved_along;

/// The reason for which nothing is completed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompletionRefusal {
    /// Subtasks of the task are open.
    #[error("“{title}” still has {}: {}.", counted(.open.len(), "open subtask"), .open.join(", "))]
    StillOpen {
        /// The task's title.
        title: String,
        /// The titles of the open ones, in their order.
        open: Vec<String>,
    },
    /// It is not active any more.
    #[error("“{0}” is completed already.")]
    Already(String),
}

/// A task that was completed.
#[derive(Clone, Debug, PartialEq)]
pub struct CompletedTask {
    /// The task that follows it, if it comes round.
    pub next: Option<NextOfTask>,
    /// The sentence that the person hears.
    pub message: String,
}

/// The task that follows a completed one. It has the same title.
#[derive(Clone, Debug, PartialEq)]
pub struct NextOfTask {
    /// The titles of its subtasks, in their order; all are open.
    pub subtasks: Vec<String>,
    /// The same rule with the same beginning.
    pub recurrence: Recurrence,
    /// Its date.
    pub date: DateTime<Utc>,
    /// Its reminder, as far before the date as it was; none if that has passed.
    pub reminder: Option<DateTime<Utc>>,
}

/// Completes a task.
///
/// # Errors
/// If subtasks are open, or it is not active.
pub fn complete_task(task: &TaskView, now: DateTime<Utc>) -> Result<CompletedTask, CompletionRefusal> {
    let title = &task.title;
    if !task.status.is_active() {
        return Err(CompletionRefusal::Already(title.clone()));
    }
    let open: Vec<_> = task.open_subtasks().into_iter().map(|subtask| subtask.title.clone()).collect();
    if !open.is_empty() {
        return Err(CompletionRefusal::StillOpen { title: title.clone(), open });
    }
    let Some((recurrence, _)) = &task.recurrence else {
        return Ok(CompletedTask { next: None, message: format!("Completed “{title}”.") });
    };
    let next = next_of(task, now);
    let message = match &next {
        Some(NextOfTask { date, .. }) => {
            format!(
                "Completed “{title}”. It comes round on {}.",
                date.with_timezone(&recurrence.zone()).format("%Y-%m-%d at %H:%M")
            )
        }
        None => format!("Completed “{title}”. It does not come round again."),
    };
    Ok(CompletedTask { next, message })
}

/// The task that follows one that comes round. A date that has passed meanwhile is left out, and so is
/// the one of a task that was done early.
fn next_of(task: &TaskView, now: DateTime<Utc>) -> Option<NextOfTask> {
    let (recurrence, date) = task.recurrence.as_ref()?;
    let next = recurrence.next(now.max(*date))?;
    let moved = |reminder| moved_along(recurrence.zone(), reminder, *date, next);
    Some(NextOfTask {
        subtasks: task.in_order().into_iter().map(|subtask| subtask.title.clone()).collect(),
        recurrence: recurrence.clone(),
        date: next,
        reminder: task.reminder.map(moved).filter(|reminder| *reminder > now),
    })
}

/// Completes a subtask; gives what the person hears: how many are left.
///
/// # Errors
/// If it is completed already.
pub fn complete_subtask(task: &TaskView, subtask: &SubtaskView) -> Result<String, CompletionRefusal> {
    if subtask.completed {
        return Err(CompletionRefusal::Already(subtask.title.clone()));
    }
    let left = task.open_subtasks().iter().filter(|open| open.id != subtask.id).count();
    let told = if left == 0 { "That was the last one".to_owned() } else { format!("{} left", counted(left, "subtask")) };
    Ok(format!("Completed “{}”. {told} in “{}”.", subtask.title, task.title))
}

#[cfg(test)]
mod tests;
