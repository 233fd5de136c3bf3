//! If a turn reaches the limit of a budget, or makes the same call over and over, it ends with an
//! answer that says so.

use std::fmt;

use crate::domain::{Budget, Budgets, Spent, Used};

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded {
    /// The span of the budget.
    pub scope: Scope,
    /// The thing that is used up.
    pub what: What,
    /// The limit.
    pub limit: u64,
    /// The amount that was used.
    pub used: u64,
}

/// The span of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One turn.
    Turn,
    /// Its conversation.
    Conversation,
    /// The day, all conversations together.
    Day,
    /// The part of the day that turns of tasks may use together.
    Tasks,
}

/// The thing that a budget limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Model requests.
    Steps,
    /// Seconds of work.
    WallSeconds,
    /// Tokens read.
    InputTokens,
    /// Tokens written.
    OutputTokens,
    /// Tokens read and written.
    Tokens,
    /// Millionths of a dollar.
    Money,
    /// Tool calls.
    ToolCalls,
    /// Requests without a known price, if money is limited: the limit is one of money, and the used
    /// amount counts such requests.
    UnknownPrice,
}

/// The first limit that is reached: the turn's before the conversation's before the day's.
pub fn check(budgets: &Budgets, used: &Used) -> Option<Exceeded> {
    let of_tasks = used.tasks.map(|used| (Scope::Tasks, budgets.day_of_tasks(), used));
    let spans: Vec<_> = [
        (Scope::Turn, budgets.turn, used.turn),
        (Scope::Conversation, budgets.conversation, used.conversation),
        (Scope::Day, budgets.day, used.day),
    ]
    .into_iter()
    .chain(of_tasks)
    .collect();
    let reached = spans.iter().find_map(|(scope, budget, spent)| check_span(*scope, budget, spent));
    // If nobody knows a model's price, a limit of money cannot be kept: it allows one request at
    // most.
    let unpriced = || {
        let (scope, limit) = spans.iter().find_map(|(scope, budget, _)| Some((*scope, budget.money_micros?)))?;
        let used = used.turn.unpriced;
        (used > 0).then_some(Exceeded { scope, what: What::UnknownPrice, limit, used })
    };
    reached.or_else(unpriced)
}

fn check_span(scope: Scope, budget: &Budget, spent: &Spent) -> Option<Exceeded> {
    let limits = [
        (What::Steps, budget.steps, spent.steps),
        (What::WallSeconds, budget.wall_seconds, spent.wall_seconds),
        (What::InputTokens, budget.input_tokens, spent.input_tokens),
        (What::OutputTokens, budget.output_tokens, spent.output_tokens),
        (What::Tokens, budget.tokens, spent.tokens()),
        (What::Money, budget.money_micros, spent.money_micros),
        (What::ToolCalls, budget.tool_calls, spent.tool_calls),
    ];
    let reached = |(what, limit, used): (What, Option<u64>, u64)| {
        limit.filter(|limit| used >= *limit).map(|limit| Exceeded { scope, what, limit, used })
    };
    limits.into_iter().find_map(reached)
}

impl Scope {
    fn key(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Conversation => "conversation",
            Self::Day | Self::Tasks => "day",
        }
    }

    /// Its name on the page, see `spans` in `static/words/en-settings.js`.
    fn name(self) -> &'static str {
        match self {
            Self::Turn => "One turn",
            Self::Conversation => "One conversation",
            Self::Day | Self::Tasks => "All conversations in a day",
        }
    }
}

impl What {
    fn key(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::WallSeconds => "wall_seconds",
            Self::InputTokens => "input_tokens",
            Self::OutputTokens => "output_tokens",
            Self::Tokens => "tokens",
            Self::Money | Self::UnknownPrice => "money_micros",
            Self::ToolCalls => "tool_calls",
        }
    }

    /// Its name on the page, see `limits` in `static/words/en-settings.js`.
    fn name(self) -> &'static str {
        match self {
            Self::Steps => "Requests to models",
            Self::WallSeconds => "Seconds of work",
            Self::InputTokens => "Tokens read",
            Self::OutputTokens => "Tokens written",
            Self::Tokens => "Tokens",
            Self::Money | Self::UnknownPrice => "Dollars",
            Self::ToolCalls => "Calls of tools",
        }
    }
}

