//! Tool calls: proposed, classified, ended, undone.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::approval::APPROVALS;
use super::campaign::ScriptRan;
use super::fact::{Fact, LogLine, Reading, line};
use super::message::message_row;
use super::rows::Table;
use super::said::said;
use crate::domain::{
    ApprovalId, CallRequest, CallState, Classification, Machine, Outcome, Role, StepId, ToolCallId, TurnId, as_written,
};
use crate::wire::ServerFrame;

/// The law's word about a call that is not to run.
pub const DENIED: &str = "deny";

/// The calls that models asked for.
pub(super) static TOOL_CALLS: Table = Table::all("tool_calls", "tool_call_id::text");
/// The law's words on them. The fingerprint of a proposal stands in no event.
pub(super) static AUDIT_ENTRIES: Table = Table {
    unsaid: &["audit_entry_id", "proposal_sha256"],
    // A call that a person had put back has one entry more, beside the one of its end.
    rows: "tool = (SELECT name FROM tool_calls k WHERE k.tool_call_id = audit_entries.tool_call_id)",
    // The ledger says of which operations nobody knows whether they happened.
    instead: &[(
        "outcome",
        "CASE outcome WHEN 'unknown' THEN (SELECT state FROM tool_calls k WHERE k.tool_call_id = audit_entries.tool_call_id) ELSE outcome END",
    )],
    ..Table::all("audit_entries", "tool_call_id::text")
};

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
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, step, call, request: CallRequest { id, name, arguments }, position } = self;
        to.rows(|at| {
            let row = json!({
                "tool_call_id": call, "turn_id": turn, "step_id": step, "position": position, "request_id": id, "name": name,
                "arguments": arguments, "state": CallState::FIRST, "logs": [], "created_at": at.time,
            });
            [TOOL_CALLS.set(call, row)]
        })
        .frame(|_| ServerFrame::ToolCall { name: name.clone(), arguments: as_written(arguments), call: *call, turn: *turn })
        .log(|reasoning| {
            // In the form of a planner's output; its reasoning stands in the line of the step
            // before.
            let body =
                json!({ "action": { "name": name, "arguments": as_written(arguments) }, "reasoning": reasoning, "done": false });
            [line("planner_output", body, format!("{name} {arguments}"))]
        })
        .print(|| (format!("call {call} of {name} proposed"), arguments));
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
    /// True if the action is recorded for that: one of the operator's whose risk is high.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recorded: bool,
}

impl Fact for ProposalClassified {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, call, classification, answered, recorded } = *self;
        to.rows(|_| [TOOL_CALLS.set(call, json!({ "classification": classification }))])
            .frame(|_| answered.then_some(ServerFrame::Classified { call, turn, classification }))
            .log(|_| {
                let body = json!(classification);
                let words = body.to_string();
                let recording = recorded.then(|| {
                    let file = format!("recordings/turn-{turn}/call-{call}.json");
                    line("decision", json!({ "decision": "record", "recording": file }), format!("record, in {file}"))
                });
                [line("governor_output", body, words)].into_iter().chain(recording)
            })
            .print(|| {
                let how = if answered { "classified" } else { "not classified, so the strictest is taken" };
                (format!("call {call} {how}"), json!(classification).to_string())
            });
    }
}

/// A call that the law allows begins. The operator's say it: its log is to have it, whatever is
/// killed in the middle. So do those of a campaign that reach outside the database: if one is cut,
/// what was under way is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallBegun {
    /// The turn.
    pub turn: TurnId,
    /// The tool call.
    pub call: ToolCallId,
    /// The tool's name.
    pub name: String,
    /// The law's word: `allow`, or `ask` if a person allowed it.
    pub verdict: String,
    /// The approval context of a campaign that allowed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<i64>,
    /// The run of a campaign's script that begins, as it is recorded if it is cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<ScriptRan>,
}

impl Fact for CallBegun {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn: _, call, name, verdict, context: _, run: _ } = self;
        to.log(|_| decided(name, verdict).into_iter().chain([started(name)]))
            .print(|| (format!("call {call} of {name} begins"), format!("verdict {verdict}")));
    }
}

