//! The facts that the logs of turns need besides the events.

use sqlx::query;

use crate::domain::ConversationId;
use crate::store::{Store, StoreError};

impl Store {
    /// Every conversation with the sequence number of its newest event.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn newest_sequences(&self) -> Result<Vec<(ConversationId, i64)>, StoreError> {
        let rows = query!("SELECT conversation_id, last_sequence FROM conversations").fetch_all(&self.pool).await?;
        Ok(rows.into_iter().map(|row| (ConversationId(row.conversation_id), row.last_sequence)).collect())
    }
}
