//! The lines of an event in the log of its turn, with their place there.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;

use crate::domain::{StepId, ToolCallId, TurnId};
use crate::facts::{About, Event, EventRecord, LogLine};

/// One line. An event makes up to three, which share its number.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct TurnLogLine {
    pub(super) event: &'static str,
    pub(super) at: String,
    pub(super) conversation: i64,
    pub(super) turn: TurnId,
    pub(super) seq: i64,
    /// Counts the lines of one event, from 1.
    pub(super) part: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) step: Option<StepId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<ToolCallId>,
    #[serde(flatten)]
    pub(super) body: Value,
    /// The same in a few words, for a person.
    #[serde(skip)]
    pub(super) words: String,
}

/// The texts that lines need and their own events do not say.
#[derive(Debug, Default)]
pub(super) struct LineInputs {
    /// The words that turns react to.
    pub(super) turns: HashMap<TurnId, String>,
    /// The texts of steps, which are the reasoning of their calls.
    pub(super) steps: HashMap<StepId, String>,
}

/// The lines of an event; none for one that is not about a turn, or says nothing new about it.
pub(super) fn lines(record: &EventRecord, inputs: &LineInputs) -> Vec<TurnLogLine> {
    let About { turn: Some(turn), step, call } = record.event.about() else { return Vec::new() };
    let line = |(part, LogLine { event, body, words })| TurnLogLine {
        event,
        at: record.at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
        conversation: record.conversation.0,
        turn,
        seq: record.sequence,
        part,
        step,
        call,
        body,
        words,
    };
    let input = match (&record.event, step) {
        (Event::ToolCallProposed(_), Some(step)) => inputs.steps.get(&step),
        _ => inputs.turns.get(&turn),
    };
    (1..).zip(record.event.log(input.map(String::as_str))).map(line).collect()
}

#[cfg(test)]
mod tests;
