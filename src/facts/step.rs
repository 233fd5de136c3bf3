//! Steps, and answers that broke off before they were one.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fact::{Fact, Reading, line};
use super::message::message_row;
use super::rows::Table;
use crate::domain::operator::with_note;
use crate::domain::{Role, StepId, TurnId, Usage};
use crate::wire::ServerFrame;

/// The reason of a step that a person stopped in the middle.
pub const STOPPED: &str = "stopped_by_user";

/// The controller's own name in place of a model's.
pub const CONTROLLER: &str = "level3";

/// The answers of models.
pub(super) static STEPS: Table = Table::all("steps", "step_id::text");

/// The cost of answers that never came to their end.
pub(super) static BROKEN_ANSWERS: Table = Table::all("broken_answers", "broken_answer_id::text");

/// A model answered; stored before any of its tool calls runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepAnswered {
    /// The turn.
    pub turn: TurnId,
    /// The new step.
    pub step: StepId,
    /// Counts from 1 inside the turn.
    pub number: i32,
    /// The model.
    pub model: String,
    /// Why it stopped, in the provider's word.
    pub finish_reason: String,
    /// The tokens it cost, if the provider said.
    pub usage: Option<Usage>,
    /// The text of the answer; may be empty beside tool calls.
    pub content: String,
    /// True when the turn ends with this text.
    pub last: bool,
    /// The cost at the rate of its day, in millionths of a dollar; `None` if that is unknown.
    #[serde(default)]
    pub cost_micros: Option<i64>,
    /// True when it claims something that nothing recorded in its turn shows: taken back if `last`
    /// is false, else shown with a mark.
    #[serde(default)]
    pub unproven: bool,
    /// The controller's words for the person behind the text, if the turn ends with it. They stand
    /// apart: a model that reads them among its own words repeats them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl StepAnswered {
    /// The text with its note, as a person reads it.
    pub fn said(&self) -> Cow<'_, str> {
        with_note(&self.content, self.note.as_deref())
    }
}

impl Fact for StepAnswered {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, step, number, model, finish_reason, usage, content, last, cost_micros, unproven, note } = self;
        to.rows(|at| {
            let tokens = |count: fn(Usage) -> u64| usage.map(count).map(|count| i64::try_from(count).unwrap_or(i64::MAX));
            let row = json!({
                "step_id": step, "turn_id": turn, "number": number, "model": model, "finish_reason": finish_reason,
                "input_tokens": tokens(|usage| usage.input), "output_tokens": tokens(|usage| usage.output),
                "cost_micros": cost_micros, "unproven": unproven, "note": note, "created_at": at.time,
            });
            let (key, also) = (format!("assistant/{step}"), json!({ "step_id": step }));
            [STEPS.set(step, row), message_row(at, key, *turn, Role::Assistant, content, also)]
        })
        .frame(|_| {
            let (content, stopped) = (self.said().into_owned(), finish_reason == STOPPED);
            (!content.trim().is_empty()).then_some(ServerFrame::Assistant {
                content,
                turn: *turn,
                step: *number,
                last: *last,
                stopped,
                unproven: *unproven,
            })
        })
        .log(|_| {
            if model == CONTROLLER && finish_reason == "limit" {
                return vec![line("limit_exceeded", json!({ "number": number, "reason": content }), content)];
            }
            let mut body = json!({ "number": number, "model": model, "finish_reason": finish_reason, "usage": usage });
            if *unproven {
                body["unproven"] = json!(true);
            }
            // An answer that was stopped or taken back is told in no other line.
            if !last && finish_reason != "tool_calls" {
                body["reasoning"] = json!(content);
            }
            let answered = line("model_answered", body, format!("{model} ({finish_reason})"));
            // An answer with calls is told with each of these, in the form of a planner's output.
            // The controller's words behind an order are a note, and there is no other text.
            let ends = if model == CONTROLLER { self.said() } else { Cow::Borrowed(content.as_str()) };
            let done = || line("planner_output", json!({ "action": null, "reasoning": ends, "done": true }), &*ends);
            let noted = note.iter().filter(|_| model != CONTROLLER);
            let noted = noted.map(|note| line("no_action", json!({ "note": note }), note));
            [answered].into_iter().chain(last.then(done)).chain(noted).collect::<Vec<_>>()
        })
        .print(|| {
            let tokens = usage.map(|usage| format!(", {} tokens read, {} written", usage.input, usage.output));
            let mark = match (unproven, last) {
                (false, _) => "",
                (true, false) => ", taken back: nothing recorded shows what it claims",
                (true, true) => ", nothing recorded shows what it claims",
            };
            (format!("step {number}, {model} answered ({finish_reason}{}){mark}", tokens.unwrap_or_default()), self.said())
        });
    }
}

/// An answer never came to its end, and the tokens it used up count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerBrokenOff {
    /// The turn.
    pub turn: TurnId,
    /// The number under which it is counted.
    pub answer: i64,
    /// The model that was asked.
    pub model: String,
    /// Tokens that the provider counted, else an estimate.
    pub usage: Usage,
    /// True if the provider counted.
    pub counted: bool,
    /// The cost at the rate of its day, in millionths of a dollar; `None` if that is unknown.
    pub cost_micros: Option<i64>,
}

impl Fact for AnswerBrokenOff {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, answer, model, usage, counted, cost_micros } = self;
        to.rows(|at| {
            let row = json!({
                "broken_answer_id": answer, "turn_id": turn, "model": model, "input_tokens": usage.input,
                "output_tokens": usage.output, "counted": counted, "cost_micros": cost_micros, "created_at": at.time,
            });
            [BROKEN_ANSWERS.set(answer, row)]
        })
        .log(|_| {
            let body = json!({ "model": model, "usage": usage, "counted": counted });
            [line("planner_error", body, format!("an answer of {model} broke off"))]
        })
        .print(|| {
            let how = if *counted { "as the provider counted" } else { "by its bytes" };
            let tokens = format!("{} tokens read, {} written, {how}", usage.input, usage.output);
            (format!("an answer of {model} broke off"), tokens)
        });
    }
}
