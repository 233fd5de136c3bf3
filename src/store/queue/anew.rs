//! A person begins a conversation anew: whatever works in it is stopped, and nothing of it is
//! shown, sent or exported from then on.

use chrono::{DateTime, Utc};
use sqlx::{query, query_scalar};

use crate::domain::{ConversationId, TurnId};
use crate::facts::BegunAnew;
use crate::store::{Store, StoreError};

impl Store {
    /// See [`crate::store::Theirs::begin_anew`].
    pub(in crate::store) async fn begin_chat_anew(
        &self,
        conversation: ConversationId,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        loop {
            let mut unit = self.begin(now).await?;
            self.stop_in(&mut unit, conversation).await?;
            // From here on no turn comes.
            let held =
                query_scalar!("SELECT conversation_id FROM conversations WHERE conversation_id = $1 FOR UPDATE", conversation.0);
            held.fetch_optional(&mut *unit.tx).await?.ok_or(StoreError::NoConversation(conversation))?;
            // A statement of its own: it sees what was committed while the one before it waited.
            let came = query_scalar!(
                r#"SELECT EXISTS (SELECT FROM turns WHERE conversation_id = $1 AND ended_at IS NULL) AS "came!""#,
                conversation.0
            );
            if came.fetch_one(&mut *unit.tx).await? {
                // A message that came in between is stopped as well.
                continue;
            }
            let anew = query!(
                r#"UPDATE conversations SET anew_after = (SELECT coalesce(max(turn_id), 0) FROM turns WHERE conversation_id = $1),
                          anew_sequence = last_sequence + 1
                   WHERE conversation_id = $1 RETURNING anew_after AS "after!", anew_sequence AS "sequence!""#,
                conversation.0
            );
            let anew = anew.fetch_one(&mut *unit.tx).await?;
            unit.append(conversation, BegunAnew { after: TurnId(anew.after), sequence: anew.sequence }.into()).await?;
            return unit.commit().await;
        }
    }
}
