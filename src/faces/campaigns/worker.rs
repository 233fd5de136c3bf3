//! One cycle: load, eligible, snapshot, ask, validate, execute, verify, go on. Nothing is kept from
//! the cycle before, and no message is read.

use chrono::{DateTime, Utc};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::Campaigns;
use super::request::CycleRequest;
use crate::domain::campaign::judge::{Presence, eligible};
use crate::domain::campaign::proposal::in_text;
use crate::domain::campaign::{CampaignState, CampaignStatus, MOST_BAD_ANSWERS};
use crate::domain::{CampaignId, Origin, Refusal, RefusalCode};
use crate::executor::{RunningTurn, Worked, Worker};
use crate::facts::{CycleAsked, CycleWords};
use crate::failpoint::{self, Point};
use crate::store::{CampaignError, CycleCame, LastCall, Lease, NewStep, ReadState, Standing, StoreError};

/// The words for an answer without a proposal.
const NO_PROPOSAL: &str = "your answer made no proposal; answer with exactly one call of one of the eight tools";
/// The words for a message into a campaign's conversation.
const NOBODY_LISTENS: &str =
    "This is the conversation of a campaign, in which nobody listens to messages. Use its page, or `level3 campaign`.";

/// Works on the turns of campaigns.
pub(super) struct CampaignWorker(pub(super) Campaigns);

/// The outcome of a request.
enum Asked {
    /// An answer was stored, with so many proposals.
    Proposals(usize),
    /// There was none, and the cycle is over.
    Worked(Worked),
}

/// The judgement of a step.
enum Judged {
    /// It was no proposal that may be carried out.
    Bad(String),
    /// It was carried out, failed, or a person refused it.
    Came(CycleCame),
}

impl Worker for CampaignWorker {
    fn work<'a>(&'a self, lease: &'a Lease, shutdown: &'a CancellationToken) -> BoxFuture<'a, Result<Worked, StoreError>> {
        async move {
            let executor = &self.0.0.executor;
            let (standing, state) = self.read_ahead(lease).await?.unzip();
            let Some(mut turn) = executor.begin(lease, standing).await? else { return Ok(Worked::Ended) };
            if lease.origin != Origin::Cycle {
                return executor.close(lease, turn.steps + 1, "campaign", NOBODY_LISTENS).await;
            }
            let _in_hand = executor.store.begin_cycle(lease);
            let time = executor.allowance(&turn);
            executor.within(time, lease, self.cycle(&mut turn, state, shutdown)).await
        }
        .boxed()
    }
}

impl CampaignWorker {
    /// Reads where a cycle that begins stands, and with that the state that its request shows.
    async fn read_ahead(&self, lease: &Lease) -> Result<Option<(Standing, ReadState)>, StoreError> {
        let executor = &self.0.0.executor;
        match executor.wanted_first(lease).filter(|_| lease.origin == Origin::Cycle && lease.fence == 1) {
            Some(wanted) => executor.store.cycle_taken_up(lease, wanted).await,
            None => Ok(None),
        }
    }

    /// `read`: the state, if it was read already.
    async fn cycle(
        &self,
        turn: &mut RunningTurn<'_>,
        mut read: Option<ReadState>,
        shutdown: &CancellationToken,
    ) -> Result<Worked, StoreError> {
        let (lease, executor) = (turn.lease, &self.0.0.executor);
        // A step of before a crash, or of before an approval, goes first.
        let mut proposals = match turn.steps {
            0 => None,
            _ => executor.store.unjudged_proposals(lease).await?,
        };
        loop {
            if let Some(many) = proposals
                && let Some(worked) = self.judge(turn, many, shutdown).await?
            {
                return Ok(worked);
            }
            if shutdown.is_cancelled() {
                return Ok(Worked::Paused);
            }
            match self.ask(turn, read.take()).await? {
                Asked::Proposals(many) => proposals = Some(many),
                Asked::Worked(worked) => return Ok(worked),
            }
        }
    }

