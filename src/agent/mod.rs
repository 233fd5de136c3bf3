//! The turn: model request, tool calls, model request … until an answer. Everything it has done is stored before it goes on, so it can
//! be dropped at any point and taken up again from the database.

mod claims;
mod context;
mod idle;
mod insist;
mod law;
mod pictures;
mod review;
mod truth;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::clock::Clock;
use crate::domain::{AnswersTo, CallsPerStep, Coaching, Failure, Origin, Profile, Rate, Refusal, RefusalCode};
use crate::failpoint::{self, Point};
use crate::memory;
use crate::model::choice::ModelSource;
use crate::model::{Answer, Entry, Model, ModelError, ModelErrorKind, REPETITION, Request};
use crate::profiles::Profiles;
use crate::store::{Exchange, History, HistoryEntry, Lease, Meter, NewStep, OpenCall, Pen, Progress, Store, StoreError};
use crate::telemetry::Metrics;
use crate::tools::{Ran, Tools, readdressed};
use crate::wire::ServerFrame;

use context::{Conversation, Extent, Sizes};
use idle::Idling;
use law::Law;
use truth::Truth;

/// How long a model with too many requests is left alone, where it does not say it itself.
const BUSY: Duration = Duration::from_secs(30);

/// The limits of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Model requests in one turn, if neither its profile nor that one's budget says otherwise.
    pub iterations: u32,
    /// Earlier messages in a model request, if the profile does not say otherwise.
    pub history: usize,
}

/// Works on turns. One for the whole program; it keeps nothing about any of them but how much of a conversation models take.
pub struct Agent {
    store: Store,
    tools: Tools,
    profiles: Profiles,
    models: Arc<ModelSource>,
    clock: Arc<dyn Clock>,
    limits: Limits,
    metrics: Metrics,
    sizes: Sizes,
}

/// Who is asked for one step, and for whom.
struct Asking<'a> {
    model: &'a dyn Model,
    lease: &'a Lease,
    number: i32,
    profile: &'a Profile,
    /// Keeps what is written, until it is stored.
    pen: &'a Pen,
}

/// How work on a turn ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Worked {
    /// The turn is over.
    Ended,
    /// The turn stands at a checkpoint and is to be given back: the process is about to end.
    Paused,
    /// The turn waits for a person, and was given back already.
    Waiting,
}

impl Agent {
    /// Puts the parts together.
    pub fn new(
        store: Store,
        tools: Tools,
        profiles: Profiles,
        models: Arc<ModelSource>,
        clock: Arc<dyn Clock>,
        limits: Limits,
        metrics: Metrics,
    ) -> Self {
        Self { store, tools, profiles, models, clock, limits, metrics, sizes: Sizes::default() }
    }

    /// Works on a turn until it is over, or until `shutdown` asks for a checkpoint.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] when somebody else has the turn or it was stopped, or when the database is not there; the turn can be
    /// taken up again.
    pub async fn work(&self, lease: &Lease, shutdown: &CancellationToken) -> Result<Worked, StoreError> {
        let profile = match self.profiles.get(&lease.profile) {
            Ok(profile) => profile,
            // Another profile would answer with tools and words that are not for this conversation.
            Err(unknown) => {
                let told = format!("This conversation cannot go on here: {unknown}. Its messages are kept.");
                self.store.fail_turn(lease, Failure::Server, &told, self.clock.now()).await?;
                return Ok(Worked::Ended);
            }
        };
        let progress = self.store.progress(lease.turn).await?;
        let law = self.law(lease, profile, &progress).await?;
        let (begun, wall, metered) = (self.clock.now(), law.wall(), self.store.meters().begin(lease));
        let out_of_time = async {
            match wall {
                Some(wall) => self.clock.sleep_until(begun + wall).await,
                None => std::future::pending().await,
            }
        };
        // Whatever it does in that moment is dropped: a statement ends at the server, as it does when a person stops the turn.
        tokio::select! {
            worked = self.go_on(lease, shutdown, law.clone(), progress, &metered.meter) => return worked,
            () = out_of_time => {}
        }
        tracing::info!("the time of the turn is over");
        let now = self.clock.now();
        let told = law.out_of_time(now - begun);
        self.store.cut_turn(lease, own_words(0, "limit", &told), OUT_OF_TIME, &metered.meter.take(), now).await?;
        Ok(Worked::Ended)
    }

