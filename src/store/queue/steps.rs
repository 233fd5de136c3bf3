//! Steps: a model's answer, stored before any of its tool calls runs.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::{PgExecutor, query, query_as, query_scalar};

use super::turns::TurnEnd;
use super::writing::Unfinished;
use crate::domain::{CallRequest, ConversationId, Machine, Rate, StepId, ToolCallId, TurnId, TurnInput, TurnState, Usage};
use crate::facts::{Event, EventRecord, STOPPED, StepAnswered, ToolCallProposed, TurnEnded};
use crate::store::agent_sql::is_code;
use crate::store::transition::{Done, EventRow};
use crate::store::{BrokenAnswer, CatalogueVersion, Lease, Store, StoreError, Unit, clean};
use crate::telemetry::Scrubber;

/// An answer to store.
#[derive(Clone, Debug, Default)]
pub struct NewStep<'a> {
    /// Counts from 1 inside the turn.
    pub number: i32,
    /// The model that answered.
    pub model: &'a str,
    /// The provider's reason for its end.
    pub finish_reason: &'a str,
    /// Its tokens.
    pub usage: Option<Usage>,
    /// Its text.
    pub content: &'a str,
    /// The tools that it asked for.
    pub calls: &'a [CallRequest],
    /// True if the turn is completed with this text.
    pub last: bool,
    /// True if it claims something that no record of its turn shows.
    pub unproven: bool,
    /// The controller's words behind its text; kept only if the turn ends with it.
    pub note: Option<&'a str>,
}

/// The events of an answer, but for what only the database knows: the numbers, and the cost.
struct Written {
    answered: Value,
    calls: Vec<Value>,
    /// For tokens that were read, and for those that were written.
    rate: (Option<i64>, Option<i64>),
}

impl NewStep<'_> {
    /// `rate` holds if the table of rates has none.
    fn written(&self, scrubber: &Scrubber, turn: TurnId, rate: Option<Rate>) -> Written {
        let clean = |text: &str| clean(scrubber, text).into_owned();
        let micros = |micros: fn(Rate) -> u64| rate.map(micros).map(|micros| i64::try_from(micros).unwrap_or(i64::MAX));
        let (step, call) = (StepId(0), ToolCallId(0));
        let answered = StepAnswered {
            turn,
            step,
            number: self.number,
            model: clean(self.model),
            finish_reason: clean(self.finish_reason),
            usage: self.usage,
            content: clean(self.content),
            last: self.last,
            cost_micros: None,
            unproven: self.unproven,
            note: self.note.map(clean),
        };
        let proposed = |(position, CallRequest { id, name, arguments }): (i32, &CallRequest)| {
            let request = CallRequest { id: clean(id), name: clean(name), arguments: clean(arguments) };
            json!(Event::from(ToolCallProposed { turn, step, call, request, position }))
        };
        Written {
            answered: json!(Event::from(answered)),
            calls: (0..).zip(self.calls).map(proposed).collect(),
            rate: (micros(|rate| rate.input_micros), micros(|rate| rate.output_micros)),
        }
    }
}

/// An answer that ends its turn, as the database takes it.
pub(in crate::store) struct LastStep {
    pub(in crate::store) from: TurnState,
    pub(in crate::store) answered: Value,
    pub(in crate::store) ended: Option<Value>,
    pub(in crate::store) actions: Vec<String>,
}

impl LastStep {
    /// An answer that costs nothing.
    pub(in crate::store) fn of(
        scrubber: &Scrubber,
        lease: &Lease,
        step: &NewStep<'_>,
        now: DateTime<Utc>,
    ) -> Result<Self, StoreError> {
        let Storing { from, written, ended, actions, .. } = Storing::of(scrubber, lease, step, None, now)?;
        Ok(Self { from, answered: written.answered, ended, actions })
    }
}

/// An answer on its way into the database by one statement.
struct Storing {
    conversation: ConversationId,
    turn: TurnId,
    fence: i64,
    from: TurnState,
    written: Written,
    ended: Option<Value>,
    actions: Vec<String>,
    now: DateTime<Utc>,
}

