//! What an event becomes in the log of its turn.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::domain::{Event, EventRecord, OperationState, Outcome, StepId, ToolCallId, TurnId, TurnState};

/// The controller's own name where a model's name stands.
const CONTROLLER: &str = "level3";

/// What is known of an event besides what stands in it.
#[derive(Default)]
pub(super) struct Beside {
    /// What turns react to.
    pub(super) inputs: HashMap<TurnId, String>,
}

/// One line. An event makes up to three, which share its number.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Line {
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

/// The lines of an event; none for one that is not about a turn, or says nothing new about it.
pub(super) fn lines(record: &EventRecord, beside: &Beside) -> Vec<Line> {
    let Some((turn, step, call, said)) = told(&record.event, beside) else { return Vec::new() };
    let line = |(at, Said { event, body, words })| Line {
        event,
        at: record.at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
        conversation: record.conversation.0,
        turn,
        seq: record.sequence,
        part: at,
        step,
        call,
        body,
        words,
    };
    (1..).zip(said).map(line).collect()
}

struct Said {
    event: &'static str,
    body: Value,
    words: String,
}

fn say(event: &'static str, body: Value, words: impl Into<String>) -> Said {
    Said { event, body, words: words.into() }
}

type Told = (TurnId, Option<StepId>, Option<ToolCallId>, Vec<Said>);

fn told(event: &Event, beside: &Beside) -> Option<Told> {
    Some(match event {
        Event::TurnStarted { turn, fence } => {
            let input = beside.inputs.get(turn);
            let words = input.map_or_else(|| format!("taken up again, the {fence}. time"), Clone::clone);
            (*turn, None, None, vec![say("task_started", json!({ "attempt": fence, "input": input }), words)])
        }
        Event::TurnSteered { turn, message, content, .. } => {
            (*turn, None, None, vec![say("task_steered", json!({ "message": message, "input": content }), content.as_str())])
        }
        Event::SteeringShown { turn, step, messages } => {
            let words = format!("step {step} sees what was said meanwhile");
            (*turn, None, None, vec![say("steering_shown", json!({ "number": step, "messages": messages }), words)])
        }
        Event::StepAnswered { turn, step, number, model, finish_reason, usage, content, last, unproven, .. } => {
            let limit = model == CONTROLLER && finish_reason == "limit";
            let event = if limit { "limit_exceeded" } else { "planner_output" };
            let mut body = json!({ "number": number, "model": model, "finish_reason": finish_reason, "usage": usage,
                "reasoning": content, "done": last });
            if *unproven {
                body["unproven"] = json!(true);
            }
            (*turn, Some(*step), None, vec![say(event, body, content.as_str())])
        }
        Event::AnswerBrokenOff { turn, model, usage, counted, .. } => {
            let body = json!({ "model": model, "usage": usage, "counted": counted });
            (*turn, None, None, vec![say("planner_error", body, format!("an answer of {model} broke off"))])
        }
        Event::ToolCallProposed { turn, step, call, request, .. } => {
            let action = json!({ "name": request.name, "arguments": request.arguments });
            let words = format!("{} {}", request.name, request.arguments);
            (*turn, Some(*step), Some(*call), vec![say("planner_output", json!({ "action": action, "done": false }), words)])
        }
        Event::ProposalClassified { turn, call, classification, answered } => {
            let words = json!(classification).to_string();
            let mut body = json!(classification);
            body["answered"] = json!(answered);
            (*turn, None, Some(*call), vec![say("governor_output", body, words)])
        }
        Event::ApprovalRequested { turn, call, approval, shown, expires_at, .. } => {
            let body = json!({ "approval": approval, "name": shown.tool, "what": shown.what, "why": shown.why,
                "expires_at": expires_at });
            let words = format!("{}: {}", shown.tool, shown.what.join(" "));
            (*turn, None, Some(*call), vec![say("confirmation_required", body, words)])
        }
        Event::ApprovalDecided { turn, call, approval, state, channel, reason, .. } => {
            let body = json!({ "approval": approval, "decision": state, "channel": channel, "reason": reason });
            (*turn, None, Some(*call), vec![say("decision", body, format!("{state} by {channel}"))])
        }
        Event::OperationRecorded { turn, call, ordinal, power, class, request, state, .. } => {
            let event = match state {
                OperationState::Intended => "execution_started",
                OperationState::Done => "execution_result",
                OperationState::Failed | OperationState::Unknown => "execution_error",
            };
            let body = json!({ "operation": ordinal, "power": power, "class": class, "request": request, "state": state });
            (*turn, None, Some(*call), vec![say(event, body, format!("operation {ordinal}, {power}: {state}"))])
        }
        Event::ToolCallEnded { turn, call, name, outcome, verdict, .. } => {
            (*turn, None, Some(*call), ended(name, outcome, verdict.as_deref()))
        }
        Event::CallUndone { turn, call, rows } => {
            let words = format!("the person put back {rows} rows");
            (*turn, None, Some(*call), vec![say("call_undone", json!({ "rows": rows }), words)])
        }
        Event::TurnEnded { turn, state, reason, failure, retry_after: _ } => {
            let event = if *state == TurnState::Completed { "task_completed" } else { "task_aborted" };
            let words = reason.clone().unwrap_or_default();
            (*turn, None, None, vec![say(event, json!({ "state": state, "reason": reason, "failure": failure }), words)])
        }
        Event::TurnQueued { .. }
        | Event::TurnResumed { .. }
        | Event::TaskChanged { .. }
        | Event::TasksFired { .. }
        | Event::TasksHeld { .. }
        | Event::CapabilityInstalled { .. }
        | Event::CapabilityChanged { .. } => return None,
    })
}

