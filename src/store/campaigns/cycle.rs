//! The transactions of a cycle: a request is about to be made, an answer was refused, the cycle
//! ends and the next one is queued.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::query_as;

use super::CampaignError;
use super::came::CycleCame;
use super::loading::HeldCycle;
use crate::domain::campaign::judge::{NextCycle, Presence, next};
use crate::domain::campaign::{Campaign, CampaignInput, CampaignState, CampaignStatus, ProposalKind};
use crate::domain::{
    ApprovalInput, ApprovalState, CampaignId, ConversationId, Machine, Origin, StepId, TurnId, TurnInput, TurnState, shortened,
};
use crate::facts::{CycleAsked, CycleEnded, CycleWords, Event, ProposalRefused};
use crate::failpoint::{self, Point};
use crate::store::queue::turns::TurnEnd;
use crate::store::transition::{Done, EventRow};
use crate::store::{Lease, NewStep, Store, StoreError, Unit};

/// The words of the turn of a cycle.
pub(super) const INPUT: &str = "[controller] One cycle.";

/// Why a campaign is paused after its one cycle.
const AFTER_ONE: &str = "paused again: it did the one cycle that a person asked for";
/// Why it is paused if the turn of that cycle ended in another way.
pub(super) const CUT_OFF: &str =
    "paused again: the one cycle that a person asked for was cut off before its end, and is not begun anew by itself";

/// The most bytes of the words about a proposal that brought nothing.
const MOST_FAULT: usize = 600;

/// A transaction, and the cycle that it holds.
struct CycleInUnit {
    /// The transaction.
    unit: Unit,
    /// The cycle.
    held: HeldCycle,
}

