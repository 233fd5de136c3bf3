//! Tasks: changed, due, held back.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fact::Fact;
use super::rows::{CONVERSATIONS, Change, Stamp, Table, time};
use super::turn::TURNS;
use crate::domain::{Task, TaskId, TurnId};
use crate::wire::ServerFrame;

/// The to-dos there are.
pub(super) static TASKS: Table = Table::all("tasks", "task_id::text");

/// A task was made or changed; `deleted` ones are gone from the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskChanged {
    /// The task as it is now.
    pub task: Task,
    /// True when it was deleted.
    pub deleted: bool,
}

impl Fact for TaskChanged {
    fn changes(&self, _at: &Stamp) -> Vec<Change> {
        let task = &self.task;
        if self.deleted {
            return vec![TASKS.gone(task.id)];
        }
        let row = json!({
            "task_id": task.id, "conversation_id": task.conversation, "title": task.title, "details": task.details,
            "status": task.status, "due_at": task.due_at.map(time), "created_at": time(task.created_at),
            "updated_at": time(task.updated_at), "model": task.model,
        });
        vec![TASKS.set(task.id, row)]
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        Some(ServerFrame::Task { task: json!(self.task), deleted: self.deleted })
    }
}

/// Tasks fell due and were handed to a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TasksFired {
    /// The tasks.
    pub tasks: Vec<TaskId>,
    /// The turn that will deal with them.
    pub turn: TurnId,
    /// When each of them was due, in the same order.
    #[serde(default)]
    pub due_at: Vec<DateTime<Utc>>,
    /// The model they name for that turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Fact for TasksFired {
    fn changes(&self, _at: &Stamp) -> Vec<Change> {
        let fired = self.tasks.iter().zip(&self.due_at);
        let fired = fired.map(|(task, due_at)| TASKS.set(task, json!({ "fired_due_at": time(*due_at) })));
        let model = self.model.iter().map(|model| TURNS.set(self.turn, json!({ "task_model": model })));
        fired.chain(model).collect()
    }

    fn headline(&self) -> Option<(String, String)> {
        let model = self.model.as_ref().map(|model| format!("with {model}")).unwrap_or_default();
        Some((format!("for tasks {}", json!(self.tasks)), model))
    }
}

/// Tasks are due and wait, since tasks began as many turns as they may in an hour. Said once in an hour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TasksHeld {
    /// The tasks.
    pub tasks: Vec<TaskId>,
    /// How many turns tasks may begin in an hour.
    pub limit: u64,
    /// When the next one may begin; `None` if none may as things are set.
    pub until: Option<DateTime<Utc>>,
}

impl Fact for TasksHeld {
    fn changes(&self, at: &Stamp) -> Vec<Change> {
        vec![CONVERSATIONS.set(at.conversation, json!({ "tasks_held_at": at.time }))]
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        let Self { tasks, limit, until } = self;
        let next = until.map(|until| format!(" The next may begin at {}.", until.format("%H:%M UTC"))).unwrap_or_default();
        let content = format!(
            "Tasks are due and wait: tasks began {limit} turns within an hour, which is the limit (`tasks.turns_per_hour`).{next} Nothing is \
             lost; if tasks make each other for nothing, delete them."
        );
        Some(ServerFrame::Held { tasks: tasks.clone(), until: *until, content })
    }

    fn headline(&self) -> Option<(String, String)> {
        Some((format!("tasks {} wait", json!(self.tasks)), String::new()))
    }
}
