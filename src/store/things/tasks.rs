//! Tasks, read. [`super::todo_changes`] changes them; [`crate::store::queue::due_tasks`] is what
//! happens when they fall due.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{query, query_as, query_scalar};

use crate::domain::{ConversationId, SubtaskId, Task, TaskId};
use crate::store::{Store, StoreError, Theirs, value, word};

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

/// A task as a call has read it.
#[derive(Clone, Debug)]
pub struct SeenTask {
    /// The task.
    pub task: Task,
    /// The transaction that wrote its row.
    mark: String,
}

impl SeenTask {
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }
}

/// Tasks of a person, read for a call.
#[derive(Clone, Debug)]
pub struct TasksFound {
    /// The one that was named, if there is one.
    pub one: Option<SeenTask>,
    /// Every task, open ones first, the soonest due first: if all were wanted, or the one was not
    /// found.
    pub all: Vec<Task>,
}

impl Store {
    /// Reads, for a call, the task that it names among those of the user of `conversation`. It
    /// reads every task if it names none, if `all` are wanted, or if there is no such task.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn tasks_for(&self, conversation: ConversationId, id: Option<TaskId>, all: bool) -> Result<TasksFound, StoreError> {
        let rows = query!(
            r#"WITH mine AS MATERIALIZED (SELECT user_id FROM conversations WHERE conversation_id = $1),
               one AS MATERIALIZED (
                   SELECT xmin::text AS mark, t AS task FROM tasks t WHERE task_id = $2 AND user_id = (SELECT user_id FROM mine))
               SELECT f.mark AS "mark!", row_to_json(f.task) AS "task!: Json<Row>" FROM (
                   SELECT mark, task FROM one WHERE NOT $3
                   UNION ALL
                   SELECT xmin::text, t FROM tasks t
                   WHERE user_id = (SELECT user_id FROM mine) AND ($3 OR NOT EXISTS (SELECT FROM one))) f
               ORDER BY (f.task).status NOT IN ('pending', 'in_progress'), (f.task).due_at NULLS LAST, (f.task).task_id"#,
            conversation.0,
            id.map(|id| id.0),
            all || id.is_none()
        );
        let rows = rows.fetch_all(&self.pool).await?.into_iter();
        let seen = rows.map(|row| Ok(SeenTask { task: Task::try_from(row.task.0)?, mark: row.mark }));
        let seen = seen.collect::<Result<Vec<_>, StoreError>>()?;
        let one = seen.iter().find(|seen| Some(seen.task.id) == id).cloned();
        Ok(TasksFound { one, all: seen.into_iter().map(|seen| seen.task).collect() })
    }

    /// Numbers for a new task and its subtasks.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn task_numbers(&self, subtasks: usize) -> Result<(TaskId, Vec<SubtaskId>), StoreError> {
        let numbers = query!(
            r#"SELECT nextval(pg_get_serial_sequence('tasks', 'task_id')) AS "task!",
                      array(SELECT nextval('subtask_numbers') FROM generate_series(1, $1::bigint)) AS "subtasks!""#,
            i64::try_from(subtasks).unwrap_or_default()
        )
        .fetch_one(&self.pool)
        .await?;
        Ok((TaskId(numbers.task), numbers.subtasks.into_iter().map(SubtaskId).collect()))
    }
    /// A number for a new subtask.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn subtask_number(&self) -> Result<SubtaskId, StoreError> {
        let number = query_scalar!(r#"SELECT nextval('subtask_numbers') AS "number!""#);
        Ok(SubtaskId(number.fetch_one(&self.pool).await?))
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
