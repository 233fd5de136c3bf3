//! Steps, and answers that broke off before they were one.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fact::{Fact, LogLine};
use super::message::message;
use super::rows::{Change, Stamp, Table};
use crate::domain::{Role, StepId, TurnId, Usage};
use crate::wire::ServerFrame;

/// The reason of a step that a person stopped in the middle.
pub const STOPPED: &str = "stopped_by_user";

/// The controller's own name in place of a model's.
const CONTROLLER: &str = "level3";

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
    /// True when it claims something that nothing recorded in its turn shows: taken back if `last` is false, else shown with a mark.
    #[serde(default)]
    pub unproven: bool,
}

impl Fact for StepAnswered {
    fn changes(&self, at: &Stamp) -> Vec<Change> {
        let tokens = |count: fn(Usage) -> u64| self.usage.map(count).map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let row = json!({
            "step_id": self.step, "turn_id": self.turn, "number": self.number, "model": self.model,
            "finish_reason": self.finish_reason, "input_tokens": tokens(|usage| usage.input),
            "output_tokens": tokens(|usage| usage.output), "cost_micros": self.cost_micros, "unproven": self.unproven,
            "created_at": at.time,
        });
        let (key, also) = (format!("assistant/{}", self.step), json!({ "step_id": self.step }));
        vec![STEPS.set(self.step, row), message(at, key, self.turn, Role::Assistant, &self.content, also)]
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        (!self.content.trim().is_empty()).then(|| ServerFrame::Assistant {
            content: self.content.clone(),
            turn: self.turn,
            step: self.number,
            last: self.last,
            stopped: self.finish_reason == STOPPED,
            unproven: self.unproven,
        })
    }

    fn log(&self, _input: Option<&str>) -> Vec<LogLine> {
        let limit = self.model == CONTROLLER && self.finish_reason == "limit";
        let event = if limit { "limit_exceeded" } else { "planner_output" };
        let mut body = json!({ "number": self.number, "model": self.model, "finish_reason": self.finish_reason,
            "usage": self.usage, "reasoning": self.content, "done": self.last });
        if self.unproven {
            body["unproven"] = json!(true);
        }
        vec![LogLine::new(event, body, &*self.content)]
    }

    fn headline(&self) -> Option<(String, String)> {
        let Self { number, model, finish_reason, usage, .. } = self;
        let tokens = usage.map(|usage| format!(", {} tokens read, {} written", usage.input, usage.output)).unwrap_or_default();
        let mark = match (self.unproven, self.last) {
            (false, _) => "",
            (true, false) => ", taken back: nothing recorded shows what it claims",
            (true, true) => ", nothing recorded shows what it claims",
        };
        Some((format!("step {number}, {model} answered ({finish_reason}{tokens}){mark}"), self.content.clone()))
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
    fn changes(&self, at: &Stamp) -> Vec<Change> {
        let row = json!({
            "broken_answer_id": self.answer, "turn_id": self.turn, "model": self.model, "input_tokens": self.usage.input,
            "output_tokens": self.usage.output, "counted": self.counted, "cost_micros": self.cost_micros, "created_at": at.time,
        });
        vec![BROKEN_ANSWERS.set(self.answer, row)]
    }

    fn log(&self, _input: Option<&str>) -> Vec<LogLine> {
        let body = json!({ "model": self.model, "usage": self.usage, "counted": self.counted });
        vec![LogLine::new("planner_error", body, format!("an answer of {} broke off", self.model))]
    }

    fn headline(&self) -> Option<(String, String)> {
        let how = if self.counted { "as the provider counted" } else { "by its bytes" };
        let tokens = format!("{} tokens read, {} written, {how}", self.usage.input, self.usage.output);
        Some((format!("an answer of {} broke off", self.model), tokens))
    }
}
