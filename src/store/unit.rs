//! A unit of work: one transaction, its events, and their announcement once it has committed.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{PgExecutor, PgTransaction, query_as, query_scalar};

use super::lease::LockedTurn;
use super::transition::{Doubt, EventRow, die_after, records, to_its_end};
use super::{Lease, Signals, Store, StoreError, word};
use crate::domain::relay::RelaySettings;
use crate::domain::{ApprovalId, ConversationId, Image, Machine, Outcome, ToolCallId, TurnInput, TurnState};
use crate::facts::{DENIED, Event, EventRecord, ToolCallEnded};
use crate::governor::Permit;
use crate::telemetry::Scrubber;

/// One transaction. If it is dropped without [`Unit::commit`], nothing of it happened.
pub struct Unit {
    pub(super) tx: PgTransaction<'static>,
    pub(super) now: DateTime<Utc>,
    pub(super) signals: Signals,
    pub(super) scrubber: Scrubber,
    pub(super) relay: RelaySettings,
    pub(super) records: Vec<EventRecord>,
    /// Facts of a campaign that are recorded together with the next ones of it.
    pub(super) ahead: Vec<Event>,
    /// A picture that a call took; it is kept with the end of the call.
    pub(super) pictured: Option<(Image, Vec<u8>)>,
    /// False if no turn can be taken up because of it.
    pub(super) wakes: bool,
    /// Done when all is committed and announced, with the number of the last event.
    pub(super) then: Option<Box<dyn FnOnce(i64) + Send + Sync>>,
}

/// The judgement of a call.
#[derive(Clone, Copy, Debug)]
pub enum Judgement<'a> {
    /// It was carried out with this permit; an approval that allowed it is used up.
    Permitted(&'a Permit),
    /// It was not carried out.
    Refused {
        /// The call.
        call: ToolCallId,
        /// Fingerprint of the proposal.
        proposal_sha256: &'a [u8; 32],
    },
    /// It was allowed and began before the process ended, and is not carried out again.
    Interrupted(&'a InterruptedCall),
}

/// A call that began before the process ended, as it stands now.
#[derive(Clone, Debug)]
pub struct InterruptedCall {
    /// The call.
    pub call: ToolCallId,
    /// Fingerprint of the proposal that was allowed, if a person was asked about it, and else of
    /// the call as it is now.
    pub proposal_sha256: [u8; 32],
    /// True if a person allowed it.
    pub asked: bool,
    /// True if its beginning is an event of its own.
    pub told: bool,
    /// The end of its operations, in words for a model.
    pub ledger: String,
}

/// The end of a tool call, for the record.
#[derive(Clone, Debug)]
pub struct CallEnd<'a> {
    /// Its judgement.
    pub judged: Judgement<'a>,
    /// Its tool.
    pub tool: &'a str,
    /// Its outcome.
    pub outcome: Outcome,
}

impl CallEnd<'_> {
    /// The call.
    pub(super) fn call(&self) -> ToolCallId {
        match self.judged {
            Judgement::Permitted(permit) => permit.call(),
            Judgement::Refused { call, .. } => call,
            Judgement::Interrupted(interrupted) => interrupted.call,
        }
    }

    /// Fingerprint of the proposal that was judged.
    pub(super) fn proposal_sha256(&self) -> &[u8; 32] {
        match self.judged {
            Judgement::Permitted(permit) => permit.proposal_sha256(),
            Judgement::Refused { proposal_sha256, .. } => proposal_sha256,
            Judgement::Interrupted(interrupted) => &interrupted.proposal_sha256,
        }
    }

    /// The law's word: `allow`, `deny`, or `ask` if an approval allowed it.
    pub(super) fn verdict(&self) -> &'static str {
        match self.judged {
            Judgement::Permitted(permit) => permit.verdict(),
            Judgement::Refused { .. } => DENIED,
            Judgement::Interrupted(interrupted) if interrupted.asked => "ask",
            Judgement::Interrupted(_) => "allow",
        }
    }

    /// True if its beginning is recorded as an event of its own.
    pub(super) fn has_begun(&self) -> bool {
        match self.judged {
            Judgement::Permitted(permit) => permit.has_begun(),
            Judgement::Refused { .. } => false,
            Judgement::Interrupted(interrupted) => interrupted.told,
        }
    }

    /// The event that records it.
    pub(super) fn recorded(
        &self,
        lease: &Lease,
        outcome: Outcome,
        approval: Option<ApprovalId>,
        kept: Option<i64>,
    ) -> ToolCallEnded {
        let (name, verdict) = (self.tool.to_owned(), Some(self.verdict().to_owned()));
        ToolCallEnded { turn: lease.turn, call: self.call(), name, outcome, verdict, approval, kept }
    }
}

