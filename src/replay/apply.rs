//! What each event means for the projections. This is the definition that live code is compared with; it looks at nothing but the event.

use chrono::{DateTime, SubsecRound, Utc};
use serde_json::{Map, Value, json};

use crate::domain::{
    ApprovalState, CallState, Change, Event, EventRecord, Image, Machine, MessageId, Outcome, Projection, Role, Task, ToolCallId,
    TurnId, TurnInput, TurnState,
};

/// The rows that an event changes, and how.
pub fn apply(record: &EventRecord) -> Vec<Change> {
    let reached = json!({ "conversation_id": record.conversation, "last_sequence": record.sequence });
    let mut changes = vec![set(Projection::Conversations, record.conversation, reached)];
    changes.extend(changes_of(record));
    changes
}

fn changes_of(record: &EventRecord) -> Vec<Change> {
    let at = time(record.at);
    match &record.event {
        Event::TurnQueued { .. } => queued(record),
        Event::TurnSteered { turn, message, client_id, content, images, state: _ } => {
            let mut said = said(record, *turn, content, images);
            said.extend(fields(json!({ "steered": true, "client_id": client_id })));
            let message = set(Projection::Messages, steered(*message), Value::Object(said));
            kept(images).chain([message]).collect()
        }
        Event::SteeringShown { turn: _, step, messages } => {
            let shown = |message: &MessageId| set(Projection::Messages, steered(*message), json!({ "from_step": step }));
            messages.iter().map(shown).collect()
        }
        Event::TurnStarted { turn, fence } => vec![turn_is(*turn, TurnState::after(TurnInput::Claim), json!({ "fence": fence }))],
        Event::TurnResumed { turn, .. } => vec![turn_is(*turn, TurnState::after(TurnInput::Resume), json!({}))],
        Event::TurnEnded { turn, state, reason, failure: _, retry_after: _ } => {
            vec![turn_is(*turn, Some(*state), json!({ "reason": reason, "ended_at": at }))]
        }
        Event::StepAnswered { .. } => answered(record),
        Event::AnswerBrokenOff { turn, answer, model, usage, counted, cost_micros } => {
            let row = json!({
                "broken_answer_id": answer, "turn_id": turn, "model": model, "input_tokens": usage.input, "output_tokens": usage.output,
                "counted": counted, "cost_micros": cost_micros, "created_at": at,
            });
            vec![set(Projection::BrokenAnswers, answer, row)]
        }
        Event::ToolCallProposed { turn, step, call, request, position } => {
            let row = json!({
                "tool_call_id": call, "turn_id": turn, "step_id": step, "position": position, "request_id": request.id,
                "name": request.name, "arguments": request.arguments, "state": CallState::FIRST, "logs": [], "created_at": at,
            });
            vec![set(Projection::ToolCalls, call, row)]
        }
        Event::ProposalClassified { call, classification, .. } => {
            vec![set(Projection::ToolCalls, call, json!({ "classification": classification }))]
        }
        Event::ToolCallEnded { turn, call, outcome, approval, .. } => {
            let mut changes = ended(record, *turn, *call, outcome);
            changes.extend(approval.map(|approval| set(Projection::Approvals, approval, json!({ "used_at": at }))));
            changes
        }
        Event::CallUndone { call, .. } => vec![set(Projection::ToolCalls, call, json!({ "undone_at": at }))],
        Event::ApprovalRequested { .. } => asked(record),
        Event::ApprovalDecided { approval, state, channel, reason, client_id, .. } => {
            let row = json!({
                "state": state, "decided_by": channel.decider(), "channel": channel, "reason": reason, "client_id": client_id, "decided_at": at,
            });
            vec![set(Projection::Approvals, approval, row)]
        }
        Event::OperationRecorded { .. } => operated(record),
        Event::TaskChanged { task, deleted } => vec![task_is(task, *deleted)],
        Event::TasksFired { tasks, due_at, turn, model } => {
            let fired = tasks.iter().zip(due_at);
            let fired = fired.map(|(task, due_at)| set(Projection::Tasks, task, json!({ "fired_due_at": time(*due_at) })));
            let model = model.iter().map(|model| set(Projection::Turns, turn, json!({ "task_model": model })));
            fired.chain(model).collect()
        }
        Event::TasksHeld { .. } => {
            vec![set(Projection::Conversations, record.conversation, json!({ "tasks_held_at": at }))]
        }
        Event::CapabilityInstalled { name, version, sha256, grants, fingerprint } => {
            let kept = json!({
                "name": name, "version": version, "sha256": sha256, "grants": grants, "fingerprint": fingerprint, "created_at": at,
            });
            let key = format!("{name}/{version}");
            vec![set(Projection::CapabilityVersions, key, kept), capability_is(name, *version, true, at)]
        }
        Event::CapabilityChanged { name, version, enabled } => vec![capability_is(name, *version, *enabled, at)],
    }
}

fn queued(record: &EventRecord) -> Vec<Change> {
    let Event::TurnQueued { turn, client_id, origin, content, moved, images, message: _ } = &record.event else {
        return Vec::new();
    };
    let (conversation, at) = (record.conversation, time(record.at));
    let row = json!({
        "turn_id": turn, "conversation_id": conversation, "origin": origin, "client_id": client_id, "fence": 0, "created_at": at,
    });
    let message = set(Projection::Messages, format!("user/{turn}"), Value::Object(said(record, *turn, content, images)));
    let mut changes = vec![set(Projection::Turns, turn, row), turn_is(*turn, Some(TurnState::FIRST), json!({})), message];
    changes.extend(kept(images));
    changes.extend(moved.map(|gone| Change { of: Projection::Messages, key: steered(gone), row: None }));
    changes
}