/// The record of an answer.
struct Stored {
    records: Vec<EventRecord>,
    /// True if the end of the turn lets another begin.
    wakes: bool,
    catalogue: Option<CatalogueVersion>,
}

impl Storing {
    fn of(
        scrubber: &Scrubber,
        lease: &Lease,
        step: &NewStep<'_>,
        rate: Option<Rate>,
        now: DateTime<Utc>,
    ) -> Result<Self, StoreError> {
        let (from, _) = TurnState::Running.next(TurnInput::Write)?;
        let (state, actions) = from.next(TurnInput::Answer)?;
        // The statement adds what the turn used up.
        let (reason, failure, retry_after, usage, ms) = (None, None, None, None, None);
        let ended = TurnEnded { turn: lease.turn, state, reason, failure, retry_after, usage, ms };
        Ok(Self {
            conversation: lease.conversation,
            turn: lease.turn,
            fence: lease.fence,
            from,
            written: step.written(scrubber, lease.turn, rate),
            ended: step.last.then(|| json!(Event::from(ended))),
            actions: actions.iter().map(ToString::to_string).collect(),
            now,
        })
    }

    /// Step, message, calls, events, and the end of the turn. `L3006` if one of its actions has
    /// anything to do.
    async fn record(self, database: impl PgExecutor<'_>) -> Result<Stored, StoreError> {
        let Self { conversation, turn, fence, from, written: Written { answered, calls, rate }, ended, actions, now } = self;
        let rows = query!(
            r#"SELECT sequence AS "sequence!", event AS "event!", waits AS "waits!",
                   (SELECT catalogue_version()) AS "catalogue!"
               FROM store_step($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"#,
            turn.0,
            fence,
            from.as_str(),
            answered,
            &calls,
            rate.0,
            rate.1,
            ended,
            &actions,
            now
        );
        let mut stored = Stored { records: Vec::new(), wakes: false, catalogue: None };
        for row in rows.fetch_all(database).await? {
            stored.wakes |= row.waits;
            stored.catalogue = Some(CatalogueVersion(row.catalogue));
            stored.records.push(EventRow { sequence: row.sequence, event: row.event }.of(conversation, now)?);
        }
        Ok(stored)
    }
}

/// True if the end of a turn is among these.
fn is_over(records: &[EventRecord]) -> bool {
    records.iter().any(|record| matches!(record.event, Event::TurnEnded(_)))
}

/// The calls that were recorded as asked for.
fn asked_for(records: &[EventRecord]) -> Vec<OpenCall> {
    let proposed = records.iter().filter_map(|record| match &record.event {
        Event::ToolCallProposed(ToolCallProposed { call, request, .. }) => {
            Some(OpenCall { call: *call, request: request.clone() })
        }
        _ => None,
    });
    proposed.collect()
}

/// A tool call without an outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    /// The call.
    pub call: ToolCallId,
    /// The model's request.
    pub request: CallRequest,
}

/// The result of storing an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredStep {
    /// The calls that it asked for, in order.
    pub calls: Vec<OpenCall>,
    /// True if the turn is over. If a person has said something into the turn that no step has
    /// seen, even an answer that was to be the last does not end it.
    pub over: bool,
    /// The catalogue's number, if storing it took one statement.
    pub catalogue: Option<CatalogueVersion>,
    /// The numbers of its first and its last event, on the same condition.
    pub sequences: Option<(i64, i64)>,
    /// The step, on the same condition.
    pub step: Option<StepId>,
}

