//! Budgets: how much a profile may use up, and how much it used. `governor` says what happens at a
//! limit.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::domain::misfit;

/// Limits of one span. `None`: no limit of this kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Model requests.
    pub steps: Option<u64>,
    /// Seconds since a runner last took the turn up, so that waiting for a person does not count.
    /// Only a turn has this limit.
    pub wall_seconds: Option<u64>,
    /// Tokens read by models.
    pub input_tokens: Option<u64>,
    /// Tokens written by models.
    pub output_tokens: Option<u64>,
    /// Tokens read and written together, by planner and governor alike.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Millionths of a dollar.
    pub money_micros: Option<u64>,
    /// Tool calls; failed, refused and repeated ones count, too.
    pub tool_calls: Option<u64>,
}

/// The limits of turns that tasks begin: nobody need be there for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskBudget {
    /// Turns that begin within an hour, in all conversations together. Due tasks beyond that wait.
    pub turns_per_hour: Option<u64>,
    /// How much of each limit of the day they may use together, in percent; the rest is for a
    /// person's own turns.
    pub percent_of_day: Option<u64>,
}

impl Default for TaskBudget {
    fn default() -> Self {
        Self { turns_per_hour: Some(30), percent_of_day: Some(50) }
    }
}

/// The budgets of a profile.
///
/// In JSON, a field that is missing keeps its default, and `null` means no limit: a budget is given
/// up only in so many words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct Budgets {
    /// One turn. If it sets no limit of steps, `MAX_TOOL_ITERATIONS` is the limit.
    pub turn: Budget,
    /// One conversation, from its beginning.
    pub conversation: Budget,
    /// All conversations together since midnight, UTC.
    pub day: Budget,
    /// Turns that tasks begin.
    #[serde(default)]
    pub tasks: TaskBudget,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            turn: Budget { wall_seconds: Some(30 * 60), tool_calls: Some(60), ..Budget::default() },
            conversation: Budget::default(),
            day: Budget { input_tokens: Some(5_000_000), output_tokens: Some(1_000_000), ..Budget::default() },
            tasks: TaskBudget::default(),
        }
    }
}

impl Budgets {
    /// The part of the day's budget for turns that tasks begin.
    pub fn day_of_tasks(&self) -> Budget {
        let share = |limit: Option<u64>| match (limit, self.tasks.percent_of_day) {
            (Some(limit), Some(percent)) => Some(limit / 100 * percent + limit % 100 * percent / 100),
            (limit, _) => limit,
        };
        let Budget { steps, wall_seconds, input_tokens, output_tokens, tokens, money_micros, tool_calls } = self.day;
        Budget {
            steps: share(steps),
            wall_seconds,
            input_tokens: share(input_tokens),
            output_tokens: share(output_tokens),
            tokens: share(tokens),
            money_micros: share(money_micros),
            tool_calls: share(tool_calls),
        }
    }
}

impl Spent {
    /// Tokens read and written together.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

fn misfit_of(span: &str, error: &serde_json::Error) -> String {
    format!("`{span}`: {}", misfit(&error.to_string()))
}

impl TryFrom<Value> for Budgets {
    type Error = String;

    fn try_from(given: Value) -> Result<Self, String> {
        let Value::Object(given) = given else { return Err("budgets are an object with turn, conversation, day, tasks".into()) };
        let mut whole = json!(Self::default());
        for (span, limits) in given {
            let Some(of_span) = whole.get_mut(&span).and_then(Value::as_object_mut) else {
                return Err(format!("`{span}` is none of: turn, conversation, day, tasks"));
            };
            let Value::Object(limits) = limits else { return Err(format!("`{span}` must be an object of limits")) };
            of_span.extend(limits);
        }
        let tasks: TaskBudget = serde_json::from_value(whole["tasks"].take()).map_err(|error| misfit_of("tasks", &error))?;
        if tasks.percent_of_day.is_some_and(|percent| percent > 100) {
            return Err("`tasks`: percent_of_day is 100 at most".into());
        }
        let mut read = |span: &str| {
            let budget: Budget = serde_json::from_value(whole[span].take()).map_err(|error| misfit_of(span, &error))?;
            if span != "turn" && budget.wall_seconds.is_some() {
                return Err(format!("`{span}`: wall_seconds is a limit of a turn only"));
            }
            Ok(budget)
        };
        Ok(Self { turn: read("turn")?, conversation: read("conversation")?, day: read("day")?, tasks })
    }
}

/// The amounts used up in one span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// Model requests of steps. Requests to a governor count in tokens and money, not here.
    pub steps: u64,
    /// Seconds; 0 for everything but a turn.
    pub wall_seconds: u64,
    /// Tokens read, as providers counted; a request without a count adds nothing, unless it is
    /// the operator's: then it is estimated.
    pub input_tokens: u64,
    /// Tokens written, counted likewise.
    pub output_tokens: u64,
    /// Millionths of a dollar, of the requests whose price is known.
    pub money_micros: u64,
    /// Requests without a known price.
    pub unpriced: u64,
    /// Tool calls that have their outcome.
    pub tool_calls: u64,
}

/// The amounts used up in every span that a turn counts in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Used {
    /// In the turn.
    pub turn: Spent,
    /// In its conversation.
    pub conversation: Spent,
    /// On this day.
    pub day: Spent,
    /// On this day by turns that tasks began, if this is one of them.
    pub tasks: Option<Spent>,
}

#[cfg(test)]
mod tests;
