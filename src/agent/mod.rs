//! The turn: the agent asks a model, carries out the calls that the answer asks for, and asks
//! again, until an answer asks for none. All that was done is stored before the turn goes on, so a
//! turn can be dropped at any point and taken up again from the database.

mod ask;
mod context;
mod decide;
mod gather;
mod pictures;
mod weigh;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::channels::MediaFolder;
use crate::clock::Clock;
use crate::domain::{Failure, FailureWords, UserRole};
use crate::executor::{Executor, RunningTurn, Worked};
use crate::model::choice::ModelSource;
use crate::model::{ModelError, ModelErrorKind};
use crate::store::{Lease, NewStep, Standing, Store, StoreError, StoredStep};
use crate::telemetry::Metrics;
use crate::tools::Tools;

use ask::HeldAnswer;
use context::{Extent, Sizes};
use decide::{Asking, NextMove};
use weigh::Weighed;

/// The time to leave a model alone that has too many requests, if its provider names no time.
const BUSY: Duration = Duration::from_secs(30);

/// Works on turns. The program has one agent, which keeps nothing of a turn; it only remembers how
/// much of a conversation each model takes.
pub struct Agent {
    executor: Executor,
    store: Store,
    tools: Tools,
    models: Arc<ModelSource>,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
    /// The files of contacts.
    media: MediaFolder,
    sizes: Sizes,
}

impl Agent {
    /// An agent whose calls this executor carries out. The files of contacts are in `media`.
    pub fn new(executor: Executor, media: MediaFolder) -> Self {
        let Executor { store, tools, profiles: _, models, clock, limits: _, metrics } = executor.clone();
        Self { executor, store, tools, models, clock, metrics, media, sizes: Sizes::default() }
    }

    /// Works on a turn until it is over, or until `shutdown` asks for a checkpoint. It may have
    /// been `read` already where it stands.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] if the turn is not ours any more or was stopped, or an error if
    /// the database does not answer. Then the turn can be taken up again.
    pub async fn work(&self, lease: &Lease, read: Option<Standing>, shutdown: &CancellationToken) -> Result<Worked, StoreError> {
        let Some(mut turn) = self.executor.begin(lease, read).await? else { return Ok(Worked::Ended) };
        let time = self.executor.allowance(&turn);
        self.executor.within(time, lease, self.go_on(&mut turn, shutdown)).await
    }

    /// The same without a limit of time.
    async fn go_on(&self, turn: &mut RunningTurn<'_>, shutdown: &CancellationToken) -> Result<Worked, StoreError> {
        let mut extent = Extent::default();
        loop {
            if let Some(worked) = self.executor.calls(turn, shutdown).await? {
                return Ok(worked);
            }
            turn.steps += 1;
            let span = turn.span();
            match self.step(turn, &mut extent).instrument(span).await? {
                Some(stored) => turn.asked_for(stored),
                None => return Ok(Worked::Ended),
            }
        }
    }

    /// Makes one step: gather, decide, ask, weigh, store. Gives the step as it was stored, with the
    /// calls that it asks for; `None` if the turn is over.
    async fn step(&self, turn: &mut RunningTurn<'_>, extent: &mut Extent) -> Result<Option<StoredStep>, StoreError> {
        loop {
            let mut gathered = self.gather(turn).await?;
            let asking = match self.decide(turn, &mut gathered, extent).await? {
                NextMove::Ask(asking) => asking,
                NextMove::End(why, words) => {
                    self.executor.close(turn.lease, turn.steps, why, &words).await?;
                    return Ok(None);
                }
            };
            match self.ask(turn, &asking, extent).await? {
                Ok(said) => {
                    let weighed = self.weigh(turn, &asking, &said.answer).await?;
                    return self.store(turn, &asking, &said, weighed).await;
                }
                // The request may have room if it offers fewer tools.
                Err(error) if error.kind == ModelErrorKind::ContextOverflow && extent.offers_less() => {}
                Err(error) => {
                    self.unanswered(turn, &error).await?;
                    return Ok(None);
                }
            }
        }
    }

    /// Stores an answer; `None` if the turn is over.
    async fn store(
        &self,
        turn: &RunningTurn<'_>,
        asking: &Asking<'_>,
        HeldAnswer { answer, .. }: &HeldAnswer,
        weighed: Weighed,
    ) -> Result<Option<StoredStep>, StoreError> {
        let step = NewStep {
            number: turn.steps,
            model: &answer.model,
            finish_reason: &answer.finish_reason,
            usage: turn.law.counted(answer),
            content: &weighed.content,
            calls: &answer.calls,
            last: weighed.last,
            unproven: weighed.unproven,
            note: weighed.note.as_deref(),
        };
        let rate = asking.model.rate(&answer.model);
        let stored = self.store.store_priced_step(turn.lease, step, rate, self.clock.now()).await?;
        Ok((!stored.over).then_some(stored))
    }

    /// Ends a turn that no model answered.
    async fn unanswered(&self, turn: &RunningTurn<'_>, error: &ModelError) -> Result<(), StoreError> {
        let lease = turn.lease;
        let role = self.store.role_in(lease.conversation).await?;
        let told = in_words_of(turn.law.profile.failures, role, error);
        self.metrics.model_error(error.kind);
        tracing::warn!(kind = ?error.kind, %error, "no answer from the model");
        if error.kind != ModelErrorKind::RateLimited {
            return self.store.fail_turn(lease, Failure::Model, &told, self.clock.now()).await;
        }
        // One second at least: a client that comes back at once only adds to the load.
        let wait = error.wait.unwrap_or(BUSY).as_secs_f64().ceil().max(1.0) as u32;
        self.store.fail_busy_turn(lease, wait, &told, self.clock.now()).await
    }
}

/// The words about a model that gave no answer. The person who runs the server reads the log; what
/// only that person can mend is said in full to the owner, and a member hears nothing of addresses,
/// settings and keys.
fn in_words_of(words: FailureWords, role: UserRole, error: &ModelError) -> String {
    use ModelErrorKind as K;
    let words = if role == UserRole::Member { FailureWords::Short } else { words };
    match (words, error.kind) {
        (FailureWords::Short, K::RateLimited) => FailureWords::BUSY.to_owned(),
        (FailureWords::Short, _) if role == UserRole::Member => FailureWords::BROKEN.to_owned(),
        (FailureWords::Short, K::Timeout | K::Server | K::Cut | K::Malformed) => FailureWords::BROKEN.to_owned(),
        _ => words.named(&error.message),
    }
}