impl Store {
    /// The number of proposals of the last step of a cycle's turn, if there is one that nobody has
    /// judged yet.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn unjudged_proposals(&self, lease: &Lease) -> Result<Option<usize>, StoreError> {
        let proposals = sqlx::query_scalar::<_, i64>(
            "SELECT (SELECT count(*) FROM tool_calls k WHERE k.step_id = s.step_id)
             FROM campaigns c CROSS JOIN LATERAL (SELECT step_id FROM steps WHERE turn_id = $2 ORDER BY number DESC LIMIT 1) s
             WHERE c.conversation_id = $1 AND s.step_id > coalesce(c.judged_step, 0)",
        );
        let proposals = proposals.bind(lease.conversation.0).bind(lease.turn.0).fetch_optional(&self.pool).await?;
        Ok(proposals.map(|proposals| usize::try_from(proposals).unwrap_or_default()))
    }

    /// The arguments that a person approved for the call that a cycle has open, if that approval
    /// was not used yet.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn approved_in_cycle(&self, lease: &Lease) -> Result<Option<Value>, StoreError> {
        let approved = sqlx::query_scalar::<_, Value>(
            "SELECT shown -> 'arguments' FROM approvals a JOIN tool_calls k USING (tool_call_id)
             WHERE a.turn_id = $1 AND a.state = ANY($2) AND a.used_at IS NULL AND k.ended_at IS NULL
             ORDER BY approval_id DESC LIMIT 1",
        );
        let approved = approved.bind(lease.turn.0).bind(ApprovalState::before(ApprovalInput::Use));
        Ok(approved.fetch_optional(&self.pool).await?)
    }

    /// Records the fingerprints of a request that is about to be made, and before them the
    /// program's words, if they are others than before. Gives the number of the last event.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn ask_in_cycle(
        &self,
        lease: &Lease,
        words: Option<CycleWords>,
        asked: CycleAsked,
        now: DateTime<Utc>,
    ) -> Result<i64, StoreError> {
        let events: Vec<_> = words.map(Event::from).into_iter().chain([asked.into()]).map(|event| json!(event)).collect();
        let (pool, lease) = (self.pool.clone(), lease.clone());
        let recorded = async move {
            // The turn is held before the function is called, which needs its row.
            let rows = query_as::<_, (i64, Value)>(
                "WITH turn AS MATERIALIZED (SELECT conversation_id FROM turns WHERE turn_id = $1 AND fence = $2 AND state = ANY($3) FOR UPDATE)
                 SELECT a.sequence, a.event FROM turn CROSS JOIN LATERAL append_events(turn.conversation_id, $4, $5) a",
            );
            let rows = rows.bind(lease.turn.0).bind(lease.fence).bind(TurnState::before(TurnInput::Write));
            let rows = rows.bind(events).bind(now);
            let rows = rows.fetch_all(&pool).await?;
            let records = rows.into_iter().map(|(sequence, event)| EventRow { sequence, event }.of(lease.conversation, now));
            let records = records.collect::<Result<Vec<_>, _>>()?;
            let last = records.last().ok_or(StoreError::LostLease)?.sequence;
            Ok(Done::new(last, records))
        };
        self.transition(recorded).await
    }

    /// Ends a cycle: proves tasks, records what came of it, ends its turn, and queues the next one
    /// or says what the campaign waits for.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn end_cycle(
        &self,
        lease: &Lease,
        came: CycleCame,
        presence: Presence,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        let held = unit.look_at_cycle(lease).await?;
        self.end_held_cycle(unit, held, lease, came, presence).await
    }

    /// The same in the transaction that holds the cycle.
    ///
    /// # Errors
    /// As [`Store::end_cycle`].
    pub async fn end_held_cycle(
        &self,
        unit: Unit,
        held: HeldCycle,
        lease: &Lease,
        came: CycleCame,
        presence: Presence,
    ) -> Result<(), StoreError> {
        let now = unit.now;
        // The end of the turn may have actions that one statement does not take.
        if !self.try_to_end(CycleInUnit { unit, held }, lease, &came, presence, false).await? {
            let mut unit = self.begin(now).await?;
            let held = unit.look_at_cycle(lease).await?;
            self.try_to_end(CycleInUnit { unit, held }, lease, &came, presence, true).await?;
        }
        Ok(())
    }

    /// The same. False if the turn has more to do at its end and this was not `at_length`; then
    /// nothing was done.
    async fn try_to_end(
        &self,
        CycleInUnit { mut unit, held }: CycleInUnit,
        lease: &Lease,
        came: &CycleCame,
        presence: Presence,
        at_length: bool,
    ) -> Result<bool, StoreError> {
        let handed = self.handed_on(lease).map(|handed| handed.state);
        let mut state = unit.state_of(&held, handed).await?;
        unit.settle_tasks(&mut state).await?;
        let after = unit.write_cycle_end(lease, state, held.step, came, presence).await?;
        let words = after.said();
        let step = CycleEnding::step(held.steps + 1, &words);
        if at_length {
            let held = unit.hold(lease).await?;
            unit.insert_step(lease.conversation, lease.turn, &step, None).await?;
            unit.end_turn(held, TurnEnd::Answered).await?;
        } else if !unit.answer_turn(lease, &step).await? {
            unit.let_go().await?;
            return Ok(false);
        }
        if after.pauses {
            let no_answer = after.state.campaign.no_answer.as_ref();
            let why = no_answer.map_or_else(|| AFTER_ONE.to_owned(), |no_answer| format!("{AFTER_ONE}. {no_answer}"));
            unit.move_campaign(&after.state, CampaignInput::Pause, Some(&why)).await?;
        }
        if after.goes_on() {
            failpoint::hit(Point::MidCycleEnd).map_err(StoreError::broken)?;
            unit.queue_next(lease, INPUT, self.places.reserve()).await?;
        }
        unit.commit().await?;
        Ok(true)
    }

    /// Breaks a campaign in which something does not hold that has to. Its running cycle is
    /// stopped.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn break_campaign(&self, conversation: ConversationId, why: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut unit = self.hold_with_turns(conversation, now).await?;
        let row = sqlx::query_scalar::<_, Value>("SELECT to_jsonb(c) FROM campaigns c WHERE conversation_id = $1");
        let campaign: Campaign = crate::store::value(row.bind(conversation.0).fetch_one(&mut *unit.tx).await?)?;
        if campaign.status != CampaignStatus::Error {
            let alone = CampaignState::alone(campaign);
            unit.move_campaign(&alone, CampaignInput::Break, Some(why)).await?;
        }
        unit.commit().await
    }

    /// Begins a cycle if there is something to do, somebody is there, and none is under way. True
    /// if one was queued.
    ///
    /// # Errors
    /// [`CampaignError`] if there is no such campaign, or it is broken.
    pub async fn kick_campaign(&self, id: CampaignId, presence: Presence, now: DateTime<Utc>) -> Result<bool, CampaignError> {
        let mut unit = self.begin(now).await?;
        let mut state = unit.hold_campaign(id).await?;
        let conversation = state.campaign.conversation_id;
        if state.campaign.status != CampaignStatus::Active || unit.has_open_turn(conversation).await? {
            return Ok(false);
        }
        if state.campaign.cycles_left.is_some() && state.campaign.waits_for.is_none() {
            // Its cycle was queued with the order and was not set aside, and has no turn any more.
            unit.move_campaign(&state, CampaignInput::Pause, Some(CUT_OFF)).await?;
            unit.commit().await?;
            return Ok(false);
        }
        let done = unit.settle_tasks(&mut state).await?;
        let waits = state.campaign.next_at.is_some_and(|at| at > now) && done.is_empty();
        let way = match next(&state, now, presence) {
            // The wait after fruitless cycles is over, or there is something new.
            NextCycle::Waits(_, Some(_)) if state.campaign.idle_cycles > 0 && !waits && !state.all_done() => {
                let fresh = CampaignState { campaign: Campaign { idle_cycles: 0, ..state.campaign.clone() }, ..state.clone() };
                next(&fresh, now, presence)
            }
            way => way,
        };
        let queued = match way {
            NextCycle::Completed => {
                unit.move_campaign(&state, CampaignInput::Complete, None).await?;
                false
            }
            NextCycle::Cycle if !waits => {
                let Campaign { waits_for, next_at, bad_answers, .. } = &state.campaign;
                // A cycle that a person stopped may have left bad answers.
                if waits_for.is_some() || next_at.is_some() || *bad_answers > 0 {
                    let campaign = Campaign { waits_for: None, next_at: None, bad_answers: 0, ..state.campaign };
                    unit.record_campaign(campaign, None, "goes on").await?;
                }
                unit.queue_turn(conversation, Origin::Cycle, None, INPUT).await?;
                true
            }
            NextCycle::Cycle => false,
            NextCycle::Waits(why, at) => {
                if state.campaign.waits_for.as_ref() != Some(&why) || (at.is_some() && state.campaign.next_at.is_none()) {
                    let at = state.campaign.next_at.filter(|_| waits).or(at);
                    let campaign = Campaign { waits_for: Some(why), next_at: at, ..state.campaign };
                    unit.record_campaign(campaign, None, "waits").await?;
                }
                false
            }
        };
        unit.commit().await?;
        Ok(queued)
    }

    /// Lets a paused campaign do exactly one cycle, whose turn is queued in the same transaction.
    /// Its end pauses the campaign again. If somebody `comes` with the order, they count as there
    /// once it is taken, and not if it is refused.
    ///
    /// # Errors
    /// [`CampaignError::Refused`] if it is not paused, nobody is there, or there is nothing to do.
    pub async fn allow_one_cycle(
        &self,
        id: CampaignId,
        presence: Presence,
        comes: bool,
        now: DateTime<Utc>,
    ) -> Result<Campaign, CampaignError> {
        let presence = if comes { Presence::There } else { presence };
        let conversation = self.conversation_of_campaign(id).await?;
        let mut unit = self.hold_with_turns(conversation, now).await?;
        let mut state = unit.read_campaign(id).await?;
        unit.settle_tasks(&mut state).await?;
        let status = state.campaign.status;
        if status != CampaignStatus::Paused {
            unit.let_go().await?;
            return Err(CampaignError::Refused(format!("campaign {id} is {status}; `cycle` is for one that is paused")));
        }
        (state.campaign.idle_cycles, state.campaign.bad_answers) = (0, 0);
        let active = Campaign { status: CampaignStatus::Active, ..state.campaign.clone() };
        let why = match next(&CampaignState { campaign: active, ..state.clone() }, now, presence) {
            NextCycle::Cycle => None,
            NextCycle::Waits(why, _) => Some(why),
            NextCycle::Completed => {
                Some(format!("all its tasks are done; resume it to complete it: level3 campaign resume {id}"))
            }
        };
        if let Some(why) = why {
            unit.let_go().await?;
            return Err(CampaignError::Refused(format!("campaign {id} has no cycle to do now: {why}")));
        }
        let campaign = unit.move_campaign(&state, CampaignInput::Resume, None).await?;
        let campaign = Campaign { cycles_left: Some(1), ..campaign };
        let campaign = unit.record_campaign(campaign, None, "may do one cycle, and is paused again").await?;
        unit.queue_turn(conversation, Origin::Cycle, None, INPUT).await?;
        if comes {
            // Before the turn can be taken up, which looks for somebody.
            self.signals().watched(id, now);
        }
        unit.commit().await?;
        Ok(campaign)
    }

    /// The campaigns whose time has come; they wait no longer for it.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn campaigns_due(&self, now: DateTime<Utc>) -> Result<Vec<CampaignId>, StoreError> {
        let due = sqlx::query_scalar::<_, i64>(
            "SELECT subject FROM wake_ups WHERE kind = 'campaign' AND at <= $1 ORDER BY at, subject",
        );
        let mut ready = Vec::new();
        for id in due.bind(now).fetch_all(&self.pool).await?.into_iter().map(CampaignId) {
            let mut unit = self.begin(now).await?;
            let campaign = match unit.hold_campaign(id).await {
                Ok(state) => state.campaign,
                Err(CampaignError::Broken(_, why)) => {
                    let conversation = self.conversation_of_campaign(id).await?;
                    drop(unit);
                    self.break_campaign(conversation, &why, now).await?;
                    continue;
                }
                Err(other) => return Err(other.into()),
            };
            if campaign.next_at.is_some_and(|at| at <= now) {
                unit.record_campaign(Campaign { next_at: None, ..campaign }, None, "its time has come").await?;
                unit.commit().await?;
                ready.push(id);
            }
        }
        Ok(ready)
    }
}