    /// Carries out the proposal of the last step, which made so many, and judges it by what came of
    /// it. `None` if it was bad, and is asked for again.
    async fn judge(
        &self,
        turn: &mut RunningTurn<'_>,
        proposals: usize,
        shutdown: &CancellationToken,
    ) -> Result<Option<Worked>, StoreError> {
        let (lease, executor) = (turn.lease, &self.0.0.executor);
        if proposals > 1 {
            // None of several is carried out, whatever was turned away before a crash.
            for open in turn.take_open() {
                let why = format!("your answer made {proposals} proposals; make exactly one");
                executor.tools.turn_away(lease, &open, &Refusal::new(RefusalCode::TooManyCalls, why)).await?;
            }
        }
        if let Some(worked) = executor.calls(turn, shutdown).await? {
            return Ok(Some(worked));
        }
        let now = self.0.clock().now();
        if let Some(cycle) = executor.store.carried_out(lease)
            && let Judged::Came(came) = judged(&cycle.held.calls)
        {
            let presence = self.0.presence(cycle.held.campaign);
            if executor.store.end_known_cycle(lease, cycle, came, presence, now).await? {
                return Ok(Some(Worked::Ended));
            }
        }
        let mut unit = executor.store.begin(now).await?;
        let held = unit.look_at_cycle(lease).await?;
        turn.steps = held.steps;
        let Some(step) = held.unjudged else { return Ok(None) };
        let id = held.campaign;
        match judged(&held.calls) {
            Judged::Came(came) => {
                executor.store.end_held_cycle(unit, held, lease, came, self.0.presence(id)).await?;
                Ok(Some(Worked::Ended))
            }
            Judged::Bad(why) => {
                let refused = unit.refuse_proposal(&held, lease, step, &why).await?;
                if refused.bad_answers < MOST_BAD_ANSWERS {
                    return Ok(None);
                }
                // The reason stands with each refused answer, in words for the model.
                let words = format!("{} bad answers: none was a proposal that may be carried out", refused.bad_answers);
                self.end(turn, id, CycleCame { words, ..CycleCame::default() }).await.map(Some)
            }
        }
    }

