//! Carries out the calls of a turn, in order and under its law: those of a model's step and those
//! of a person's order alike.

mod law;
mod review;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::clock::Clock;
use crate::domain::operator;
use crate::domain::{CallsPerStep, Failure, HistoryEntry, Profile, Refusal, RefusalCode, TasksShown, TurnLimits};
use crate::model::choice::ModelSource;
use crate::profiles::Profiles;
use crate::store::{
    CatalogueVersion, Lease, Meter, Metered, NewStep, OpenCall, ReadByProfile, SeenAtEnd, Standing, Store, StoreError,
    StoredStep, Wanted,
};
use crate::telemetry::Metrics;
use crate::tools::{AfterCall, Tools};

pub use law::Law;

/// The end of work on a turn.
#[derive(Debug, PartialEq, Eq)]
pub enum Worked {
    /// The turn is over.
    Ended,
    /// The turn stands at a checkpoint and is to be given back: the process is about to end.
    Paused,
    /// The turn waits for a person, and was given back already.
    Waiting,
}

/// Works on turns. The agent is one; a profile may have a worker of its own.
pub trait Worker: Send + Sync {
    /// Works on a turn until it is over, or until `shutdown` asks for a checkpoint.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] if the turn is not ours any more or was stopped, or an error if
    /// the database does not answer. Then the turn can be taken up again.
    fn work<'a>(&'a self, lease: &'a Lease, shutdown: &'a CancellationToken) -> BoxFuture<'a, Result<Worked, StoreError>>;
}

/// A turn in hand: its law, and how far it has come.
#[derive(Debug)]
pub struct RunningTurn<'a> {
    /// The server's right to work on it, with its fence.
    pub lease: &'a Lease,
    /// The law that holds for it.
    pub law: Law,
    /// Steps stored so far.
    pub steps: i32,
    /// The time it was taken up.
    begun: DateTime<Utc>,
    /// The calls of the last step that have no outcome, in order.
    open: Vec<OpenCall>,
    /// The number of calls of the last step that have their outcome.
    made: usize,
    /// The place where it stood when it was taken up, or when its last call ended, as long as
    /// nothing happened since.
    standing: Option<Standing>,
    /// The catalogue's number, as the last statement of the turn has just given it back: for the
    /// one call that comes next.
    seen: Option<CatalogueVersion>,
    /// Counts answers of models that break off, and lets a stop find them.
    metered: Metered,
}

impl RunningTurn<'_> {
    /// Takes the calls of the step that was just stored.
    pub fn asked_for(&mut self, StoredStep { calls, catalogue, over: _, sequences: _, step: _ }: StoredStep) {
        (self.open, self.made, self.seen) = (calls, 0, catalogue);
    }

    /// Takes the calls of the last step that have no outcome: the caller ends them.
    pub fn take_open(&mut self) -> Vec<OpenCall> {
        std::mem::take(&mut self.open)
    }

    /// Counts answers of models that break off.
    pub fn meter(&self) -> &Meter {
        &self.metered.meter
    }

    /// The span of log lines about the last step.
    pub fn span(&self) -> tracing::Span {
        tracing::info_span!("step", step = self.steps)
    }
}

/// Tasks due within this time are told to a model, and so many of them.
const DUE_SOON: TimeDelta = TimeDelta::hours(1);
const TASKS_TOLD: usize = 10;

/// The time that a turn has, and the facts for its end if the time runs out.
#[derive(Debug)]
pub struct Allowance {
    until: Option<DateTime<Utc>>,
    seconds: u64,
    begun: DateTime<Utc>,
    meter: Meter,
    profile: Arc<Profile>,
}

/// Carries out calls under the law. One for the whole program; cheap to clone.
#[derive(Clone)]
pub struct Executor {
    /// The memory of the program.
    pub store: Store,
    /// The tools that may be called.
    pub tools: Tools,
    /// The profiles there are.
    pub profiles: Profiles,
    /// The models that can be asked.
    pub models: Arc<ModelSource>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The limits of a turn if neither its profile nor its policy says otherwise.
    pub limits: TurnLimits,
    /// The metrics of the program.
    pub metrics: Metrics,
}

impl Executor {
    /// How much the first step of a turn reads, by the name of its profile.
    pub fn reading(&self) -> ReadByProfile {
        let (profiles, limits, clock) = (self.profiles.clone(), self.limits, Arc::clone(&self.clock));
        Arc::new(move || {
            let now = clock.now();
            profiles.all().map(|profile| (profile.name, wanted(profile, limits, now, true))).collect()
        })
    }

