//! Tasks: changed, due, held back.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fact::{Fact, Reading};
use super::rows::{CONVERSATIONS, Table, time};
use super::turn::TURNS;
use crate::domain::{Task, TaskId, TurnId};
use crate::wire::ServerFrame;

/// The to-dos there are. Each is its conversation's user's.
pub(super) static TASKS: Table = Table { unsaid: &["user_id"], ..Table::all("tasks", "task_id::text") };

/// A task was made or changed; `deleted` ones are gone from the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskChanged {
    /// The task as it is now.
    pub task: Task,
    /// True when it was deleted.
    pub deleted: bool,
}

impl Fact for TaskChanged {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { task, deleted } = self;
        to.rows(|_| {
            let row = json!({
                "task_id": task.id, "conversation_id": task.conversation, "title": task.title, "details": task.details,
                "status": task.status, "due_at": task.due_at.map(time), "created_at": time(task.created_at),
                "updated_at": time(task.updated_at), "model": task.model, "subtasks": task.subtasks,
                "remind_at": task.remind_at.map(time), "recurrence": task.recurrence,
            });
            [if *deleted { TASKS.gone(task.id) } else { TASKS.set(task.id, row) }]
        })
        .frame(|_| ServerFrame::Task { task: json!(task), deleted: *deleted });
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
    /// Their titles, in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub titles: Vec<String>,
}

impl Fact for TasksFired {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { tasks, turn, due_at, model, titles } = self;
        to.rows(|_| {
            let fired = tasks.iter().zip(due_at);
            let fired = fired.map(|(task, due_at)| TASKS.set(task, json!({ "fired_due_at": time(*due_at) })));
            fired.chain(model.iter().map(|model| TURNS.set(turn, json!({ "task_model": model }))))
        })
        .frame(|_| ServerFrame::Fired { turn: *turn, tasks: tasks.clone(), content: fired(titles) })
        .print(|| {
            (format!("for tasks {}", json!(tasks)), model.as_ref().map(|model| format!("with {model}")).unwrap_or_default())
        });
    }
}

/// The sentence for a person on tasks that fell due.
fn fired(titles: &[String]) -> String {
    match titles {
        [] => "Tasks fell due.".to_owned(),
        [title] => format!("The task “{title}” fell due."),
        titles => {
            let named: Vec<_> = titles.iter().map(|title| format!("“{title}”")).collect();
            format!("{} tasks fell due: {}.", titles.len(), named.join(", "))
        }
    }
}

/// Tasks are due and wait, since tasks began as many turns as they may in an hour. Said once in an
/// hour.
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
    fn read(&self, to: &mut Reading<'_>) {
        let Self { tasks, limit, until } = self;
        to.rows(|at| [CONVERSATIONS.set(at.conversation, json!({ "tasks_held_at": at.time }))])
            .frame(|_| {
                let next = until.map(|until| format!(" The next may begin at {}.", until.format("%H:%M UTC")));
                let content = format!(
                    "Tasks are due and wait: tasks began {limit} turns within an hour, which is the limit (`tasks.turns_per_hour`).{} Nothing \
                     is lost; if tasks make each other for nothing, delete them.",
                    next.unwrap_or_default()
                );
                ServerFrame::Held { tasks: tasks.clone(), until: *until, content }
            })
            .print(|| (format!("tasks {} wait", json!(tasks)), ""));
    }
}
