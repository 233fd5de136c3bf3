//! Completing: when it may be done, and what comes round again.

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use super::list::{SubtaskView, TaskView};
use super::question::counted;
use super::recurrence::Recurrence;
use super::time::{distance_of, moment_at, wall_of};
use crate::domain::Apart;

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
    /// Its due date, as far from the date as it was; none if that has passed.
    pub due: Option<DateTime<Utc>>,
    /// The distances of both.
    pub apart: Apart,
}

/// Completes a task of a person whose clocks are those of the zone.
///
/// # Errors
/// If subtasks are open, or it is not active.
pub fn complete_task(task: &TaskView, zone: Tz, now: DateTime<Utc>) -> Result<CompletedTask, CompletionRefusal> {
    let title = &task.title;
    if !task.status.is_active() {
        return Err(CompletionRefusal::Already(title.clone()));
    }
    let open: Vec<_> = task.open_subtasks().into_iter().map(|subtask| subtask.title.clone()).collect();
    if !open.is_empty() {
        return Err(CompletionRefusal::StillOpen { title: title.clone(), open });
    }
    if task.recurrence.is_none() {
        return Ok(CompletedTask { next: None, message: format!("Completed “{title}”.") });
    }
    let next = next_of(task, now);
    let message = match &next {
        Some(NextOfTask { date, .. }) => {
            format!("Completed “{title}”. It comes round on {}.", wall_of(zone, *date).format("%Y-%m-%d at %H:%M"))
        }
        None => format!("Completed “{title}”. It does not come round again."),
    };
    Ok(CompletedTask { next, message })
}

/// The task that follows one that comes round. A date that has passed meanwhile is left out, and so
/// is the one of a task that was done early.
pub fn next_of(task: &TaskView, now: DateTime<Utc>) -> Option<NextOfTask> {
    let (recurrence, date) = task.recurrence.as_ref()?;
    let next = recurrence.next(now.max(*date))?;
    let zone = recurrence.zone();
    // Clocks that skip an hour move a time on for that day alone, so the distance from before is
    // kept. Another one was set since if the kept one does not lead to it.
    let distance = |moment: Option<DateTime<Utc>>, kept: Option<i64>| {
        let kept = kept.filter(|kept| TimeDelta::try_seconds(*kept).and_then(|kept| moment_at(zone, *date, kept)) == moment);
        Some(kept.unwrap_or(distance_of(zone, moment?, *date).num_seconds()))
    };
    let apart = Apart { reminder: distance(task.reminder, task.apart.reminder), due: distance(task.due, task.apart.due) };
    let moved = |distance: Option<i64>| {
        let distance = TimeDelta::try_seconds(distance?)?;
        moment_at(zone, next, distance).filter(|moment| *moment > now)
    };
    Some(NextOfTask {
        subtasks: task.in_order().into_iter().map(|subtask| subtask.title.clone()).collect(),
        recurrence: recurrence.clone(),
        date: next,
        reminder: moved(apart.reminder),
        due: moved(apart.due),
        apart,
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
