//! Tasks: to-dos a person can see.

use chrono::{DateTime, NaiveDateTime, Utc};
use serde::{Deserialize, Serialize};

use super::turn::text_enum;
use super::{ConversationId, SubtaskId, TaskId};

text_enum! {
    /// The state of a task.
    TaskStatus {
        /// Nobody has begun it.
        Pending = "pending",
        /// Begun.
        InProgress = "in_progress",
        /// Done.
        Done = "done",
        /// Given up.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// True if there is still something to do.
    pub fn is_active(self) -> bool {
        match self {
            Self::Pending | Self::InProgress => true,
            Self::Done | Self::Cancelled => false,
        }
    }
}

/// A part of a task that is ticked off by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subtask {
    /// Its number, for people and for the model.
    pub id: SubtaskId,
    /// One line.
    pub title: String,
    /// True if it is ticked off.
    pub completed: bool,
}

/// How a task comes round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRecurrence {
    /// A word, or a rule as calendars write it.
    pub rule: String,
    /// The zone whose clocks count.
    pub zone: String,
    /// Its beginning on these clocks.
    pub start: NaiveDateTime,
    /// The date that the task has now.
    pub date: DateTime<Utc>,
    /// How far from the date the other times of the task were before clocks that skip an hour moved
    /// them.
    #[serde(default, skip_serializing_if = "Apart::is_empty")]
    pub apart: Apart,
}

/// Distances from the date of a task that comes round, in seconds on the clock on the wall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apart {
    /// That of the reminder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminder: Option<i64>,
    /// That of the due date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<i64>,
}

impl Apart {
    /// True if it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A to-do a person can see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its number, for people and for the model.
    pub id: TaskId,
    /// One line.
    pub title: String,
    /// Anything longer; empty if there is nothing to add.
    pub details: String,
    /// Its state.
    pub status: TaskStatus,
    /// The time at which it wakes the agent; never if `None`.
    pub due_at: Option<DateTime<Utc>>,
    /// Its parts, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subtasks: Vec<Subtask>,
    /// The time at which the person is reminded of it, or was; no model is asked then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remind_at: Option<DateTime<Utc>>,
    /// How it comes round, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence: Option<TaskRecurrence>,
    /// The model that works on it when it falls due, as `provider/model`; if `None`, the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The conversation it was made in; the turn it wakes runs there.
    pub conversation: ConversationId,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// Open tasks that are due.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DueTasks {
    /// The first of them, the soonest first.
    pub soonest: Vec<Task>,
    /// The number of the others.
    pub more: usize,
}
