//! Messages as answers: a person's words in a conversation with an open question.

use chrono::{DateTime, Utc};
use sqlx::query;

use super::approvals::Decided;
use crate::domain::{ApprovalId, ApprovalInput, Channel, ConversationId, Heard, Shown, Words};
use crate::failpoint::{self, Point};
use crate::store::{Accepted, DecideError, NewMessage, Store, StoreError, value};

/// Why a call was refused if its person said something else instead, in words for the model. The
/// message itself follows.
const INSTEAD: &str = "they said something else instead, which follows.";

/// The approval for which a turn of a conversation waits, for a message that may be the answer.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its number.
    pub approval: ApprovalId,
    /// The profile of the conversation.
    pub profile: String,
    /// The words that decide it, as the person saw them.
    pub words: Words,
}

impl<'a> Decided<'a> {
    fn by_message(heard: Heard, message: &'a NewMessage<'a>) -> Self {
        let (input, channel, reason) = match heard {
            Heard::Yes => (ApprovalInput::Approve, Channel::Words, None),
            Heard::No => (ApprovalInput::Deny, Channel::Words, None),
            Heard::SomethingElse => (ApprovalInput::Deny, Channel::Instead, Some(INSTEAD)),
        };
        Self { input, channel, reason, message: Some(message), always: false }
    }
}

impl Store {
    /// The question that waits in a conversation, if exactly one does.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn question(&self, conversation: ConversationId, now: DateTime<Utc>) -> Result<Option<Question>, StoreError> {
        let waiting = query!(
            "SELECT approval_id, shown, profile FROM approvals JOIN conversations USING (conversation_id)
             WHERE conversation_id = $1 AND state = 'pending' AND expires_at > $2 LIMIT 2",
            conversation.0,
            now
        );
        let Ok([waits]) = <[_; 1]>::try_from(waiting.fetch_all(&self.pool).await?) else { return Ok(None) };
        let words = value::<Shown>(waits.shown)?.words;
        Ok(Some(Question { approval: ApprovalId(waits.approval_id), profile: waits.profile, words }))
    }

    /// Takes a message of the person's as the answer to a question. A word decides. A message that
    /// says something else declines, and is said into the turn in the same transaction. `None`:
    /// somebody else was faster, and it is a message like any other.
    ///
    /// # Errors
    /// If the database does not answer; then nothing was decided or said.
    pub async fn answer(
        &self,
        question: &Question,
        heard: Heard,
        message: &NewMessage<'_>,
        now: DateTime<Utc>,
    ) -> Result<Option<Accepted>, StoreError> {
        self.has_room()?;
        match self.take_decision(question.approval, Decided::by_message(heard, message), now).await {
            Ok(accepted) => {
                if heard == Heard::SomethingElse {
                    failpoint::hit(Point::AfterSteer).map_err(sqlx::Error::Io)?;
                }
                Ok(Some(accepted))
            }
            Err(DecideError::Unknown(_) | DecideError::Decided(..)) => Ok(None),
            Err(DecideError::Store(error)) => Err(error),
        }
    }
}
