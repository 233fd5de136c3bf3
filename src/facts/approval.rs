//! Approvals: asked for, and decided.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fact::{Fact, LogLine};
use super::rows::{Change, Stamp, Table, time};
use super::turn::turn_is;
use crate::domain::{ApprovalId, ApprovalState, Channel, Machine, Shown, ToolCallId, TurnId, TurnInput, TurnState};
use crate::wire::ServerFrame;

/// The questions that were put to a person.
pub(super) static APPROVALS: Table = Table {
    instead: &[("proposal_sha256", "encode(proposal_sha256, 'hex')")],
    ..Table::all("approvals", "approval_id::text")
};

/// A proposal waits for a person; its turn waits with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequested {
    /// The turn.
    pub turn: TurnId,
    /// The tool call.
    pub call: ToolCallId,
    /// The new approval.
    pub approval: ApprovalId,
    /// Fingerprint of the proposal, in hexadecimal.
    pub proposal_sha256: String,
    /// The proposal, as the person is shown it.
    pub shown: Box<Shown>,
    /// When it becomes a refusal by itself.
    pub expires_at: DateTime<Utc>,
}

impl Fact for ApprovalRequested {
    fn changes(&self, at: &Stamp) -> Vec<Change> {
        let row = json!({
            "approval_id": self.approval, "conversation_id": at.conversation, "turn_id": self.turn, "tool_call_id": self.call,
            "proposal_sha256": self.proposal_sha256, "shown": self.shown, "state": ApprovalState::FIRST,
            "expires_at": time(self.expires_at), "created_at": at.time,
        });
        vec![APPROVALS.set(self.approval, row), turn_is(self.turn, TurnState::after(TurnInput::Ask), json!({}))]
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        Some(ServerFrame::Approval {
            id: self.approval,
            state: ApprovalState::Pending,
            call: self.call,
            turn: self.turn,
            shown: Some(self.shown.clone()),
            expires_at: Some(self.expires_at),
            channel: None,
            reason: None,
            decided_at: None,
        })
    }

    fn log(&self, _input: Option<&str>) -> Vec<LogLine> {
        let Shown { tool, what, why, .. } = &*self.shown;
        let body =
            json!({ "approval": self.approval, "name": tool, "what": what, "why": why, "expires_at": self.expires_at });
        vec![LogLine::new("confirmation_required", body, format!("{tool}: {}", what.join(" ")))]
    }

    fn headline(&self) -> Option<(String, String)> {
        let text = format!("{}\n{}", self.shown.what.join("\n"), self.shown.why);
        Some((format!("verdict on call {}: ask, approval {}", self.call, self.approval), text))
    }
}

/// An approval is no longer pending.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovalDecided {
    /// The turn.
    pub turn: TurnId,
    /// The tool call.
    pub call: ToolCallId,
    /// The approval.
    pub approval: ApprovalId,
    /// The decision.
    pub state: ApprovalState,
    /// The way the decision came in.
    pub channel: Channel,
    /// The person's reason.
    pub reason: Option<String>,
    /// The id a client gave the message that decided.
    #[serde(default)]
    pub client_id: Option<String>,
}

impl Fact for ApprovalDecided {
    fn changes(&self, at: &Stamp) -> Vec<Change> {
        let row = json!({
            "state": self.state, "decided_by": self.channel.decider(), "channel": self.channel, "reason": self.reason,
            "client_id": self.client_id, "decided_at": at.time,
        });
        vec![APPROVALS.set(self.approval, row)]
    }

    fn frame(&self, at: &Stamp) -> Option<ServerFrame> {
        Some(ServerFrame::Approval {
            id: self.approval,
            state: self.state,
            call: self.call,
            turn: self.turn,
            shown: None,
            expires_at: None,
            channel: Some(self.channel),
            reason: self.reason.clone(),
            decided_at: Some(at.time),
        })
    }

    fn log(&self, _input: Option<&str>) -> Vec<LogLine> {
        let Self { approval, state, channel, reason, .. } = self;
        let body = json!({ "approval": approval, "decision": state, "channel": channel, "reason": reason });
        vec![LogLine::new("decision", body, format!("{state} by {channel}"))]
    }

    fn headline(&self) -> Option<(String, String)> {
        let heading = format!("approval {} {}, by {}", self.approval, self.state, self.channel);
        Some((heading, self.reason.clone().unwrap_or_default()))
    }
}
