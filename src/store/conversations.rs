//! Conversations.

use chrono::{DateTime, Utc};
use sqlx::query_scalar;

use super::{Store, StoreError};
use crate::domain::ConversationId;

impl Store {
    /// The user's main conversation, made when there is none.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn main_conversation(&self, now: DateTime<Utc>) -> Result<ConversationId, StoreError> {
        let found = query_scalar!("SELECT conversation_id FROM conversations WHERE is_main").fetch_optional(&self.pool).await?;
        if let Some(id) = found {
            return Ok(ConversationId(id));
        }
        // Two servers may get here at once: the second insert does nothing.
        sqlx::query!("INSERT INTO conversations (is_main, created_at) VALUES (TRUE, $1) ON CONFLICT DO NOTHING", now)
            .execute(&self.pool)
            .await?;
        let id = query_scalar!("SELECT conversation_id FROM conversations WHERE is_main").fetch_one(&self.pool).await?;
        Ok(ConversationId(id))
    }

    /// A new conversation beside the main one.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn create_conversation(&self, now: DateTime<Utc>) -> Result<ConversationId, StoreError> {
        let id = query_scalar!("INSERT INTO conversations (created_at) VALUES ($1) RETURNING conversation_id", now)
            .fetch_one(&self.pool)
            .await?;
        Ok(ConversationId(id))
    }
}
