//! Branches: conversations that go on from an earlier place of another one.

use chrono::{DateTime, Utc};
use sqlx::{query, query_as, query_scalar};

use crate::domain::ConversationId;
use crate::store::{Store, StoreError};
use crate::wire::api::BranchPoint;

impl Store {
    /// A new conversation that goes on from a place of another one, with the same profile. A model
    /// is shown the turns that had ended there.
    ///
    /// # Errors
    /// [`StoreError::NoConversation`], or if the database does not answer.
    pub(in crate::store) async fn branch_off(&self, from: BranchPoint, now: DateTime<Utc>) -> Result<ConversationId, StoreError> {
        let BranchPoint { conversation, seq } = from;
        let made = query_scalar!(
            "INSERT INTO conversations (profile, user_id, created_at, branch_of, branch_sequence, branch_turn)
             SELECT c.profile, c.user_id, $3::timestamptz, c.conversation_id, $2::bigint, coalesce((
                 SELECT (e.payload ->> 'turn')::bigint FROM events e
                 WHERE e.conversation_id = c.conversation_id AND e.sequence <= $2::bigint AND e.kind = 'turn_ended'
                 ORDER BY e.sequence DESC LIMIT 1), c.branch_turn, 0)
             FROM conversations c WHERE c.conversation_id = $1 RETURNING conversation_id",
            conversation.0,
            seq,
            now
        );
        let made = made.fetch_optional(&self.pool).await?.ok_or(StoreError::NoConversation(conversation))?;
        Ok(ConversationId(made))
    }

    /// The place that a conversation goes on from; `None` if it is no branch.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(in crate::store) async fn branch_point_of(
        &self,
        conversation: ConversationId,
    ) -> Result<Option<BranchPoint>, StoreError> {
        let row = query!("SELECT branch_of, branch_sequence FROM conversations WHERE conversation_id = $1", conversation.0)
            .fetch_optional(&self.pool)
            .await?;
        Ok(row.and_then(|row| branch_point(row.branch_of, row.branch_sequence)))
    }

    /// The conversations that go on from one, the oldest first, each with the place in that one;
    /// those that a list may have, put away or not.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(in crate::store) async fn branches_of(&self, conversation: ConversationId) -> Result<Vec<BranchPoint>, StoreError> {
        let rows = query_as::<_, (i64, i64)>(
            "SELECT c.conversation_id, branch_sequence
             FROM conversations c LEFT JOIN events e ON e.conversation_id = c.conversation_id AND e.sequence = c.last_sequence
             WHERE branch_of = $1 AND (last_sequence > 0 OR title IS NOT NULL)
               AND (deleted_at IS NULL OR deleted_at < coalesce(e.created_at, c.created_at))
             ORDER BY c.conversation_id",
        );
        let rows = rows.bind(conversation.0).fetch_all(&self.pool).await?.into_iter();
        Ok(rows.map(|(branch, seq)| BranchPoint { conversation: ConversationId(branch), seq }).collect())
    }
}

/// The place that these columns name; `None` if the conversation is no branch.
pub(super) fn branch_point(of: Option<i64>, sequence: Option<i64>) -> Option<BranchPoint> {
    of.zip(sequence).map(|(conversation, seq)| BranchPoint { conversation: ConversationId(conversation), seq })
}
