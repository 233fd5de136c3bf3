//! The subtask to do next.

use std::cmp::Ordering;

use super::list::{SubtaskView, TaskView};
use crate::domain::TaskId;

/// The subtask to do next, with its task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextSubtask<'a> {
    /// The task.
    pub task: &'a TaskView,
    /// Its first open subtask.
    pub subtask: &'a SubtaskView,
}

/// The subtask to do next: of the task that the timer is for, else of the active task of which the
/// highest share is done; of two with the same share, the one that changed last. Tasks without an
/// open subtask are passed over.
pub fn next_subtask<'a>(tasks: &'a [TaskView], timer: Option<TaskId>) -> Option<NextSubtask<'a>> {
    let next_of = |task: &'a TaskView| {
        let subtask = task.open_subtasks().into_iter().next().filter(|_| task.status.is_active())?;
        Some(NextSubtask { task, subtask })
    };
    let of_timer = tasks.iter().filter(|task| Some(task.id) == timer).find_map(next_of);
    of_timer.or_else(|| tasks.iter().filter_map(next_of).max_by(|one, other| by_share(one.task, other.task)))
}

/// Compares by the share that is done, without a fraction that could be rounded.
fn by_share(one: &TaskView, other: &TaskView) -> Ordering {
    let ((done, all), (other_done, other_all)) = (one.progress(), other.progress());
    let share = (done * other_all).cmp(&(other_done * all));
    share.then(one.updated_at.cmp(&other.updated_at)).then(other.id.cmp(&one.id))
}

#[cfg(test)]
mod tests;
