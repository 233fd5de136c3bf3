//! Tool calls: proposed, classified, ended, undone.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fact::{Fact, LogLine};
use super::message::message;
use super::rows::{Change, Stamp, Table};
use crate::domain::{ApprovalId, CallRequest, CallState, Classification, Machine, Outcome, Role, StepId, ToolCallId, TurnId};
use crate::wire::ServerFrame;

use super::approval::APPROVALS;

/// The calls that models asked for.
pub(super) static TOOL_CALLS: Table = Table::all("tool_calls", "tool_call_id::text");

/// The answer asked for a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCallProposed {
    /// The turn.
    pub turn: TurnId,
    /// The step that asked.
    pub step: StepId,
    /// The new tool call.
    pub call: ToolCallId,
    /// The tool and its arguments, as the model wrote them.
    pub request: CallRequest,
    /// Its place among the calls of the step, from 0.
    #[serde(default)]
    pub position: i32,
}

impl Fact for ToolCallProposed {
    fn changes(&self, at: &Stamp) -> Vec<Change> {
        let CallRequest { id, name, arguments } = &self.request;
        let row = json!({
            "tool_call_id": self.call, "turn_id": self.turn, "step_id": self.step, "position": self.position, "request_id": id,
            "name": name, "arguments": arguments, "state": CallState::FIRST, "logs": [], "created_at": at.time,
        });
        vec![TOOL_CALLS.set(self.call, row)]
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        let CallRequest { name, arguments, .. } = &self.request;
        let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.clone()));
        Some(ServerFrame::ToolCall { name: name.clone(), arguments, call: self.call, turn: self.turn })
    }

    fn log(&self, _input: Option<&str>) -> Vec<LogLine> {
        let CallRequest { name, arguments, .. } = &self.request;
        let body = json!({ "action": { "name": name, "arguments": arguments }, "done": false });
        vec![LogLine::new("planner_output", body, format!("{name} {arguments}"))]
    }

    fn headline(&self) -> Option<(String, String)> {
        Some((format!("call {} of {} proposed", self.call, self.request.name), self.request.arguments.clone()))
    }
}

/// A second model classified a proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposalClassified {
    /// The turn.
    pub turn: TurnId,
    /// The tool call.
    pub call: ToolCallId,
    /// Its classification; the strictest there is if it gave no answer that could be read.
    pub classification: Classification,
    /// True when it gave an answer that could be read.
    pub answered: bool,
}

impl Fact for ProposalClassified {
    fn changes(&self, _at: &Stamp) -> Vec<Change> {
        vec![TOOL_CALLS.set(self.call, json!({ "classification": self.classification }))]
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        Some(ServerFrame::Classified { call: self.call, turn: self.turn, classification: self.classification })
    }

    fn log(&self, _input: Option<&str>) -> Vec<LogLine> {
        let mut body = json!(self.classification);
        let words = body.to_string();
        body["answered"] = json!(self.answered);
        vec![LogLine::new("governor_output", body, words)]
    }

    fn headline(&self) -> Option<(String, String)> {
        let how = if self.answered { "classified" } else { "not classified, so the strictest is taken" };
        Some((format!("call {} {how}", self.call), json!(self.classification).to_string()))
    }
}

/// A tool call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCallEnded {
    /// The turn.
    pub turn: TurnId,
    /// The tool call.
    pub call: ToolCallId,
    /// The tool's name.
    pub name: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The law's word: `allow`, `ask` or `deny`; `None` when it was never judged.
    #[serde(default)]
    pub verdict: Option<String>,
    /// The approval that allowed it and is used up now.
    #[serde(default)]
    pub approval: Option<ApprovalId>,
    /// How many rows that it deleted or overwrote can be put back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<i64>,
}

impl Fact for ToolCallEnded {
    fn changes(&self, at: &Stamp) -> Vec<Change> {
        let Self { turn, call, outcome, approval, .. } = self;
        let state = CallState::after(outcome.input());
        let row = json!({ "state": state, "logs": outcome.logs, "ended_at": at.time, "refusal": outcome.refusal });
        let also = json!({ "tool_call_id": call });
        let told = message(at, format!("tool/{call}"), *turn, Role::Tool, &outcome.result, also);
        let used = approval.map(|approval| APPROVALS.set(approval, json!({ "used_at": at.time })));
        [TOOL_CALLS.set(call, row), told].into_iter().chain(used).collect()
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        let Outcome { ok, result, logs, refusal: _ } = self.outcome.clone();
        Some(ServerFrame::ToolResult { name: self.name.clone(), result, ok, logs, kept: self.kept, call: self.call, turn: self.turn })
    }

    /// It says what the law had said, since that is recorded with it. A person's decision stands in a line of its own.
    fn log(&self, _input: Option<&str>) -> Vec<LogLine> {
        let Self { name, outcome, .. } = self;
        let decision =
            |verdict: &str| LogLine::new("decision", json!({ "name": name, "decision": verdict }), format!("{name}: {verdict}"));
        let result = json!({ "name": name, "ok": outcome.ok, "result": outcome.result, "logs": outcome.logs });
        let event = if outcome.ok { "execution_result" } else { "execution_error" };
        let result = LogLine::new(event, result, format!("{name}: {}", outcome.result));
        let started = || LogLine::new("execution_started", json!({ "name": name }), &**name);
        match self.verdict.as_deref() {
            Some("ask") => vec![started(), result],
            Some("deny") => vec![decision("deny"), result],
            Some(verdict) => vec![decision(verdict), started(), result],
            // It was closed with its turn.
            None => vec![result],
        }
    }

    fn headline(&self) -> Option<(String, String)> {
        let Outcome { ok, result, logs, .. } = &self.outcome;
        let verdict = match (&self.verdict, self.approval) {
            (Some(verdict), Some(approval)) => format!("verdict {verdict}, approval {approval} used"),
            (Some(verdict), None) => format!("verdict {verdict}"),
            (None, _) => "never judged".to_owned(),
        };
        let came = if *ok { "done" } else { "failed" };
        let logged: String = logs.iter().map(|line| format!("\nlogged: {line}")).collect();
        Some((format!("call {} of {} {came} ({verdict})", self.call, self.name), format!("{result}{logged}")))
    }
}

/// A person put back what a call had deleted or overwritten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallUndone {
    /// The turn.
    pub turn: TurnId,
    /// The tool call.
    pub call: ToolCallId,
    /// How many rows were put back.
    pub rows: i64,
}

impl Fact for CallUndone {
    fn changes(&self, at: &Stamp) -> Vec<Change> {
        vec![TOOL_CALLS.set(self.call, json!({ "undone_at": at.time }))]
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        Some(ServerFrame::Undone { call: self.call, turn: self.turn, rows: self.rows })
    }

    fn log(&self, _input: Option<&str>) -> Vec<LogLine> {
        let words = format!("the person put back {} rows", self.rows);
        vec![LogLine::new("call_undone", json!({ "rows": self.rows }), words)]
    }

    fn headline(&self) -> Option<(String, String)> {
        Some((format!("call {} undone, {} rows put back", self.call, self.rows), String::new()))
    }
}