/// The end of a cycle as it follows from the state that the cycle leaves.
pub(super) struct CycleEnding {
    /// The state after it.
    pub(super) state: CampaignState,
    /// The fact of it.
    pub(super) fact: Event,
    words: String,
    way: NextCycle,
    /// It was its one cycle.
    pub(super) pauses: bool,
}

impl CycleEnding {
    /// The end of the cycle of a turn, in which this step was judged. The words of what `came` are
    /// clean.
    pub(super) fn of(
        turn: TurnId,
        state: CampaignState,
        judged: Option<StepId>,
        came: CycleCame,
        presence: Presence,
        now: DateTime<Utc>,
    ) -> Self {
        let mut campaign = state.campaign.clone();
        (campaign.bad_answers, campaign.judged_step) = (0, judged.or(campaign.judged_step));
        campaign.no_answer = came.silent.then(|| shortened(&came.words, MOST_FAULT).into_owned());
        if !came.aside {
            campaign.cycles += 1;
            campaign.idle_cycles = if came.fruitful { 0 } else { campaign.idle_cycles + 1 };
            // The next cycle is told why this one brought nothing; what was told stays if nothing
            // was proposed.
            campaign.fault = match &came.proposal {
                None => campaign.fault,
                Some(kind) if came.fruitful || kind == ProposalKind::NoOp.as_str() => None,
                Some(_) => Some(shortened(came.told.as_ref().unwrap_or(&came.words), MOST_FAULT).to_string()),
            };
            remember(&mut campaign, state.sha256(), &came);
        }
        let CycleCame { proposal, words, aside, .. } = came;
        let after = CampaignState { campaign, ..state };
        let way = next(&after, now, presence);
        let mut campaign = Campaign { updated_at: now, ..after.campaign.clone() };
        let active = campaign.status == CampaignStatus::Active;
        let pauses = active && !aside && way != NextCycle::Completed && campaign.cycles_left.is_some();
        let told = match &way {
            _ if pauses => "it was the one cycle that was asked for".to_owned(),
            _ if campaign.status != CampaignStatus::Active => format!("the campaign is {}", campaign.status),
            NextCycle::Cycle => "the next cycle follows".to_owned(),
            NextCycle::Waits(why, _) => format!("it waits: {why}"),
            NextCycle::Completed => "all tasks are done".to_owned(),
        };
        (campaign.waits_for, campaign.next_at) = match &way {
            NextCycle::Waits(why, at) if !pauses => (Some(why.clone()), *at),
            NextCycle::Waits(..) | NextCycle::Cycle | NextCycle::Completed => (None, None),
        };
        let said = format!("{words}; {told}.");
        let said = if aside { said } else { format!("Cycle {}. {said}", campaign.cycles) };
        let fact = CycleEnded { turn, proposal, came: words, next: told, campaign: campaign.clone() }.into();
        Self { state: CampaignState { campaign, ..after }, fact, words: said, way, pauses }
    }

