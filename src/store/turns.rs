//! Turns: the only queue. Accepted in one transaction, claimed with a lease and a fencing number, ended once.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use sqlx::{query, query_scalar};

use super::{NewImage, Store, StoreError, Unit, word};
use crate::domain::{ConversationId, Event, Failure, Image, MessageId, Origin, TurnId, TurnState};
use crate::failpoint::{self, Point};

/// A turn in hand. Every write names its fence; when another runner took the turn over, the write is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The turn.
    pub turn: TurnId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// Counts the times the turn was taken up.
    pub fence: i64,
    /// What the turn reacts to.
    pub origin: Origin,
}

/// A message on its way in.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewMessage<'a> {
    /// What was said.
    pub content: &'a str,
    /// The id the client gave it.
    pub client_id: Option<&'a str>,
    /// True for what is to be shown to the turn that runs, where one does.
    pub steer: bool,
    /// What comes with it.
    pub images: &'a [NewImage],
}

/// What is known of a message beside its words.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Its images, which are kept already.
    pub(super) images: Vec<Image>,
    /// The message it was before, in a turn that ended without having seen it.
    pub(super) moved: Option<MessageId>,
}

impl Known {
    /// A message that brings these images.
    pub(super) fn of<'a>(images: impl IntoIterator<Item = &'a NewImage>) -> Self {
        Self { images: images.into_iter().map(|new| new.image.clone()).collect(), moved: None }
    }
}

/// An accepted input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The turn that will react to it.
    pub turn: TurnId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// True when the same message had been accepted before; nothing new was written.
    pub again: bool,
}

/// The ways a turn ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum End<'a> {
    /// With an answer.
    Answered,
    /// A person stopped it.
    Stopped,
    /// Without an answer; why, in words for a person.
    Failed(Failure, &'a str),
}

impl Store {
    /// Accepts a message: message, turn and event in one transaction. The same `client_id` again gives the same turn. Where exactly one
    /// approval waits in the conversation, a word like `CONFIRMAR` decides it instead, and the turn that waited is given.
    ///
    /// # Errors
    /// [`StoreError::NoConversation`], or when the database is not there; then nothing was accepted.
    pub async fn accept_message(
        &self,
        conversation: ConversationId,
        client_id: Option<&str>,
        content: &str,
        now: DateTime<Utc>,
    ) -> Result<Accepted, StoreError> {
        self.accept(conversation, NewMessage { content, client_id, ..NewMessage::default() }, now).await
    }

    /// The same for any message; one that steers becomes part of the turn that runs, where one does.
    ///
    /// # Errors
    /// As [`Store::accept_message`].
    pub async fn accept(
        &self,
        conversation: ConversationId,
        message: NewMessage<'_>,
        now: DateTime<Utc>,
    ) -> Result<Accepted, StoreError> {
        if let Some(accepted) = self.decide_by_word(conversation, message.client_id, message.content, now).await? {
            return Ok(accepted);
        }
        if message.steer
            && let Some(accepted) = self.accept_into_turn(conversation, &message, now).await?
        {
            return Ok(accepted);
        }
        let mut unit = self.begin(now).await?;
        unit.hold_conversation(conversation).await?;
        if let Some(known) = unit.accepted_before(conversation, message.client_id).await? {
            return Ok(known);
        }
        unit.keep_images(message.images).await?;
        let turn = unit.queue_message(conversation, Origin::Message, &message, Known::of(message.images)).await?;
        unit.commit().await?;
        failpoint::hit(Point::AfterAccept).map_err(sqlx::Error::Io)?;
        Ok(Accepted { turn, conversation, again: false })
    }

