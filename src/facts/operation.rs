//! Operations: what calls do outside, as the ledger has it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fact::{Fact, Reading, line};
use super::rows::Table;
use crate::domain::{EffectClass, Machine, OperationKind, OperationState, ToolCallId, TurnId};
use crate::wire::ServerFrame;

/// The ledger.
pub(super) static OPERATIONS: Table = Table {
    unsaid: &["answer"],
    instead: &[("request_sha256", "encode(request_sha256, 'hex')"), ("answer_sha256", "text_fingerprint(answer)")],
    ..Table::all("operations", "concat_ws('/', tool_call_id, ordinal)")
};

/// An operation of a call is about to happen, or is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationRecorded {
    /// The turn.
    pub turn: TurnId,
    /// The tool call.
    pub call: ToolCallId,
    /// Its place among the operations of the call, from 1.
    pub ordinal: i32,
    /// The kind of thing it works on; the field is named after the powers, which were all there
    /// was.
    pub power: OperationKind,
    /// How often it can have happened after a crash.
    pub class: EffectClass,
    /// The request, without secrets.
    pub request: Value,
    /// Fingerprint of the request, in hexadecimal.
    #[serde(default)]
    pub request_sha256: String,
    /// Fingerprint of the answer that the capability got, in hexadecimal.
    #[serde(default)]
    pub answer_sha256: Option<String>,
    /// Its state.
    pub state: OperationState,
}

impl Fact for OperationRecorded {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, call, ordinal, power, class, request, request_sha256, answer_sha256, state } = self;
        to.rows(|at| {
            let ended_at = state.is_over().then_some(at.time);
            let row = json!({
                "tool_call_id": call, "ordinal": ordinal, "kind": power, "class": class, "request_sha256": request_sha256,
                "request": request, "state": state, "answer_sha256": answer_sha256, "created_at": at.time, "ended_at": ended_at,
            });
            [OPERATIONS.set(format!("{call}/{ordinal}"), row)]
        })
        .frame(|_| {
            let (call, turn, ordinal, power, state) = (*call, *turn, *ordinal, *power, *state);
            ServerFrame::Operation { call, turn, ordinal, power, request: request.clone(), state }
        })
        .log(|_| {
            let event = match state {
                OperationState::Intended => "execution_started",
                OperationState::Done => "execution_result",
                OperationState::Failed | OperationState::Unknown => "execution_error",
            };
            let body = json!({ "operation": ordinal, "power": power, "class": class, "request": request, "state": state });
            [line(event, body, format!("operation {ordinal}, {power}: {state}"))]
        })
        .print(|| (format!("operation {ordinal} of call {call}, {power} of class {class}: {state}"), request.to_string()));
    }
}
