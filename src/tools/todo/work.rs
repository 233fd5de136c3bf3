//! The means of a function: the person's to-dos as they were read, the changes that it decides on,
//! and what ends it early.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::result::FunctionResult;
use crate::domain::todo::{
    CompletionRefusal, FocusTimer, LastNamed, RuleRefusal, SubtaskView, TaskView, TimeRefusal, TitleRefusal, Todos, TooMany,
    Unfound, wall_of,
};
use crate::domain::{Subtask, SubtaskId, Task, TaskId};
use crate::governor::Permit;
use crate::store::{KeptTodos, Lease, Store, StoreError, TodoChanges};

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
    pub(super) store: &'a Store,
    /// As they were read; a change of a task is not seen here.
    pub(super) todos: Todos,
    /// The same tasks, as they are kept.
    tasks: Vec<Task>,
    pub(super) changes: TodoChanges,
    pub(super) permit: &'a Permit,
    pub(super) lease: &'a Lease,
    pub(super) now: DateTime<Utc>,
}

impl<'a> Work<'a> {
    /// The work of a call, with to-dos that were read now.
    pub(super) fn new(store: &'a Store, kept: KeptTodos, permit: &'a Permit, lease: &'a Lease, now: DateTime<Utc>) -> Self {
        let changes = store.todo_changes(now).decided_by(&kept);
        let KeptTodos { todos, tasks, .. } = kept;
        Self { store, todos, tasks, changes, permit, lease, now }
    }

    /// The one task that a name means. From now on “it” means the same.
    pub(super) fn task(&mut self, name: &str) -> Result<TaskView, Stop> {
        let task = self.todos.find_task(name)?.clone();
        self.named(task.id, None);
        Ok(task)
    }

    /// The same, if it is active.
    pub(super) fn active_task(&mut self, name: &str) -> Result<TaskView, Stop> {
        let task = self.task(name)?;
        if task.status.is_active() { Ok(task) } else { Err(CompletionRefusal::Already(task.title).into()) }
    }

    /// The one subtask that a name means, with its task. From now on “it” means the same.
    pub(super) fn subtask(&mut self, name: &str, of: Option<&str>) -> Result<(TaskView, SubtaskView), Stop> {
        let (task, subtask) = self.todos.find_subtask(name, of)?;
        let (task, subtask) = (task.clone(), subtask.clone());
        self.named(task.id, Some(subtask.id));
        Ok((task, subtask))
    }

    /// From now on “it” means this.
    pub(super) fn named(&mut self, task: TaskId, subtask: Option<SubtaskId>) {
        let named = LastNamed { task: Some(task), subtask };
        if self.todos.last != named {
            self.changes.name(self.todos.user, task, subtask);
            self.todos.last = named;
        }
    }

    /// Makes a task with subtasks of these titles.
    pub(super) async fn make(&mut self, task: &TaskView, subtasks: &[String]) -> Result<TaskView, Stop> {
        Ok(make_task(self.store, &mut self.changes, self.permit, self.lease, task, subtasks).await?)
    }

    /// Changes a task to what it is to be: title, status, subtasks in their order, reminder,
    /// recurrence.
    pub(super) fn change(&mut self, task: &TaskView) -> Result<TaskView, Stop> {
        let missing = || StoreError::Unreadable(format!("task {} is not among its person's", task.id));
        let kept = self.tasks.iter_mut().find(|kept| kept.id == task.id).ok_or_else(missing)?;
        let subtask = |one: &SubtaskView| Subtask { id: one.id, title: one.title.clone(), completed: one.completed };
        let changed = Task {
            title: task.title.clone(),
            status: task.status,
            subtasks: task.in_order().into_iter().map(subtask).collect(),
            remind_at: task.reminder,
            recurrence: task.kept_recurrence(),
            updated_at: self.now,
            ..kept.clone()
        };
        *kept = self.changes.change(self.permit, changed, None);
        Ok(TaskView::try_from(&*kept).map_err(StoreError::Unreadable)?)
    }

    /// Deletes a task.
    pub(super) fn delete(&mut self, id: TaskId) {
        if let Some(task) = self.tasks.iter().find(|task| task.id == id) {
            self.changes.delete(self.permit, task.clone(), None);
        }
    }

    /// Sets the timer; `over`: its time is over. `title`: of its task.
    pub(super) fn set_timer(&mut self, timer: FocusTimer, over: bool, title: Option<String>) {
        self.changes.set_timer(self.todos.user, timer, over, title);
        self.todos.timer = timer;
    }

    /// Ends the timer if its time is over and nobody has noticed.
    pub(super) fn notice_end_of_timer(&mut self) {
        if let Some((timer, _)) = self.todos.timer.finished(self.now) {
            let title = self.todos.timed().map(str::to_owned);
            self.set_timer(timer, true, title);
        }
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

    /// The same of one that changed a subtask of it.
    pub(super) fn done_to(&self, subtask: SubtaskId, message: impl Into<String>, task: &TaskView) -> FunctionResult {
        FunctionResult::done(message).with(json!({ "task": self.data(task), "subtask": { "id": subtask } }))
    }
}

/// Makes a task with subtasks of these titles. Gives it as it is kept.
pub(super) async fn make_task(
    store: &Store,
    changes: &mut TodoChanges,
    permit: &Permit,
    lease: &Lease,
    task: &TaskView,
    subtasks: &[String],
) -> Result<TaskView, StoreError> {
    let (id, numbers) = store.task_numbers(subtasks.len()).await?;
    let subtask = |(id, title): (SubtaskId, &String)| Subtask { id, title: title.clone(), completed: false };
    let made = Task {
        id,
        title: task.title.clone(),
        details: String::new(),
        status: task.status,
        due_at: task.due,
        subtasks: numbers.into_iter().zip(subtasks).map(subtask).collect(),
        remind_at: task.reminder,
        recurrence: task.kept_recurrence(),
        model: None,
        conversation: lease.conversation,
        created_at: changes.now(),
        updated_at: changes.now(),
    };
    TaskView::try_from(&changes.make(permit, made)).map_err(StoreError::Unreadable)
}