impl Store {
    /// The calls that did something: those that succeeded, and those that failed after an
    /// operation. Of the turn, or of the newest 500 turns that its conversation shows a model as
    /// well; the newest 500.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn calls_done(&self, lease: &Lease, in_conversation: bool) -> Result<Vec<CallRequest>, StoreError> {
        let rows = query!(
            r#"SELECT c.request_id AS "request_id!", c.name AS "name!", c.arguments AS "arguments!"
             FROM ((SELECT $1::bigint AS turn_id)
                   UNION ALL
                   (SELECT earlier.turn_id FROM lineage($2) line CROSS JOIN LATERAL (
                        SELECT turn_id FROM turns WHERE $3 AND conversation_id = line.conversation_id AND turn_id < $1
                          AND turn_id <= line.up_to ORDER BY turn_id DESC LIMIT 500) earlier
                    ORDER BY turn_id DESC LIMIT 500)) t
             CROSS JOIN LATERAL (
                 SELECT * FROM tool_calls c WHERE c.turn_id = t.turn_id AND (c.state = 'done' OR (c.state = 'failed' AND EXISTS (
                     SELECT FROM operations o WHERE o.tool_call_id = c.tool_call_id AND o.state IN ('done', 'unknown')))) OFFSET 0) c
             ORDER BY c.tool_call_id DESC LIMIT 500"#,
            lease.turn.0,
            lease.conversation.0,
            in_conversation
        );
        let rows = rows.fetch_all(&self.pool).await?.into_iter();
        Ok(rows.map(|row| CallRequest { id: row.request_id, name: row.name, arguments: row.arguments }).collect())
    }

    /// Stores an answer with the calls that it asks for. The last one completes the turn in the
    /// same transaction, unless a person has meanwhile said something into the turn that the model
    /// has not seen.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn store_step(&self, lease: &Lease, step: NewStep<'_>, now: DateTime<Utc>) -> Result<StoredStep, StoreError> {
        self.store_priced_step(lease, step, None, now).await
    }

    /// The same, with the model's rate if the table of rates has none.
    ///
    /// # Errors
    /// As for [`Store::store_step`].
    pub async fn store_priced_step(
        &self,
        lease: &Lease,
        step: NewStep<'_>,
        rate: Option<Rate>,
        now: DateTime<Utc>,
    ) -> Result<StoredStep, StoreError> {
        match self.store_in_one(lease, &step, rate, now).await {
            // The end of the turn has actions that one statement does not take.
            Err(StoreError::Database(error)) if is_code(&error, "L3006") => self.store_at_length(lease, &step, rate, now).await,
            stored => stored,
        }
    }

    /// One statement: step, message, calls, events, and the end of the turn if none of its actions
    /// has anything to do.
    async fn store_in_one(
        &self,
        lease: &Lease,
        step: &NewStep<'_>,
        rate: Option<Rate>,
        now: DateTime<Utc>,
    ) -> Result<StoredStep, StoreError> {
        let storing = Storing::of(&self.scrubber, lease, step, rate, now)?;
        let pool = self.pool.clone();
        self.transition(async move {
            let Stored { records, wakes, catalogue } = storing.record(&pool).await?;
            let over = is_over(&records);
            let sequences = records.first().zip(records.last()).map(|(first, last)| (first.sequence, last.sequence));
            let step = records.iter().find_map(|record| match &record.event {
                Event::StepAnswered(answered) => Some(answered.step),
                _ => None,
            });
            let given = StoredStep { calls: asked_for(&records), over, catalogue, sequences, step };
            Ok(Done { given, records, wakes, then: None })
        })
        .await
    }

    /// The same in several statements.
    async fn store_at_length(
        &self,
        lease: &Lease,
        step: &NewStep<'_>,
        rate: Option<Rate>,
        now: DateTime<Utc>,
    ) -> Result<StoredStep, StoreError> {
        let mut unit = self.begin(now).await?;
        let held = unit.hold(lease).await?;
        unit.hold_contact_of(lease.conversation).await?;
        let over = step.last && !unit.steering_waits(lease.turn).await?;
        let calls = unit.insert_step(lease.conversation, lease.turn, &NewStep { last: over, ..*step }, rate).await?;
        if over {
            unit.end_turn(held, TurnEnd::Answered).await?;
        }
        unit.commit().await?;
        Ok(StoredStep { calls, over, catalogue: None, sequences: None, step: None })
    }

    /// Completes a turn with words of the controller's own. Messages said into it that no model has
    /// seen become turns of their own.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn close_turn(&self, lease: &Lease, step: NewStep<'_>, aborts: bool, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        let held = unit.hold(lease).await?;
        unit.hold_contact_of(lease.conversation).await?;
        unit.hold_campaign_of(lease).await?;
        unit.move_unseen(lease.conversation, lease.turn).await?;
        unit.insert_step(lease.conversation, lease.turn, &NewStep { last: !aborts, ..step }, None).await?;
        unit.end_turn(held, closed(&step, aborts)).await?;
        unit.settle_cut_cycle(lease, step.content).await?;
        unit.commit().await
    }
}