    /// The same without a limit of time.
    async fn go_on(
        &self,
        lease: &Lease,
        shutdown: &CancellationToken,
        mut law: Law,
        progress: Progress,
        meter: &Meter,
    ) -> Result<Worked, StoreError> {
        let (mut steps, mut open) = (progress.steps, progress.open);
        let mut made = self.made_of_last_step(lease, &open).await?;
        let mut extent = Extent::default();
        loop {
            let asked_for = made + open.len();
            for (place, call) in (made..).zip(&open) {
                if shutdown.is_cancelled() {
                    return Ok(Worked::Paused);
                }
                if let Some(why) = law.stops(call) {
                    self.close(lease, steps + 1, "limit", why).await?;
                    return Ok(Worked::Ended);
                }
                if place >= law.profile.calls_made(asked_for) {
                    self.tools.turn_away(lease, call, &not_made(&law.profile, asked_for)).await?;
                    continue;
                }
                let span = tracing::info_span!("step", step = steps);
                if law.governor {
                    self.review(lease, call, &law, meter).instrument(span.clone()).await?;
                }
                match self.tools.run(lease, &law.profile, call).instrument(span).await? {
                    Ran::Ended => law.made(call),
                    Ran::Restart => return Ok(Worked::Paused),
                    Ran::Waiting => return Ok(Worked::Waiting),
                }
            }
            if shutdown.is_cancelled() {
                return Ok(Worked::Paused);
            }
            steps += 1;
            let span = tracing::info_span!("step", step = steps);
            match self.step(lease, steps, &mut law, &mut extent, meter).instrument(span).await? {
                Some(calls) => (open, made) = (calls, 0),
                None => return Ok(Worked::Ended),
            }
        }
    }

    /// How many calls of the last step have their outcome, where some have none yet. Calls are made in order.
    async fn made_of_last_step(&self, lease: &Lease, open: &[OpenCall]) -> Result<usize, StoreError> {
        if open.is_empty() {
            return Ok(0);
        }
        let history = self.store.history(lease.conversation, lease.turn, 0).await?;
        let mut entries = history.exchanges.iter().flat_map(|exchange| &exchange.entries).rev();
        let asked_for = entries.find_map(|entry| match entry {
            HistoryEntry::Assistant(_, calls) => Some(calls.len()),
            HistoryEntry::User(..) | HistoryEntry::Steered(..) | HistoryEntry::Images(..) | HistoryEntry::Tool(..) => None,
        });
        Ok(asked_for.unwrap_or_default().saturating_sub(open.len()))
    }

    /// The part of the conversation that the profile is shown.
    async fn history(&self, lease: &Lease, law: &Law) -> Result<History, StoreError> {
        let history = self.store.history(lease.conversation, lease.turn, law.history).await?;
        // A snapshot says all there is to know: nothing is missing before it.
        Ok(History { more: history.more && law.remembers, ..history })
    }

