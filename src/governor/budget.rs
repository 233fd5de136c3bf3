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
}

impl What {
    fn key(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::WallSeconds => "wall_seconds",
            Self::InputTokens => "input_tokens",
            Self::OutputTokens => "output_tokens",
            Self::Money | Self::UnknownPrice => "money_micros",
            Self::ToolCalls => "tool_calls",
        }
    }
}

/// A sentence for the person: which limit it was, and how to raise it.
impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scope, what, limit, used } = *self;
        let (span, key) = (scope.key(), what.key());
        let whose = match scope {
            Scope::Day => "today all conversations together have",
            Scope::Tasks => "today the turns that tasks began together have",
            Scope::Turn | Scope::Conversation => &format!("this {span} has"),
        };
        let dollars = |micros: u64| format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000);
        match what {
            What::Steps => write!(f, "{whose} made {used} model requests; the limit is {limit}")?,
            What::WallSeconds => write!(f, "{whose} worked for {used} seconds; the limit is {limit}")?,
            What::InputTokens => write!(f, "{whose} had models read {used} tokens; the limit is {limit}")?,
            What::OutputTokens => write!(f, "{whose} had models write {used} tokens; the limit is {limit}")?,
            What::Money => write!(f, "{whose} cost {}; the limit is {}", dollars(used), dollars(limit))?,
            What::ToolCalls => write!(f, "{whose} made {used} tool calls; the limit is {limit}")?,
            What::UnknownPrice => {
                return write!(
                    f,
                    "money is limited to {} for each {span}, and the price of the model is not known. Set the model's rate in the \
                     settings (0 when it costs nothing), or take the limit `{span}.{key}` away",
                    dollars(limit)
                );
            }
        }
        if scope == Scope::Tasks {
            write!(f, ", a part of the day's, so that the rest is left for you (`tasks.percent_of_day`)")?;
        }
        write!(f, ". To raise it, change the budget `{span}.{key}` of this profile in the settings")?;
        if matches!(scope, Scope::Day | Scope::Tasks) { write!(f, ", or wait until midnight UTC") } else { Ok(()) }
    }
}