    fn is_active(&self) -> bool {
        self.state.campaign.status == CampaignStatus::Active
    }

    /// True if all tasks are done.
    pub(super) fn completes(&self) -> bool {
        self.is_active() && self.way == NextCycle::Completed
    }

    /// True if another cycle follows.
    pub(super) fn goes_on(&self) -> bool {
        self.is_active() && self.way == NextCycle::Cycle && !self.pauses
    }

    /// The words with which its turn ends.
    pub(super) fn said(&self) -> String {
        self.words.clone()
    }

    /// The step of this number that ends its turn with these words.
    pub(super) fn step(number: i32, words: &str) -> NewStep<'_> {
        NewStep { number, model: "level3", finish_reason: "cycle", content: words, last: true, ..NewStep::default() }
    }
}

/// Remembers the proposal of a cycle, if there was one, with the state that it was made against.
pub(super) fn remember(campaign: &mut Campaign, at: String, came: &CycleCame) {
    campaign.remember(at, came.judged.clone(), came.told.as_ref().unwrap_or(&came.words));
}

impl Unit {
    /// Records that an answer was no proposal that may be carried out. Gives the campaign as it is
    /// now.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn refuse_proposal(
        mut self,
        held: &HeldCycle,
        lease: &Lease,
        step: StepId,
        why: &str,
    ) -> Result<Campaign, StoreError> {
        let row = sqlx::query_scalar::<_, Value>("SELECT to_jsonb(c) FROM campaigns c WHERE id = $1").bind(held.campaign.0);
        let campaign: Campaign = crate::store::value(row.fetch_one(&mut *self.tx).await?)?;
        let why = self.clean(why).into_owned();
        let (bad_answers, updated_at) = (campaign.bad_answers + 1, self.now);
        let campaign = Campaign { fault: Some(why.clone()), bad_answers, judged_step: Some(step), updated_at, ..campaign };
        let refused = ProposalRefused { turn: lease.turn, step, why, campaign: campaign.clone() };
        self.record(lease.conversation, &[refused.into()]).await?;
        self.commit().await?;
        Ok(campaign)
    }

    /// Records the end of a cycle, and completes a campaign whose tasks are all done.
    pub(super) async fn write_cycle_end(
        &mut self,
        lease: &Lease,
        state: CampaignState,
        judged: Option<StepId>,
        came: &CycleCame,
        presence: Presence,
    ) -> Result<CycleEnding, StoreError> {
        let clean = |words: &String| self.clean(words).into_owned();
        let came = CycleCame { words: clean(&came.words), told: came.told.as_ref().map(clean), ..came.clone() };
        let mut ending = CycleEnding::of(lease.turn, state, judged, came, presence, self.now);
        self.record(lease.conversation, std::slice::from_ref(&ending.fact)).await?;
        if ending.completes() {
            ending.state.campaign = self.move_campaign(&ending.state, CampaignInput::Complete, None).await?;
        }
        Ok(ending)
    }
}
