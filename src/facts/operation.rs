//! Operations: what calls do outside, as the ledger has it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fact::{Fact, LogLine};
use super::rows::{Change, Stamp, Table};
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
    /// The kind of thing it works on; the field is named after the powers, which were all there was.
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
    fn changes(&self, at: &Stamp) -> Vec<Change> {
        let row = json!({
            "tool_call_id": self.call, "ordinal": self.ordinal, "kind": self.power, "class": self.class,
            "request_sha256": self.request_sha256, "request": self.request, "state": self.state,
            "answer_sha256": self.answer_sha256, "created_at": at.time,
            "ended_at": self.state.is_over().then_some(at.time),
        });
        vec![OPERATIONS.set(format!("{}/{}", self.call, self.ordinal), row)]
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        let Self { turn, call, ordinal, power, state, .. } = *self;
        Some(ServerFrame::Operation { call, turn, ordinal, power, request: self.request.clone(), state })
    }

    fn log(&self, _input: Option<&str>) -> Vec<LogLine> {
        let Self { ordinal, power, class, request, state, .. } = self;
        let event = match state {
            OperationState::Intended => "execution_started",
            OperationState::Done => "execution_result",
            OperationState::Failed | OperationState::Unknown => "execution_error",
        };
        let body = json!({ "operation": ordinal, "power": power, "class": class, "request": request, "state": state });
        vec![LogLine::new(event, body, format!("operation {ordinal}, {power}: {state}"))]
    }

    fn headline(&self) -> Option<(String, String)> {
        let Self { call, ordinal, power, class, request, state, .. } = self;
        Some((format!("operation {ordinal} of call {call}, {power} of class {class}: {state}"), request.to_string()))
    }
}
