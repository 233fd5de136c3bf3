//! Turns: the only queue. Accepted in one transaction, claimed with a lease and a fencing number,
//! ended once.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{query, query_scalar};

use crate::domain::{ConversationId, Failure, Image, Machine, MessageId, Origin, TurnAction, TurnId, TurnInput, TurnState};
use crate::facts::{TurnEnded, TurnQueued, TurnStarted};
use crate::failpoint::{self, Point};
use crate::store::lease::LockedTurn;
use crate::store::{Lease, NewImage, Store, StoreError, Unit, word};

/// A message on its way in.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewMessage<'a> {
    /// Its words.
    pub content: &'a str,
    /// The id that the client gave it.
    pub client_id: Option<&'a str>,
    /// True if the running turn is to see it, if one runs.
    pub steer: bool,
    /// Its images.
    pub images: &'a [NewImage],
}

/// The facts about a message besides its words.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageExtras {
    /// Its images, which are kept already.
    pub(super) images: Vec<Image>,
    /// Its former number, in a turn that ended without having seen it.
    pub(super) moved: Option<MessageId>,
}

impl MessageExtras {
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
    /// True if the same message was accepted before; nothing new was written.
    pub again: bool,
}

/// The ways a turn ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum TurnEnd<'a> {
    /// With an answer.
    Answered,
    /// With words of the controller's own; no runner took it up.
    Announced,
    /// A person stopped it.
    Stopped,
    /// Without an answer; the reason, in words for a person.
    Failed(Failure, &'a str),
    /// The same because the model has too many requests; the seconds after which it may take one.
    Busy(u32, &'a str),
}

impl Store {
    /// Accepts a message: message, turn and event in one transaction. The same `client_id` again
    /// gives the same turn. It decides nothing, whatever its words: see [`Store::answer`].
    ///
    /// # Errors
    /// [`StoreError::NoConversation`], or if the database does not answer; then nothing was
    /// accepted.
    pub async fn accept_message(
        &self,
        conversation: ConversationId,
        client_id: Option<&str>,
        content: &str,
        now: DateTime<Utc>,
    ) -> Result<Accepted, StoreError> {
        self.accept(conversation, NewMessage { content, client_id, ..NewMessage::default() }, now).await
    }

    /// The same for any message; one that steers becomes part of the running turn, if one runs.
    ///
    /// # Errors
    /// As [`Store::accept_message`].
    pub async fn accept(
        &self,
        conversation: ConversationId,
        message: NewMessage<'_>,
        now: DateTime<Utc>,
    ) -> Result<Accepted, StoreError> {
        self.has_room()?;
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
        let turn = unit.queue_message(conversation, Origin::Message, &message, MessageExtras::of(message.images)).await?;
        unit.commit().await?;
        failpoint::hit(Point::AfterAccept).map_err(sqlx::Error::Io)?;
        Ok(Accepted { turn, conversation, again: false })
    }

    /// Takes up the oldest turn that is first in its conversation, and that nobody holds, or one of
    /// the servers `gone`. A person's message goes before turns of tasks, however many fell due.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn claim(&self, owner: &str, gone: &[String], now: DateTime<Utc>) -> Result<Option<Lease>, StoreError> {
        let mut unit = self.begin(now).await?;
        let row = query!(
            "WITH next AS (
                 SELECT turn_id, conversation_id FROM turns t
                 WHERE ended_at IS NULL AND state = ANY($4)
                   AND (lease_owner = ANY($3) OR (lease_owner IS NULL AND coalesce(lease_until, '-infinity') <= $2))
                   AND NOT EXISTS (
                       SELECT FROM turns earlier
                       WHERE earlier.conversation_id = t.conversation_id AND earlier.turn_id < t.turn_id AND earlier.ended_at IS NULL)
                 ORDER BY origin = 'task', turn_id LIMIT 1 FOR UPDATE SKIP LOCKED)
             UPDATE turns SET state = $5, fence = fence + 1, lease_owner = $1, lease_until = $2,
                    takes = CASE WHEN taken_at = turn_place(turns.turn_id) THEN takes + 1 ELSE 1 END,
                    taken_at = turn_place(turns.turn_id)
             FROM next JOIN conversations ON conversations.conversation_id = next.conversation_id
             WHERE turns.turn_id = next.turn_id
             RETURNING turns.turn_id, turns.conversation_id, turns.fence, turns.origin, turns.takes, conversations.profile",
            owner,
            now,
            gone,
            &TurnState::before(TurnInput::Claim),
            TurnState::after(TurnInput::Claim).map(TurnState::as_str)
        )
        .fetch_optional(&mut *unit.tx)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let (turn, conversation) = (TurnId(row.turn_id), ConversationId(row.conversation_id));
        let (fence, origin, takes) = (row.fence, word(&row.origin)?, row.takes);
        let lease = Lease { turn, conversation, profile: row.profile, fence, origin, takes };
        unit.append(lease.conversation, TurnStarted { turn: lease.turn, fence: lease.fence }.into()).await?;
        unit.commit().await?;
        failpoint::hit(Point::AfterClaim).map_err(sqlx::Error::Io)?;
        Ok(Some(lease))
    }

    /// Gives back all turns under this name, except those in hand. Only the owner itself knows
    /// which those are.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn give_back_all(&self, owner: &str, in_hand: &[TurnId], now: DateTime<Utc>) -> Result<u64, StoreError> {
        let in_hand: Vec<_> = in_hand.iter().map(|turn| turn.0).collect();
        let done = query!(
            "UPDATE turns SET lease_owner = NULL, lease_until = $2
             WHERE ended_at IS NULL AND state = ANY($4) AND lease_owner = $1 AND turn_id <> ALL($3)",
            owner,
            now,
            &in_hand,
            &TurnState::before(TurnInput::Write)
        )
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected())
    }

    /// Gives a turn back, so that any runner may take it up from `at` on.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn give_back(&self, lease: &Lease, at: DateTime<Utc>) -> Result<(), StoreError> {
        let done = query!(
            "UPDATE turns SET lease_owner = NULL, lease_until = $3 WHERE turn_id = $1 AND fence = $2 AND state = ANY($4)",
            lease.turn.0,
            lease.fence,
            at,
            &TurnState::before(TurnInput::Write)
        )
        .execute(&self.pool)
        .await?;
        if done.rows_affected() == 1 { Ok(()) } else { Err(StoreError::LostLease) }
    }

    /// True if a turn has a step or an outcome that it did not have when this runner took it up.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn came_further(&self, lease: &Lease) -> Result<bool, StoreError> {
        let further = query_scalar!(
            r#"SELECT taken_at <> turn_place(turn_id) AS "further!" FROM turns WHERE turn_id = $1 AND fence = $2"#,
            lease.turn.0,
            lease.fence
        );
        Ok(further.fetch_optional(&self.pool).await?.unwrap_or_default())
    }

    /// Gives turns back with which a server in good order got no further: any runner may take them
    /// up at once, and this take does not count. Turns that are not held with these fences any more
    /// stay as they are.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn hand_back(&self, held: &[(TurnId, i64)], now: DateTime<Utc>) -> Result<(), StoreError> {
        let (turns, fences): (Vec<_>, Vec<_>) = held.iter().map(|(turn, fence)| (turn.0, *fence)).unzip();
        query!(
            "UPDATE turns SET lease_owner = NULL, lease_until = $3, takes = greatest(takes - 1, 0)
             WHERE state = ANY($4) AND (turn_id, fence) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[]))",
            &turns,
            &fences,
            now,
            &TurnState::before(TurnInput::Write)
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Ends a turn without an answer.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn fail_turn(&self, lease: &Lease, failure: Failure, reason: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.end_without_answer(lease, TurnEnd::Failed(failure, reason), now).await
    }

    /// The same because the model has too many requests; it may take one after `wait` seconds.
    ///
    /// # Errors
    /// As [`Store::fail_turn`].
    pub async fn fail_busy_turn(&self, lease: &Lease, wait: u32, reason: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.end_without_answer(lease, TurnEnd::Busy(wait, reason), now).await
    }

    async fn end_without_answer(&self, lease: &Lease, end: TurnEnd<'_>, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        let held = unit.hold(lease).await?;
        unit.end_turn(held, end).await?;
        unit.commit().await
    }

    /// Aborts the running and waiting turns of a conversation; a runner that still works on one
    /// finds its lease gone. If this process works on the turn, the model's text until then is kept
    /// as a step without calls. Returns the turns that were ended.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn stop(&self, conversation: ConversationId, now: DateTime<Utc>) -> Result<Vec<TurnId>, StoreError> {
        let mut unit = self.begin(now).await?;
        let open = query!(
            "SELECT turn_id, state, fence FROM turns
             WHERE conversation_id = $1 AND ended_at IS NULL AND state = ANY($2) ORDER BY turn_id FOR UPDATE",
            conversation.0,
            &TurnState::before(TurnInput::Stop)
        )
        .fetch_all(&mut *unit.tx)
        .await?;
        let mut turns = Vec::with_capacity(open.len());
        for row in open {
            let (turn, state) = (TurnId(row.turn_id), word(&row.state)?);
            // It is read while the turn is locked: no answer of this step can be stored any more.
            if let Some(said) = self.writing.of(turn, row.fence).filter(|_| state == TurnState::Running) {
                unit.keep_unfinished(conversation, turn, &said).await?;
            }
            unit.count_broken(conversation, turn, &self.meters.take(turn, row.fence)).await?;
            unit.end_turn(LockedTurn { conversation, turn, state }, TurnEnd::Stopped).await?;
            turns.push(turn);
        }
        unit.commit().await?;
        Ok(turns)
    }

    /// The state of a turn.
    ///
    /// # Errors
    /// If the database does not answer or has no such turn.
    pub async fn turn_state(&self, turn: TurnId) -> Result<TurnState, StoreError> {
        word(&query_scalar!("SELECT state FROM turns WHERE turn_id = $1", turn.0).fetch_one(&self.pool).await?)
    }

    /// How many turns are not over.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn open_turns(&self) -> Result<i64, StoreError> {
        let count = query_scalar!(r#"SELECT count(*) AS "count!" FROM turns WHERE ended_at IS NULL"#);
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

    /// The turn of an earlier message with this id, if there was one. The caller holds the
    /// conversation's row lock.
    pub(super) async fn accepted_before(
        &mut self,
        conversation: ConversationId,
        client_id: Option<&str>,
    ) -> Result<Option<Accepted>, StoreError> {
        let Some(client_id) = client_id else { return Ok(None) };
        let known = query_scalar!(
            r#"SELECT turn_id AS "turn_id!" FROM turns WHERE conversation_id = $1 AND client_id = $2
               UNION ALL SELECT turn_id FROM messages WHERE conversation_id = $1 AND client_id = $2
               UNION ALL SELECT turn_id FROM approvals WHERE conversation_id = $1 AND client_id = $2"#,
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
        self.queue_message(conversation, origin, &message, MessageExtras::default()).await
    }

    /// The same for any message, whose images are kept already.
    pub(super) async fn queue_message(
        &mut self,
        conversation: ConversationId,
        origin: Origin,
        message: &NewMessage<'_>,
        MessageExtras { images, moved }: MessageExtras,
    ) -> Result<TurnId, StoreError> {
        let (content, client_id) = (self.clean(message.content).into_owned(), message.client_id);
        let turn = query_scalar!(
            "INSERT INTO turns (conversation_id, origin, client_id, state, created_at) VALUES ($1, $2, $3, $4, $5)
             RETURNING turn_id",
            conversation.0,
            origin.as_str(),
            client_id,
            TurnState::FIRST.as_str(),
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
        let queued = TurnQueued { turn, message, client_id, origin, content, moved, images };
        self.append(conversation, queued.into()).await?;
        Ok(turn)
    }

    /// Ends a turn whose row the caller has locked. Open tool calls are recorded as not done.
    pub(super) async fn end_turn(&mut self, held: LockedTurn, end: TurnEnd<'_>) -> Result<(), StoreError> {
        let (input, reason, failure, retry_after) = match end {
            TurnEnd::Answered => (TurnInput::Answer, None, None, None),
            TurnEnd::Announced => (TurnInput::Announce, None, None, None),
            TurnEnd::Stopped => (TurnInput::Stop, Some("Stopped."), None, None),
            TurnEnd::Failed(failure, reason) => (TurnInput::Fail, Some(reason), Some(failure), None),
            TurnEnd::Busy(wait, reason) => (TurnInput::Fail, Some(reason), Some(Failure::Model), Some(wait)),
        };
        let reason = reason.map(|reason| self.clean(reason).into_owned());
        let state = self.advance(held, input, reason.as_deref()).await?;
        let (usage, ms) = self.account_of(held.turn).await?;
        let ended = TurnEnded { turn: held.turn, state, reason, failure, retry_after, usage: Some(usage), ms };
        self.append(held.conversation, ended.into()).await?;
        Ok(())
    }

    /// Gives an input that ends the lease to a turn whose row the caller has locked: first the
    /// transition's actions, then the new state.
    pub(super) async fn advance(
        &mut self,
        held: LockedTurn,
        input: TurnInput,
        reason: Option<&str>,
    ) -> Result<TurnState, StoreError> {
        let LockedTurn { conversation, turn, state: from } = held;
        let (state, actions) = from.next(input)?;
        for action in actions {
            match action {
                TurnAction::MoveUnseen => self.move_unseen(conversation, turn).await?,
                TurnAction::VoidApprovals => self.void_approvals(conversation, turn).await?,
                TurnAction::CutCalls => self.cut_calls(conversation, turn, None).await?,
            }
        }
        query!(
            "UPDATE turns SET state = $2, reason = $3, lease_owner = NULL, lease_until = NULL, ended_at = $4
             WHERE turn_id = $1 AND state = $5",
            turn.0,
            state.as_str(),
            reason,
            state.is_over().then_some(self.now),
            from.as_str()
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(state)
    }
}
