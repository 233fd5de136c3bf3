//! The arguments of the six tools. A field's description is for models.

use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::relay::{MOST_TEXT_OUT, RelayTodoStatus};
use crate::domain::{Refusal, seen_name};

/// The shortest and the longest time until a follow-up, in seconds.
const DELAYS: std::ops::RangeInclusive<i64> = 60..=30 * 24 * 3_600;
/// The most characters of a reason.
const MOST_REASON: usize = 1_000;

/// Arguments of `send_message`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SendMessage {
    /// The words.
    #[schemars(description = "The whole message, as the contact reads it")]
    pub text: String,
}

/// Arguments of `mark_todo_item`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MarkTodoItem {
    /// The to-do.
    #[schemars(with = "i64", description = "The id of the to-do")]
    pub todo_id: Value,
    /// How far it is.
    #[schemars(with = "String", description = "pending, in_progress, done or skipped")]
    pub status: RelayTodoStatus,
}

/// Arguments of `end_conversation`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndConversation {
    /// Why.
    #[schemars(description = "What came of it, for the person who ordered this conversation")]
    pub reason: String,
}

/// Arguments of `schedule_next_heartbeat`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleNextHeartbeat {
    /// How long.
    #[schemars(
        with = "String",
        description = "How long to wait for an answer before a follow-up, such as 45m, 2h or 3d: 1m to 30d"
    )]
    pub delay: Value,
}

/// Arguments of `place_call`: none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoCall {}

/// Arguments of `request_human_intervention`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestHumanIntervention {
    /// Why.
    #[schemars(description = "Why a person has to go on")]
    pub reason: String,
}

impl SendMessage {
    /// The words as they are sent.
    ///
    /// # Errors
    /// If there are none, or too many.
    pub fn checked(self) -> Result<String, Refusal> {
        let text = seen_name(&self.text);
        match text.chars().count() {
            0 => Err(Refusal::arguments("`text` is empty: write what the contact is to read")),
            long if long > MOST_TEXT_OUT => Err(Refusal::arguments(format!(
                "`text` has {long} characters; {MOST_TEXT_OUT} is the most: write less, or two messages"
            ))),
            _ => Ok(text.to_owned()),
        }
    }
}

impl MarkTodoItem {
    /// The number of the to-do, also if a model wrote it as a text.
    ///
    /// # Errors
    /// If it is no number.
    pub fn id(&self) -> Result<i64, Refusal> {
        let read = self.todo_id.as_i64().or_else(|| self.todo_id.as_str()?.trim().trim_start_matches('#').parse().ok());
        read.ok_or_else(|| Refusal::arguments("`todo_id` is a whole number, one of the ids of your to-dos"))
    }
}

impl ScheduleNextHeartbeat {
    /// The seconds.
    ///
    /// # Errors
    /// If it cannot be read, or is too short or too long.
    pub fn seconds(&self) -> Result<i32, Refusal> {
        let refused = || Refusal::arguments("`delay` is a time from 1m to 30d, such as 45m, 2h or 3d");
        let seconds = match &self.delay {
            // A bare number is minutes: the document speaks of minutes.
            Value::Number(minutes) => minutes.as_i64().and_then(|minutes| minutes.checked_mul(60)),
            Value::String(text) => seconds_of(text),
            _ => None,
        };
        let seconds = seconds.filter(|seconds| DELAYS.contains(seconds)).ok_or_else(refused)?;
        i32::try_from(seconds).map_err(|_| refused())
    }
}

/// The seconds of a text like `45m`, `2 hours` or `90` minutes.
fn seconds_of(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: i64 = digits.parse().ok()?;
    let span = match text[digits.len()..].trim() {
        "s" | "sec" | "second" | "seconds" => TimeDelta::try_seconds(number),
        "" | "m" | "min" | "minute" | "minutes" => TimeDelta::try_minutes(number),
        "h" | "hour" | "hours" => TimeDelta::try_hours(number),
        "d" | "day" | "days" => TimeDelta::try_days(number),
        _ => None,
    };
    Some(span?.num_seconds())
}

/// A reason as it is kept.
///
/// # Errors
/// If it is empty.
pub fn reason(written: &str) -> Result<String, Refusal> {
    let reason: String = seen_name(written).chars().take(MOST_REASON).collect();
    if reason.is_empty() { Err(Refusal::arguments("`reason` is empty: say why in a sentence")) } else { Ok(reason) }
}

#[cfg(test)]
mod tests;
