//! The end of a tool call: outcome, message, audit entry and event, in one statement with what goes
//! along with them.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::types::Json;
use sqlx::{PgExecutor, query, query_as};

use super::standing::{Enquiry, Standing, StandingRow, Wanted};
use crate::domain::{ApprovalId, CallAccount, ConversationId, Outcome, RefusalCode, Used};
use crate::facts::{CallBegun, EventRecord, ToolCallEnded};
use crate::failpoint::{self, Point};
use crate::governor::Permit;
use crate::store::things::todo_changes::{TodoChanges, WrittenChanges};
use crate::store::transition::{Done, EventRow};
use crate::store::{CallEnd, CatalogueVersion, Lease, Store, StoreError, Unit, clean, value};
use crate::telemetry::Scrubber;

const NOT_RECORDABLE: &str = "What came of this call cannot be recorded, so it counts as failed. Elsewhere it may have done something: look \
    before you do it again, and ask for less, or for plain text.";

/// True if another value would have done: Postgres raised a data exception, or met a limit of what
/// a value may be.
fn is_of_the_value(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code.starts_with("22") || code.starts_with("54"))
}

/// Counts the call that has just ended to all but its turn: the database does so only at the
/// commit.
fn counting_the_call(mut standing: Standing) -> Standing {
    let Used { turn: _, conversation, day, tasks } = &mut standing.used;
    for span in [conversation, day].into_iter().chain(tasks) {
        span.tool_calls += 1;
    }
    standing
}

/// The things that go along with the end of a call, in its statement.
#[derive(Default)]
pub struct Along {
    /// The changes of the person's to-dos, if the call makes any.
    pub todos: Option<TodoChanges>,
    /// How much is wanted of the place where the turn stands after it.
    pub wanted: Option<Wanted>,
}

/// The same on its way into the database.
#[derive(Default)]
struct WrittenAlong {
    todos: WrittenChanges,
    asked: Option<Enquiry>,
}

/// The reading of the statement that ended a call; nothing if it took several.
#[derive(Debug, Default, PartialEq)]
pub struct SeenAtEnd {
    /// The catalogue's number.
    pub catalogue: Option<CatalogueVersion>,
    /// The place where the turn stands, if that was wanted.
    pub standing: Option<Box<Standing>>,
}

/// The effect of a call in its campaign, on its way into the database.
pub(in crate::store) struct CampaignEffect {
    /// The last event of the stream by which it was decided.
    pub(in crate::store) after: i64,
    /// Its facts.
    pub(in crate::store) facts: Vec<Value>,
    /// The rows that follow from them, by table.
    pub(in crate::store) rows: Value,
}

/// The end of a tool call, on its way into the database.
struct Ending {
    conversation: ConversationId,
    fence: i64,
    proposal_sha256: [u8; 32],
    now: DateTime<Utc>,
    /// The event, but for what only the database knows.
    event: ToolCallEnded,
    todos: WrittenChanges,
    /// The part of the turn's place after it that is wanted.
    wanted: Option<Value>,
}

/// The record of the end of a call.
struct Ended {
    records: Vec<EventRecord>,
    catalogue: CatalogueVersion,
    standing: Option<StandingRow>,
}

impl Ending {
    fn of(
        end: &CallEnd<'_>,
        lease: &Lease,
        scrubber: &Scrubber,
        WrittenAlong { todos, asked }: WrittenAlong,
        now: DateTime<Utc>,
    ) -> Self {
        let clean = |text: &String| clean(scrubber, text).into_owned();
        let Outcome { ok, result, logs, refusal, account } = &end.outcome;
        let logs = logs.iter().map(clean).collect();
        let mut account = CallAccount { begun: end.has_begun() || account.begun, ..account.clone() };
        if let Some(fault) = &mut account.fault {
            fault.message = clean(&fault.message);
        }
        let outcome = Outcome { ok: *ok, result: clean(result), logs, refusal: *refusal, account };
        Self {
            conversation: lease.conversation,
            fence: lease.fence,
            proposal_sha256: *end.proposal_sha256(),
            now,
            event: end.recorded(lease, outcome.bounded(), None, None),
            todos,
            wanted: asked.map(|asked| asked.of(lease)),
        }
    }

