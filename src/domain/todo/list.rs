//! A person's tasks as the rules look at them.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};

use super::recurrence::Recurrence;
use super::time::zone_named;
use crate::domain::{Apart, Subtask, SubtaskId, Task, TaskId, TaskRecurrence, TaskStatus};

/// The most tasks that a model is shown before it asks for more.
pub const MOST_IN_CONTEXT: usize = 20;

/// A subtask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubtaskView {
    /// Its number.
    pub id: SubtaskId,
    /// One line.
    pub title: String,
    /// True if it is ticked off.
    pub completed: bool,
    /// Its place among the subtasks of its task.
    pub sort_order: i32,
}

/// A task with all that belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskView {
    /// Its number.
    pub id: TaskId,
    /// One line.
    pub title: String,
    /// Its state.
    pub status: TaskStatus,
    /// When it, or one of its subtasks, last changed.
    pub updated_at: DateTime<Utc>,
    /// Its subtasks, in any order.
    pub subtasks: Vec<SubtaskView>,
    /// When the person is reminded of it, or was.
    pub reminder: Option<DateTime<Utc>>,
    /// When it falls due, or did.
    pub due: Option<DateTime<Utc>>,
    /// How it comes round, and the date that it has now.
    pub recurrence: Option<(Recurrence, DateTime<Utc>)>,
    /// Distances from that date.
    pub apart: Apart,
}

impl TryFrom<&Task> for TaskView {
    type Error = String;

    /// # Errors
    /// A sentence, if its recurrence cannot be read.
    fn try_from(task: &Task) -> Result<Self, String> {
        let view = |(place, subtask): (i32, &Subtask)| {
            let Subtask { id, title, completed } = subtask;
            SubtaskView { id: *id, title: title.clone(), completed: *completed, sort_order: place }
        };
        let kept = |TaskRecurrence { rule, zone, start, date, .. }: &TaskRecurrence| -> Result<_, String> {
            let recurrence = Recurrence::of(rule, zone_named(zone)?, *start).map_err(|refused| refused.to_string())?;
            Ok((recurrence, *date))
        };
        Ok(Self {
            id: task.id,
            title: task.title.clone(),
            status: task.status,
            updated_at: task.updated_at,
            subtasks: (0..).zip(&task.subtasks).map(view).collect(),
            reminder: task.remind_at,
            due: task.due_at,
            recurrence: task.recurrence.as_ref().map(kept).transpose()?,
            apart: task.recurrence.as_ref().map(|kept| kept.apart).unwrap_or_default(),
        })
    }
}

impl TaskView {
    /// A task that is about to be made.
    pub fn new(title: String) -> Self {
        Self {
            id: TaskId(0),
            title,
            status: TaskStatus::Pending,
            updated_at: DateTime::UNIX_EPOCH,
            subtasks: Vec::new(),
            reminder: None,
            due: None,
            recurrence: None,
            apart: Apart::default(),
        }
    }

    /// Its recurrence, as it is kept.
    pub fn kept_recurrence(&self) -> Option<TaskRecurrence> {
        let (recurrence, date) = self.recurrence.as_ref()?;
        let (rule, zone) = (recurrence.rule().to_owned(), recurrence.zone().name().to_owned());
        Some(TaskRecurrence { rule, zone, start: recurrence.start(), date: *date, apart: self.apart })
    }

    /// Its subtasks, by their order.
    pub fn in_order(&self) -> Vec<&SubtaskView> {
        let mut all: Vec<_> = self.subtasks.iter().collect();
        all.sort_by_key(|subtask| (subtask.sort_order, subtask.id));
        all
    }

    /// Its open subtasks, by their order.
    pub fn open_subtasks(&self) -> Vec<&SubtaskView> {
        self.in_order().into_iter().filter(|subtask| !subtask.completed).collect()
    }

    /// How many of its subtasks are done, and how many there are.
    pub fn progress(&self) -> (usize, usize) {
        (self.subtasks.iter().filter(|subtask| subtask.completed).count(), self.subtasks.len())
    }
}

/// The tasks that a model is shown: the active ones that changed last.
pub fn in_context(tasks: &[TaskView]) -> Vec<&TaskView> {
    let mut shown: Vec<_> = tasks.iter().filter(|task| task.status.is_active()).collect();
    shown.sort_by_key(|task| (Reverse(task.updated_at), Reverse(task.id)));
    shown.truncate(MOST_IN_CONTEXT);
    shown
}

#[cfg(test)]
pub(super) mod tests;
