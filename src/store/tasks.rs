//! Tasks, and the moment they fall due.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{query, query_as, query_scalar};

use super::{Store, StoreError, Unit, value, word};
use crate::domain::{Budgets, ConversationId, Event, Origin, Task, TaskId, TaskStatus, TurnId};
use crate::failpoint::{self, Point};
use crate::governor::Permit;

/// A task to make.
#[derive(Clone, Debug)]
pub struct NewTask {
    /// One line.
    pub title: String,
    /// Anything longer.
    pub details: String,
    /// When it wakes the agent.
    pub due_at: Option<DateTime<Utc>>,
    /// The model that works on it then, as `provider/model`.
    pub model: Option<String>,
}

/// What to change; `None` leaves a field as it is.
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
}

/// What came of a look for due tasks.
#[derive(Debug, Default)]
pub struct Fired {
    /// The turns that they began.
    pub turns: Vec<TurnId>,
    /// When the next of those that wait may begin one, where some wait.
    pub held_until: Option<DateTime<Utc>>,
}

/// Tasks of a conversation that have to wait.
struct Held {
    tasks: Vec<TaskId>,
    limit: u64,
    until: Option<DateTime<Utc>>,
}

/// For how long begun turns count.
const HOUR: TimeDelta = TimeDelta::hours(1);

struct Row {
    task_id: i64,
    conversation_id: i64,
    title: String,
    details: String,
    status: String,
    due_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    model: Option<String>,
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
            model: row.model,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

impl Unit {
    /// Makes a task that belongs to `conversation`.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn create_task(&mut self, _: &Permit, conversation: ConversationId, new: NewTask) -> Result<Task, StoreError> {
        let row = query_as!(
            Row,
            "INSERT INTO tasks (conversation_id, title, details, due_at, created_at, updated_at, model) VALUES ($1, $2, $3, $4, $5, $5, $6)
             RETURNING task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model",
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

    /// Every task: open ones first, the soonest due first.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn list_tasks(&mut self) -> Result<Vec<Task>, StoreError> {
        let rows = query_as!(
            Row,
            "SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model FROM tasks
             ORDER BY status NOT IN ('pending', 'in_progress'), due_at NULLS LAST, task_id"
        )
        .fetch_all(&mut *self.tx)
        .await?;
        rows.into_iter().map(Task::try_from).collect()
    }

    /// One task, or `None`.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn task(&mut self, id: TaskId) -> Result<Option<Task>, StoreError> {
        let row = query_as!(
            Row,
            "SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model FROM tasks WHERE task_id = $1",
            id.0
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        row.map(Task::try_from).transpose()
    }

    /// Changes a task; `None` when there is no such task. The event goes into the stream of `conversation`, where the change was made.
    ///
    /// # Errors
    /// When the database is not there.
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
                 due_at = CASE WHEN $5 THEN $6 ELSE due_at END, updated_at = $7,
                 model = CASE WHEN $8 THEN $9 ELSE model END
             WHERE task_id = $1
             RETURNING task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model",
            id.0,
            change.title,
            change.details,
            change.status.map(TaskStatus::as_str),
            change.due_at.is_some(),
            change.due_at.flatten(),
            self.now,
            change.model.is_some(),
            change.model.flatten()
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        match row {
            Some(row) => Ok(Some(self.changed(conversation, row, false).await?)),
            None => Ok(None),
        }
    }

    /// Deletes a task and returns what it was; `None` when there is no such task.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn delete_task(
        &mut self,
        _: &Permit,
        conversation: ConversationId,
        id: TaskId,
    ) -> Result<Option<Task>, StoreError> {
        let row = query_as!(
            Row,
            "DELETE FROM tasks WHERE task_id = $1
             RETURNING task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model",
            id.0
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        match row {
            Some(row) => Ok(Some(self.changed(conversation, row, true).await?)),
            None => Ok(None),
        }
    }

    /// Makes the turn of tasks that fell due together and name the same model.
    async fn fire(&mut self, conversation: ConversationId, due: &[Task], input: &str) -> Result<TurnId, StoreError> {
        let turn = self.queue_turn(conversation, Origin::Task, None, input).await?;
        let model = due.first().and_then(|task| task.model.clone());
        if model.is_some() {
            query!("UPDATE turns SET task_model = $2 WHERE turn_id = $1", turn.0, model).execute(&mut *self.tx).await?;
        }
        let (tasks, due_at) = due.iter().filter_map(|task| Some((task.id, task.due_at?))).unzip();
        self.append(conversation, Event::TasksFired { tasks, turn, due_at, model }).await?;
        Ok(turn)
    }

    /// Tells the person that tasks of a conversation wait.
    async fn hold_tasks(&mut self, conversation: ConversationId, held: Held) -> Result<(), StoreError> {
        query!("UPDATE conversations SET tasks_held_at = $2 WHERE conversation_id = $1", conversation.0, self.now)
            .execute(&mut *self.tx)
            .await?;
        let Held { tasks, limit, until } = held;
        self.append(conversation, Event::TasksHeld { tasks, limit, until }).await?;
        Ok(())
    }

    async fn changed(&mut self, conversation: ConversationId, row: Row, deleted: bool) -> Result<Task, StoreError> {
        let task = Task::try_from(row)?;
        self.append(conversation, Event::TaskChanged { task: task.clone(), deleted }).await?;
        Ok(task)
    }
}

