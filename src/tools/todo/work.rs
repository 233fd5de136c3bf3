//! The means of a function: one transaction, in which the person's to-dos stand still, and what ends it early.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::result::FunctionResult;
use crate::domain::todo::{
    CompletionRefusal, RuleRefusal, SubtaskView, TaskView, TimeRefusal, TitleRefusal, Todos, TooMany, Unfound, wall_of,
};
use crate::domain::{SubtaskId, TaskId};
use crate::governor::Permit;
use crate::store::{Lease, StoreError, Unit};

/// The reason why a function goes no further.
#[derive(Debug)]
pub(super) enum Stop {
    /// It ends with this result, and nothing was done.
    Told(FunctionResult),
    /// The database did not do what was asked.
    Store(StoreError),
}

/// The end of a function.
pub(super) type Ended = Result<FunctionResult, Stop>;

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Unfound> for Stop {
    fn from(Unfound { error, message }: Unfound) -> Self {
        Self::Told(FunctionResult::refused(error, message))
    }
}

/// Makes ends of refusals, each under its word.
macro_rules! told {
    ($($refusal:ty = $word:literal),+ $(,)?) => {$(
        impl From<$refusal> for Stop {
            fn from(refused: $refusal) -> Self {
                Self::Told(FunctionResult::refused($word, refused.to_string()))
            }
        }
    )+};
}
told! {
    TitleRefusal = "title",
    TooMany = "too_many",
    TimeRefusal = "time",
    RuleRefusal = "rule",
    CompletionRefusal = "not_completed",
}

/// One call at work.
pub(super) struct Work<'a> {
    pub(super) unit: Unit,
    /// As they were when the transaction began; a change of a task is not seen here.
    pub(super) todos: Todos,
    pub(super) permit: &'a Permit,
    pub(super) lease: &'a Lease,
    pub(super) now: DateTime<Utc>,
}

impl Work<'_> {
    /// The one task that a name means. From now on “it” means the same.
    pub(super) async fn task(&mut self, name: &str) -> Result<TaskView, Stop> {
        let task = self.todos.find_task(name)?.clone();
        self.named(task.id, None).await?;
        Ok(task)
    }

    /// The same, if it is active.
    pub(super) async fn active_task(&mut self, name: &str) -> Result<TaskView, Stop> {
        let task = self.task(name).await?;
        if task.status.is_active() { Ok(task) } else { Err(CompletionRefusal::Already(task.title).into()) }
    }

    /// The one subtask that a name means, with its task. From now on “it” means the same.
    pub(super) async fn subtask(&mut self, name: &str, of: Option<&str>) -> Result<(TaskView, SubtaskView), Stop> {
        let (task, subtask) = self.todos.find_subtask(name, of)?;
        let (task, subtask) = (task.clone(), subtask.clone());
        self.named(task.id, Some(subtask.id)).await?;
        Ok((task, subtask))
    }

    /// From now on “it” means this.
    pub(super) async fn named(&mut self, task: TaskId, subtask: Option<SubtaskId>) -> Result<(), Stop> {
        Ok(self.unit.name_last(self.lease, self.todos.user, task, subtask).await?)
    }

    /// Writes a task as it is to be.
    pub(super) async fn change(&mut self, task: &TaskView) -> Result<TaskView, Stop> {
        Ok(self.unit.change_todo(self.permit, self.lease, task).await?)
    }

    /// Ends the timer if its time is over and nobody has noticed.
    pub(super) async fn notice_end_of_timer(&mut self) -> Result<(), StoreError> {
        let Some((timer, _)) = self.todos.timer.finished(self.now) else { return Ok(()) };
        let title = self.todos.timed().map(str::to_owned);
        self.unit.set_timer(self.lease.conversation, self.todos.user, timer, true, title).await?;
        self.todos.timer = timer;
        Ok(())
    }

    /// A task as a model reads it.
    pub(super) fn data(&self, task: &TaskView) -> Value {
        let zone = self.todos.zone;
        let written = |at: DateTime<Utc>| wall_of(zone, at).format("%Y-%m-%dT%H:%M").to_string();
        let subtask = |one: &SubtaskView| json!({ "id": one.id, "title": one.title, "completed": one.completed });
        let subtasks: Vec<_> = task.in_order().into_iter().map(subtask).collect();
        let mut data = json!({ "id": task.id, "title": task.title, "status": task.status, "subtasks": subtasks });
        if let Some(reminder) = task.reminder {
            data["reminder"] = written(reminder).into();
        }
        if let Some((recurrence, date)) = &task.recurrence {
            data["recurrence"] = json!({ "rule": recurrence.rule(), "date": written(*date) });
        }
        data
    }

    /// The result of a function that changed a task.
    pub(super) fn done(&self, message: impl Into<String>, task: &TaskView) -> FunctionResult {
        FunctionResult::done(message).with(json!({ "task": self.data(task) }))
    }
}
