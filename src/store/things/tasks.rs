//! Tasks: made, read, changed and deleted. [`crate::store::queue::due_tasks`] is what happens when they fall due.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::{query_as, query_scalar};

use crate::domain::{ConversationId, Subtask, Task, TaskId, TaskStatus};
use crate::facts::TaskChanged;
use crate::governor::Permit;
use crate::store::{StoreError, Theirs, Unit, value, word};

/// A task to make.
#[derive(Clone, Debug)]
pub struct NewTask {
    /// One line.
    pub title: String,
    /// Anything longer.
    pub details: String,
    /// The time at which it wakes the agent.
    pub due_at: Option<DateTime<Utc>>,
    /// The model that works on it then, as `provider/model`.
    pub model: Option<String>,
}

/// The changes of a task; `None` leaves a field as it is.
#[derive(Clone, Debug, Default)]
pub struct TaskChange {
    /// A new title.
    pub title: Option<String>,
    /// New details.
    pub details: Option<String>,
    /// A new status.
    pub status: Option<TaskStatus>,
    /// A new due date; `Some(None)` takes it away.
    pub due_at: Option<Option<DateTime<Utc>>>,
    /// Another model; `Some(None)` leaves the choice to the profile.
    pub model: Option<Option<String>>,
    /// All of its subtasks, in their order.
    pub subtasks: Option<Vec<Subtask>>,
}

/// A row of `tasks`, as the macros read it.
#[derive(Debug, Deserialize)]
pub(in crate::store) struct Row {
    pub(in crate::store) task_id: i64,
    pub(in crate::store) conversation_id: i64,
    pub(in crate::store) title: String,
    pub(in crate::store) details: String,
    pub(in crate::store) status: String,
    pub(in crate::store) due_at: Option<DateTime<Utc>>,
    pub(in crate::store) created_at: DateTime<Utc>,
    pub(in crate::store) updated_at: DateTime<Utc>,
    pub(in crate::store) model: Option<String>,
    pub(in crate::store) subtasks: Value,
    pub(in crate::store) remind_at: Option<DateTime<Utc>>,
    pub(in crate::store) recurrence: Option<Value>,
}

