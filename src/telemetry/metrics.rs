//! The server's counts of itself, for Prometheus. Each server has a registry, so that several can
//! live in one process; numbers that the database or the sockets know better are read when somebody
//! looks: see [`Seen`].

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// One name and its word. The words come from this program alone: a label with a word from outside
/// would grow without end.
type Label = [(&'static str, String); 1];
type Histograms = Family<Label, Histogram, fn() -> Histogram>;
type Gauges = Family<Label, Gauge<f64, AtomicU64>>;

/// The borders between sorts of waiting, in seconds: a model that streams from memory, one that
/// thinks.
const STEP_SECONDS: [f64; 12] = [0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];
/// The same for tools, which answer in milliseconds.
const TOOL_SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

/// Counts. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    turns_ended: Family<Label, Counter>,
    steps: Histograms,
    tools: Histograms,
    model_errors: Family<Label, Counter>,
    capability_calls: Family<Label, Counter>,
    wrong_tokens: Counter,
    turns: Gauges,
    queue_age: Gauge<f64, AtomicU64>,
    database_up: Gauge,
    day_tokens: Gauges,
    day_cost: Gauge<f64, AtomicU64>,
    day_calls: Gauges,
    budget_used: Gauges,
    sockets: Gauge,
    pool: Family<[(&'static str, &'static str); 2], Gauge>,
}

/// The numbers that are looked up at the moment of asking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// The database's numbers; `None` when it did not answer.
    pub stored: Option<StoredFigures>,
    /// Open sockets of `/chat`.
    pub sockets: usize,
    /// Connections by pool: its name, how many are used, how many idle.
    pub pools: Vec<(&'static str, u32, u32)>,
}

/// The database's numbers of the moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredFigures {
    /// Open turns by state.
    pub turns: Vec<(&'static str, u64)>,
    /// How many seconds the oldest turn has waited that a runner could take up; 0 when there is
    /// none.
    pub queue_age_seconds: f64,
    /// Tokens since midnight, UTC, by direction.
    pub day_tokens: Vec<(&'static str, u64)>,
    /// Dollars since midnight, UTC, of the requests whose price is known.
    pub day_cost_dollars: f64,
    /// Model requests and tool calls since midnight, UTC, by kind.
    pub day_calls: Vec<(&'static str, u64)>,
    /// How much of each limit of the day is used up, 1 being all of it.
    pub budget_used: Vec<(&'static str, f64)>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("level3");
        let inner = Inner {
            turns_ended: Family::default(),
            steps: Family::new_with_constructor(|| Histogram::new(STEP_SECONDS)),
            tools: Family::new_with_constructor(|| Histogram::new(TOOL_SECONDS)),
            model_errors: Family::default(),
            capability_calls: Family::default(),
            wrong_tokens: Counter::default(),
            turns: Family::default(),
            queue_age: Gauge::default(),
            database_up: Gauge::default(),
            day_tokens: Family::default(),
            day_cost: Gauge::default(),
            day_calls: Family::default(),
            budget_used: Family::default(),
            sockets: Gauge::default(),
            pool: Family::default(),
            registry: Registry::default(),
        };
        inner.register(&mut registry);
        Self(Arc::new(Inner { registry, ..inner }))
    }
}

impl Inner {
    fn register(&self, registry: &mut Registry) {
        registry.register("turns", "Turns that are not over, by state", self.turns.clone());
        registry.register("turns_ended", "Turns that ended since the server started, by state", self.turns_ended.clone());
        let help = "How long the oldest turn has waited that a runner could take up";
        registry.register_with_unit("queue_age", help, Unit::Seconds, self.queue_age.clone());
        let help = "One step's model request with its retries, by what came of it";
        registry.register_with_unit("step_duration", help, Unit::Seconds, self.steps.clone());
        let help = "One tool call from its judgement to its recorded outcome, by tool; all capabilities are one";
        registry.register_with_unit("tool_call_duration", help, Unit::Seconds, self.tools.clone());
        registry.register(
            "model_errors",
            "Model requests without an answer after all retries, by kind",
            self.model_errors.clone(),
        );
        let help = "Calls of capabilities that the agent made, by outcome";
        registry.register("capability_calls", help, self.capability_calls.clone());
        registry.register("wrong_tokens", "Requests that showed a wrong token", self.wrong_tokens.clone());
        let help = "Tokens since midnight, UTC, by direction";
        registry.register("day_tokens", help, self.day_tokens.clone());
        let help = "Dollars since midnight, UTC, of the requests whose price is known";
        registry.register_with_unit("day_cost", help, Unit::Other("dollars".into()), self.day_cost.clone());
        registry.register("day_calls", "Model requests and tool calls since midnight, UTC, by kind", self.day_calls.clone());
        let help = "How much of each limit of the day is used up; 1 is all of it, and a kind without a limit is not here";
        registry.register_with_unit("day_budget_used", help, Unit::Other("ratio".into()), self.budget_used.clone());
        registry.register("open_sockets", "Open sockets of /chat", self.sockets.clone());
        let help = "Connections to the database, by the login they are for and whether one is used";
        registry.register("pool_connections", help, self.pool.clone());
        registry.register("database_up", "1 when the database answered this request", self.database_up.clone());
    }
}

impl Metrics {
    /// A turn ended in this state.
    pub fn turn_ended(&self, state: &str) {
        self.0.turns_ended.get_or_create(&[("state", state.to_owned())]).inc();
    }

    /// A step's model request took so long and was answered or not.
    pub fn step(&self, took: Duration, answered: bool) {
        let result = if answered { "answered" } else { "failed" };
        self.0.steps.get_or_create(&[("result", result.to_owned())]).observe(took.as_secs_f64());
    }

    /// A model gave no answer; `kind` is a variant of an enum without fields.
    pub fn model_error(&self, kind: impl Debug) {
        self.0.model_errors.get_or_create(&[("kind", words(&format!("{kind:?}")))]).inc();
    }

    /// A tool call took so long. `tool` is a name of the program's own, or `capability`.
    pub fn tool(&self, tool: &str, took: Duration) {
        self.0.tools.get_or_create(&[("tool", tool.to_owned())]).observe(took.as_secs_f64());
    }

    /// A capability's call ended.
    pub fn capability_call(&self, ok: bool) {
        let outcome = if ok { "done" } else { "failed" };
        self.0.capability_calls.get_or_create(&[("outcome", outcome.to_owned())]).inc();
    }

    /// A request showed a wrong token.
    pub fn wrong_token(&self) {
        self.0.wrong_tokens.inc();
    }

    /// Everything in the text format of OpenMetrics, which Prometheus reads.
    pub fn render(&self, seen: &Seen) -> String {
        let Inner { registry, .. } = &*self.0;
        self.take(seen);
        let mut text = String::new();
        encode(&mut text, registry).expect("writing to memory does not fail");
        text
    }

    fn take(&self, seen: &Seen) {
        let inner = &*self.0;
        for family in [&inner.turns, &inner.day_tokens, &inner.day_calls, &inner.budget_used] {
            // A number that is not known is left out: an old one would look fresh.
            family.clear();
        }
        inner.queue_age.set(seen.stored.as_ref().map_or(f64::NAN, |stored| stored.queue_age_seconds));
        inner.day_cost.set(seen.stored.as_ref().map_or(f64::NAN, |stored| stored.day_cost_dollars));
        inner.database_up.set(seen.stored.is_some().into());
        if let Some(stored) = &seen.stored {
            set(&inner.turns, "state", stored.turns.iter().map(|(word, count)| (*word, *count as f64)));
            set(&inner.day_tokens, "direction", stored.day_tokens.iter().map(|(word, count)| (*word, *count as f64)));
            set(&inner.day_calls, "kind", stored.day_calls.iter().map(|(word, count)| (*word, *count as f64)));
            set(&inner.budget_used, "kind", stored.budget_used.iter().copied());
        }
        inner.sockets.set(i64::try_from(seen.sockets).unwrap_or(i64::MAX));
        for (pool, used, idle) in &seen.pools {
            inner.pool.get_or_create(&[("pool", *pool), ("state", "used")]).set((*used).into());
            inner.pool.get_or_create(&[("pool", *pool), ("state", "idle")]).set((*idle).into());
        }
    }
}

fn set(family: &Gauges, label: &'static str, values: impl IntoIterator<Item = (&'static str, f64)>) {
    for (word, value) in values {
        family.get_or_create(&[(label, word.to_owned())]).set(value);
    }
}

/// The name of a variant in the words of metrics: `RateLimited` becomes `rate_limited`.
fn words(variant: &str) -> String {
    let mut words = String::with_capacity(variant.len() + 2);
    for (at, letter) in variant.char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            words.push('_');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

#[cfg(test)]
mod tests;
