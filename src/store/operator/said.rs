//! The words that go back to the operator's person, by the outbox that Relay's messages use. Each
//! thing is said once, by its key.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{query, query_as, query_scalar};

use crate::domain::operator::OrderSource;
use crate::domain::relay::{DeliveryState, MediaNote, RelayMessage, SaidBy};
use crate::domain::{ApprovalId, ConversationId, Shown, TurnId, TurnState, Words};
use crate::facts::RelayMessageKept;
use crate::store::relay::RelayMessageRow;
use crate::store::{Store, StoreError, Unit, value, word};

/// Something to say to the operator's person.
#[derive(Clone, Debug)]
pub struct OperatorWords<'a> {
    /// The operator's conversation.
    pub conversation: ConversationId,
    /// The channel.
    pub channel: &'a str,
    /// The number.
    pub address: &'a str,
    /// Its subject: the same key is said once.
    pub key: &'a str,
    /// The words.
    pub text: &'a str,
    /// The task.
    pub turn: Option<TurnId>,
    /// A file that goes with it.
    pub media: Option<MediaNote>,
}

/// The last words of the model in a task.
#[derive(Clone, Debug, Default)]
pub struct LastWords {
    /// The words.
    pub text: String,
    /// They say that something was done, and nothing recorded in the task shows it.
    pub unproven: bool,
    /// The controller's words behind them.
    pub note: Option<String>,
}

/// Something that the operator's person has not been told yet.
#[derive(Clone, Debug)]
pub enum Unsaid {
    /// A task has ended: its state, its reason and the last words of the model.
    Ended {
        /// The task.
        turn: TurnId,
        /// Whose it is.
        source: OrderSource,
        /// Its state.
        state: TurnState,
        /// Why, if it did not simply complete.
        reason: Option<String>,
        /// The last words.
        answer: Option<LastWords>,
    },
    /// A question waits.
    Asks {
        /// The task.
        turn: TurnId,
        /// Whose it is.
        source: OrderSource,
        /// The question.
        approval: ApprovalId,
        /// The question in words.
        shown: Box<Shown>,
        /// When it is too late.
        until: DateTime<Utc>,
    },
}

