//! Messages as answers: a person's words in a conversation with an open question.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{query_as, query_scalar};

use super::approvals::Decided;
use crate::domain::operator::{self, OrderSource, Subject};
use crate::domain::relay::DeliveryState;
use crate::domain::{ApprovalId, ApprovalInput, Channel, ConversationId, Heard, Machine, Shown, UserId, Words};
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
    /// The number and the channel whose order asks, if it came by a channel. No word from elsewhere
    /// decides it.
    pub asked: Option<OrderSource>,
    /// True if messages of a channel show all of it.
    pub whole: bool,
}

/// How far the message of a question is on its way to the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionWay {
    /// It has not left.
    Waits,
    /// It left then, or may have.
    Left(DateTime<Utc>),
    /// It was tried then, and the channel did not take it.
    Failed(DateTime<Utc>),
}

impl<'a> Decided<'a> {
    fn by_message(user: UserId, heard: Heard, message: &'a NewMessage<'a>) -> Self {
        let word = if message.spoken { Channel::Voice } else { Channel::Words };
        let (input, channel, reason) = match heard {
            Heard::Yes => (ApprovalInput::Approve, word, None),
            Heard::No => (ApprovalInput::Deny, word, None),
            Heard::SomethingElse => (ApprovalInput::Deny, Channel::Instead, Some(INSTEAD)),
        };
        Self { user: Some(user), input, channel, reason, message: Some(message), always: false }
    }
}

impl Store {
    /// How far the message of a question of the operator is on its way.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn question_way(&self, conversation: ConversationId, approval: ApprovalId) -> Result<QuestionWay, StoreError> {
        // The time of the claim: an answer may be here before the acknowledgement is.
        let left = query_as::<_, (DateTime<Utc>, bool)>(
            "SELECT sending_at, state = $4 FROM relay_messages
             WHERE conversation_id = $1 AND key = $2 AND sending_at IS NOT NULL AND state <> $3",
        );
        let left = left.bind(conversation.0).bind(Subject::Question.key(approval.0));
        let left = left.bind(DeliveryState::FIRST.as_str()).bind(DeliveryState::Failed.as_str());
        Ok(match left.fetch_optional(&self.pool).await? {
            None => QuestionWay::Waits,
            Some((at, true)) => QuestionWay::Failed(at),
            Some((at, false)) => QuestionWay::Left(at),
        })
    }

    /// True if a message was taken for an order of the operator before.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn was_ordered(&self, conversation: ConversationId, client_id: &str) -> Result<bool, StoreError> {
        let ordered = query_scalar::<_, bool>("SELECT EXISTS (SELECT FROM turns WHERE conversation_id = $1 AND client_id = $2)");
        Ok(ordered.bind(conversation.0).bind(client_id).fetch_one(&self.pool).await?)
    }

    /// True if the newest answer of a conversation ends with a question: a plain yes or no is its
    /// answer.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn ends_with_a_question(&self, conversation: ConversationId) -> Result<bool, StoreError> {
        let asks = query_scalar::<_, bool>(
            "SELECT rtrim(content) LIKE '%?' FROM messages WHERE conversation_id = $1 AND role = 'assistant' ORDER BY message_id DESC LIMIT 1",
        );
        Ok(asks.bind(conversation.0).fetch_optional(&self.pool).await?.unwrap_or_default())
    }

    /// True if the operator's person was told something under this key before.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn was_said_to_operator(&self, conversation: ConversationId, key: &str) -> Result<bool, StoreError> {
        let said = query_scalar::<_, bool>("SELECT EXISTS (SELECT FROM relay_messages WHERE conversation_id = $1 AND key = $2)");
        Ok(said.bind(conversation.0).bind(key).fetch_one(&self.pool).await?)
    }

    /// See [`crate::store::Theirs::question`].
    pub(in crate::store) async fn question_in(
        &self,
        conversation: ConversationId,
        now: DateTime<Utc>,
    ) -> Result<Option<Question>, StoreError> {
        let waiting = query_as::<_, (i64, Value, String, Option<String>)>(
            "SELECT a.approval_id, a.shown, c.profile, t.client_id
             FROM approvals a JOIN conversations c ON c.conversation_id = a.conversation_id JOIN turns t ON t.turn_id = a.turn_id
             WHERE a.conversation_id = $1 AND a.state = 'pending' AND a.expires_at > $2 LIMIT 2",
        );
        let waiting = waiting.bind(conversation.0).bind(now).fetch_all(&self.pool).await?;
        let Ok([(approval, shown, profile, client_id)]) = <[_; 1]>::try_from(waiting) else { return Ok(None) };
        let shown = value::<Shown>(shown)?;
        let (asked, whole) = (client_id.as_deref().and_then(OrderSource::of), operator::fits_messages(&shown));
        Ok(Some(Question { approval: ApprovalId(approval), profile, words: shown.words_of_sender().clone(), asked, whole }))
    }

    /// See [`crate::store::Theirs::answer`].
    pub(in crate::store) async fn take_answer(
        &self,
        user: UserId,
        question: &Question,
        heard: Heard,
        message: &NewMessage<'_>,
        now: DateTime<Utc>,
    ) -> Result<Option<Accepted>, StoreError> {
        self.has_room()?;
        let said_by = message.client_id.and_then(OrderSource::of);
        let whose = |source: &OrderSource| (source.channel.clone(), source.address.clone());
        if question.asked.is_some() && question.asked.as_ref().map(whose) != said_by.as_ref().map(whose) {
            return Err(StoreError::AskedByChannel);
        }
        match self.take_decision(question.approval, Decided::by_message(user, heard, message), now).await {
            Ok(accepted) => {
                if heard == Heard::SomethingElse {
                    failpoint::hit(Point::AfterSteer).map_err(sqlx::Error::Io)?;
                }
                Ok(Some(accepted))
            }
            Err(DecideError::Unknown(_) | DecideError::Decided(..) | DecideError::Rule) => Ok(None),
            Err(DecideError::Store(error)) => Err(error),
        }
    }
}