/// The end of a turn that the controller's own words close.
fn closed<'a>(step: &NewStep<'a>, aborts: bool) -> TurnEnd<'a> {
    if aborts { TurnEnd::Aborted(step.content) } else { TurnEnd::Answered }
}

impl Store {
    /// Ends a turn in the middle of its work, with words of the controller's own. Its first open
    /// call fails with the words `cut` and what its ledger says, and answers that broke off are
    /// counted.
    ///
    /// # Errors
    /// As for [`Store::close_turn`].
    pub async fn cut_turn(
        &self,
        lease: &Lease,
        step: NewStep<'_>,
        cut: &str,
        broken: &[BrokenAnswer],
        aborts: bool,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        // A transaction that was about to commit has done so by now, or never will.
        let held = unit.hold(lease).await?;
        unit.hold_contact_of(lease.conversation).await?;
        unit.hold_campaign_of(lease).await?;
        unit.count_broken(lease.conversation, lease.turn, broken).await?;
        unit.move_unseen(lease.conversation, lease.turn).await?;
        let number = unit.next_step(lease.turn).await?;
        unit.cut_calls(lease.conversation, lease.turn, Some(cut)).await?;
        unit.insert_step(lease.conversation, lease.turn, &NewStep { number, last: !aborts, ..step }, None).await?;
        unit.end_turn(held, closed(&step, aborts)).await?;
        unit.settle_cut_cycle(lease, step.content).await?;
        unit.commit().await
    }
}

impl Unit {
    /// Stores an answer that ends its turn, by one statement. False if the turn has more to do at
    /// its end: then nothing of this transaction may be kept.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub(in crate::store) async fn answer_turn(&mut self, lease: &Lease, step: &NewStep<'_>) -> Result<bool, StoreError> {
        let storing = Storing::of(&self.scrubber, lease, step, None, self.now)?;
        let records = match storing.record(&mut *self.tx).await {
            Err(StoreError::Database(error)) if is_code(&error, "L3006") => return Ok(false),
            stored => stored?.records,
        };
        let over = is_over(&records);
        records.into_iter().for_each(|record| self.note(record));
        Ok(over)
    }

    /// Stores the text of a step that was stopped. It has no calls: those of a cut stream are never
    /// run.
    pub(super) async fn keep_unfinished(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
        said: &Unfinished,
    ) -> Result<(), StoreError> {
        let Unfinished { number, model, text, fence: _ } = said;
        let stored =
            query_scalar!(r#"SELECT count(*) AS "stored!" FROM steps WHERE turn_id = $1 AND number >= $2"#, turn.0, number);
        // The answer came to its end in the very moment before.
        if stored.fetch_one(&mut *self.tx).await? > 0 {
            return Ok(());
        }
        let step = NewStep { number: *number, model, finish_reason: STOPPED, content: text, ..NewStep::default() };
        self.insert_step(conversation, turn, &step, None).await.map(drop)
    }

    /// `rate` holds if the table of rates has none.
    pub(in crate::store) async fn insert_step(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
        step: &NewStep<'_>,
        rate: Option<Rate>,
    ) -> Result<Vec<OpenCall>, StoreError> {
        let Written { answered, calls, rate } = step.written(&self.scrubber, turn, rate);
        let rows = query_as!(
            EventRow,
            r#"SELECT sequence AS "sequence!", event AS "event!" FROM append_events($1, insert_step($1, $2, $3, $4, $5, $6), $6)"#,
            conversation.0,
            answered,
            &calls,
            rate.0,
            rate.1,
            self.now
        )
        .fetch_all(&mut *self.tx)
        .await?;
        Ok(asked_for(self.take(rows, conversation)?))
    }
}