    /// Makes one step. `None`: the turn is over.
    async fn step(
        &self,
        lease: &Lease,
        number: i32,
        law: &mut Law,
        extent: &mut Extent,
        meter: &Meter,
    ) -> Result<Option<Vec<OpenCall>>, StoreError> {
        let (now, profile) = (self.clock.now(), Arc::clone(&law.profile));
        let (mut history, summaries, offered, due, used) = tokio::try_join!(
            self.history(lease, law),
            self.store.summaries_of(lease.conversation, lease.turn),
            self.tools.offered(&law.profile),
            self.store.tasks_due_before(now + context::DUE_SOON),
            self.store.usage_of(lease, &law.budgets, now),
        )?;
        law.used = used;
        if lease.origin == Origin::Command {
            return self.close(lease, number, "command", context::what_came_of_it(&history.exchanges)).await;
        }
        if profile.calls == CallsPerStep::ExactlyOne && !self.store.calls_done(lease, false).await?.is_empty() {
            return self.close(lease, number, "one_call", String::new()).await;
        }
        if Idling::coached(profile.coaching, &history.exchanges).twice_empty() {
            return self.close(lease, number, "empty", idle::TWICE.to_owned()).await;
        }
        if let Some(why) = law.used_up(number) {
            return self.close(lease, number, "limit", why).await;
        }
        if history.exchanges.last().is_some_and(|exchange| exchange.waits) {
            // Only now is it sure that the model will be asked.
            self.store.show_steering(lease, number, now).await?;
            history = self.history(lease, law).await?;
        }
        let mut last: Vec<_> = law::warnings(&history.exchanges).map(Entry::User).into_iter().collect();
        let model = self.models.chosen(law.models.0.as_deref(), &law.models.1).await;
        let offer = self.offer(lease, &*model, (profile.prompt, &history.exchanges), offered, extent).await?;
        let idling = Idling::coached(profile.coaching, &history.exchanges);
        let runs = offer.runs(model.abilities().local);
        last.extend(idling.told(&runs).map(Entry::User));
        // Where the controller has something to say, the model may answer that.
        let must_call = insist::must_call(&profile, &history.exchanges, |name| offer.has(name), last.is_empty());
        last.extend(insist::made_no_call(&profile, &history.exchanges));
        let pictures = pictures::load(&self.store, &history.exchanges, model.abilities().images).await?;
        let system = context::system(&profile, &offer.section, &due, now, &history.exchanges);
        let tools = offer.tools.iter().map(|tool| tool.name.clone()).collect();
        let summary = summaries.latest.filter(|_| law.summaries);
        let mut conversation = Conversation::new(lease.conversation, system, &history, &pictures, summary, (tools, last));
        // Once in a turn, while all there is of it is what it reacts to.
        let compacted = number == 1
            && law.summaries
            && !summaries.failed_lately
            && self.compact(lease, &*model, &mut conversation, context::size_of_tools(&offer.tools), meter).await?;
        if compacted {
            law.used = self.store.usage_of(lease, &law.budgets, self.clock.now()).await?;
            if let Some(why) = law.used_up(number) {
                return self.close(lease, number, "limit", why).await;
            }
        }
        let begun = Instant::now();
        // Held until the answer is stored, so that a stop finds what was said at any moment before.
        let pen = self.store.writing().begin(lease, number, &model.info().name);
        let blank = Request {
            entries: Vec::new(),
            tools: offer.tools,
            must_call,
            demanded_of_all: profile.calls == CallsPerStep::ExactlyOne,
            answer_tokens: law.answer_tokens,
            temperature: profile.temperature,
            woken: lease.origin == Origin::Task,
            meter: meter.clone(),
        };
        let asking = Asking { model: &*model, lease, number, profile: &profile, pen: &pen };
        let answered = self.ask(asking, (&conversation, extent), blank).await;
        if !pictures.is_empty() {
            drop(pictures);
            memory::give_back();
        }
        self.metrics.step(begun.elapsed(), answered.is_ok());
        self.store.count_broken(lease, &meter.take(), self.clock.now()).await?;
        match answered {
            Ok(answer) => {
                let truth = match profile.coaching {
                    Coaching::Full | Coaching::Truth => self.truth(lease, &history.exchanges, &answer, &*model).await?,
                    Coaching::Off => Truth::Shown,
                };
                // There has to be a step left to say it otherwise.
                let once_more = law.used_up(number + 1).is_none();
                let truth = if once_more { truth } else { truth.for_good() };
                // An answer that ends the turn.
                let last = answer.calls.is_empty()
                    && profile.calls != CallsPerStep::ExactlyOne
                    && truth != Truth::TakenBack
                    && !idling.again(&answer.content, &runs);
                self.store_answer(lease, number, &answer, model.rate(&answer.model), (last, truth)).await
            }
            Err(error) if error.kind == ModelErrorKind::ContextOverflow && extent.offers_less() => {
                drop(pen);
                Box::pin(self.step(lease, number, law, extent, meter)).await
            }
            Err(error) => {
                self.unanswered(lease, &error).await?;
                Ok(None)
            }
        }
    }

    /// Ends a turn to which no model has an answer.
    async fn unanswered(&self, lease: &Lease, error: &ModelError) -> Result<(), StoreError> {
        self.metrics.model_error(error.kind);
        tracing::warn!(kind = ?error.kind, %error, "no answer from the model");
        if error.kind != ModelErrorKind::RateLimited {
            return self.store.fail_turn(lease, Failure::Model, &error.message, self.clock.now()).await;
        }
        // A second at least: a client that asks at once only adds to what is too much.
        let wait = error.wait.unwrap_or(BUSY).as_secs_f64().ceil().max(1.0) as u32;
        self.store.fail_busy_turn(lease, wait, &error.message, self.clock.now()).await
    }

