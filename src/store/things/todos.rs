//! A person's to-dos, read as a whole. Everything that changes them holds the person's row, and
//! looks whether all is as it was read: so what a name means, and how many tasks there may be, is
//! still true when it is written. [`super::todo_changes`] writes.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use sqlx::types::Json;
use sqlx::{PgConnection, PgExecutor, query_as, query_scalar};

use super::tasks::Row;
use crate::domain::todo::{FocusTimer, KeptTimer, LastNamed, Meant, TaskView, Todos, TodosShown, zone_named};
use crate::domain::{ConversationId, SubtaskId, Task, TaskId, TimerState, TurnId, UserId};
use crate::store::{Lease, Store, StoreError, Theirs, Unit, word};

/// All to-dos of a person, as they were read.
#[derive(Clone, Debug)]
pub struct KeptTodos {
    /// As the rules look at them.
    pub todos: Todos,
    /// The tasks as they are kept.
    pub tasks: Vec<Task>,
    /// Another one after any change.
    pub(super) stamp: String,
}

/// A row of `timers`.
#[derive(Debug, Deserialize)]
struct TimerRow {
    state: String,
    minutes: Option<i32>,
    task_id: Option<i64>,
    ends_at: Option<DateTime<Utc>>,
    left_ms: Option<i64>,
}

/// A row of `last_named`.
#[derive(Debug, Deserialize)]
struct LastRow {
    task_id: TaskId,
    subtask_id: Option<SubtaskId>,
}

#[derive(Debug, Deserialize)]
struct TodosRow {
    user: UserId,
    disabled: bool,
    zone: String,
    stamp: String,
    tasks: Vec<Row>,
    timer: Option<TimerRow>,
    last: Option<LastRow>,
    /// Arguments and results.
    made: Vec<(String, String)>,
}

/// A person's to-dos as `standing` tells of them.
#[derive(Debug, Deserialize)]
pub(in crate::store) struct ShownRow {
    zone: String,
    tasks: Vec<Row>,
    active: usize,
    timer: Option<TimerRow>,
    timed: Option<String>,
}

impl TryFrom<TimerRow> for FocusTimer {
    type Error = StoreError;

    fn try_from(TimerRow { state, minutes, task_id, ends_at, left_ms }: TimerRow) -> Result<Self, StoreError> {
        let (state, minutes): (TimerState, _) = (word(&state)?, minutes.and_then(|minutes| minutes.try_into().ok()));
        Ok(KeptTimer { state, minutes, task: task_id.map(TaskId), ends_at, left_ms }.into())
    }
}

impl TryFrom<TodosRow> for KeptTodos {
    type Error = StoreError;

    fn try_from(TodosRow { user, disabled, zone, stamp, tasks, timer, last, made }: TodosRow) -> Result<Self, StoreError> {
        let tasks = tasks.into_iter().map(Task::try_from).collect::<Result<Vec<_>, _>>()?;
        let last = last.map(|LastRow { task_id, subtask_id }| LastNamed { task: Some(task_id), subtask: subtask_id });
        let todos = Todos {
            user,
            disabled,
            zone: zone_named(&zone).map_err(StoreError::Unreadable)?,
            tasks: tasks.iter().map(view).collect::<Result<_, _>>()?,
            timer: timer.map_or(Ok(FocusTimer::Idle), FocusTimer::try_from)?,
            last: last.unwrap_or_default(),
            meant: made.iter().flat_map(|(arguments, result)| Meant::by(arguments, result)).collect(),
        };
        Ok(Self { todos, tasks, stamp })
    }
}

impl TryFrom<ShownRow> for TodosShown {
    type Error = StoreError;

    fn try_from(ShownRow { zone, tasks, active, timer, timed }: ShownRow) -> Result<Self, StoreError> {
        let task = |row| view(&Task::try_from(row)?);
        Ok(Self {
            tasks: tasks.into_iter().map(task).collect::<Result<_, _>>()?,
            active,
            timer: (timer.map_or(Ok(FocusTimer::Idle), FocusTimer::try_from)?, timed),
            zone: zone_named(&zone).map_err(StoreError::Unreadable)?,
        })
    }
}