    /// Records it: outcome, message, audit entry, event; and before that what it did to to-dos,
    /// with the events of that.
    async fn record(self, database: impl PgExecutor<'_>) -> Result<Ended, StoreError> {
        let Self { conversation, fence, proposal_sha256, now, event, todos, wanted } = self;
        let outcome = &event.outcome;
        let ended = query!(
            r#"SELECT sequence AS "sequence!", approval, kept, first, catalogue_version() AS "catalogue!",
                   standing($15) AS "standing?: Json<StandingRow>"
               FROM end_call_with($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"#,
            event.turn.0,
            fence,
            event.call.0,
            outcome.ok,
            outcome.result,
            json!(outcome.logs),
            &proposal_sha256[..],
            event.verdict,
            now,
            outcome.refusal.map(RefusalCode::as_str),
            (!outcome.account.is_empty()).then(|| json!(outcome.account)),
            todos.stamp,
            &todos.changes,
            &todos.payloads(),
            wanted
        )
        .fetch_one(database)
        .await?;
        let event = ToolCallEnded { approval: ended.approval.map(ApprovalId), kept: ended.kept, ..event };
        let mut records = todos.recorded(conversation, ended.first.unwrap_or(ended.sequence), now);
        records.push(EventRecord { conversation, sequence: ended.sequence, at: now, event: event.into() });
        let (catalogue, standing) = (CatalogueVersion(ended.catalogue), ended.standing.map(|standing| standing.0));
        Ok(Ended { records, catalogue, standing })
    }

    /// The same in a cycle, together with the effect of the call.
    async fn record_in_cycle(
        self,
        database: impl PgExecutor<'_>,
        effect: CampaignEffect,
    ) -> Result<Vec<EventRecord>, StoreError> {
        let Self { conversation, fence, proposal_sha256, now, event, .. } = self;
        let outcome = event.outcome.clone();
        let rows = query_as::<_, (i64, Option<Value>, Option<i64>, Option<i64>)>(
            "SELECT sequence, event, approval, kept
             FROM end_call_in_cycle($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
        );
        let rows = rows.bind(event.turn.0).bind(fence).bind(event.call.0).bind(outcome.ok).bind(outcome.result);
        let rows = rows.bind(json!(outcome.logs)).bind(proposal_sha256.to_vec()).bind(event.verdict.clone()).bind(now);
        let rows = rows.bind(outcome.refusal.map(RefusalCode::as_str));
        let rows = rows.bind((!outcome.account.is_empty()).then(|| json!(outcome.account)));
        let rows = rows.bind(effect.after).bind(effect.facts).bind(effect.rows).fetch_all(database).await?;
        let record = |(sequence, fact, approval, kept): (i64, Option<Value>, Option<i64>, Option<i64>)| match fact {
            Some(event) => EventRow { sequence, event }.of(conversation, now),
            None => {
                let ended = ToolCallEnded { approval: approval.map(ApprovalId), kept, ..event.clone() };
                Ok(EventRecord { conversation, sequence, at: now, event: ended.into() })
            }
        };
        rows.into_iter().map(record).collect()
    }
}

impl Store {
    /// Records that a permitted call of the operator begins, before anything of it happens. A call
    /// that is run again after a crash began once.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn begin_call(&self, lease: &Lease, permit: &Permit, name: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        unit.hold(lease).await?;
        let newest = unit.newest_begun(lease.conversation).await?;
        if newest.is_some_and(|(_, begun)| begun.call == permit.call()) {
            return Ok(());
        }
        let (name, verdict) = (name.to_owned(), permit.verdict().to_owned());
        let (turn, call) = (lease.turn, permit.call());
        unit.append(lease.conversation, CallBegun { turn, call, name, verdict, context: None, run: None }.into()).await?;
        unit.commit().await
    }

    /// Records the end of a tool call that has no effect beside it.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn end_call(&self, lease: &Lease, end: CallEnd<'_>, now: DateTime<Utc>) -> Result<SeenAtEnd, StoreError> {
        self.end_call_with(lease, end, Along::default(), now).await
    }

    /// The same, with what goes along with it. If the outcome cannot be recorded, a short failure
    /// is, and nothing of the effect happens.
    ///
    /// # Errors
    /// [`StoreError::TodosChanged`] as well; then nothing was written.
    pub async fn end_call_with(
        &self,
        lease: &Lease,
        end: CallEnd<'_>,
        Along { todos, wanted }: Along,
        now: DateTime<Utc>,
    ) -> Result<SeenAtEnd, StoreError> {
        let todos = todos.map(TodoChanges::written).unwrap_or_default();
        let asked = wanted.map(|wanted| self.asked(lease.conversation, wanted));
        match self.try_to_end_call(lease, end.clone(), WrittenAlong { todos, asked: asked.clone() }, now).await {
            Err(StoreError::Database(error)) if is_of_the_value(&error) => {
                tracing::warn!(%error, call = %end.call(), "an outcome cannot be recorded; a short failure is recorded instead");
                let outcome = Outcome::failed(NOT_RECORDABLE);
                let along = WrittenAlong { asked, ..WrittenAlong::default() };
                self.try_to_end_call(lease, CallEnd { outcome, ..end }, along, now).await
            }
            ended => ended,
        }
    }