/// A call's end says what the law had said, since that is recorded with it. What a person decided stands in a line of its own.
fn ended(name: &str, outcome: &Outcome, verdict: Option<&str>) -> Vec<Said> {
    let decision = |verdict: &str| say("decision", json!({ "name": name, "decision": verdict }), format!("{name}: {verdict}"));
    let result = json!({ "name": name, "ok": outcome.ok, "result": outcome.result, "logs": outcome.logs });
    let event = if outcome.ok { "execution_result" } else { "execution_error" };
    let result = say(event, result, format!("{name}: {}", outcome.result));
    let started = || say("execution_started", json!({ "name": name }), name);
    match verdict {
        Some("ask") => vec![started(), result],
        Some("deny") => vec![decision("deny"), result],
        Some(verdict) => vec![decision(verdict), started(), result],
        // It was closed with its turn.
        None => vec![result],
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::domain::ConversationId;

    fn names(event: Event, beside: &Beside) -> Vec<&'static str> {
        let record = EventRecord { conversation: ConversationId(1), sequence: 9, at: DateTime::UNIX_EPOCH, event };
        let lines = lines(&record, beside);
        assert!(lines.iter().all(|line| line.seq == 9 && line.turn == TurnId(2)));
        assert!(lines.iter().map(|line| line.part).eq(1..=lines.len()));
        lines.into_iter().map(|line| line.event).collect()
    }

    #[test]
    fn a_call_says_what_the_law_had_said_of_it() {
        let ended = |ok, verdict: Option<&str>| Event::ToolCallEnded {
            turn: TurnId(2),
            call: ToolCallId(3),
            name: "restart".into(),
            outcome: if ok { Outcome::ok("") } else { Outcome::failed("no") },
            verdict: verdict.map(str::to_owned),
            approval: None,
            kept: None,
        };
        let names = |event| names(event, &Beside::default());
        assert_eq!(names(ended(true, Some("allow"))), ["decision", "execution_started", "execution_result"]);
        assert_eq!(names(ended(false, Some("ask"))), ["execution_started", "execution_error"]);
        assert_eq!(names(ended(false, Some("deny"))), ["decision", "execution_error"]);
        assert_eq!(names(ended(false, None)), ["execution_error"]);
    }

    #[test]
    fn words_of_the_controller_at_a_limit_are_no_plan() {
        let answered = |model: &str, finish_reason: &str| Event::StepAnswered {
            turn: TurnId(2),
            step: StepId(1),
            number: 1,
            model: model.into(),
            finish_reason: finish_reason.into(),
            usage: None,
            content: "c".into(),
            last: true,
            cost_micros: None,
            unproven: false,
        };
        assert_eq!(names(answered("level3", "limit"), &Beside::default()), ["limit_exceeded"]);
        assert_eq!(names(answered("m", "limit"), &Beside::default()), ["planner_output"]);
    }
}
