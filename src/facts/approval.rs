//! Approvals: asked for, and decided.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fact::{Fact, Reading, line};
use super::rows::{Table, time};
use super::turn::turn_is;
use crate::domain::{ApprovalId, ApprovalState, Channel, Machine, Shown, ToolCallId, TurnId, TurnInput, TurnState};
use crate::wire::ServerFrame;

/// The questions that were put to a person.
pub(super) static APPROVALS: Table =
    Table { instead: &[("proposal_sha256", "encode(proposal_sha256, 'hex')")], ..Table::all("approvals", "approval_id::text") };

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
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, call, approval, proposal_sha256, shown, expires_at } = self;
        to.rows(|at| {
            let row = json!({
                "approval_id": approval, "conversation_id": at.conversation, "turn_id": turn, "tool_call_id": call,
                "proposal_sha256": proposal_sha256, "shown": shown, "state": ApprovalState::FIRST, "expires_at": time(*expires_at),
                "created_at": at.time,
            });
            [APPROVALS.set(approval, row), turn_is(*turn, TurnState::after(TurnInput::Ask), json!({}))]
        })
        .frame(|_| ServerFrame::Approval {
            id: *approval,
            state: ApprovalState::Pending,
            call: *call,
            turn: *turn,
            shown: Some(shown.clone()),
            expires_at: Some(*expires_at),
            channel: None,
            reason: None,
            decided_at: None,
        })
        .log(|_| {
            let Shown { tool, what, why, .. } = &**shown;
            let body = json!({ "approval": approval, "name": tool, "what": what, "why": why, "expires_at": expires_at });
            [line("confirmation_required", body, format!("{tool}: {}", what.join(" ")))]
        })
        .print(|| {
            let text = format!("{}\n{}", shown.what.join("\n"), shown.why);
            (format!("verdict on call {call}: ask, approval {approval}"), text)
        });
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
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, call, approval, state, channel, reason, client_id } = self;
        to.rows(|at| {
            let row = json!({
                "state": state, "decided_by": channel.decider(), "channel": channel, "reason": reason, "client_id": client_id,
                "decided_at": at.time,
            });
            [APPROVALS.set(approval, row)]
        })
        .frame(|at| ServerFrame::Approval {
            id: *approval,
            state: *state,
            call: *call,
            turn: *turn,
            shown: None,
            expires_at: None,
            channel: Some(*channel),
            reason: reason.clone(),
            decided_at: Some(at.time),
        })
        .log(|_| {
            let body = json!({ "approval": approval, "decision": state, "channel": channel, "reason": reason });
            [line("decision", body, format!("{state} by {channel}"))]
        })
        .print(|| (format!("approval {approval} {state}, by {channel}"), reason.as_deref().unwrap_or_default()));
    }
}
