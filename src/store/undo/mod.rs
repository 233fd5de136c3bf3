//! Rows that calls of the agent deleted or overwrote. The triggers of the migration
//! `keep_what_is_lost` keep them for a while, and an undo puts them back when a person says so.

mod back;
mod table;
mod text;

use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use sqlx::{Connection, query, query_scalar};

pub(super) use text::loses;

use super::transition::Doubt;
use super::{Store, StoreError};
use crate::domain::{ConversationId, ToolCallId, TurnId};
use crate::facts::{CallUndone, EventRecord};
use crate::wire::api::KeptCall;

/// The reason why a call was not undone. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// There is no such call.
    #[error("there is no call {0}")]
    Unknown(ToolCallId),
    /// It has no outcome yet.
    #[error("call {0} is still under way; wait for its outcome, or stop its turn")]
    Running(ToolCallId),
    /// No row of it is kept.
    #[error(
        "nothing is kept of call {0}: it deleted and overwrote nothing in the agent's tables that could be kept, or it is more than 30 days ago"
    )]
    Nothing(ToolCallId),
    /// It was undone before.
    #[error("call {0} was undone already, on {day}", day = .1.format("%Y-%m-%d at %H:%M UTC"))]
    Undone(ToolCallId, DateTime<Utc>),
    /// The rows that it left have changed, or those that were kept do not fit, or not safely.
    #[error("nothing was put back, because what was kept does not fit the tables as they are now: {}", .0.join("; "))]
    Conflicts(Vec<String>),
    /// Another transaction holds a row or a table that it needs.
    #[error("nothing was put back, because another statement is at work on the same rows; try again when it has ended")]
    Held,
    /// The database did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for UndoError {
    fn from(error: sqlx::Error) -> Self {
        match error.as_database_error().and_then(|error| error.code()).as_deref() {
            // The time for a lock or for the statement is over, or two wait for each other.
            Some("55P03" | "57014" | "40P01") => Self::Held,
            _ => Self::Store(error.into()),
        }
    }
}

impl Store {
    /// The newest 200 calls that can be undone.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn kept_calls(&self) -> Result<Vec<KeptCall>, StoreError> {
        let rows = query!(
            r#"SELECT c.tool_call_id, t.conversation_id, c.name, max(k.created_at) AS "at!", sum(k.rows)::bigint AS "rows!",
                      sum(k.bytes)::bigint AS "bytes!",
                      array(SELECT DISTINCT t.name FROM kept_tables t JOIN kept_calls o USING (kept_id)
                            WHERE o.tool_call_id = c.tool_call_id ORDER BY t.name) AS "tables!"
               FROM kept_calls k JOIN tool_calls c USING (tool_call_id) JOIN turns t USING (turn_id)
               WHERE c.ended_at IS NOT NULL
               GROUP BY c.tool_call_id, t.conversation_id ORDER BY c.tool_call_id DESC LIMIT 200"#
        )
        .fetch_all(&self.pool)
        .await?;
        let call = rows.into_iter().map(|row| KeptCall {
            call: ToolCallId(row.tool_call_id),
            conversation: ConversationId(row.conversation_id),
            tool: row.name,
            at: row.at,
            rows: row.rows,
            bytes: row.bytes,
            tables: row.tables,
        });
        Ok(call.collect())
    }

    /// Puts back all that a call deleted or overwrote in the agent's tables, or nothing. Returns
    /// how many rows.
    ///
    /// It runs on the agent's login, so that the agent's triggers have no more rights than ever.
    ///
    /// # Errors
    /// [`UndoError`]; then nothing was changed.
    pub async fn undo_call(&self, call: ToolCallId, now: DateTime<Utc>) -> Result<i64, UndoError> {
        let undone = self.try_to_undo(call, now).await;
        if matches!(undone, Err(UndoError::Conflicts(_))) {
            // Somebody else who undid it meanwhile is no conflict.
            let at = query_scalar("SELECT undone_at FROM tool_calls WHERE tool_call_id = $1").bind(call.0);
            if let Some(at) = at.fetch_one(&self.pool).await? {
                return Err(UndoError::Undone(call, at));
            }
        }
        undone
    }

    async fn try_to_undo(&self, call: ToolCallId, now: DateTime<Utc>) -> Result<i64, UndoError> {
        let row = query!(
            r#"SELECT c.turn_id, t.conversation_id, c.ended_at, c.undone_at,
                      array(SELECT kept_id FROM kept_calls k WHERE k.tool_call_id = c.tool_call_id ORDER BY kept_id DESC) AS "kept!"
               FROM tool_calls c JOIN turns t USING (turn_id) WHERE c.tool_call_id = $1"#,
            call.0
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(UndoError::Unknown(call))?;
        if let Some(at) = row.undone_at {
            return Err(UndoError::Undone(call, at));
        }
        if row.ended_at.is_none() {
            return Err(UndoError::Running(call));
        }
        if row.kept.is_empty() {
            return Err(UndoError::Nothing(call));
        }
        let mut connection = self.writer().await?;
        let mut tx = connection.begin().await?;
        let transaction = back::begin(&mut tx).await?;
        // An undo overwrites only what the call had left: that need not be kept as well.
        self.keep_most(&mut tx, call, 0, &transaction, 0).await?;
        let mut rows = 0;
        for kept in row.kept {
            rows += self.put_back(&mut tx, kept).await?;
        }
        back::check(&mut tx).await?;
        let sequence = self.end_undo(&mut tx, call, &transaction, rows, now).await;
        let sequence = match sequence {
            Err(error) if error.as_database_error().and_then(|error| error.code()).as_deref() == Some("L3011") => {
                return Err(UndoError::Undone(call, now));
            }
            sequence => sequence?,
        };
        let doubt = Doubt::of(&self.signals);
        tx.commit().await?;
        let event = CallUndone { turn: TurnId(row.turn_id), call, rows }.into();
        self.signals.announce(EventRecord { conversation: ConversationId(row.conversation_id), sequence, at: now, event });
        doubt.dispelled();
        Ok(rows)
    }

    async fn end_undo(
        &self,
        connection: &mut sqlx::PgConnection,
        call: ToolCallId,
        transaction: &str,
        rows: i64,
        now: DateTime<Utc>,
    ) -> Result<i64, sqlx::Error> {
        let proposal = Sha256::digest(format!("{{\"undo\":{}}}", call.0));
        query_scalar!(
            r#"SELECT shared.end_undo($1, $2, $3, $4, $5) AS "sequence!""#,
            self.sql_token(&format!("undo:{}", call.0), 0, transaction, &rows.to_string()),
            call.0,
            rows,
            &proposal[..],
            now
        )
        .fetch_one(connection)
        .await
    }

    /// Forgets rows whose 30 days are over.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn forget_kept(&self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let old =
            query_scalar!("SELECT subject FROM wake_ups WHERE kind = 'kept' AND at <= $1", now).fetch_all(&self.pool).await?;
        if !old.is_empty() {
            tracing::info!(calls = old.len(), "the rows that these calls lost were kept for 30 days, and go");
            query!("SELECT forget_kept($1)", &old).execute(&self.pool).await?;
        }
        Ok(())
    }

    /// Sets how many bytes may be kept, and puts the triggers on tables without them: tables from
    /// before there were triggers, and those of a restored backup.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn keep_up_to(&self, bytes: u64) -> Result<(), StoreError> {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        query!("WITH kept AS (UPDATE undo_quota SET bytes = $1 WHERE bytes <> $1) SELECT keep_tables()", bytes)
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}