    /// Takes up the work on a turn; it may have been read already where it stands. `None` if its
    /// profile is unknown here: then the turn has failed with words that say so.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] if the turn is not ours any more, or an error if the database does
    /// not answer.
    pub async fn begin<'a>(&self, lease: &'a Lease, read: Option<Standing>) -> Result<Option<RunningTurn<'a>>, StoreError> {
        let begun = self.clock.now();
        let profile = match self.profiles.get(&lease.profile) {
            Ok(profile) => profile,
            // Another profile would answer with tools and words that are not for this conversation.
            Err(unknown) => {
                let told = format!("This conversation cannot go on here: {unknown}. Its messages are kept.");
                self.store.fail_turn(lease, Failure::Server, &told, begun).await?;
                return Ok(None);
            }
        };
        let mut standing = match read {
            Some(standing) => standing,
            None => self.store.standing(lease, self.wanted(&profile, true)).await?,
        };
        let profile_operates = profile.operates;
        let law = self.law(lease, profile, &mut standing).await?;
        let made = made_of_last_step(&standing);
        let (open, steps, seen) = (standing.open.clone(), standing.steps, Some(standing.catalogue));
        // The operator's limit counts all its work on a task, over questions and restarts; others
        // begin anew after each.
        let begun = match profile_operates && lease.fence > 1 {
            true => begun - TimeDelta::seconds(self.store.worked_before(lease.turn).await?),
            false => begun,
        };
        let metered = self.store.meters().begin(lease);
        let standing = open.is_empty().then_some(standing);
        Ok(Some(RunningTurn { lease, law, steps, begun, open, made, standing, seen, metered }))
    }

    /// How much the first step of a turn reads; `None` if its profile is unknown here.
    pub fn wanted_first(&self, lease: &Lease) -> Option<Wanted> {
        let profile = self.profiles.get(&lease.profile).ok()?;
        Some(self.wanted(&profile, true))
    }

    /// Reads where a turn stands before its next step.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn standing(&self, turn: &mut RunningTurn<'_>) -> Result<Standing, StoreError> {
        let standing = match turn.standing.take() {
            Some(just_read) => just_read,
            None => self.store.standing(turn.lease, self.wanted(&turn.law.profile, false)).await?,
        };
        turn.law.used = standing.used;
        self.renew(turn.lease, &mut turn.law, standing.catalogue).await?;
        Ok(standing)
    }

    /// How much a step of this profile reads.
    fn wanted(&self, profile: &Profile, begins: bool) -> Wanted {
        wanted(profile, self.limits, self.clock.now(), begins)
    }

    /// Carries out the open calls of a turn. `None` if all have their outcome, and the turn goes
    /// on.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] if the turn is not ours any more or was stopped, or an error if
    /// the database does not answer. Then the turn can be taken up again.
    pub async fn calls(&self, turn: &mut RunningTurn<'_>, shutdown: &CancellationToken) -> Result<Option<Worked>, StoreError> {
        let asked_for = turn.made + turn.open.len();
        for (place, call) in (turn.made..).zip(std::mem::take(&mut turn.open)) {
            if shutdown.is_cancelled() {
                return Ok(Some(Worked::Paused));
            }
            self.count(turn).await?;
            if let Some(seen) = turn.seen {
                self.renew(turn.lease, &mut turn.law, seen).await?;
            }
            if let Some(why) = self.stops(turn.lease, &turn.law, &call).await? {
                return self.close(turn.lease, turn.steps + 1, "limit", &why).await.map(Some);
            }
            if place >= turn.law.profile.calls_made(asked_for) {
                self.tools.turn_away(turn.lease, &call, &not_made(&turn.law.profile, asked_for)).await?;
                continue;
            }
            if turn.law.profile.operates
                && turn.lease.fence > 1
                && let Some(why) = self.refused(&call).await?
            {
                self.store.abort_turn(turn.lease, &why, self.clock.now()).await?;
                return Ok(Some(Worked::Ended));
            }
            let mut seen = turn.seen.take();
            if turn.law.governor {
                self.review(turn, &call).instrument(turn.span()).await?;
                // A model may have thought about it for long.
                seen = None;
                // The review has its price, too.
                self.count(turn).await?;
                if turn.law.profile.operates
                    && let Some(why) = turn.law.stops_any()
                {
                    return self.close(turn.lease, turn.steps + 1, "limit", &why).await.map(Some);
                }
            }
            // The end of the last call tells where the turn goes on.
            let wanted = (place + 1 == asked_for).then(|| self.wanted(&turn.law.profile, false));
            match self.tools.run(turn.lease, &turn.law.profile, &call, seen, wanted).instrument(turn.span()).await? {
                AfterCall::Ended(SeenAtEnd { catalogue, standing }) => {
                    turn.law.made(&call);
                    (turn.seen, turn.standing) = (catalogue, standing.map(|standing| *standing));
                }
                AfterCall::Restart => return Ok(Some(Worked::Paused)),
                AfterCall::Waiting => return Ok(Some(Worked::Waiting)),
            }
        }
        Ok(shutdown.is_cancelled().then_some(Worked::Paused))
    }

    /// Reads how much is used up by now, if the limits stop calls as well: the answer that asks for
    /// a call was not counted when the turn was last read.
    async fn count(&self, turn: &mut RunningTurn<'_>) -> Result<(), StoreError> {
        if turn.law.profile.operates {
            turn.law.used = self.store.standing(turn.lease, Wanted::turn_alone(self.clock.now())).await?.used;
        }
        Ok(())
    }

    /// The reason why a task of the operator ends here: a person said no, or nothing, about this
    /// call.
    async fn refused(&self, call: &OpenCall) -> Result<Option<String>, StoreError> {
        let Some(approval) = self.store.approval_of_call(call.call).await? else { return Ok(None) };
        Ok(operator::ended_by(approval.state, &approval.shown.tool))
    }

    /// The time that a turn has from now on.
    pub fn allowance(&self, turn: &RunningTurn<'_>) -> Allowance {
        let seconds = turn.law.budgets.turn.wall_seconds;
        let span = seconds.and_then(|seconds| TimeDelta::try_seconds(i64::try_from(seconds).ok()?));
        // Beyond the end of the calendar it is no limit.
        let until = span.and_then(|span| turn.begun.checked_add_signed(span));
        Allowance {
            until,
            seconds: seconds.unwrap_or_default(),
            begun: turn.begun,
            meter: turn.meter().clone(),
            profile: Arc::clone(&turn.law.profile),
        }
    }

    /// Does the `work` on a turn, for as long as the turn may take. When the time is over, the work
    /// is dropped as it stands: its statement ends at the server, as it does if a person stops the
    /// turn.
    ///
    /// # Errors
    /// The errors of the work, or an error if the database does not answer.
    pub async fn within(
        &self,
        time: Allowance,
        lease: &Lease,
        work: impl Future<Output = Result<Worked, StoreError>> + Send,
    ) -> Result<Worked, StoreError> {
        let Some(until) = time.until else { return work.await };
        tokio::select! {
            worked = work => return worked,
            () = self.clock.sleep_until(until) => {}
        }
        tracing::info!("the time of the turn is over");
        let now = self.clock.now();
        let aborts = self.aborts(lease, "limit");
        let told = law::out_of_time(time.seconds, now - time.begun, &time.profile);
        self.store.cut_turn(lease, own_words(0, "limit", &told), OUT_OF_TIME, &time.meter.take(), aborts, now).await?;
        Ok(Worked::Ended)
    }

    /// Ends a turn with words of the controller's own.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or an error if the database does not answer.
    pub async fn close(&self, lease: &Lease, number: i32, why: &str, content: &str) -> Result<Worked, StoreError> {
        self.store.close_turn(lease, own_words(number, why, content), self.aborts(lease, why), self.clock.now()).await?;
        Ok(Worked::Ended)
    }

    /// Ends a turn with words for its person that no model reads.
    ///
    /// # Errors
    /// As for [`Executor::close`].
    pub async fn close_for_person(&self, lease: &Lease, number: i32, why: &str, words: &str) -> Result<Worked, StoreError> {
        let step = NewStep { note: Some(words), ..own_words(number, why, "") };
        self.store.close_turn(lease, step, false, self.clock.now()).await?;
        Ok(Worked::Ended)
    }

    /// True if a turn that ends for this reason is aborted: a task of the operator at a limit, or
    /// whose model said nothing.
    fn aborts(&self, lease: &Lease, why: &str) -> bool {
        ["limit", "empty"].contains(&why) && self.profiles.get(&lease.profile).is_ok_and(|profile| profile.operates)
    }
}

