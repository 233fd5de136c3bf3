//! The histories and requests that clients of `/v1` have shown: which conversation a history
//! belongs to, and which request has come already.

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{query, query_scalar};

use super::accepting::MessageExtras;
use crate::domain::{ApprovalId, ConversationId, InstanceId, MessageDoor, Origin, TurnId, UserId};
use crate::failpoint::{self, Point};
use crate::store::{NewImage, NewMessage, Store, StoreError, Unit};
use crate::wire::MAX_MESSAGE_BYTES;

/// A sha256 over a client's messages or requests.
pub type Fingerprint = [u8; 32];

/// A request without a key that says it comes again is the same as an equal one within this time
/// before it. Clients by themselves wait ten minutes for an answer.
const RETRY_WINDOW: TimeDelta = TimeDelta::minutes(30);
/// After so many messages the model is told the client's instructions again: it may not see older
/// ones any more.
const STATED_MESSAGES: i64 = 20;
/// Requests are accepted one at a time, across processes: two equal ones in the same moment must
/// not both begin a conversation.
const LOCK: i64 = 0x6c33_7631;

/// A request, as far as memory needs it.
#[derive(Clone, Debug)]
pub struct ShownRequest {
    /// The conversation it names.
    pub conversation: Option<ConversationId>,
    /// Fingerprint of its idempotency key.
    pub key: Option<Fingerprint>,
    /// True if the client says that it sends this again.
    pub retried: bool,
    /// Fingerprint of the history before the input; `None` if there is none.
    pub history: Option<Fingerprint>,
    /// Fingerprint of history and input.
    pub asked: Fingerprint,
    /// Fingerprint of its instructions.
    pub instructions: Fingerprint,
    /// The words for the model if the instructions are new; empty if there are none.
    pub instructions_text: String,
    /// The words for the model if there were instructions, and are none any more.
    pub withdrawn_text: &'static str,
    /// The history in words, if the conversation does not hold it; empty if there is none.
    pub history_text: String,
    /// The images that then come with it.
    pub history_images: Vec<NewImage>,
    /// The input.
    pub input: String,
    /// Its images.
    pub images: Vec<NewImage>,
    /// The most tokens of each step of its turn.
    pub answer_tokens: Option<u32>,
}

/// A request that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownAccepted {
    /// Its number.
    pub request: i64,
    /// Its conversation.
    pub conversation: ConversationId,
    /// The turn that answers.
    pub turn: TurnId,
    /// The event that accepted it; the answer is the turn's text after it.
    pub accepted: i64,
    /// Its time.
    pub at: DateTime<Utc>,
    /// True if the same request was accepted before; nothing new was written.
    pub again: bool,
}

/// The reason why a request was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum ShownError {
    /// The key was used for another request.
    #[error("this Idempotency-Key was used for another request; give each request a key of its own")]
    KeyReused,
    /// It is too long for one message.
    #[error(
        "what level3 has to be told with this request has {0} bytes; {MAX_MESSAGE_BYTES} is the most: send less of the history"
    )]
    TooLong(usize),
    /// The conversation does not exist, or the database does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for ShownError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl ShownRequest {
    /// The client id of its message.
    fn client_id(&self) -> Option<String> {
        self.key.map(|key| MessageDoor::V1.id(hex::encode(&key[..16])))
    }
}

