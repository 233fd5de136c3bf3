//! Tasks: to-dos a person can see.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::turn::text_enum;
use super::{ConversationId, TaskId};

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