/// The row of what a person said.
fn said(record: &EventRecord, turn: TurnId, content: &str, images: &[Image]) -> Map<String, Value> {
    fields(json!({
        "conversation_id": record.conversation, "turn_id": turn, "role": Role::User, "content": content, "steered": false,
        "images": images, "created_at": time(record.at),
    }))
}

/// The rows of the images that came with a message. The bytes are in no event; what they hash to is.
fn kept(images: &[Image]) -> impl Iterator<Item = Change> {
    images.iter().map(|Image { sha256, media_type, size }| {
        let row = json!({ "sha256": sha256, "media_type": media_type, "size": size, "bytes_sha256": sha256 });
        set(Projection::Attachments, sha256, row)
    })
}

/// The key of what was said into a turn.
fn steered(message: MessageId) -> String {
    format!("steered/{message}")
}

/// A turn in a state, with what else is true of it then.
fn turn_is(turn: TurnId, state: Option<TurnState>, also: Value) -> Change {
    let mut row = fields(also);
    row.extend(state.map(|state| ("state".to_owned(), json!(state))));
    Change { of: Projection::Turns, key: turn.to_string(), row: Some(row) }
}

fn answered(record: &EventRecord) -> Vec<Change> {
    let Event::StepAnswered { turn, step, number, model, finish_reason, usage, content, cost_micros, unproven, last: _ } =
        &record.event
    else {
        return Vec::new();
    };
    let at = time(record.at);
    let tokens = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let row = json!({
        "step_id": step, "turn_id": turn, "number": number, "model": model, "finish_reason": finish_reason,
        "input_tokens": usage.map(|usage| tokens(usage.input)), "output_tokens": usage.map(|usage| tokens(usage.output)),
        "cost_micros": cost_micros, "unproven": unproven, "created_at": at,
    });
    let said = json!({
        "conversation_id": record.conversation, "turn_id": turn, "role": Role::Assistant, "content": content, "step_id": step,
        "steered": false, "images": [], "created_at": at,
    });
    vec![set(Projection::Steps, step, row), set(Projection::Messages, format!("assistant/{step}"), said)]
}

fn ended(record: &EventRecord, turn: TurnId, call: ToolCallId, outcome: &Outcome) -> Vec<Change> {
    let at = time(record.at);
    let said = json!({
        "conversation_id": record.conversation, "turn_id": turn, "role": Role::Tool, "content": outcome.result,
        "tool_call_id": call, "steered": false, "images": [], "created_at": at,
    });
    let state = CallState::after(outcome.input());
    let row = json!({ "state": state, "logs": outcome.logs, "ended_at": at, "refusal": outcome.refusal });
    vec![set(Projection::ToolCalls, call, row), set(Projection::Messages, format!("tool/{call}"), said)]
}

fn asked(record: &EventRecord) -> Vec<Change> {
    let Event::ApprovalRequested { turn, call, approval, proposal_sha256, shown, expires_at } = &record.event else {
        return Vec::new();
    };
    let row = json!({
        "approval_id": approval, "conversation_id": record.conversation, "turn_id": turn, "tool_call_id": call,
        "proposal_sha256": proposal_sha256, "shown": shown, "state": ApprovalState::FIRST, "expires_at": time(*expires_at),
        "created_at": time(record.at),
    });
    vec![set(Projection::Approvals, approval, row), turn_is(*turn, TurnState::after(TurnInput::Ask), json!({}))]
}

fn operated(record: &EventRecord) -> Vec<Change> {
    let Event::OperationRecorded { call, ordinal, power, class, request, request_sha256, answer_sha256, state, turn: _ } =
        &record.event
    else {
        return Vec::new();
    };
    let at = time(record.at);
    let ended_at = state.is_over().then_some(at);
    let row = json!({
        "tool_call_id": call, "ordinal": ordinal, "kind": power, "class": class, "request_sha256": request_sha256,
        "request": request, "state": state, "answer_sha256": answer_sha256, "created_at": at, "ended_at": ended_at,
    });
    vec![set(Projection::Operations, format!("{call}/{ordinal}"), row)]
}

fn task_is(task: &Task, deleted: bool) -> Change {
    if deleted {
        return Change { of: Projection::Tasks, key: task.id.to_string(), row: None };
    }
    let row = json!({
        "task_id": task.id, "conversation_id": task.conversation, "title": task.title, "details": task.details,
        "status": task.status, "due_at": task.due_at.map(time), "created_at": time(task.created_at),
        "updated_at": time(task.updated_at), "model": task.model,
    });
    set(Projection::Tasks, task.id, row)
}

fn capability_is(name: &str, version: i32, enabled: bool, at: DateTime<Utc>) -> Change {
    let state = if enabled { "installed" } else { "disabled" };
    let row = json!({ "name": name, "version": version, "state": state, "created_at": at, "updated_at": at });
    set(Projection::Capabilities, name, row)
}

fn set(of: Projection, key: impl ToString, row: Value) -> Change {
    Change { of, key: key.to_string(), row: Some(fields(row)) }
}

fn fields(row: Value) -> Map<String, Value> {
    match row {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// A time as Postgres keeps it.
fn time(at: DateTime<Utc>) -> DateTime<Utc> {
    at.trunc_subsecs(6)
}