    /// Takes up the oldest turn that is queued, or whose lease ran out, and that is first in its conversation. `in_hand` are the turns
    /// that the caller works on: it does not take those from itself, however the clock jumps.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn claim(
        &self,
        owner: &str,
        in_hand: &[TurnId],
        now: DateTime<Utc>,
        lease: TimeDelta,
    ) -> Result<Option<Lease>, StoreError> {
        let in_hand: Vec<_> = in_hand.iter().map(|turn| turn.0).collect();
        let mut unit = self.begin(now).await?;
        let row = query!(
            "WITH next AS (
                 SELECT turn_id FROM turns t
                 WHERE (state = 'queued' OR (state = 'running' AND lease_until <= $2 AND turn_id <> ALL($4)))
                   AND NOT EXISTS (
                       SELECT FROM turns earlier
                       WHERE earlier.conversation_id = t.conversation_id AND earlier.turn_id < t.turn_id
                         AND earlier.state IN ('queued', 'running', 'awaiting_approval'))
                 ORDER BY turn_id LIMIT 1 FOR UPDATE SKIP LOCKED)
             UPDATE turns SET state = 'running', fence = fence + 1, lease_owner = $1, lease_until = $3
             FROM next WHERE turns.turn_id = next.turn_id
             RETURNING turns.turn_id, turns.conversation_id, turns.fence, turns.origin",
            owner,
            now,
            now + lease,
            &in_hand
        )
        .fetch_optional(&mut *unit.tx)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let (turn, conversation) = (TurnId(row.turn_id), ConversationId(row.conversation_id));
        let lease = Lease { turn, conversation, fence: row.fence, origin: word(&row.origin)? };
        unit.append(lease.conversation, Event::TurnStarted { turn: lease.turn, fence: lease.fence }).await?;
        unit.commit().await?;
        failpoint::hit(Point::AfterClaim).map_err(sqlx::Error::Io)?;
        Ok(Some(lease))
    }

    /// Makes the leases under this name claimable at once, but for the turns in hand. Only the owner itself knows which those are.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn expire_leases(&self, owner: &str, in_hand: &[TurnId], now: DateTime<Utc>) -> Result<u64, StoreError> {
        let in_hand: Vec<_> = in_hand.iter().map(|turn| turn.0).collect();
        let done = query!(
            "UPDATE turns SET lease_until = $2 WHERE state = 'running' AND lease_owner = $1 AND turn_id <> ALL($3)",
            owner,
            now,
            &in_hand
        )
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected())
    }

    /// Sets when the lease runs out: later to keep the turn, earlier to give it back.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or when the database is not there.
    pub async fn set_lease(&self, lease: &Lease, until: DateTime<Utc>) -> Result<(), StoreError> {
        let done = query!(
            "UPDATE turns SET lease_until = $3 WHERE turn_id = $1 AND fence = $2 AND state = 'running'",
            lease.turn.0,
            lease.fence,
            until
        )
        .execute(&self.pool)
        .await?;
        if done.rows_affected() == 1 { Ok(()) } else { Err(StoreError::LostLease) }
    }

    /// Ends a turn without an answer.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or when the database is not there.
    pub async fn fail_turn(&self, lease: &Lease, failure: Failure, reason: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        unit.hold(lease).await?;
        unit.end_turn(lease.conversation, lease.turn, End::Failed(failure, reason)).await?;
        unit.commit().await
    }

    /// Aborts what runs and what waits in a conversation; a runner that still works on a turn finds its lease gone. What a model had
    /// said of its answer until then is kept as a step without calls, where this process is the one that works on the turn.
    /// Returns the turns that were ended.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn stop(&self, conversation: ConversationId, now: DateTime<Utc>) -> Result<Vec<TurnId>, StoreError> {
        let mut unit = self.begin(now).await?;
        let open = query!(
            "SELECT turn_id, state, fence, origin FROM turns
             WHERE conversation_id = $1 AND state IN ('queued', 'running', 'awaiting_approval') ORDER BY turn_id FOR UPDATE",
            conversation.0
        )
        .fetch_all(&mut *unit.tx)
        .await?;
        let mut turns = Vec::with_capacity(open.len());
        for row in open {
            let turn = TurnId(row.turn_id);
            // Read while the turn is held: no answer of this step can be stored any more.
            if let Some(said) = self.writing.of(turn, row.fence).filter(|_| row.state == TurnState::Running.as_str()) {
                let lease = Lease { turn, conversation, fence: row.fence, origin: word(&row.origin)? };
                unit.keep_unfinished(&lease, &said).await?;
            }
            unit.end_turn(conversation, turn, End::Stopped).await?;
            turns.push(turn);
        }
        unit.commit().await?;
        Ok(turns)
    }

    /// Where a turn stands.
    ///
    /// # Errors
    /// When the database is not there or has no such turn.
    pub async fn turn_state(&self, turn: TurnId) -> Result<TurnState, StoreError> {
        word(&query_scalar!("SELECT state FROM turns WHERE turn_id = $1", turn.0).fetch_one(&self.pool).await?)
    }

    /// How many turns are not over.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn open_turns(&self) -> Result<i64, StoreError> {
        let count =
            query_scalar!(r#"SELECT count(*) AS "count!" FROM turns WHERE state IN ('queued', 'running', 'awaiting_approval')"#);
        Ok(count.fetch_one(&self.pool).await?)
    }
}