/// The tasks in groups of one conversation that name the same model, the group with the soonest first.
fn together(due: Vec<Task>) -> Vec<Vec<Task>> {
    let mut groups: Vec<Vec<Task>> = Vec::new();
    for task in due {
        match groups.iter_mut().find(|group| group[0].conversation == task.conversation && group[0].model == task.model) {
            Some(group) => group.push(task),
            None => groups.push(vec![task]),
        }
    }
    groups
}

impl Store {
    /// The model that the tasks of a turn name.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn model_of(&self, turn: TurnId) -> Result<Option<String>, StoreError> {
        let model = query_scalar!("SELECT task_model FROM turns WHERE turn_id = $1", turn.0);
        Ok(model.fetch_optional(&self.pool).await?.flatten())
    }

    /// Open tasks that are due before `before`, the soonest first.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn tasks_due_before(&self, before: DateTime<Utc>) -> Result<Vec<Task>, StoreError> {
        let rows = query_as!(
            Row,
            "SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model FROM tasks
             WHERE status IN ('pending', 'in_progress') AND due_at <= $1 ORDER BY due_at, task_id",
            before
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter().map(Task::try_from).collect()
    }

    /// The next due date after `now` that has not woken the agent yet.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn next_due(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, StoreError> {
        let next = query_scalar!(
            "SELECT min(due_at) FROM tasks
             WHERE status IN ('pending', 'in_progress') AND due_at > $1 AND due_at IS DISTINCT FROM fired_due_at",
            now
        );
        Ok(next.fetch_one(&self.pool).await?)
    }

    /// Hands every task that is due and has not been handed out yet to a turn: one turn for each conversation concerned, and in it for each
    /// model that tasks name; the soonest first, and no more of them within an hour than the profile allows. `describe` writes the turn's
    /// input.
    ///
    /// # Errors
    /// When the database is not there; then nothing was handed out.
    pub async fn fire_due_tasks(&self, now: DateTime<Utc>, describe: impl Fn(&[Task]) -> String) -> Result<Fired, StoreError> {
        let mut unit = self.begin(now).await?;
        // Locking the conversations first, in order, keeps to the one lock order there is: conversation, then its turns and tasks.
        let conversations = query!(
            r#"SELECT c.conversation_id, c.tasks_held_at, p.budgets AS "budgets?"
               FROM conversations c LEFT JOIN profile_policies p ON p.profile = c.profile
               WHERE EXISTS (
                   SELECT FROM tasks WHERE tasks.conversation_id = c.conversation_id AND status IN ('pending', 'in_progress')
                       AND due_at <= $1 AND due_at IS DISTINCT FROM fired_due_at)
               ORDER BY c.conversation_id FOR UPDATE OF c"#,
            now
        )
        .fetch_all(&mut *unit.tx)
        .await?;
        if conversations.is_empty() {
            return Ok(Fired::default());
        }
        let mut known = HashMap::new();
        for row in conversations {
            let budgets: Budgets = row.budgets.map(value).transpose()?.unwrap_or_default();
            known.insert(ConversationId(row.conversation_id), (budgets.tasks.turns_per_hour, row.tasks_held_at));
        }
        let ids: Vec<_> = known.keys().map(|conversation| conversation.0).collect();
        let due = query_as!(
            Row,
            "SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model FROM tasks
             WHERE conversation_id = ANY($1) AND status IN ('pending', 'in_progress')
                 AND due_at <= $2 AND due_at IS DISTINCT FROM fired_due_at
             ORDER BY due_at, task_id FOR UPDATE",
            &ids,
            now
        )
        .fetch_all(&mut *unit.tx)
        .await?;
        let mut begun = query_scalar!(
            "SELECT created_at FROM turns WHERE origin = 'task' AND created_at > $1 AND created_at <= $2 ORDER BY created_at",
            now - HOUR,
            now
        )
        .fetch_all(&mut *unit.tx)
        .await?;
        let (mut fired, mut held) = (Fired::default(), BTreeMap::<ConversationId, Held>::new());
        for due in together(due.into_iter().map(Task::try_from).collect::<Result<Vec<_>, _>>()?) {
            let conversation = due[0].conversation;
            let tasks = due.iter().map(|task| task.id);
            match known.get(&conversation).and_then(|(limit, _)| *limit) {
                Some(limit) if count(begun.len()) >= limit => {
                    let until = free_again(&begun, limit);
                    fired.held_until = [fired.held_until, until].into_iter().flatten().min();
                    held.entry(conversation).or_insert(Held { tasks: Vec::new(), limit, until }).tasks.extend(tasks);
                }
                _ => {
                    let tasks: Vec<_> = tasks.map(|task| task.0).collect();
                    query!("UPDATE tasks SET fired_due_at = due_at WHERE task_id = ANY($1)", &tasks)
                        .execute(&mut *unit.tx)
                        .await?;
                    fired.turns.push(unit.fire(conversation, &due, &describe(&due)).await?);
                    begun.push(now);
                }
            }
        }
        for (conversation, held) in held {
            if known.get(&conversation).is_some_and(|(_, told)| told.is_none_or(|told| told <= now - HOUR)) {
                unit.hold_tasks(conversation, held).await?;
            }
        }
        if !fired.turns.is_empty() {
            failpoint::hit(Point::MidDue).map_err(sqlx::Error::Io)?;
        }
        unit.commit().await?;
        Ok(fired)
    }
}

/// When tasks may begin a turn again, after so many began in the hour before.
fn free_again(begun: &[DateTime<Utc>], limit: u64) -> Option<DateTime<Utc>> {
    let leaves = begun.len().checked_sub(usize::try_from(limit).ok()?)?;
    begun.get(leaves).map(|begun| *begun + HOUR)
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