    /// Ends a call of a cycle by one statement with its effect. Gives the recorded outcome, and the
    /// number of its event.
    ///
    /// # Errors
    /// [`StoreError::CampaignChanged`] as well; then nothing was written.
    pub(in crate::store) async fn end_call_in_cycle(
        &self,
        lease: &Lease,
        end: CallEnd<'_>,
        effect: CampaignEffect,
        now: DateTime<Utc>,
    ) -> Result<(Outcome, i64), StoreError> {
        let ending = Ending::of(&end, lease, &self.scrubber, WrittenAlong::default(), now);
        let (pool, outcome) = (self.pool.clone(), ending.event.outcome.clone());
        let recorded = async move {
            let records = ending.record_in_cycle(&pool, effect).await?;
            let last = records.last().map_or(0, |record| record.sequence);
            Ok(Done::new(last, records))
        };
        Ok((outcome, self.transition(recorded).await?))
    }

    async fn try_to_end_call(
        &self,
        lease: &Lease,
        end: CallEnd<'_>,
        along: WrittenAlong,
        now: DateTime<Utc>,
    ) -> Result<SeenAtEnd, StoreError> {
        let (by_approval, asked) = (end.verdict() == "ask", along.asked.clone());
        let ending = Ending::of(&end, lease, &self.scrubber, along, now);
        if by_approval {
            // A test stops the process between the use of an approval and the commit.
            let mut unit = self.begin(now).await?;
            unit.record_end(ending, by_approval).await?;
            unit.commit().await?;
            return Ok(SeenAtEnd::default());
        }
        let pool = self.pool.clone();
        let (catalogue, standing) = self
            .transition(async move {
                let Ended { records, catalogue, standing } = ending.record(&pool).await?;
                Ok(Done::new((catalogue, standing), records))
            })
            .await?;
        let standing = match (standing, asked) {
            (Some(row), Some(asked)) => Some(Box::new(counting_the_call(self.stands(lease, &asked, row)?))),
            _ => None,
        };
        Ok(SeenAtEnd { catalogue: Some(catalogue), standing })
    }
}

impl Unit {
    /// The newest beginning in a conversation that is an event of its own, and its number. A turn
    /// makes one call after the other, so this is the beginning of its open call, or that has none.
    pub(in crate::store) async fn newest_begun(
        &mut self,
        conversation: ConversationId,
    ) -> Result<Option<(i64, CallBegun)>, StoreError> {
        let newest = query_as::<_, (i64, Value)>(
            "SELECT sequence, payload FROM events WHERE conversation_id = $1 AND kind = 'call_begun'
             ORDER BY sequence DESC LIMIT 1",
        );
        let newest = newest.bind(conversation.0).fetch_optional(&mut *self.tx).await?;
        newest.map(|(sequence, begun)| Ok((sequence, value(begun)?))).transpose()
    }

    /// Records the end of a tool call: outcome, message, audit entry, event, and the picture that
    /// it took.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] when the turn is held by another or the call has an outcome
    /// already.
    pub async fn end_call(&mut self, lease: &Lease, end: CallEnd<'_>) -> Result<(), StoreError> {
        let (asked, call) = (end.verdict() == "ask", end.call());
        let ending = Ending::of(&end, lease, &self.scrubber, WrittenAlong::default(), self.now);
        self.record_end(ending, asked).await?;
        self.keep_pictured(lease, call).await
    }

    /// `asked`: an approval is used up with it.
    async fn record_end(&mut self, ending: Ending, asked: bool) -> Result<(), StoreError> {
        // The number of the catalogue is of no use: what this transaction changes is counted at its
        // commit.
        let Ended { records, .. } = ending.record(&mut *self.tx).await?;
        if asked {
            failpoint::hit(Point::MidApproval).map_err(sqlx::Error::Io)?;
        }
        records.into_iter().for_each(|record| self.note(record));
        Ok(())
    }
}
