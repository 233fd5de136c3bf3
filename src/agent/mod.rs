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

use tokio::sync::broadcast;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::clock::Clock;
use crate::domain::{Failure, Origin};
use crate::failpoint::{self, Point};
use crate::memory;
use crate::model::choice::ModelSource;
use crate::model::{Answer, Entry, Model, ModelError, ModelErrorKind, REPETITION, Request};
use crate::store::{Exchange, HistoryEntry, Lease, NewStep, OpenCall, Pen, Rate, Store, StoreError};
use crate::telemetry::Metrics;
use crate::tools::{Ran, Tools, readdressed};
use crate::wire::ServerFrame;

use context::{Conversation, Extent, Sizes};
use idle::Idling;
use law::Law;
use truth::Truth;

/// How many deltas a slow socket may fall behind before it misses some; the recorded text replaces them in any case.
const DELTA_BACKLOG: usize = 1024;

/// The limits of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Model requests in one turn, where its profile's budget does not say otherwise.
    pub iterations: u32,
    /// Earlier messages in a model request.
    pub history: usize,
}

/// Works on turns. One for the whole program; it keeps nothing about any of them but how much of a conversation models take.
pub struct Agent {
    store: Store,
    tools: Tools,
    models: Arc<ModelSource>,
    clock: Arc<dyn Clock>,
    limits: Limits,
    deltas: broadcast::Sender<ServerFrame>,
    metrics: Metrics,
    sizes: Sizes,
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
        models: Arc<ModelSource>,
        clock: Arc<dyn Clock>,
        limits: Limits,
        metrics: Metrics,
    ) -> Self {
        Self {
            store,
            tools,
            models,
            clock,
            limits,
            deltas: broadcast::channel(DELTA_BACKLOG).0,
            metrics,
            sizes: Sizes::default(),
        }
    }

    /// Pieces of text as models write them, as `delta` frames.
    pub fn deltas(&self) -> broadcast::Sender<ServerFrame> {
        self.deltas.clone()
    }

    /// Works on a turn until it is over, or until `shutdown` asks for a checkpoint.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] when somebody else has the turn or it was stopped, or when the database is not there; the turn can be
    /// taken up again.
    pub async fn work(&self, lease: &Lease, shutdown: &CancellationToken) -> Result<Worked, StoreError> {
        let progress = self.store.progress(lease.turn).await?;
        let mut law = self.law(lease, &progress).await?;
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
                if place >= MOST_CALLS {
                    self.tools.turn_away(lease, call, &too_many(asked_for)).await?;
                    continue;
                }
                let span = tracing::info_span!("step", step = steps);
                if law.governor {
                    self.review(lease, call, &law).instrument(span.clone()).await?;
                }
                match self.tools.run(lease, call).instrument(span).await? {
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
            match self.step(lease, steps, &mut law, &mut extent).instrument(span).await? {
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

    /// Makes one step. `None`: the turn is over.
    async fn step(
        &self,
        lease: &Lease,
        number: i32,
        law: &mut Law,
        extent: &mut Extent,
    ) -> Result<Option<Vec<OpenCall>>, StoreError> {
        let now = self.clock.now();
        let (mut history, summaries, capabilities, external, due, used) = tokio::try_join!(
            self.store.history(lease.conversation, lease.turn, self.limits.history),
            self.store.summaries_of(lease.conversation, lease.turn),
            self.tools.capabilities(),
            self.tools.external(),
            self.store.tasks_due_before(now + context::DUE_SOON),
            self.store.usage_of(lease.turn, &law.budgets, now),
        )?;
        law.used = used;
        if lease.origin == Origin::Command {
            return self.close(lease, number, "command", context::what_came_of_it(&history.exchanges)).await;
        }
        if Idling::of(&history.exchanges).twice_empty() {
            return self.close(lease, number, "empty", idle::TWICE.to_owned()).await;
        }
        if let Some(why) = law.used_up(number, self.limits.iterations) {
            return self.close(lease, number, "limit", why).await;
        }
        if history.exchanges.last().is_some_and(|exchange| exchange.waits) {
            // Only now is it sure that the model will be asked.
            self.store.show_steering(lease, number, now).await?;
            history = self.store.history(lease.conversation, lease.turn, self.limits.history).await?;
        }
        let mut last: Vec<_> = law::warnings(&history.exchanges).map(Entry::User).into_iter().collect();
        let model = self.models.chosen(law.models.0.as_deref(), &law.models.1).await;
        let offer = self.offer(lease, &*model, &history.exchanges, (&capabilities, external), extent).await?;
        let idling = Idling::of(&history.exchanges);
        let runs = offer.runs(model.abilities().local);
        last.extend(idling.told(&runs).map(Entry::User));
        // Where the controller has something to say, the model may answer that.
        let mistaken = || history.exchanges.last().is_some_and(|turn| insist::insists(turn, |name| offer.has(name)));
        let must_call = last.is_empty() && mistaken();
        let pictures = pictures::load(&self.store, &history.exchanges, model.abilities().images).await?;
        let system = context::system_prompt(&offer.section, &due);
        let tools = offer.tools.iter().map(|tool| tool.name.clone()).collect();
        let mut conversation =
            Conversation::new(lease.conversation, system, &history, &pictures, summaries.latest, (tools, last));
        // Once in a turn, while all there is of it is what it reacts to.
        let compacted = number == 1
            && !summaries.failed_lately
            && self.compact(lease, &*model, &mut conversation, context::size_of_tools(&offer.tools)).await?;
        if compacted {
            law.used = self.store.usage_of(lease.turn, &law.budgets, self.clock.now()).await?;
            if let Some(why) = law.used_up(number, self.limits.iterations) {
                return self.close(lease, number, "limit", why).await;
            }
        }
        let begun = Instant::now();
        // Held until the answer is stored, so that a stop finds what was said at any moment before.
        let pen = self.store.writing().begin(lease, number, &model.info().name);
        let blank = Request { entries: Vec::new(), tools: offer.tools, must_call, answer_tokens: law.answer_tokens };
        let answered = self.ask(&*model, (&conversation, extent), &pen, blank, lease, number).await;
        if !pictures.is_empty() {
            drop(pictures);
            memory::give_back();
        }
        self.metrics.step(begun.elapsed(), answered.is_ok());
        match answered {
            Ok(answer) => {
                let truth = self.truth(lease, &history.exchanges, &answer, &*model).await?;
                // There has to be a step left to say it otherwise.
                let once_more = law.used_up(number + 1, self.limits.iterations).is_none();
                let truth = if once_more { truth } else { truth.for_good() };
                // An answer that ends the turn.
                let last = answer.calls.is_empty() && truth != Truth::TakenBack && !idling.again(&answer.content, &runs);
                self.store_answer(lease, number, &answer, model.rate(&answer.model), (last, truth)).await
            }
            Err(error) if error.kind == ModelErrorKind::ContextOverflow && extent.offers_less() => {
                drop(pen);
                Box::pin(self.step(lease, number, law, extent)).await
            }
            Err(error) => {
                self.metrics.model_error(error.kind);
                tracing::warn!(kind = ?error.kind, %error, "no answer from the model");
                self.store.fail_turn(lease, Failure::Model, &error.message, self.clock.now()).await?;
                Ok(None)
            }
        }
    }

    /// Asks the model what `blank` asks for, with as much of the conversation as it is known to take. Where it finds that too long, with less
    /// and less of it; what was enough holds for the rest of the turn, and what was learnt for all others.
    async fn ask(
        &self,
        model: &dyn Model,
        (conversation, extent): (&Conversation<'_>, &mut Extent),
        pen: &Pen,
        blank: Request,
        lease: &Lease,
        number: i32,
    ) -> Result<Answer, ModelError> {
        let on_delta = |piece: &str| {
            pen.write(piece);
            // There is no way to fail here; the connection to the model has its own.
            let _ = failpoint::hit(Point::FirstByte);
            let (conversation, turn, attempt) = (lease.conversation, lease.turn, lease.fence);
            // Nobody watching is fine.
            let _ = self.deltas.send(ServerFrame::Delta { conversation, turn, step: number, attempt, content: piece.to_owned() });
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
                    let offered = |name: &str| blank.tools.iter().any(|tool| tool.name == name);
                    answer.calls = answer.calls.into_iter().map(|call| readdressed(call, offered)).collect();
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
        let step = NewStep {
            number,
            model: "level3",
            finish_reason: why,
            usage: None,
            content: &content,
            calls: &[],
            last: true,
            unproven: false,
        };
        self.store.close_turn(lease, step, self.clock.now()).await?;
        Ok(None)
    }
}

/// The most tool calls of one answer that are made; the model is told of the others that they were not.
const MOST_CALLS: usize = 128;

const NOTHING_SHORTER: &str =
    "Nothing more can be left out: say less at once, or set LLM_MODEL to a model with a longer context. All messages are kept.";

fn too_many(asked_for: usize) -> String {
    let message = format!(
        "Not run: an answer may ask for {MOST_CALLS} tool calls, this one asked for {asked_for}. The first {MOST_CALLS} have their results; \
         ask for the others again, in your next answer."
    );
    serde_json::json!({ "error": "too_many_calls", "message": message }).to_string()
}
