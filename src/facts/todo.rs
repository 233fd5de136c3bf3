//! To-dos by talking: a task broken down, what was named last, the timer, reminders, and a
//! conversation begun anew.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::TOOL_CALLS;
use super::fact::{Fact, Reading, line};
use super::rows::{CONVERSATIONS, Table, time};
use super::task::TASKS;
use crate::domain::todo::KeptTimer;
use crate::domain::{SubtaskId, TaskId, ToolCallId, TurnId, UserId};
use crate::wire::ServerFrame;

/// Each person's timer.
pub(super) static TIMERS: Table = Table::all("timers", "user_id::text");
/// The meaning of “it” for each person.
pub(super) static LAST_NAMED: Table = Table::all("last_named", "user_id::text");

/// A model broke down the task that a call is about to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskBrokenDown {
    /// The turn.
    pub turn: TurnId,
    /// The tool call.
    pub call: ToolCallId,
    /// The titles of the subtasks; none if no answer could be used.
    pub subtasks: Vec<String>,
}

impl Fact for TaskBrokenDown {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn: _, call, subtasks } = self;
        to.rows(|_| [TOOL_CALLS.set(call, json!({ "breakdown": subtasks }))])
            .log(|_| [line("task_broken_down", json!({ "subtasks": subtasks }), subtasks.join(", "))])
            .print(|| (format!("call {call}: {} subtasks", subtasks.len()), subtasks.join(", ")));
    }
}

/// A person named a task or a subtask, which “it” means from now on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemNamed {
    /// The person.
    pub user: UserId,
    /// The task.
    pub task: TaskId,
    /// The subtask, if one was named.
    pub subtask: Option<SubtaskId>,
}

impl Fact for ItemNamed {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { user, task, subtask } = self;
        to.rows(|_| [LAST_NAMED.set(user, json!({ "user_id": user, "task_id": task, "subtask_id": subtask }))]).print(|| {
            let subtask = subtask.map(|subtask| format!(", subtask {subtask}")).unwrap_or_default();
            (format!("“it” is task {task}{subtask}"), "")
        });
    }
}

/// A person's timer was started, paused, resumed or stopped, or its time is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimerChanged {
    /// Whose.
    pub user: UserId,
    /// The timer as it is now.
    pub timer: KeptTimer,
    /// True if its time is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over: bool,
    /// The title of the task it is, or was, for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl TimerChanged {
    fn words(&self) -> String {
        let about = self.title.as_ref().map(|title| format!(" for “{title}”")).unwrap_or_default();
        if self.over { format!("The timer{about} is over.") } else { format!("The timer{about} is {} now.", self.timer.state) }
    }
}

impl Fact for TimerChanged {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { user, timer, over, title: _ } = self;
        to.rows(|at| {
            let KeptTimer { state, minutes, task, ends_at, left_ms } = timer;
            let row = json!({
                "user_id": user, "conversation_id": at.conversation, "state": state, "minutes": minutes, "task_id": task,
                "ends_at": ends_at.map(time), "left_ms": left_ms,
            });
            [TIMERS.set(user, row)]
        })
        .frame(|_| ServerFrame::Timer { timer: *timer, over: *over, content: self.words() })
        .print(|| (self.words(), ""));
    }
}

/// A person was reminded of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReminderGiven {
    /// The task.
    pub task: TaskId,
    /// Its title.
    pub title: String,
    /// The time for which the reminder was set.
    pub remind_at: DateTime<Utc>,
    /// True if the server was not there at that time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

impl Fact for ReminderGiven {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { task, title, remind_at, late } = self;
        let words = || format!("Reminder{}: {title}", if *late { " (late)" } else { "" });
        to.rows(|_| [TASKS.set(task, json!({ "reminded_at": time(*remind_at) }))])
            .frame(|_| ServerFrame::Reminder { task: *task, remind_at: *remind_at, late: *late, content: words() })
            .print(|| (words(), ""));
    }
}

/// A person began anew: nothing before it is shown, sent or exported any more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BegunAnew {
    /// The last turn before it.
    pub after: TurnId,
    /// The place of this event in its stream.
    pub sequence: i64,
}

impl Fact for BegunAnew {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { after, sequence } = *self;
        to.rows(|at| [CONVERSATIONS.set(at.conversation, json!({ "anew_after": after, "anew_sequence": sequence }))])
            .frame(|_| ServerFrame::Anew { after })
            .print(|| (format!("begun anew after turn {after}"), ""));
    }
}