impl Store {
    /// Accepts a request: conversation, message, images, turn, event and fingerprints in one
    /// transaction. The same request again gives the same turn. No word decides an approval here:
    /// the speaker may be a program, and even the agent's own model.
    ///
    /// # Errors
    /// [`ShownError`]; then nothing was accepted.
    pub async fn accept_shown(&self, request: &ShownRequest, now: DateTime<Utc>) -> Result<ShownAccepted, ShownError> {
        self.has_room()?;
        let client_id = request.client_id();
        let mut unit = self.begin(now).await?;
        query!(r#"SELECT pg_advisory_xact_lock($1)::text AS "locked""#, LOCK).fetch_one(&mut *unit.tx).await?;
        if let Some(known) = unit.known(request).await? {
            return Ok(known);
        }
        let found = unit.conversation_of(request).await?;
        let conversation = match found {
            Some(conversation) => conversation,
            None => unit.new_conversation().await?,
        };
        // The lock of the conversation's row puts its turns in one order.
        query!("SELECT conversation_id FROM conversations WHERE conversation_id = $1 FOR UPDATE", conversation.0)
            .fetch_one(&mut *unit.tx)
            .await?;
        // The text before the input: only the parts that the conversation does not hold already.
        let instructions = unit.instructions_to_say(request, conversation).await?;
        let (history, history_images) =
            if found.is_none() { (request.history_text.as_str(), &request.history_images[..]) } else { ("", &[][..]) };
        let parts = [instructions.unwrap_or_default(), history, &request.input].into_iter().filter(|part| !part.is_empty());
        let content = parts.collect::<Vec<_>>().join("\n\n");
        if content.len() > MAX_MESSAGE_BYTES {
            return Err(ShownError::TooLong(content.len()));
        }
        unit.keep_images(history_images).await?;
        unit.keep_images(&request.images).await?;
        let known = MessageExtras::of(history_images.iter().chain(&request.images));
        let message = NewMessage { content: &content, client_id: client_id.as_deref(), ..NewMessage::default() };
        let turn = unit.queue_message(conversation, Origin::Message, &message, known).await?;
        let accepted = query_scalar!("SELECT last_sequence FROM conversations WHERE conversation_id = $1", conversation.0);
        let accepted = accepted.fetch_one(&mut *unit.tx).await?;
        let number = unit.keep_shown(request, conversation, turn, accepted, instructions.is_some()).await?;
        unit.commit().await?;
        failpoint::hit(Point::AfterAccept).map_err(sqlx::Error::Io)?;
        Ok(ShownAccepted { request: number, conversation, turn, accepted, at: now, again: false })
    }

    /// Keeps the history that a client will show if it goes on after this answer.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn keep_told(&self, request: i64, told: &Fingerprint) -> Result<(), StoreError> {
        query!("UPDATE v1_requests SET told = $2 WHERE v1_request_id = $1", request, &told[..]).execute(&self.pool).await?;
        Ok(())
    }

    /// The approval for which an earlier turn of the same conversation waits, and this turn behind
    /// it.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn approval_before(&self, turn: TurnId) -> Result<Option<ApprovalId>, StoreError> {
        let waiting = query_scalar!(
            "SELECT min(a.approval_id) FROM approvals a JOIN turns t USING (conversation_id)
             WHERE t.turn_id = $1 AND t.state = 'queued' AND a.turn_id < t.turn_id AND a.state = 'pending'",
            turn.0
        );
        Ok(waiting.fetch_one(&self.pool).await?.map(ApprovalId))
    }
}

