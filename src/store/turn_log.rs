//! What the logs of turns need besides the events.

use std::collections::HashMap;

use sqlx::query;

use super::{Store, StoreError};
use crate::domain::{ConversationId, ToolCallId, TurnId};

impl Store {
    /// Every conversation with the sequence number of its newest event.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn newest_sequences(&self) -> Result<Vec<(ConversationId, i64)>, StoreError> {
        let rows = query!("SELECT conversation_id, last_sequence FROM conversations").fetch_all(&self.pool).await?;
        Ok(rows.into_iter().map(|row| (ConversationId(row.conversation_id), row.last_sequence)).collect())
    }

    /// What the law said of the calls of these turns that have an outcome by it.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn verdicts(&self, turns: &[TurnId]) -> Result<HashMap<ToolCallId, String>, StoreError> {
        let turns: Vec<i64> = turns.iter().map(|turn| turn.0).collect();
        let rows = query!("SELECT tool_call_id, verdict FROM audit_entries WHERE turn_id = ANY($1)", &turns)
            .fetch_all(&self.pool)
            .await?;
        Ok(rows.into_iter().map(|row| (ToolCallId(row.tool_call_id), row.verdict)).collect())
    }
}