impl Store {
    /// Puts words into the outbox, if they were not said yet. True if they are new.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn say_to_operator(&self, words: OperatorWords<'_>, now: DateTime<Utc>) -> Result<bool, StoreError> {
        let mut unit = self.begin(now).await?;
        let new = unit.put_out_for_operator(words).await?;
        if new {
            unit.commit().await?;
        }
        Ok(new)
    }

    /// The ended tasks and the waiting questions that their person was not told of, oldest first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn unsaid_to_operator(&self, conversation: ConversationId) -> Result<Vec<Unsaid>, StoreError> {
        let ended = query!(
            r#"SELECT turn_id, client_id AS "client_id!", state, reason, said.content AS "answer?", coalesce(said.unproven, FALSE) AS "unproven!",
                      said.note AS "note?"
               FROM turns t LEFT JOIN LATERAL (
                   SELECT m.content, s.unproven, s.note FROM messages m LEFT JOIN steps s USING (step_id)
                   WHERE m.turn_id = t.turn_id AND m.role = 'assistant' ORDER BY m.message_id DESC LIMIT 1) said ON TRUE
               WHERE conversation_id = $1 AND ended_at IS NOT NULL AND starts_with(client_id, 'operator/')
                 AND NOT EXISTS (SELECT FROM relay_messages r WHERE r.conversation_id = $1 AND r.key = 'end-' || t.turn_id)
               ORDER BY turn_id"#,
            conversation.0
        );
        let mut unsaid = Vec::new();
        for row in ended.fetch_all(&self.pool).await? {
            let Some(source) = OrderSource::of(&row.client_id) else { continue };
            let (turn, state) = (TurnId(row.turn_id), word(&row.state)?);
            let answer = row.answer.map(|text| LastWords { text, unproven: row.unproven, note: row.note });
            unsaid.push(Unsaid::Ended { turn, source, state, reason: row.reason, answer });
        }
        let asks = query!(
            r#"SELECT a.approval_id, a.turn_id, a.shown, a.expires_at, t.client_id AS "client_id!"
               FROM approvals a JOIN turns t USING (turn_id)
               WHERE a.conversation_id = $1 AND a.state = 'pending' AND starts_with(t.client_id, 'operator/')
                 AND NOT EXISTS (SELECT FROM relay_messages r WHERE r.conversation_id = $1 AND r.key = 'ask-' || a.approval_id)
               ORDER BY a.approval_id"#,
            conversation.0
        );
        for row in asks.fetch_all(&self.pool).await? {
            let Some(source) = OrderSource::of(&row.client_id) else { continue };
            unsaid.push(Unsaid::Asks {
                turn: TurnId(row.turn_id),
                source,
                approval: ApprovalId(row.approval_id),
                shown: Box::new(value(row.shown)?),
                until: row.expires_at,
            });
        }
        Ok(unsaid)
    }

    /// True if this message has decided a question already.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn decided_by(&self, conversation: ConversationId, client_id: &str) -> Result<bool, StoreError> {
        let decided = query_scalar!(
            r#"SELECT EXISTS (SELECT FROM approvals WHERE conversation_id = $1 AND client_id = $2) AS "decided!""#,
            conversation.0,
            client_id
        );
        Ok(decided.fetch_one(&self.pool).await?)
    }

    /// The words of the last question that is over, and when it ended.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn last_question(&self, conversation: ConversationId) -> Result<Option<(Words, DateTime<Utc>)>, StoreError> {
        let last = query!(
            r#"SELECT shown, decided_at AS "decided_at!" FROM approvals
               WHERE conversation_id = $1 AND decided_at IS NOT NULL ORDER BY decided_at DESC, approval_id DESC LIMIT 1"#,
            conversation.0
        );
        let last = last.fetch_optional(&self.pool).await?;
        last.map(|row| Ok((value::<Shown>(row.shown)?.words_of_sender().clone(), row.decided_at))).transpose()
    }

    /// The source of a task, if its order came by a channel.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn source_of(&self, turn: TurnId) -> Result<Option<OrderSource>, StoreError> {
        let id = query_scalar!("SELECT client_id FROM turns WHERE turn_id = $1", turn.0);
        Ok(id.fetch_optional(&self.pool).await?.flatten().and_then(|id| OrderSource::of(&id)))
    }
}

impl Unit {
    /// Puts words into the outbox with the transaction. False if they were said before.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn put_out_for_operator(&mut self, words: OperatorWords<'_>) -> Result<bool, StoreError> {
        let text = self.clean(words.text).into_owned();
        // The conversation's row comes first, as everywhere an event is written.
        self.hold_conversation(words.conversation).await?;
        let row = query_as!(
            RelayMessageRow,
            "INSERT INTO relay_messages (conversation_id, channel, contact, number, said_by, text, turn_id, state, key, media, created_at)
             SELECT $1, $2, $3, coalesce((SELECT max(number) FROM relay_messages WHERE conversation_id = $1), 0) + 1, $4, $5, $6, $7, $8, $9, $10
             ON CONFLICT (conversation_id, key) WHERE conversation_id IS NOT NULL DO NOTHING
             RETURNING *",
            words.conversation.0,
            words.channel,
            words.address,
            SaidBy::Agent.as_str(),
            text,
            words.turn.map(|turn| turn.0),
            DeliveryState::Queued.as_str(),
            words.key,
            words.media.map(|media| json!(media)),
            self.now
        );
        let Some(row) = row.fetch_optional(&mut *self.tx).await? else { return Ok(false) };
        let message = RelayMessage::try_from(row)?;
        self.append(words.conversation, RelayMessageKept { message }.into()).await?;
        Ok(true)
    }
}
