//! The two transactions of a cycle, its effect and its end, as one statement each. They read
//! nothing: all that they follow from was handed on, and the statement looks whether the campaign's
//! stream has anything in it that came since. If so, or if there is more to do, nothing is written,
//! and the caller goes the way of several statements.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::query_as;

use super::applied::after;
use super::came::CycleCame;
use super::cycle::{CycleEnding, INPUT};
use super::deeds::{Attribution, begun_task, is_plain, used_context};
use super::loading::{CycleWithState, HeldCycle};
use super::writing::{rows_of, settled};
use crate::domain::campaign::judge::{Presence, validate};
use crate::domain::campaign::{CampaignProposal, CampaignState};
use crate::domain::{CallState, Machine, TurnInput, TurnState};
use crate::facts::{Event, EventRecord};
use crate::failpoint::{self, Point};
use crate::governor::Permit;
use crate::store::agent_sql::is_code;
use crate::store::queue::accepting::{queued_next, taken_up};
use crate::store::queue::calls::CampaignEffect;
use crate::store::queue::steps::LastStep;
use crate::store::transition::{Done, EventRow, is_refused, records};
use crate::store::{CallEnd, Lease, SeenAtEnd, Store, StoreError};

/// A deed that is decided and not recorded.
#[derive(Debug)]
pub struct PlannedDeed {
    /// The cycle as it was when the deed was decided.
    held: HeldCycle,
    facts: Vec<Event>,
    /// The state that it leaves.
    state: CampaignState,
    now: DateTime<Utc>,
}

/// The end of a cycle as the statement takes it.
struct EndInOne<'a> {
    /// The last event by which it was decided.
    after: i64,
    facts: &'a [Event],
    /// The number of the turn's last step.
    number: i32,
    words: &'a str,
    goes_on: bool,
    now: DateTime<Utc>,
}

impl PlannedDeed {
    /// True if the deed of a proposal can be recorded by one statement with the end of its call: it
    /// follows from the state alone, and uses up no approval.
    pub fn is_for(proposal: &CampaignProposal, permit: &Permit) -> bool {
        is_plain(proposal) && permit.approval().is_none()
    }
}

impl Store {
    /// Decides a deed by the cycle that was handed on, with the words about it. `None` if its state
    /// does not allow it any more: then a transaction says why.
    pub fn plan_deed(
        &self,
        permit: &Permit,
        proposal: &CampaignProposal,
        held: HeldCycle,
        mut state: CampaignState,
        now: DateTime<Utc>,
    ) -> Option<(String, PlannedDeed)> {
        validate(&state, proposal, held.proposals, now).ok()?;
        let mut facts: Vec<Event> = used_context(permit, &state, now).ok()?.into_iter().collect();
        facts.extend(begun_task(&mut state, proposal, now));
        let attribution = Attribution { step: held.step, approval: permit.approval(), scrubber: &self.scrubber, now };
        // The database draws the number of an artifact.
        let (fact, told) = attribution.fact(&state, proposal, 0).ok()?;
        facts.extend(fact);
        let conversation = state.campaign.conversation_id;
        let record = |(sequence, fact): (i64, &Event)| EventRecord { conversation, sequence, at: now, event: fact.clone() };
        let come: Vec<_> = (state.sequence + 1..).zip(&facts).map(record).collect();
        let mut state = after(state, &come)?;
        let proven = settled(&mut state, now);
        let done: String = proven.iter().map(|fact| format!(" Task {} is done.", fact.task.id)).collect();
        facts.extend(proven.into_iter().map(Event::from));
        Some((told + &done, PlannedDeed { held, facts, state, now }))
    }