/// The law's own decision. A person's stands in a line of its own.
fn decided(name: &str, verdict: &str) -> Option<LogLine> {
    let line = || line("decision", json!({ "name": name, "decision": verdict }), format!("{name}: {verdict}"));
    (verdict != "ask").then(line)
}

fn started(name: &str) -> LogLine {
    line("execution_started", json!({ "name": name }), name)
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
    /// The approval by which it was decided. One that allowed it is used up now.
    #[serde(default)]
    pub approval: Option<ApprovalId>,
    /// How many rows that it deleted or overwrote can be put back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<i64>,
}

impl ToolCallEnded {
    /// The outcome in a sentence for a person.
    pub fn said(&self) -> String {
        said(&self.name, &self.outcome, self.verdict.as_deref())
    }
}

impl Fact for ToolCallEnded {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, call, name, outcome: Outcome { ok, result, logs, refusal, account }, verdict, approval, kept } = self;
        to.rows(|at| {
            let state = CallState::after(self.outcome.input());
            let row = json!({ "state": state, "logs": logs, "ended_at": at.time, "refusal": refusal, "ms": account.ms });
            let told = message_row(at, format!("tool/{call}"), *turn, Role::Tool, result, json!({ "tool_call_id": call }));
            let allowed = approval.filter(|_| verdict.as_deref() != Some(DENIED));
            let used = allowed.map(|approval| APPROVALS.set(approval, json!({ "used_at": at.time })));
            let audited = verdict.as_ref().map(|verdict| {
                AUDIT_ENTRIES.set(
                    call,
                    json!({
                        "turn_id": turn, "tool_call_id": call, "tool": name, "verdict": verdict, "outcome": state, "approval_id": approval,
                        "created_at": at.time,
                    }),
                )
            });
            [TOOL_CALLS.set(call, row), told].into_iter().chain(used).chain(audited)
        })
        .frame(|_| {
            let said = self.said();
            let fault = account.fault.clone().filter(|fault| fault.line.is_some() || !said.contains(fault.message.trim()));
            ServerFrame::ToolResult {
                name: name.clone(),
                result: result.clone(),
                ok: *ok,
                logs: logs.clone(),
                ms: account.ms,
                version: account.version,
                columns: account.columns.clone(),
                total: account.total,
                fault,
                said,
                uncertain: account.uncertain,
                refusal: *refusal,
                kept: *kept,
                call: *call,
                turn: *turn,
            }
        })
        .log(|_| {
            let came = if *ok { "execution_result" } else { "execution_error" };
            let body = json!({ "name": name, "ok": ok, "result": result, "logs": logs });
            // The verdict is recorded with the end, unless the beginning said it. A call without
            // one was closed with its turn.
            let verdict = verdict.as_deref().filter(|_| !account.begun);
            let decision = verdict.and_then(|verdict| decided(name, verdict));
            let started = verdict.filter(|verdict| *verdict != DENIED).map(|_| started(name));
            decision.into_iter().chain(started).chain([line(came, body, format!("{name}: {result}"))])
        })
        .print(|| {
            let verdict = match (verdict, approval) {
                (Some(verdict), Some(approval)) if verdict == DENIED => format!("verdict {verdict}, approval {approval}"),
                (Some(verdict), Some(approval)) => format!("verdict {verdict}, approval {approval} used"),
                (Some(verdict), None) => format!("verdict {verdict}"),
                (None, _) => "never judged".to_owned(),
            };
            let came = if *ok { "done" } else { "failed" };
            let logged: String = logs.iter().map(|line| format!("\nlogged: {line}")).collect();
            (format!("call {call} of {name} {came} ({verdict})"), format!("{result}{logged}"))
        });
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
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, call, rows } = *self;
        to.rows(|at| [TOOL_CALLS.set(call, json!({ "undone_at": at.time }))])
            .frame(|_| ServerFrame::Undone { call, turn, rows })
            .log(|_| [line("call_undone", json!({ "rows": rows }), format!("the person put back {rows} rows"))])
            .print(|| (format!("call {call} undone, {rows} rows put back"), ""));
    }
}