/// A task as the rules look at it.
fn view(task: &Task) -> Result<TaskView, StoreError> {
    TaskView::try_from(task).map_err(StoreError::Unreadable)
}

async fn timer_of(database: &mut PgConnection, user: UserId) -> Result<FocusTimer, StoreError> {
    let row = query_as!(TimerRow, "SELECT state, minutes, task_id, ends_at, left_ms FROM timers WHERE user_id = $1", user.0);
    row.fetch_optional(database).await?.map_or(Ok(FocusTimer::Idle), FocusTimer::try_from)
}

/// `turn`: the running one, if names may have been used in it.
async fn todos_of(
    database: impl PgExecutor<'_>,
    conversation: ConversationId,
    turn: Option<TurnId>,
) -> Result<KeptTodos, StoreError> {
    let row = query_scalar::<_, Json<TodosRow>>(
        "SELECT json_build_object('user', u.id, 'disabled', u.disabled_at IS NOT NULL, 'zone', u.time_zone, 'stamp', todos_stamp(u.id),
             'tasks', (SELECT coalesce(json_agg(row_to_json(d)), '[]') FROM (
                 SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at,
                        recurrence
                 FROM tasks WHERE user_id = u.id ORDER BY updated_at DESC, task_id DESC) d),
             'timer', (SELECT row_to_json(d) FROM (
                 SELECT state, minutes, task_id, ends_at, left_ms FROM timers WHERE user_id = u.id) d),
             'last', (SELECT row_to_json(d) FROM (SELECT task_id, subtask_id FROM last_named WHERE user_id = u.id) d),
             'made', (SELECT coalesce(json_agg(json_build_array(k.arguments, r.content) ORDER BY k.tool_call_id), '[]')
                      FROM tool_calls k JOIN messages r ON r.tool_call_id = k.tool_call_id
                      WHERE k.turn_id = $2 AND k.state = 'done'))
         FROM users u JOIN conversations c ON c.user_id = u.id WHERE c.conversation_id = $1",
    );
    let row = row.bind(conversation.0).bind(turn.map(|turn| turn.0)).fetch_optional(database).await?;
    row.ok_or(StoreError::NoConversation(conversation))?.0.try_into()
}

impl Store {
    /// All to-dos of the person of a conversation.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn todos(&self, conversation: ConversationId) -> Result<KeptTodos, StoreError> {
        todos_of(&self.pool, conversation, None).await
    }

    /// The same for a turn, with the names that its calls have used.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn todos_in(&self, lease: &Lease) -> Result<KeptTodos, StoreError> {
        todos_of(&self.pool, lease.conversation, Some(lease.turn)).await
    }
}

impl Theirs {
    /// Their timer, with the title of its task. An end that nobody has noticed yet has come.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn timer(&self, now: DateTime<Utc>) -> Result<(KeptTimer, Option<String>), StoreError> {
        let (mut database, user) = (self.store.pool.acquire().await?, self.user);
        let timer = timer_of(&mut database, user).await?;
        let timer = timer.finished(now).map_or(timer, |(timer, _)| timer);
        let title =
            query_scalar!("SELECT title FROM tasks WHERE user_id = $1 AND task_id = $2", user.0, timer.task().map(|task| task.0));
        Ok((timer.into(), title.fetch_optional(&mut *database).await?))
    }
}

impl Unit {
    /// Holds the row of a conversation's person: nobody else changes the person's to-dos until this
    /// transaction ends.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn hold_user_of(&mut self, conversation: ConversationId) -> Result<(), StoreError> {
        query_scalar!(
            "SELECT u.id FROM users u JOIN conversations c ON c.user_id = u.id WHERE c.conversation_id = $1 FOR NO KEY UPDATE OF u",
            conversation.0
        )
        .fetch_optional(&mut *self.tx)
        .await?
        .ok_or(StoreError::NoConversation(conversation))?;
        Ok(())
    }

    /// All to-dos of the person of a conversation.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn todos(&mut self, conversation: ConversationId) -> Result<KeptTodos, StoreError> {
        todos_of(&mut *self.tx, conversation, None).await
    }
}
