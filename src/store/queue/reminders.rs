//! Reminders that are due, and timers whose time is over: an event each, in a transaction of its
//! own. No model is asked, so nothing is spent.

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{query, query_scalar};

use crate::domain::{ConversationId, TaskId, TaskStatus, UserId};
use crate::facts::ReminderGiven;
use crate::failpoint::{self, Point};
use crate::store::{Store, StoreError, Unit, word};

/// A reminder that is given later than this was missed: the server was not there.
const IN_TIME: TimeDelta = TimeDelta::minutes(1);

impl Store {
    /// Gives every reminder that is due, the longest due first.
    ///
    /// # Errors
    /// If the database does not answer; those that were given until then stay so.
    pub async fn give_reminders(&self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let due = query_scalar!("SELECT subject FROM wake_ups WHERE kind = 'reminder' AND at <= $1 ORDER BY at, subject", now);
        for task in due.fetch_all(&self.pool).await? {
            let mut unit = self.begin(now).await?;
            unit.remind(TaskId(task)).await?;
            unit.commit().await?;
        }
        Ok(())
    }

    /// Ends every timer whose time is over.
    ///
    /// # Errors
    /// As [`Store::give_reminders`].
    pub async fn end_timers(&self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let due = query!(
            "SELECT w.subject AS user_id, t.conversation_id FROM wake_ups w JOIN timers t ON t.user_id = w.subject
             WHERE w.kind = 'timer' AND w.at <= $1 ORDER BY w.at, w.subject",
            now
        );
        for row in due.fetch_all(&self.pool).await? {
            let mut unit = self.begin(now).await?;
            unit.end_timer(UserId(row.user_id), ConversationId(row.conversation_id)).await?;
            unit.commit().await?;
        }
        Ok(())
    }
}

impl Unit {
    /// Gives the reminder of a task, if it is due still.
    async fn remind(&mut self, task: TaskId) -> Result<(), StoreError> {
        let row = query!("SELECT conversation_id FROM tasks WHERE task_id = $1", task.0);
        let Some(row) = row.fetch_optional(&mut *self.tx).await? else { return Ok(()) };
        let conversation = ConversationId(row.conversation_id);
        self.hold_user_of(conversation).await?;
        let due = query!("SELECT title, status, remind_at, reminded_at FROM tasks WHERE task_id = $1 FOR UPDATE", task.0);
        let Some(due) = due.fetch_optional(&mut *self.tx).await? else { return Ok(()) };
        let Some(remind_at) = due.remind_at.filter(|at| *at <= self.now && due.reminded_at != Some(*at)) else { return Ok(()) };
        if !word::<TaskStatus>(&due.status)?.is_active() {
            return Ok(());
        }
        // This settles its wake-up.
        query!("UPDATE tasks SET reminded_at = remind_at WHERE task_id = $1", task.0).execute(&mut *self.tx).await?;
        let late = self.now - remind_at > IN_TIME;
        self.append(conversation, ReminderGiven { task, title: due.title, remind_at, late }.into()).await?;
        Ok(failpoint::hit(Point::MidReminder).map_err(sqlx::Error::Io)?)
    }

    /// Ends a person's timer, if its time is over still.
    async fn end_timer(&mut self, user: UserId, conversation: ConversationId) -> Result<(), StoreError> {
        self.hold_user_of(conversation).await?;
        let todos = self.todos(conversation).await?.todos;
        let Some((timer, _)) = todos.timer.finished(self.now) else { return Ok(()) };
        let mut changes = self.todo_changes();
        changes.set_timer(user, timer, true, todos.timed().map(str::to_owned));
        self.change_todos(conversation, changes).await
    }
}