/// How much a step of a profile reads.
fn wanted(profile: &Profile, limits: TurnLimits, now: DateTime<Utc>, begins: bool) -> Wanted {
    let todos = profile.tasks == TasksShown::Todos;
    Wanted { history: law::shown_to(profile, limits).0, due: (now + DUE_SOON, TASKS_TOLD), todos, begins, now }
}

/// The number of calls of the last step that have their outcome, if some have none yet. Calls are
/// made in order.
fn made_of_last_step(Standing { open, history, .. }: &Standing) -> usize {
    if open.is_empty() {
        return 0;
    }
    let mut entries = history.exchanges.iter().flat_map(|exchange| &exchange.entries).rev();
    let asked_for = entries.find_map(|entry| match entry {
        HistoryEntry::Assistant(_, calls) => Some(calls.len()),
        HistoryEntry::User(..) | HistoryEntry::Steered(..) | HistoryEntry::Images(..) | HistoryEntry::Tool(..) => None,
    });
    asked_for.unwrap_or_default().saturating_sub(open.len())
}

/// A step that ends a turn with words of the controller's own.
fn own_words<'a>(number: i32, why: &'a str, content: &'a str) -> NewStep<'a> {
    NewStep { number, model: "level3", finish_reason: why, content, last: true, ..NewStep::default() }
}

/// The outcome of a call that the end of the time cut off; the words of the ledger follow.
const OUT_OF_TIME: &str = "Not finished: the time of the turn was over (turn.wall_seconds).";

/// The refusal of a call that is not made, since its answer `asked_for` more calls than the profile
/// makes.
fn not_made(profile: &Profile, asked_for: usize) -> Refusal {
    let message = match profile.calls {
        CallsPerStep::Many(most) => format!(
            "Not run: an answer may ask for {most} tool calls, this one asked for {asked_for}. The first {most} have their results; ask \
             for the others again, in your next answer."
        ),
        CallsPerStep::ExactlyOne => format!(
            "Not run, and none of the others: an answer asks for exactly one tool call, this one asked for {asked_for}. Choose one, and \
             ask for it alone."
        ),
    };
    Refusal::new(RefusalCode::TooManyCalls, message)
}
