//! Changes of a person's to-dos: a call decides on them, and they are written in their order by one
//! statement, with their events. If somebody else has changed by then what the call had read,
//! nothing is written, and the call is decided anew.

use chrono::{DateTime, SubsecRound, Utc};
use serde_json::{Value, json};
use sqlx::query_scalar;

use super::tasks::SeenTask;
use super::todos::KeptTodos;
use crate::domain::todo::{FocusTimer, KeptTimer};
use crate::domain::{ConversationId, Subtask, SubtaskId, Task, TaskId, UserId};
use crate::facts::{Event, EventRecord, ItemNamed, TaskChanged, TimerChanged};
use crate::governor::Permit;
use crate::store::{Lease, Store, StoreError, Unit, clean};
use crate::telemetry::Scrubber;

/// Changes that are decided and not written.
pub struct TodoChanges {
    scrubber: Scrubber,
    /// The time of all of it.
    now: DateTime<Utc>,
    /// All to-dos as they were read, if all of them decided.
    stamp: Option<String>,
    changes: Vec<Value>,
    events: Vec<Event>,
}

/// Changes on their way into the database.
#[derive(Clone, Debug, Default)]
pub(in crate::store) struct WrittenChanges {
    pub(in crate::store) stamp: Option<String>,
    pub(in crate::store) changes: Vec<Value>,
    events: Vec<Event>,
}

impl WrittenChanges {
    /// Their events as the database keeps them.
    pub(in crate::store) fn payloads(&self) -> Vec<Value> {
        self.events.iter().map(|event| json!(event)).collect()
    }

    /// Their events in the stream, in which `first` is the place of the first one.
    pub(in crate::store) fn recorded(self, conversation: ConversationId, first: i64, at: DateTime<Utc>) -> Vec<EventRecord> {
        let record = |(sequence, event)| EventRecord { conversation, sequence, at, event };
        (first..).zip(self.events).map(record).collect()
    }
}

impl Store {
    /// No changes yet; `now` is the time of those to come.
    pub fn todo_changes(&self, now: DateTime<Utc>) -> TodoChanges {
        TodoChanges::new(&self.scrubber, now)
    }
}

impl TodoChanges {
    fn new(scrubber: &Scrubber, now: DateTime<Utc>) -> Self {
        Self { scrubber: scrubber.clone(), now, stamp: None, changes: Vec::new(), events: Vec::new() }
    }

    /// The same, decided by all to-dos of the person.
    pub fn decided_by(self, kept: &KeptTodos) -> Self {
        Self { stamp: Some(kept.stamp.clone()), ..self }
    }

    /// The time of all of it.
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }

    /// True if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Makes a task. Gives it as it is kept.
    pub fn make(&mut self, _: &Permit, task: Task) -> Task {
        self.put("make", task, None)
    }

    /// Writes a task as it is to be, if it is as it was `seen`. Gives it as it is kept.
    pub fn change(&mut self, _: &Permit, task: Task, seen: Option<&SeenTask>) -> Task {
        self.put("change", task, seen)
    }

    /// Deletes a task with its subtasks, if it is as it was `seen`.
    pub fn delete(&mut self, _: &Permit, task: Task, seen: Option<&SeenTask>) {
        self.changes.push(json!({ "do": "delete", "task": task.id, "seen": seen.map(SeenTask::mark) }));
        self.events.push(TaskChanged { task, deleted: true }.into());
    }

    /// From now on “it” means this.
    pub fn name(&mut self, user: UserId, task: TaskId, subtask: Option<SubtaskId>) {
        self.changes.push(json!({ "do": "name", "task": task, "subtask": subtask }));
        self.events.push(ItemNamed { user, task, subtask }.into());
    }

    /// Sets a person's timer; `over`: its time is over. `title`: of its task.
    pub fn set_timer(&mut self, user: UserId, timer: FocusTimer, over: bool, title: Option<String>) {
        let timer = KeptTimer::from(timer);
        let KeptTimer { state, minutes, task, ends_at, left_ms } = timer;
        let row = json!({ "state": state, "minutes": minutes, "task_id": task, "ends_at": ends_at, "left_ms": left_ms });
        self.changes.push(json!({ "do": "timer", "row": row }));
        self.events.push(TimerChanged { user, timer, over, title }.into());
    }

    fn put(&mut self, how: &str, task: Task, seen: Option<&SeenTask>) -> Task {
        let task = self.kept(task);
        let Task { id, title, details, status, due_at, subtasks, remind_at, recurrence, model, conversation: _, .. } = &task;
        let row = json!({
            "task_id": id, "title": title, "details": details, "status": status, "due_at": due_at, "subtasks": subtasks,
            "remind_at": remind_at, "recurrence": recurrence, "model": model, "created_at": task.created_at,
            "updated_at": task.updated_at,
        });
        self.changes.push(json!({ "do": how, "row": row, "seen": seen.map(SeenTask::mark) }));
        self.events.push(TaskChanged { task: task.clone(), deleted: false }.into());
        task
    }

    /// A task as it is kept: without secrets, and with times as Postgres has them.
    fn kept(&self, task: Task) -> Task {
        let clean = |text: &str| clean(&self.scrubber, text).into_owned();
        let subtask = |subtask: Subtask| Subtask { title: clean(&subtask.title), ..subtask };
        let micros = |at: Option<DateTime<Utc>>| at.map(|at| at.trunc_subsecs(6));
        Task {
            title: clean(&task.title),
            details: clean(&task.details),
            due_at: micros(task.due_at),
            remind_at: micros(task.remind_at),
            subtasks: task.subtasks.into_iter().map(subtask).collect(),
            ..task
        }
    }

    pub(in crate::store) fn written(self) -> WrittenChanges {
        let Self { stamp, changes, events, .. } = self;
        WrittenChanges { stamp, changes, events }
    }
}

impl Unit {
    /// No changes yet, at the time of this transaction.
    pub fn todo_changes(&self) -> TodoChanges {
        TodoChanges::new(&self.scrubber, self.now)
    }

    /// Changes the to-dos of the person of a conversation.
    ///
    /// # Errors
    /// [`StoreError::TodosChanged`], or if the database does not answer.
    pub async fn change_todos(&mut self, conversation: ConversationId, changes: TodoChanges) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let written = changes.written();
        let first = query_scalar!(
            r#"SELECT change_todos($1, $2, $3, $4, $5) AS "first!""#,
            conversation.0,
            written.stamp.as_deref(),
            &written.changes,
            &written.payloads(),
            self.now
        )
        .fetch_one(&mut *self.tx)
        .await?;
        written.recorded(conversation, first, self.now).into_iter().for_each(|record| self.note(record));
        Ok(())
    }

    /// The same for a turn in hand, which stays held.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] as well.
    pub async fn change_todos_in(&mut self, lease: &Lease, changes: TodoChanges) -> Result<(), StoreError> {
        // The order of locks is the same everywhere: the turn, the person, what is the person's,
        // the conversation.
        self.hold(lease).await?;
        self.change_todos(lease.conversation, changes).await
    }
}