/// How often the model has made a call already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
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
pub fn repetition(previous: &[(String, String)], tool: &str, arguments: &str) -> Repetition {
    let this = canonical(arguments);
    let same = |(earlier, with): &&(String, String)| earlier == tool && canonical(with) == this;
    match previous.iter().filter(same).count() + 1 {
        times if times >= STOP_AT => Repetition::Stop(times),
        times if times >= WARN_AT => Repetition::Warn(times),
        _ => Repetition::None,
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
mod tests {
    use super::*;

    fn spent(change: fn(&mut Spent)) -> Spent {
        let mut spent = Spent::default();
        change(&mut spent);
        spent
    }

    fn limit(change: fn(&mut Budget)) -> Budget {
        let mut budget = Budget::default();
        change(&mut budget);
        budget
    }

    #[test]
    fn every_limit_of_every_span_is_reached_at_its_number_and_not_before() {
        type Row = (What, fn(&mut Budget), fn(&mut Spent), fn(&mut Spent));
        let rows: [Row; 6] = [
            (What::Steps, |b| b.steps = Some(3), |s| s.steps = 2, |s| s.steps = 3),
            (What::WallSeconds, |b| b.wall_seconds = Some(3), |s| s.wall_seconds = 2, |s| s.wall_seconds = 3),
            (What::InputTokens, |b| b.input_tokens = Some(3), |s| s.input_tokens = 2, |s| s.input_tokens = 3),
            (What::OutputTokens, |b| b.output_tokens = Some(3), |s| s.output_tokens = 2, |s| s.output_tokens = 3),
            (What::Money, |b| b.money_micros = Some(3), |s| s.money_micros = 2, |s| s.money_micros = 3),
            (What::ToolCalls, |b| b.tool_calls = Some(3), |s| s.tool_calls = 2, |s| s.tool_calls = 3),
        ];
        let none =
            Budgets { turn: Budget::default(), conversation: Budget::default(), day: Budget::default(), ..Budgets::default() };
        for (what, set, below, at) in rows {
            for scope in [Scope::Turn, Scope::Conversation, Scope::Day, Scope::Tasks] {
                if scope == Scope::Tasks && what == What::WallSeconds {
                    continue; // only a turn has this limit
                }
                let (mut budgets, mut used) = (none, Used::default());
                budgets.tasks.percent_of_day = Some(100);
                let mut of_tasks = Spent::default();
                let (budget, span) = match scope {
                    Scope::Tasks => (&mut budgets.day, &mut of_tasks),
                    Scope::Turn => (&mut budgets.turn, &mut used.turn),
                    Scope::Conversation => (&mut budgets.conversation, &mut used.conversation),
                    Scope::Day => (&mut budgets.day, &mut used.day),
                };
                *budget = limit(set);
                *span = spent(below);
                used.tasks = (scope == Scope::Tasks).then_some(of_tasks);
                let before = used;
                match scope {
                    Scope::Turn => used.turn = spent(at),
                    Scope::Conversation => used.conversation = spent(at),
                    Scope::Day => used.day = spent(at),
                    Scope::Tasks => used.tasks = Some(spent(at)),
                }
                assert_eq!(check(&budgets, &before), None, "{what:?} {scope:?}");
                assert_eq!(check(&budgets, &used), Some(Exceeded { scope, what, limit: 3, used: 3 }), "{what:?} {scope:?}");
                assert_eq!(check(&none, &used), None, "{what:?} {scope:?} without a limit");
            }
        }
    }

    #[test]
    fn the_person_is_told_which_limit_it_was_and_how_to_raise_it() {
        let told = |scope, what, limit, used| Exceeded { scope, what, limit, used }.to_string();
        assert_eq!(
            told(Scope::Turn, What::ToolCalls, 60, 60),
            "this turn has made 60 tool calls; the limit is 60. To raise it, change the budget `turn.tool_calls` of this profile in the \
             settings"
        );
        assert_eq!(
            told(Scope::Day, What::Money, 1_500_000, 1_512_345),
            "today all conversations together have cost $1.51; the limit is $1.50. To raise it, change the budget `day.money_micros` of \
             this profile in the settings, or wait until midnight UTC"
        );
        assert!(
            told(Scope::Conversation, What::InputTokens, 5, 9).starts_with("this conversation has had models read 9 tokens;")
        );
    }

    #[test]
    fn a_turn_of_a_task_ends_at_its_part_of_the_day_and_a_persons_own_does_not() {
        let budgets = Budgets { day: limit(|b| b.input_tokens = Some(100)), ..Budgets::default() };
        let by_tasks =
            Used { day: spent(|s| s.input_tokens = 60), tasks: Some(spent(|s| s.input_tokens = 50)), ..Used::default() };
        let exceeded = check(&budgets, &by_tasks).unwrap();
        assert_eq!((exceeded.scope, exceeded.limit), (Scope::Tasks, 50));
        let told = exceeded.to_string();
        assert!(told.contains("the rest is left for you (`tasks.percent_of_day`)") && told.contains("midnight UTC"), "{told}");
        assert_eq!(check(&budgets, &Used { tasks: None, ..by_tasks }), None);
        let by_person =
            Used { day: spent(|s| s.input_tokens = 90), tasks: Some(spent(|s| s.input_tokens = 49)), ..Used::default() };
        assert_eq!(check(&budgets, &by_person), None, "what a person used is not counted against tasks");
    }

    #[test]
    fn a_limit_of_money_stops_a_model_of_unknown_price_and_only_then() {
        let budgets = Budgets { day: limit(|b| b.money_micros = Some(1_000_000)), ..Budgets::default() };
        let used = Used { turn: spent(|s| s.unpriced = 1), ..Used::default() };
        let exceeded = check(&budgets, &used).unwrap();
        assert_eq!((exceeded.scope, exceeded.what), (Scope::Day, What::UnknownPrice));
        assert!(exceeded.to_string().contains("the price of the model is not known. Set the model's rate"), "{exceeded}");
        assert_eq!(check(&Budgets::default(), &used), None);
        let earlier = Used { day: spent(|s| s.unpriced = 9), ..Used::default() };
        assert_eq!(check(&budgets, &earlier), None, "what was asked before the rate was set stops nothing");
    }

    #[test]
    fn the_third_identical_call_is_warned_about_and_the_fifth_ends_the_turn() {
        let call = |arguments: &str| ("execute_sql".to_owned(), arguments.to_owned());
        let judged = |previous: &[(String, String)]| repetition(previous, "execute_sql", r#"{"a": 1, "b": 2}"#);
        let mut previous = vec![("restart".to_owned(), r#"{"a":1,"b":2}"#.to_owned()), call(r#"{"a":2}"#)];
        assert_eq!(judged(&previous), Repetition::None);
        for expected in [Repetition::None, Repetition::Warn(3), Repetition::Warn(4), Repetition::Stop(5), Repetition::Stop(6)] {
            previous.push(call(r#"{"b":2,"a":1}"#)); // keys in another order are the same arguments
            assert_eq!(judged(&previous), expected);
        }
    }

    #[test]
    fn arguments_that_are_no_json_repeat_too() {
        let previous = vec![("restart".to_owned(), "{oops".to_owned()); 2];
        assert_eq!(repetition(&previous, "restart", " {oops"), Repetition::Warn(3));
    }
}