impl Unit {
    /// Locks the conversation's row, which puts its turns in one order.
    pub(super) async fn hold_conversation(&mut self, conversation: ConversationId) -> Result<(), StoreError> {
        query_scalar!("SELECT conversation_id FROM conversations WHERE conversation_id = $1 FOR UPDATE", conversation.0)
            .fetch_optional(&mut *self.tx)
            .await?
            .ok_or(StoreError::NoConversation(conversation))?;
        Ok(())
    }

    /// What became of the message of this id, where there was one before. The caller holds the conversation's row lock.
    pub(super) async fn accepted_before(
        &mut self,
        conversation: ConversationId,
        client_id: Option<&str>,
    ) -> Result<Option<Accepted>, StoreError> {
        let Some(client_id) = client_id else { return Ok(None) };
        let known = query_scalar!(
            r#"SELECT turn_id AS "turn_id!" FROM turns WHERE conversation_id = $1 AND client_id = $2
               UNION ALL SELECT turn_id FROM messages WHERE conversation_id = $1 AND client_id = $2"#,
            conversation.0,
            client_id
        );
        let known = known.fetch_optional(&mut *self.tx).await?;
        Ok(known.map(|turn| Accepted { turn: TurnId(turn), conversation, again: true }))
    }

    /// Queues a turn with its input. The caller holds the conversation's row lock.
    pub(super) async fn queue_turn(
        &mut self,
        conversation: ConversationId,
        origin: Origin,
        client_id: Option<&str>,
        content: &str,
    ) -> Result<TurnId, StoreError> {
        let message = NewMessage { content, client_id, ..NewMessage::default() };
        self.queue_message(conversation, origin, &message, Known::default()).await
    }

    /// The same for any message, whose images are kept already.
    pub(super) async fn queue_message(
        &mut self,
        conversation: ConversationId,
        origin: Origin,
        message: &NewMessage<'_>,
        Known { images, moved }: Known,
    ) -> Result<TurnId, StoreError> {
        let (content, client_id) = (self.clean(message.content).into_owned(), message.client_id);
        let turn = query_scalar!(
            "INSERT INTO turns (conversation_id, origin, client_id, state, created_at) VALUES ($1, $2, $3, 'queued', $4)
             RETURNING turn_id",
            conversation.0,
            origin.as_str(),
            client_id,
            self.now
        )
        .fetch_one(&mut *self.tx)
        .await?;
        let message = query_scalar!(
            "INSERT INTO messages (conversation_id, turn_id, role, content, images, created_at) VALUES ($1, $2, 'user', $3, $4, $5)
             RETURNING message_id",
            conversation.0,
            turn,
            content,
            json!(images),
            self.now
        )
        .fetch_one(&mut *self.tx)
        .await?;
        let (turn, message, client_id) = (TurnId(turn), MessageId(message), client_id.map(str::to_owned));
        self.append(conversation, Event::TurnQueued { turn, message, client_id, origin, content, moved, images }).await?;
        Ok(turn)
    }

    /// Ends a turn whose row the caller has locked. Tool calls left open are recorded as not done.
    pub(super) async fn end_turn(&mut self, conversation: ConversationId, turn: TurnId, end: End<'_>) -> Result<(), StoreError> {
        let (state, reason, failure) = match end {
            End::Answered => (TurnState::Completed, None, None),
            End::Stopped => (TurnState::Aborted, Some("Stopped."), None),
            End::Failed(failure, reason) => (TurnState::Failed, Some(reason), Some(failure)),
        };
        let reason = reason.map(|reason| self.clean(reason));
        let reason = reason.as_deref();
        if failure.is_some() {
            self.move_unseen(conversation, turn).await?;
        }
        self.close_open_calls(conversation, turn).await?;
        query!(
            "UPDATE turns SET state = $2, reason = $3, lease_owner = NULL, lease_until = NULL, ended_at = $4 WHERE turn_id = $1",
            turn.0,
            state.as_str(),
            reason,
            self.now
        )
        .execute(&mut *self.tx)
        .await?;
        self.append(conversation, Event::TurnEnded { turn, state, reason: reason.map(str::to_owned), failure }).await?;
        Ok(())
    }
}