    /// Ends a call together with its deed, by one statement, and hands the cycle on.
    ///
    /// # Errors
    /// [`StoreError::CampaignChanged`] if something has happened in the campaign since the deed was
    /// decided, [`StoreError::LostLease`], or if the database does not answer.
    pub async fn end_call_with_deed(&self, lease: &Lease, end: CallEnd<'_>, deed: PlannedDeed) -> Result<SeenAtEnd, StoreError> {
        let PlannedDeed { mut held, facts, state, now } = deed;
        failpoint::hit(Point::MidProposal).map_err(StoreError::broken)?;
        let rows = rows_of(lease.conversation, &facts, now);
        let facts = facts.iter().map(|fact| json!(fact)).collect();
        let effect = CampaignEffect { after: held.sequence, facts, rows };
        let (outcome, sequence) = self.end_call_in_cycle(lease, end, effect, now).await?;
        for call in &mut held.calls {
            call.made.state = if outcome.ok { CallState::Done } else { CallState::Failed };
            call.made.refusal = outcome.refusal.map(|code| code.as_str().to_owned());
            call.made.ended_at = Some(now);
            call.result.clone_from(&outcome.result);
        }
        let held = HeldCycle { sequence, ..held };
        self.hand_on_held(lease, CampaignState { sequence, ..state }, Some(held));
        Ok(SeenAtEnd::default())
    }

    /// Ends a cycle of which all is known, by one statement. False if it is to be ended at length:
    /// something has happened in the campaign since, or more follows than another cycle or a wait.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn end_known_cycle(
        &self,
        lease: &Lease,
        CycleWithState { held, mut state }: CycleWithState,
        came: CycleCame,
        presence: Presence,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        if state.campaign.cycles_left.is_some() {
            self.hand_on(lease, state);
            return Ok(false);
        }
        let after = state.sequence;
        held.calls.iter().for_each(|call| state.end_call(&call.made));
        let mut facts: Vec<Event> = settled(&mut state, now).into_iter().map(Event::from).collect();
        let came = CycleCame { words: self.clean(&came.words).into_owned(), ..came };
        let ending = CycleEnding::of(lease.turn, state, held.step, came, presence, now);
        if ending.completes() {
            return Ok(false);
        }
        let (words, goes_on) = (ending.said(), ending.goes_on());
        facts.push(ending.fact);
        if goes_on {
            failpoint::hit(Point::MidCycleEnd).map_err(StoreError::broken)?;
        }
        let end = EndInOne { after, facts: &facts, number: held.steps + 1, words: &words, goes_on, now };
        match self.end_in_one(lease, end).await {
            Err(StoreError::CampaignChanged) => Ok(false),
            Err(StoreError::Database(error)) if is_code(&error, "L3006") => Ok(false),
            ended => ended.map(|()| true),
        }
    }

    async fn end_in_one(&self, lease: &Lease, end: EndInOne<'_>) -> Result<(), StoreError> {
        let EndInOne { after, facts, number, words, goes_on, now } = end;
        let LastStep { from, answered, ended, actions } =
            LastStep::of(&self.scrubber, lease, &CycleEnding::step(number, words), now)?;
        let rows = rows_of(lease.conversation, facts, now);
        let facts: Vec<_> = facts.iter().map(|fact| json!(fact)).collect();
        let queued = goes_on.then(|| queued_next(lease, INPUT.to_owned()));
        let place = if goes_on { self.places.reserve() } else { None };
        let owner = place.as_ref().map(|place| place.owner().to_owned());
        let (pool, lease) = (self.pool.clone(), lease.clone());
        self.transition(async move {
            let told = query_as::<_, (i64, Value)>(
                "SELECT sequence, event FROM end_cycle($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
            );
            let told = told.bind(lease.turn.0).bind(lease.fence).bind(from.as_str()).bind(after).bind(facts).bind(rows);
            let told = told.bind(answered).bind(ended).bind(actions).bind(queued).bind(TurnState::FIRST.as_str());
            let told = told.bind(owner).bind(TurnState::after(TurnInput::Claim).map(TurnState::as_str)).bind(now);
            let told = match told.fetch_all(&pool).await {
                Err(error) if is_refused(&error) => {
                    if let Some(place) = place {
                        place.settle(None);
                    }
                    return Err(error.into());
                }
                told => told?,
            };
            let told = told.into_iter().map(|(sequence, event)| EventRow { sequence, event }).collect();
            let records = records(told, lease.conversation, now)?;
            let taken = taken_up(&lease, &records);
            let wakes = taken.is_none();
            let then = place.map(|place| Box::new(move || place.settle(taken)) as Box<dyn FnOnce() + Send>);
            Ok(Done { given: (), records, wakes, then })
        })
        .await
    }
}
