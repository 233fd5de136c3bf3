//! Turns: the only queue. Claimed with a lease and a fencing number, ended once;
//! [`super::accepting`] is how they come in.

use chrono::{DateTime, Utc};
use sqlx::{query, query_scalar};

use super::account::TurnAccount;
use crate::domain::{ConversationId, Failure, Machine, TurnAction, TurnId, TurnInput, TurnState};
use crate::facts::{Event, TurnEnded, TurnStarted};
use crate::failpoint::{self, Point};
use crate::store::lease::LockedTurn;
use crate::store::relay::ContactTurnEnd;
use crate::store::transition::{Done, EventRow};
use crate::store::{Lease, Store, StoreError, Unit, word};

/// The ways a turn ends.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) enum TurnEnd<'a> {
    /// With an answer.
    Answered,
    /// With words of the controller's own; no runner took it up.
    Announced,
    /// A person stopped it.
    Stopped,
    /// The number that ordered it may order no more; the reason, in words for a person.
    Revoked(&'a str),
    /// A person's no, or a limit, ended a task of the operator; the reason, in words for a person.
    Aborted(&'a str),
    /// Without an answer; the reason, in words for a person.
    Failed(Failure, &'a str),
    /// The same because the model has too many requests; the seconds after which it may take one.
    Busy(u32, &'a str),
}

impl<'a> TurnEnd<'a> {
    /// The reason, in words for a person; `None` for an answer.
    fn reason(self) -> Option<&'a str> {
        match self {
            Self::Answered | Self::Announced => None,
            Self::Stopped => Some("Stopped."),
            Self::Revoked(why) | Self::Aborted(why) | Self::Failed(_, why) | Self::Busy(_, why) => Some(why),
        }
    }

    /// The same for the instance of a contact's conversation.
    fn of_contact(self) -> ContactTurnEnd<'a> {
        match self {
            Self::Answered | Self::Announced => ContactTurnEnd::Answered,
            Self::Stopped | Self::Revoked(_) | Self::Aborted(_) => ContactTurnEnd::Stopped,
            Self::Failed(Failure::Model, why) | Self::Busy(_, why) => ContactTurnEnd::Unanswered(why),
            Self::Failed(Failure::Server, why) => ContactTurnEnd::Broken(why),
        }
    }
}

impl Store {
    /// Takes up the first turn that can be taken up: see [`Store::claim_some`].
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn claim(&self, owner: &str, gone: &[String], now: DateTime<Utc>) -> Result<Option<Lease>, StoreError> {
        Ok(self.claim_some(owner, gone, 1, now).await?.pop())
    }

    /// Takes up turns that are first in their conversations, and that nobody holds, or one of the
    /// servers `gone`; the oldest first, at most so many. A person's message goes before turns of
    /// tasks, however many fell due.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn claim_some(
        &self,
        owner: &str,
        gone: &[String],
        most: usize,
        now: DateTime<Utc>,
    ) -> Result<Vec<Lease>, StoreError> {
        let statement = query!(
            r#"SELECT conversation AS "conversation!", profile AS "profile!", origin AS "origin!", takes AS "takes!",
                      sequence AS "sequence!", event AS "event!"
               FROM claim_turns($1, $2, $3, $4, $5, $6)"#,
            owner,
            gone,
            &TurnState::before(TurnInput::Claim),
            TurnState::after(TurnInput::Claim).map(TurnState::as_str),
            i32::try_from(most).unwrap_or(i32::MAX),
            now
        );
        let pool = self.pool.clone();
        let leases = self.transition(async move {
            let (mut leases, mut records) = (Vec::new(), Vec::new());
            for row in statement.fetch_all(&pool).await? {
                let conversation = ConversationId(row.conversation);
                let record = EventRow { sequence: row.sequence, event: row.event }.of(conversation, now)?;
                if let Event::TurnStarted(TurnStarted { turn, fence }) = record.event {
                    let origin = word(&row.origin)?;
                    leases.push(Lease { turn, conversation, profile: row.profile, fence, origin, takes: row.takes });
                }
                records.push(record);
            }
            Ok(Done::new(leases, records))
        });
        let leases = leases.await?;
        if !leases.is_empty() {
            failpoint::hit(Point::AfterClaim).map_err(sqlx::Error::Io)?;
        }
        Ok(leases)
    }

    /// Gives back all turns under this name, except those in hand. Only the owner itself knows
    /// which those are.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn give_back_all(&self, owner: &str, in_hand: &[TurnId], now: DateTime<Utc>) -> Result<u64, StoreError> {
        let in_hand: Vec<_> = in_hand.iter().map(|turn| turn.0).collect();
        // Each was taken up where it stands now, or came there by itself: that take counts, since
        // nobody ended it in good order.
        let done = sqlx::query(
            "UPDATE turns SET lease_owner = NULL, lease_until = $2, taken_at = turn_place(turn_id),
                    takes = CASE WHEN taken_at = turn_place(turn_id) THEN takes ELSE 1 END
             WHERE ended_at IS NULL AND state = ANY($4) AND lease_owner = $1 AND turn_id <> ALL($3)",
        );
        let done = done.bind(owner).bind(now).bind(&in_hand).bind(TurnState::before(TurnInput::Write));
        let done = done.execute(&self.pool).await?;
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

    /// Gives turns back that got no further through no fault of their own: any runner may take them
    /// up from `at` on, and this take does not count. Turns that are not held with these fences any
    /// more stay as they are.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn hand_back(&self, held: &[(TurnId, i64)], at: DateTime<Utc>) -> Result<(), StoreError> {
        let (turns, fences): (Vec<_>, Vec<_>) = held.iter().map(|(turn, fence)| (turn.0, *fence)).unzip();
        query!(
            "UPDATE turns SET lease_owner = NULL, lease_until = $3, takes = greatest(takes - 1, 0)
             WHERE state = ANY($4) AND (turn_id, fence) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[]))",
            &turns,
            &fences,
            at,
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

    /// Aborts a task of the operator. Its open calls are recorded as not done.
    ///
    /// # Errors
    /// As [`Store::fail_turn`].
    pub async fn abort_turn(&self, lease: &Lease, reason: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.end_without_answer(lease, TurnEnd::Aborted(reason), now).await
    }

    async fn end_without_answer(&self, lease: &Lease, end: TurnEnd<'_>, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        let held = unit.hold(lease).await?;
        unit.hold_campaign_of(lease).await?;
        unit.end_turn(held, end).await?;
        if let Some(why) = end.reason() {
            unit.settle_cut_cycle(lease, why).await?;
        }
        unit.commit().await
    }

    /// See [`crate::store::Theirs::stop`].
    pub(in crate::store) async fn stop_turns(
        &self,
        conversation: ConversationId,
        now: DateTime<Utc>,
    ) -> Result<Vec<TurnId>, StoreError> {
        let mut unit = self.begin(now).await?;
        let turns = self.stop_in(&mut unit, conversation).await?;
        unit.commit().await?;
        Ok(turns)
    }

    /// As [`Store::stop_turns`], in a transaction that the caller has begun.
    pub(super) async fn stop_in(&self, unit: &mut Unit, conversation: ConversationId) -> Result<Vec<TurnId>, StoreError> {
        let open = query!(
            "SELECT turn_id, state, fence FROM turns
             WHERE conversation_id = $1 AND ended_at IS NULL AND state = ANY($2) ORDER BY turn_id FOR UPDATE",
            conversation.0,
            &TurnState::before(TurnInput::Stop)
        )
        .fetch_all(&mut *unit.tx)
        .await?;
        unit.hold_contact_of(conversation).await?;
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
    /// Ends a turn whose row the caller has locked. Open tool calls are recorded as not done.
    pub(in crate::store) async fn end_turn(&mut self, held: LockedTurn, end: TurnEnd<'_>) -> Result<(), StoreError> {
        let (input, failure, retry_after) = match end {
            TurnEnd::Answered => (TurnInput::Answer, None, None),
            TurnEnd::Announced => (TurnInput::Announce, None, None),
            TurnEnd::Stopped | TurnEnd::Revoked(_) => (TurnInput::Stop, None, None),
            TurnEnd::Aborted(_) => (TurnInput::Abort, None, None),
            TurnEnd::Failed(failure, _) => (TurnInput::Fail, Some(failure), None),
            TurnEnd::Busy(wait, _) => (TurnInput::Fail, Some(Failure::Model), Some(wait)),
        };
        // A contact comes before the conversation, in which the end is written.
        let moves = self.hold_contact_of(held.conversation).await?;
        let reason = end.reason().map(|reason| self.clean(reason).into_owned());
        let state = self.advance(held, input, reason.as_deref()).await?;
        let TurnAccount { usage, ms } = self.account_of(held.turn).await?;
        let ended = TurnEnded { turn: held.turn, state, reason, failure, retry_after, usage: Some(usage), ms: Some(ms) };
        self.append(held.conversation, ended.into()).await?;
        if moves { self.settle_instance(held.conversation, held.turn, end.of_contact()).await } else { Ok(()) }
    }

    /// Stops the turns of a conversation that are not over. The caller holds their rows.
    pub(in crate::store) async fn stop_open_turns(&mut self, conversation: ConversationId) -> Result<(), StoreError> {
        let open = query!(
            "SELECT turn_id, state FROM turns WHERE conversation_id = $1 AND ended_at IS NULL ORDER BY turn_id FOR UPDATE",
            conversation.0
        );
        for row in open.fetch_all(&mut *self.tx).await? {
            let held = LockedTurn { conversation, turn: TurnId(row.turn_id), state: word(&row.state)? };
            self.end_turn(held, TurnEnd::Stopped).await?;
        }
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