impl Unit {
    /// The same request, if it has come before.
    async fn known(&mut self, request: &ShownRequest) -> Result<Option<ShownAccepted>, ShownError> {
        let row = query!(
            "SELECT v1_request_id, conversation_id, turn_id, accepted_sequence, asked, instructions, created_at FROM v1_requests
             WHERE key = $1 OR ($1::bytea IS NULL AND $2 AND asked = $3 AND instructions = $4 AND created_at > $5
                                AND ($6::bigint IS NULL OR conversation_id = $6))
             ORDER BY v1_request_id DESC LIMIT 1",
            request.key.as_ref().map(|key| &key[..]),
            request.retried,
            &request.asked[..],
            &request.instructions[..],
            self.now - RETRY_WINDOW,
            request.conversation.map(|conversation| conversation.0)
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let elsewhere = request.conversation.is_some_and(|named| named.0 != row.conversation_id);
        if row.asked != request.asked || row.instructions != request.instructions || elsewhere {
            return Err(ShownError::KeyReused);
        }
        Ok(Some(ShownAccepted {
            request: row.v1_request_id,
            conversation: ConversationId(row.conversation_id),
            turn: TurnId(row.turn_id),
            accepted: row.accepted_sequence,
            at: row.created_at,
            again: true,
        }))
    }

    /// The conversation that a request goes on with: the one it names, or the newest one that ends
    /// with the history it shows. A client that has gone on from there, or says something again,
    /// forks; but it may try again after a failure or a stop.
    async fn conversation_of(&mut self, request: &ShownRequest) -> Result<Option<ConversationId>, ShownError> {
        if let Some(named) = request.conversation {
            let found = query_scalar!(
                "SELECT conversation_id FROM conversations WHERE conversation_id = $1 AND user_id = $2",
                named.0,
                UserId::OWNER.0
            );
            let found = found.fetch_optional(&mut *self.tx).await?.ok_or(StoreError::NoConversation(named))?;
            let contacts = query_scalar!("SELECT instance_id FROM relay_instances WHERE conversation_id = $1", found);
            if let Some(instance) = contacts.fetch_optional(&mut *self.tx).await? {
                return Err(StoreError::OfContact(named, InstanceId(instance)).into());
            }
            return Ok(Some(ConversationId(found)));
        }
        let Some(history) = &request.history else { return Ok(None) };
        let found = query_scalar!(
            "SELECT r.conversation_id FROM v1_requests r
             WHERE r.told = $1 AND NOT EXISTS (
                 SELECT FROM v1_requests later JOIN turns t ON t.turn_id = later.turn_id
                 WHERE later.conversation_id = r.conversation_id AND later.v1_request_id > r.v1_request_id
                   AND t.state NOT IN ('failed', 'aborted'))
             ORDER BY r.instructions = $2 DESC, r.v1_request_id DESC LIMIT 1",
            &history[..],
            &request.instructions[..]
        );
        Ok(found.fetch_optional(&mut *self.tx).await?.map(ConversationId))
    }

    async fn new_conversation(&mut self) -> Result<ConversationId, StoreError> {
        let made = query_scalar!("INSERT INTO conversations (created_at) VALUES ($1) RETURNING conversation_id", self.now);
        Ok(ConversationId(made.fetch_one(&mut *self.tx).await?))
    }

    /// The instructions that the model has to be told, since they changed, or were told long ago.
    async fn instructions_to_say<'r>(
        &mut self,
        request: &'r ShownRequest,
        conversation: ConversationId,
    ) -> Result<Option<&'r str>, StoreError> {
        let last = query!(
            r#"SELECT instructions, (SELECT count(*) FROM messages m WHERE m.conversation_id = r.conversation_id AND m.turn_id > r.turn_id)
                   AS "since!"
               FROM v1_requests r WHERE conversation_id = $1 AND stated ORDER BY v1_request_id DESC LIMIT 1"#,
            conversation.0
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        let text = request.instructions_text.as_str();
        Ok(match last {
            None => Some(text),
            Some(last) if last.instructions != request.instructions => {
                Some(if text.is_empty() { request.withdrawn_text } else { text })
            }
            Some(last) => (!text.is_empty() && last.since >= STATED_MESSAGES).then_some(text),
        })
    }

    async fn keep_shown(
        &mut self,
        request: &ShownRequest,
        conversation: ConversationId,
        turn: TurnId,
        accepted: i64,
        stated: bool,
    ) -> Result<i64, StoreError> {
        let number = query_scalar!(
            "INSERT INTO v1_requests (conversation_id, turn_id, accepted_sequence, asked, instructions, stated, key, answer_tokens, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING v1_request_id",
            conversation.0,
            turn.0,
            accepted,
            &request.asked[..],
            &request.instructions[..],
            stated,
            request.key.as_ref().map(|key| &key[..]),
            request.answer_tokens.map(|tokens| i32::try_from(tokens).unwrap_or(i32::MAX)),
            self.now
        );
        Ok(number.fetch_one(&mut *self.tx).await?)
    }
}
