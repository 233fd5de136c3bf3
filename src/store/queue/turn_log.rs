//! The facts that the logs of turns need besides the events.

use sqlx::{query, query_scalar};

use crate::domain::{ConversationId, StepId};
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

    /// The text of a step.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn text_of_step(&self, step: StepId) -> Result<String, StoreError> {
        let text = query_scalar!("SELECT content FROM messages WHERE step_id = $1", step.0);
        Ok(text.fetch_optional(&self.pool).await?.unwrap_or_default())
    }
}