impl Exceeded {
    /// The sentence for the person of the operator. The limits of its tasks stand in its
    /// config.json, and each start writes them into the policy: to raise them there would not last.
    pub fn for_operator(self) -> String {
        let field = match (self.scope, self.what) {
            (Scope::Turn, What::Steps) => "max_iterations",
            (Scope::Turn, What::WallSeconds) => "max_runtime_minutes",
            (Scope::Turn, What::Tokens) => "max_tokens_per_session",
            _ => return self.to_string(),
        };
        format!("{}. To raise it, change `limits.{field}` in the operator's config.json and start it again", self.reached())
    }

    /// Which limit it was.
    fn reached(self) -> String {
        let Self { scope, what, limit, used } = self;
        let span = scope.key();
        let whose = match scope {
            Scope::Day => "today all conversations together have",
            Scope::Tasks => "today the turns that tasks began together have",
            Scope::Turn | Scope::Conversation => &format!("this {span} has"),
        };
        let counted = |one: &str| if used == 1 { format!("1 {one}") } else { format!("{used} {one}s") };
        match what {
            What::Steps => format!("{whose} made {}; the limit is {limit}", counted("model request")),
            What::WallSeconds => format!("{whose} worked for {}; the limit is {limit}", counted("second")),
            What::InputTokens => format!("{whose} had models read {used} tokens; the limit is {limit}"),
            What::OutputTokens => format!("{whose} had models write {used} tokens; the limit is {limit}"),
            What::Tokens => format!("{whose} used {used} tokens, read and written; the limit is {limit}"),
            What::Money => format!("{whose} cost {}; the limit is {}", dollars(used), dollars(limit)),
            What::ToolCalls => format!("{whose} made {}; the limit is {limit}", counted("tool call")),
            What::UnknownPrice => {
                format!("money is limited to {} for each {span}, and the price of the model is not known", dollars(limit))
            }
        }
    }
}

/// A sentence for the person: which limit it was, and how to raise it.
impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scope, what, .. } = *self;
        let (span, key) = (scope.key(), what.key());
        f.write_str(&self.reached())?;
        if what == What::UnknownPrice {
            return write!(
                f,
                ". Set the model's rate in the settings (0 when it costs nothing), or take the limit `{span}.{key}` away"
            );
        }
        if scope == Scope::Tasks {
            write!(f, ", a part of the day's, so that the rest is left for you (`tasks.percent_of_day`)")?;
        }
        let (group, field) = (scope.name(), what.name());
        write!(f, ". To raise it, change the budget `{span}.{key}` of this profile in the settings (“{group}”, “{field}”)")?;
        if matches!(scope, Scope::Day | Scope::Tasks) { write!(f, ", or wait until midnight UTC") } else { Ok(()) }
    }
}

/// Money with its cents; less than a dollar in full, since a limit of less than a cent is not one
/// of nothing.
fn dollars(micros: u64) -> String {
    let all = format!("${}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let cents = all.len() - 4;
    let shown = if micros < 1_000_000 { all.trim_end_matches('0').len().max(cents) } else { cents };
    all[..shown].to_owned()
}

/// How often the model has made a call already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatedCall {
    /// Not often enough for a word.
    None,
    /// It is the third or fourth time (the number): the result comes with a warning.
    Warn(usize),
    /// It is the fifth time or more: the turn ends.
    Stop(usize),
}

const WARN_AT: usize = 3;
/// At this number the turn ends.
pub const STOP_AT: usize = 5;

/// Judges how often a turn called the same tool with the same arguments. `previous`: tool and
/// arguments of its earlier calls.
pub fn repeated_call(previous: &[(String, String)], tool: &str, arguments: &str) -> RepeatedCall {
    let this = canonical(arguments);
    let same = |(earlier, with): &&(String, String)| earlier == tool && canonical(with) == this;
    match previous.iter().filter(same).count() + 1 {
        times if times >= STOP_AT => RepeatedCall::Stop(times),
        times if times >= WARN_AT => RepeatedCall::Warn(times),
        _ => RepeatedCall::None,
    }
}

/// Arguments in one form: keys sorted, no spaces. A text that is no JSON stays as it is.
fn canonical(arguments: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(arguments) {
        Ok(value) => value.to_string(),
        Err(_) => arguments.trim().to_owned(),
    }
}

#[cfg(test)]
mod tests;