    /// Asks the model what `blank` asks for, with as much of the conversation as it is known to take. Where it finds that too long, with less
    /// and less of it; what was enough holds for the rest of the turn, and what was learnt for all others.
    async fn ask(
        &self,
        Asking { model, lease, number, profile, pen }: Asking<'_>,
        (conversation, extent): (&Conversation<'_>, &mut Extent),
        blank: Request,
    ) -> Result<Answer, ModelError> {
        let on_delta = |piece: &str| {
            if profile.answers != AnswersTo::Nowhere {
                pen.write(piece);
            }
            // There is no way to fail here; the connection to the model has its own.
            let _ = failpoint::hit(Point::FirstByte);
            let (conversation, turn, attempt) = (lease.conversation, lease.turn, lease.fence);
            let delta = ServerFrame::Delta { conversation, turn, step: number, attempt, content: piece.to_owned() };
            if profile.answers == AnswersTo::Page {
                self.store.signals().write(delta);
            }
        };
        let around = context::size_of_tools(&blank.tools);
        let most = self.sizes.most(model, lease.conversation).saturating_sub(around);
        let mut shown = conversation.fitting(extent, most);
        loop {
            pen.begin_again();
            let bytes = context::size(&shown) + around;
            let request = Request { entries: shown, ..blank.clone() };
            let error = match model.answer(request, &on_delta).await {
                Err(error) if error.kind == ModelErrorKind::ContextOverflow => error,
                Err(error) => return Err(error),
                Ok(mut answer) => {
                    self.sizes.taken(model, lease.conversation, bytes, answer.usage);
                    if profile.coaching == Coaching::Full {
                        let offered = |name: &str| blank.tools.iter().any(|tool| tool.name == name);
                        answer.calls = answer.calls.into_iter().map(|call| readdressed(call, offered)).collect();
                    }
                    if profile.answers == AnswersTo::Nowhere {
                        answer.content.clear();
                    }
                    return Ok(answer);
                }
            };
            self.sizes.refused(model, lease.conversation, bytes);
            let Some((next, less)) = conversation.shorter(*extent) else {
                let message = format!("{} {NOTHING_SHORTER}", error.message);
                return Err(ModelError { message, ..error });
            };
            tracing::info!(extent = ?next, "the conversation is too long for the model; asking with less of it");
            (*extent, shown) = (next, less);
        }
    }

    async fn store_answer(
        &self,
        lease: &Lease,
        number: i32,
        answer: &Answer,
        rate: Option<Rate>,
        (last, truth): (bool, Truth),
    ) -> Result<Option<Vec<OpenCall>>, StoreError> {
        let cut = match &*answer.finish_reason {
            "length" if last => Some("the model reached its limit of tokens"),
            REPETITION if last => Some("the model only repeated itself"),
            _ => None,
        };
        let content = cut.map_or_else(|| answer.content.clone(), |why| format!("{}\n\n*(cut: {why})*", answer.content));
        let step = NewStep {
            number,
            model: &answer.model,
            finish_reason: &answer.finish_reason,
            usage: answer.usage,
            content: &content,
            calls: &answer.calls,
            last,
            unproven: truth != Truth::Shown,
        };
        let stored = self.store.store_priced_step(lease, step, rate, self.clock.now()).await?;
        Ok((!stored.over).then_some(stored.calls))
    }

    /// Ends the turn with words of the controller's own.
    async fn close(&self, lease: &Lease, number: i32, why: &str, content: String) -> Result<Option<Vec<OpenCall>>, StoreError> {
        self.store.close_turn(lease, own_words(number, why, &content), self.clock.now()).await?;
        Ok(None)
    }
}

/// A step that ends a turn with words of the controller's own.
fn own_words<'a>(number: i32, why: &'a str, content: &'a str) -> NewStep<'a> {
    NewStep { number, model: "level3", finish_reason: why, content, last: true, ..NewStep::default() }
}

/// The outcome of the call in whose middle the time was over.
const OUT_OF_TIME: &str = "Not finished: the time of the turn was over (turn.wall_seconds). In this database nothing of it has happened. What it \
     sent elsewhere may have arrived: look before it is done again.";

const NOTHING_SHORTER: &str =
    "Nothing more can be left out: say less at once, or set LLM_MODEL to a model with a longer context. All messages are kept.";

/// The refusal of a call that is not made, since its answer `asked_for` more than the profile makes.
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
