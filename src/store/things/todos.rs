//! A person's to-dos, read and written as a whole: everything that changes them holds the person's row, so that what a name means, and how many
//! tasks there may be, stays true until the transaction ends.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{PgConnection, query, query_as, query_scalar};

use super::tasks::Row;
use crate::domain::todo::{FocusTimer, KeptTimer, LastNamed, MOST_IN_CONTEXT, TaskView, Todos, TodosShown, zone_named};
use crate::domain::{ConversationId, Subtask, SubtaskId, Task, TaskId, UserId};
use crate::facts::{Event, ItemNamed, TaskChanged, TimerChanged};
use crate::governor::Permit;
use crate::store::{Lease, Store, StoreError, Theirs, Unit, word};

/// A person, and where the person is.
struct Person {
    user: UserId,
    disabled: bool,
    zone: chrono_tz::Tz,
}

/// A row of `timers`.
struct TimerRow {
    state: String,
    minutes: Option<i32>,
    task_id: Option<i64>,
    ends_at: Option<DateTime<Utc>>,
    left_ms: Option<i64>,
}

impl TryFrom<TimerRow> for FocusTimer {
    type Error = StoreError;

    fn try_from(TimerRow { state, minutes, task_id, ends_at, left_ms }: TimerRow) -> Result<Self, StoreError> {
        let minutes = minutes.and_then(|minutes| minutes.try_into().ok());
        Ok(KeptTimer { state: word(&state)?, minutes, task: task_id.map(TaskId), ends_at, left_ms }.into())
    }
}

/// A task as the rules look at it.
fn view(row: Row) -> Result<TaskView, StoreError> {
    TaskView::try_from(&Task::try_from(row)?).map_err(StoreError::Unreadable)
}

async fn person(database: &mut PgConnection, conversation: ConversationId) -> Result<Person, StoreError> {
    let row = query!(
        r#"SELECT u.id, u.time_zone, u.disabled_at IS NOT NULL AS "disabled!" FROM users u JOIN conversations c ON c.user_id = u.id WHERE c.conversation_id = $1"#,
        conversation.0
    );
    let row = row.fetch_optional(database).await?.ok_or(StoreError::NoConversation(conversation))?;
    Ok(Person { user: UserId(row.id), disabled: row.disabled, zone: zone_named(&row.time_zone).map_err(StoreError::Unreadable)? })
}

async fn timer_of(database: &mut PgConnection, user: UserId) -> Result<FocusTimer, StoreError> {
    let row = query_as!(TimerRow, "SELECT state, minutes, task_id, ends_at, left_ms FROM timers WHERE user_id = $1", user.0);
    row.fetch_optional(database).await?.map_or(Ok(FocusTimer::Idle), FocusTimer::try_from)
}

impl Store {
    /// The to-dos of the person of a conversation, as far as a model is told of them: read afresh for each step.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn todos_shown(&self, conversation: ConversationId) -> Result<TodosShown, StoreError> {
        let mut database = self.pool.acquire().await?;
        let Person { user, zone, .. } = person(&mut database, conversation).await?;
        let timer = timer_of(&mut database, user).await?;
        let rows = query_as!(
            Row,
            "SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at,
                 recurrence
             FROM tasks WHERE user_id = $1 AND status IN ('pending', 'in_progress') ORDER BY updated_at DESC, task_id DESC LIMIT $2",
            user.0,
            i64::try_from(MOST_IN_CONTEXT).unwrap_or(i64::MAX)
        );
        let tasks = rows.fetch_all(&mut *database).await?.into_iter().map(view).collect::<Result<Vec<_>, _>>()?;
        let more = query!(
            r#"SELECT (SELECT count(*) FROM tasks WHERE user_id = $1 AND status IN ('pending', 'in_progress')) AS "active!",
                      (SELECT title FROM tasks WHERE user_id = $1 AND task_id = $2) AS timed"#,
            user.0,
            timer.task().map(|task| task.0)
        );
        let more = more.fetch_one(&mut *database).await?;
        Ok(TodosShown { tasks, active: usize::try_from(more.active).unwrap_or_default(), timer: (timer, more.timed), zone })
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
    /// Holds the row of a conversation's person: nobody else changes the person's to-dos until this transaction ends.
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
    pub async fn todos(&mut self, conversation: ConversationId) -> Result<Todos, StoreError> {
        let Person { user, disabled, zone } = person(&mut self.tx, conversation).await?;
        let rows = query_as!(
            Row,
            "SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at,
                 recurrence
             FROM tasks WHERE user_id = $1 ORDER BY updated_at DESC, task_id DESC",
            user.0
        );
        let tasks = rows.fetch_all(&mut *self.tx).await?.into_iter().map(view).collect::<Result<Vec<_>, _>>()?;
        let timer = timer_of(&mut self.tx, user).await?;
        let last = query!("SELECT task_id, subtask_id FROM last_named WHERE user_id = $1", user.0);
        let last = last
            .fetch_optional(&mut *self.tx)
            .await?
            .map(|row| LastNamed { task: Some(TaskId(row.task_id)), subtask: row.subtask_id.map(SubtaskId) });
        Ok(Todos { user, disabled, zone, tasks, timer, last: last.unwrap_or_default() })
    }