    /// The state by which the model is asked. `None` if the campaign is broken: then the cycle is
    /// over.
    async fn state(&self, lease: &Lease, read: Option<ReadState>) -> Result<Option<CampaignState>, StoreError> {
        let store = self.0.store();
        let read = match read {
            Some(read) => read,
            None => store.campaign_state_in(lease.conversation).await,
        };
        match read {
            Ok(state) => Ok(Some(state)),
            Err(CampaignError::Broken(id, why)) => {
                tracing::error!(campaign = %id, why, "a campaign is broken");
                store.break_campaign(lease.conversation, &why, self.0.clock().now()).await?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Asks the model for one proposal, by the state as it is, and stores the answer.
    async fn ask(&self, turn: &mut RunningTurn<'_>, read: Option<ReadState>) -> Result<Asked, StoreError> {
        let (lease, executor) = (turn.lease, &self.0.0.executor);
        let store = &executor.store;
        let Some(state) = self.state(lease, read).await? else { return Ok(Asked::Worked(Worked::Ended)) };
        let id = state.campaign.id;
        failpoint::hit(Point::AfterLoad).map_err(StoreError::broken)?;
        let now = self.0.clock().now();
        if let Some(words) = idle(&state, now, self.0.presence(id)) {
            let words = format!("Set aside without a proposal: {words}");
            let came = CycleCame { words, aside: true, ..CycleCame::default() };
            store.hand_on(lease, state);
            return self.end(turn, id, came).await.map(Asked::Worked);
        }
        if let Some(words) = turn.law.used_up(turn.steps + 1) {
            return self.end(turn, id, CycleCame { words, silent: true, ..CycleCame::default() }).await.map(Asked::Worked);
        }
        let told = self.0.words(&state).await?;
        let (words, fingerprint) = (&told.words, &told.sha256);
        let request = CycleRequest::of(&state, now, words);
        let asked = CycleAsked {
            turn: lease.turn,
            number: turn.steps + 1,
            upto: state.sequence,
            state_sha256: request.state_sha256.clone(),
            rules_sha256: request.rules_sha256.clone(),
            request_sha256: request.request_sha256.clone(),
            files: request.files.clone(),
        };
        let anew = (state.words.as_ref() != Some(fingerprint)).then(|| CycleWords {
            turn: lease.turn,
            sha256: fingerprint.clone(),
            words: words.clone(),
        });
        let said = 1 + i64::from(anew.is_some());
        let upto = store.ask_in_cycle(lease, anew, asked, now).await?;
        let (task, profiles) = &turn.law.models;
        let model = executor.models.chosen(task.as_deref(), profiles).await;
        let temperature = turn.law.profile.temperature;
        let answered =
            model.answer(request.for_model(words, turn.law.answer_tokens, temperature, turn.meter().clone()), &|_| {}).await;
        store.count_broken(lease, &turn.meter().take(), self.0.clock().now()).await?;
        let mut answer = match answered {
            Ok(answer) => answer,
            Err(error) => {
                executor.metrics.model_error(error.kind);
                tracing::warn!(kind = ?error.kind, %error, "no answer from the model");
                let words = format!("The model gave no answer: {error}");
                let came = CycleCame { words, silent: true, ..CycleCame::default() };
                return self.end(turn, id, came).await.map(Asked::Worked);
            }
        };
        if answer.calls.is_empty() {
            answer.calls.extend(in_text(&answer.content));
        }
        let step = NewStep {
            number: turn.steps + 1,
            model: &answer.model,
            finish_reason: &answer.finish_reason,
            usage: answer.usage,
            content: &answer.content,
            calls: &answer.calls,
            ..NewStep::default()
        };
        let stored = store.store_priced_step(lease, step, model.rate(&answer.model), self.0.clock().now()).await?;
        turn.steps += 1;
        // Nothing has come into the stream since the state was read but the request and its answer,
        // and neither changes it.
        let alone = upto == state.sequence + said;
        if let Some((_, sequence)) = stored.sequences.filter(|(first, _)| alone && *first == upto + 1) {
            let state = CampaignState { words: Some(fingerprint.clone()), sequence, ..state };
            store.hand_on_answered(lease, state, &stored, turn.steps);
        }
        let proposals = stored.calls.len();
        turn.asked_for(stored);
        Ok(Asked::Proposals(proposals))
    }

    /// Ends the cycle.
    async fn end(&self, turn: &RunningTurn<'_>, id: CampaignId, came: CycleCame) -> Result<Worked, StoreError> {
        let (store, now) = (self.0.store(), self.0.clock().now());
        store.end_cycle(turn.lease, came, self.0.presence(id), now).await?;
        Ok(Worked::Ended)
    }
}

/// The reason why no model is asked; `None` if one is.
fn idle(state: &CampaignState, now: DateTime<Utc>, presence: Presence) -> Option<String> {
    if state.campaign.status != CampaignStatus::Active {
        Some(format!("the campaign is {}", state.campaign.status))
    } else if presence == Presence::Away {
        Some("nobody is there".to_owned())
    } else if eligible(state, now, presence).is_empty() {
        Some("no task can be worked on".to_owned())
    } else {
        None
    }
}

/// Judges the last step by what came of its calls.
fn judged(calls: &[LastCall]) -> Judged {
    let [last] = calls else {
        return Judged::Bad(match calls.len() {
            0 => NO_PROPOSAL.to_owned(),
            many => format!("your answer made {many} proposals; make exactly one"),
        });
    };
    let ours = [RefusalCode::Denied, RefusalCode::Expired, RefusalCode::Forbidden, RefusalCode::Gone];
    match &last.made.refusal {
        Some(code) if !ours.iter().any(|one| one.as_str() == code) => Judged::Bad(last.sentence()),
        _ => Judged::Came(CycleCame::of_call(last)),
    }
}