impl TryFrom<Row> for Task {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: TaskId(row.task_id),
            conversation: ConversationId(row.conversation_id),
            title: row.title,
            details: row.details,
            status: word(&row.status)?,
            due_at: row.due_at,
            subtasks: value(row.subtasks)?,
            remind_at: row.remind_at,
            recurrence: row.recurrence.map(value).transpose()?,
            model: row.model,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

impl Unit {
    /// Makes a task that belongs to `conversation`, and so to its user.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn create_task(&mut self, _: &Permit, conversation: ConversationId, new: NewTask) -> Result<Task, StoreError> {
        let row = query_as!(
            Row,
            // The person's row is held: nobody else changes the person's to-dos meanwhile.
            "WITH held AS MATERIALIZED (
                 SELECT c.user_id FROM users u JOIN conversations c ON c.user_id = u.id
                 WHERE c.conversation_id = $1 FOR NO KEY UPDATE OF u)
             INSERT INTO tasks (conversation_id, user_id, title, details, due_at, created_at, updated_at, model)
             SELECT $1, user_id, $2, $3, $4, $5, $5, $6 FROM held
             RETURNING task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at,
                 recurrence",
            conversation.0,
            new.title,
            new.details,
            new.due_at,
            self.now,
            new.model
        )
        .fetch_one(&mut *self.tx)
        .await?;
        self.changed(conversation, row, false).await
    }

    /// Every task of the user of `conversation`: open ones first, the soonest due first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn list_tasks(&mut self, conversation: ConversationId) -> Result<Vec<Task>, StoreError> {
        let rows = query_as!(
            Row,
            "SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at,
                 recurrence FROM tasks
             WHERE user_id = (SELECT user_id FROM conversations WHERE conversation_id = $1)
             ORDER BY status NOT IN ('pending', 'in_progress'), due_at NULLS LAST, task_id",
            conversation.0
        )
        .fetch_all(&mut *self.tx)
        .await?;
        rows.into_iter().map(Task::try_from).collect()
    }

    /// One task of the user of `conversation`, or `None`.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn task(&mut self, conversation: ConversationId, id: TaskId) -> Result<Option<Task>, StoreError> {
        let row = query_as!(
            Row,
            "SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at,
                 recurrence FROM tasks
             WHERE task_id = $1 AND user_id = (SELECT user_id FROM conversations WHERE conversation_id = $2)",
            id.0,
            conversation.0
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        row.map(Task::try_from).transpose()
    }

    /// Changes a task of the user of `conversation`; `None` if there is no such task. Completing it completes its subtasks. The
    /// caller holds the person's row. The event goes into the stream of
    /// `conversation`, in which the change was made.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn update_task(
        &mut self,
        _: &Permit,
        conversation: ConversationId,
        id: TaskId,
        change: TaskChange,
    ) -> Result<Option<Task>, StoreError> {
        let row = query_as!(
            Row,
            "UPDATE tasks SET title = coalesce($2, title), details = coalesce($3, details), status = coalesce($4, status),
                 subtasks = CASE WHEN $4 = 'done' THEN coalesce((
                     SELECT jsonb_agg(s.subtask || '{\"completed\": true}' ORDER BY s.place)
                     FROM jsonb_array_elements(coalesce($11, subtasks)) WITH ORDINALITY AS s (subtask, place)), '[]')
                     ELSE coalesce($11, subtasks) END,
                 due_at = CASE WHEN $5 THEN $6 ELSE due_at END, updated_at = $7,
                 model = CASE WHEN $8 THEN $9 ELSE model END
             WHERE task_id = $1 AND user_id = (SELECT user_id FROM conversations WHERE conversation_id = $10)
             RETURNING task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at,
                 recurrence",
            id.0,
            change.title,
            change.details,
            change.status.map(TaskStatus::as_str),
            change.due_at.is_some(),
            change.due_at.flatten(),
            self.now,
            change.model.is_some(),
            change.model.flatten(),
            conversation.0,
            change.subtasks.map(|subtasks| json!(subtasks))
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        match row {
            Some(row) => Ok(Some(self.changed(conversation, row, false).await?)),
            None => Ok(None),
        }
    }

    /// Deletes a task and returns its last state; `None` if there is no such task.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn delete_task(
        &mut self,
        _: &Permit,
        conversation: ConversationId,
        id: TaskId,
    ) -> Result<Option<Task>, StoreError> {
        self.hold_user_of(conversation).await?;
        let row = query_as!(
            Row,
            "DELETE FROM tasks WHERE task_id = $1 AND user_id = (SELECT user_id FROM conversations WHERE conversation_id = $2)
             RETURNING task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at,
                 recurrence",
            id.0,
            conversation.0
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        match row {
            Some(row) => Ok(Some(self.changed(conversation, row, true).await?)),
            None => Ok(None),
        }
    }

    async fn changed(&mut self, conversation: ConversationId, row: Row, deleted: bool) -> Result<Task, StoreError> {
        let task = Task::try_from(row)?;
        self.append(conversation, TaskChanged { task: task.clone(), deleted }.into()).await?;
        Ok(task)
    }
}

impl Theirs {
    /// One task of theirs, or `None`.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn task(&self, id: TaskId) -> Result<Option<Task>, StoreError> {
        let row = query_as!(
            Row,
            "SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at,
                 recurrence FROM tasks
             WHERE task_id = $1 AND user_id = $2",
            id.0,
            self.user.0
        );
        row.fetch_optional(&self.store.pool).await?.map(Task::try_from).transpose()
    }

    /// Every task of theirs: open ones first, the soonest due first; at most `limit`.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn tasks(&self, limit: i64) -> Result<Vec<Task>, StoreError> {
        let rows = query_as!(
            Row,
            "SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at,
                 recurrence FROM tasks WHERE user_id = $2
             ORDER BY status NOT IN ('pending', 'in_progress'), due_at NULLS LAST, task_id LIMIT $1",
            limit,
            self.user.0
        )
        .fetch_all(&self.store.pool)
        .await?;
        rows.into_iter().map(Task::try_from).collect()
    }

    /// How many open tasks they have.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn open_tasks(&self) -> Result<usize, StoreError> {
        let open = query_scalar!(
            r#"SELECT count(*) AS "open!" FROM tasks WHERE user_id = $1 AND status IN ('pending', 'in_progress')"#,
            self.user.0
        );
        Ok(usize::try_from(open.fetch_one(&self.store.pool).await?).unwrap_or(usize::MAX))
    }
}