    /// The same, which nobody else changes until this transaction ends. The turn stays held as well.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn hold_todos(&mut self, lease: &Lease) -> Result<Todos, StoreError> {
        // The order of locks is the same everywhere: the turn, the person, what is the person's, the conversation.
        self.hold(lease).await?;
        self.hold_user_of(lease.conversation).await?;
        self.todos(lease.conversation).await
    }

    /// Makes a task with subtasks. The caller holds the to-dos.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn make_todo(
        &mut self,
        _: &Permit,
        lease: &Lease,
        task: &TaskView,
        subtasks: &[String],
    ) -> Result<TaskView, StoreError> {
        let numbers = self.subtask_numbers(subtasks.len()).await?;
        let subtasks: Vec<_> = numbers
            .into_iter()
            .zip(subtasks)
            .map(|(id, title)| Subtask { id, title: self.clean(title).into_owned(), completed: false })
            .collect();
        let title = self.clean(&task.title).into_owned();
        let row = query_as!(
            Row,
            "INSERT INTO tasks (conversation_id, user_id, title, subtasks, remind_at, recurrence, created_at, updated_at)
             SELECT conversation_id, user_id, $2, $3, $4, $5, $6, $6 FROM conversations WHERE conversation_id = $1
             RETURNING task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at,
                 recurrence",
            lease.conversation.0,
            title,
            json!(subtasks),
            task.reminder,
            task.kept_recurrence().map(|kept| json!(kept)),
            self.now
        );
        let row = row.fetch_one(&mut *self.tx).await?;
        self.told(lease, row).await
    }

    /// Numbers for new subtasks.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn subtask_numbers(&mut self, count: usize) -> Result<Vec<SubtaskId>, StoreError> {
        let numbers = query_scalar!(
            r#"SELECT nextval('subtask_numbers') AS "number!" FROM generate_series(1, $1::bigint)"#,
            i64::try_from(count).unwrap_or_default()
        );
        Ok(numbers.fetch_all(&mut *self.tx).await?.into_iter().map(SubtaskId).collect())
    }

    /// Writes a task as it is to be: title, status, subtasks in their order, reminder, recurrence. The caller holds the to-dos.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn change_todo(&mut self, _: &Permit, lease: &Lease, task: &TaskView) -> Result<TaskView, StoreError> {
        let subtask = |title: &str| self.clean(title).into_owned();
        let subtasks: Vec<_> = task
            .in_order()
            .into_iter()
            .map(|one| Subtask { id: one.id, title: subtask(&one.title), completed: one.completed })
            .collect();
        let title = self.clean(&task.title).into_owned();
        let row = query_as!(
            Row,
            "UPDATE tasks SET title = $2, status = $3, subtasks = $4, remind_at = $5, recurrence = $6, updated_at = $7 WHERE task_id = $1
             RETURNING task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at,
                 recurrence",
            task.id.0,
            title,
            task.status.as_str(),
            json!(subtasks),
            task.reminder,
            task.kept_recurrence().map(|kept| json!(kept)),
            self.now
        );
        let row = row.fetch_one(&mut *self.tx).await?;
        self.told(lease, row).await
    }

    /// Deletes tasks with their subtasks. The caller holds the to-dos.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn delete_todos(&mut self, _: &Permit, lease: &Lease, tasks: &[TaskId]) -> Result<(), StoreError> {
        let ids: Vec<_> = tasks.iter().map(|task| task.0).collect();
        let rows = query_as!(
            Row,
            "DELETE FROM tasks WHERE task_id = ANY($1)
             RETURNING task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at,
                 recurrence",
            &ids
        );
        let rows = rows.fetch_all(&mut *self.tx).await?;
        let gone = rows.into_iter().map(|row| Ok(TaskChanged { task: Task::try_from(row)?, deleted: true }.into()));
        let gone = gone.collect::<Result<Vec<Event>, StoreError>>()?;
        self.append_all(lease.conversation, &gone).await
    }

    /// Records that a person named a task or a subtask.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn name_last(
        &mut self,
        lease: &Lease,
        user: UserId,
        task: TaskId,
        subtask: Option<SubtaskId>,
    ) -> Result<(), StoreError> {
        let changed = query!(
            "INSERT INTO last_named AS l (user_id, task_id, subtask_id) VALUES ($1, $2, $3)
             ON CONFLICT (user_id) DO UPDATE SET task_id = $2, subtask_id = $3
             WHERE (l.task_id, l.subtask_id) IS DISTINCT FROM (EXCLUDED.task_id, EXCLUDED.subtask_id)",
            user.0,
            task.0,
            subtask.map(|subtask| subtask.0)
        );
        if changed.execute(&mut *self.tx).await?.rows_affected() > 0 {
            self.append(lease.conversation, ItemNamed { user, task, subtask }.into()).await?;
        }
        Ok(())
    }

    /// Writes a person's timer as it is now; `over`: its time is over. The caller holds the to-dos.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn set_timer(
        &mut self,
        conversation: ConversationId,
        user: UserId,
        timer: FocusTimer,
        over: bool,
        title: Option<String>,
    ) -> Result<(), StoreError> {
        let timer = KeptTimer::from(timer);
        query!(
            "INSERT INTO timers (user_id, conversation_id, state, minutes, task_id, ends_at, left_ms) VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (user_id) DO UPDATE SET conversation_id = $2, state = $3, minutes = $4, task_id = $5, ends_at = $6, left_ms = $7",
            user.0,
            conversation.0,
            timer.state.as_str(),
            timer.minutes.map(i32::from),
            timer.task.map(|task| task.0),
            timer.ends_at,
            timer.left_ms
        )
        .execute(&mut *self.tx)
        .await?;
        self.append(conversation, TimerChanged { user, timer, over, title }.into()).await
    }

    /// Records a task as it is now.
    async fn told(&mut self, lease: &Lease, row: Row) -> Result<TaskView, StoreError> {
        let task = Task::try_from(row)?;
        let shown = TaskView::try_from(&task).map_err(StoreError::Unreadable)?;
        self.append(lease.conversation, TaskChanged { task, deleted: false }.into()).await?;
        Ok(shown)
    }
}
