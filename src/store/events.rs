//! Reads the stream of a conversation.

use sqlx::{query, query_scalar};

use super::{Store, StoreError, value};
use crate::domain::{ConversationId, TurnId};
use crate::facts::EventRecord;

impl Store {
    /// The events after `after` of any conversation, oldest first, at most `limit` of them.
    ///
    /// # Errors
    /// If the database does not answer or holds an event of a newer version.
    pub async fn stream_after(
        &self,
        conversation: ConversationId,
        after: i64,
        limit: i64,
    ) -> Result<Vec<EventRecord>, StoreError> {
        query!(
            "SELECT sequence, payload, created_at FROM events WHERE conversation_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3",
            conversation.0,
            after,
            limit
        )
        .fetch_all(&self.pool)
        .await?
        .into_iter()
        .map(|row| Ok(EventRecord { conversation, sequence: row.sequence, at: row.created_at, event: value(row.payload)? }))
        .collect()
    }

    /// See [`crate::store::Theirs::events_after`]. The event by which a conversation was begun anew
    /// is the first one that is shown.
    pub(super) async fn shown_after(
        &self,
        conversation: ConversationId,
        after: i64,
        limit: i64,
    ) -> Result<Vec<EventRecord>, StoreError> {
        query!(
            "SELECT sequence, payload, created_at FROM events WHERE conversation_id = $1
               AND sequence > greatest($2, (SELECT anew_sequence - 1 FROM conversations WHERE conversation_id = $1))
             ORDER BY sequence LIMIT $3",
            conversation.0,
            after,
            limit
        )
        .fetch_all(&self.pool)
        .await?
        .into_iter()
        .map(|row| Ok(EventRecord { conversation, sequence: row.sequence, at: row.created_at, event: value(row.payload)? }))
        .collect()
    }

    /// The sequence number of the newest event; 0 if there is none.
    ///
    /// # Errors
    /// [`StoreError::NoConversation`], or if the database does not answer.
    pub(super) async fn last_sequence_of(&self, conversation: ConversationId) -> Result<i64, StoreError> {
        query_scalar!("SELECT last_sequence FROM conversations WHERE conversation_id = $1", conversation.0)
            .fetch_optional(&self.pool)
            .await?
            .ok_or(StoreError::NoConversation(conversation))
    }

    /// The event that accepted a message: the beginning of its turn, the going on of a turn whose
    /// approval it decided, or its place in the turn that it was said into.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(super) async fn event_that_accepted(
        &self,
        conversation: ConversationId,
        turn: TurnId,
        client_id: Option<&str>,
    ) -> Result<EventRecord, StoreError> {
        let row = query!(
            "SELECT sequence, payload, created_at FROM events
             WHERE conversation_id = $1 AND kind IN ('turn_queued', 'turn_resumed', 'turn_steered') AND payload -> 'turn' = to_jsonb($2::bigint)
             ORDER BY payload ->> 'client_id' IS NOT DISTINCT FROM $3 DESC, sequence DESC LIMIT 1",
            conversation.0,
            turn.0,
            client_id
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(EventRecord { conversation, sequence: row.sequence, at: row.created_at, event: value(row.payload)? })
    }
}