/// How many rows that a call lost are kept; `None` when there are none.
pub(super) async fn kept_of(database: impl PgExecutor<'_>, call: ToolCallId) -> Result<Option<i64>, sqlx::Error> {
    query_scalar!("SELECT sum(rows)::bigint FROM kept_calls WHERE tool_call_id = $1", call.0).fetch_one(database).await
}

impl Store {
    /// Begins a transaction. `now` is the time of everything it writes.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn begin(&self, now: DateTime<Utc>) -> Result<Unit, StoreError> {
        let (signals, scrubber, relay) = (self.signals.clone(), self.scrubber.clone(), self.relay.clone());
        let (tx, records, ahead) = (self.pool.begin().await?, Vec::new(), Vec::new());
        Ok(Unit { tx, now, signals, scrubber, relay, records, ahead, pictured: None, wakes: true, then: None })
    }
}

impl Unit {
    /// Text in the form that may be kept: see [`super::clean`].
    pub(super) fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        super::clean(&self.scrubber, text)
    }

    /// Writes a fact into a conversation's stream.
    pub(super) async fn append(&mut self, conversation: ConversationId, event: Event) -> Result<(), StoreError> {
        self.append_all(conversation, &[event]).await
    }

    /// Writes facts into a conversation's stream, in their order.
    pub(super) async fn append_all(&mut self, conversation: ConversationId, events: &[Event]) -> Result<(), StoreError> {
        if events.is_empty() {
            return Ok(());
        }
        let events: Vec<_> = events.iter().map(|event| json!(event)).collect();
        let rows = query_as!(
            EventRow,
            r#"SELECT sequence AS "sequence!", event AS "event!" FROM append_events($1, $2, $3)"#,
            conversation.0,
            &events,
            self.now
        )
        .fetch_all(&mut *self.tx)
        .await?;
        self.take(rows, conversation)?;
        Ok(())
    }

    /// Keeps the events that a statement recorded, to announce them after the commit.
    pub(super) fn take(&mut self, rows: Vec<EventRow>, conversation: ConversationId) -> Result<&[EventRecord], StoreError> {
        let before = self.records.len();
        self.records.extend(records(rows, conversation, self.now)?);
        Ok(&self.records[before..])
    }

    /// Keeps an event that a function in the database recorded, to announce it after the commit.
    pub(super) fn note(&mut self, record: EventRecord) {
        self.records.push(record);
    }

    /// Makes sure that this lease still holds the turn, and keeps it so until the transaction ends.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] if it does not.
    pub(super) async fn hold(&mut self, lease: &Lease) -> Result<LockedTurn, StoreError> {
        let state = query_scalar!(
            "SELECT state FROM turns WHERE turn_id = $1 AND fence = $2 AND state = ANY($3) FOR UPDATE",
            lease.turn.0,
            lease.fence,
            &TurnState::before(TurnInput::Write)
        )
        .fetch_optional(&mut *self.tx)
        .await?
        .ok_or(StoreError::LostLease)?;
        Ok(LockedTurn { conversation: lease.conversation, turn: lease.turn, state: word(&state)? })
    }

    /// Takes everything back. A runner that polls meanwhile skips the turn that was locked here:
    /// wake it again.
    pub(super) async fn let_go(self) -> Result<(), StoreError> {
        self.tx.rollback().await?;
        self.signals.queue().notify_one();
        Ok(())
    }

    /// Commits everything, then announces it.
    ///
    /// # Errors
    /// If the database refuses; then nothing happened, unless the connection broke in the very
    /// moment of the commit.
    pub async fn commit(self) -> Result<(), StoreError> {
        to_its_end(self.commit_and_tell()).await
    }

    async fn commit_and_tell(self) -> Result<(), StoreError> {
        let Self { tx, signals, records, wakes, then, .. } = self;
        let doubt = Doubt::of(&signals);
        tx.commit().await?;
        die_after(&records)?;
        let last = records.last().map_or(0, |record| record.sequence);
        signals.announce_all(records, wakes);
        if let Some(then) = then {
            then(last);
        }
        doubt.dispelled();
        Ok(())
    }
}
