//! Facts. Each is written in the transaction that makes it true, and is all that replay and the sockets read.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ApprovalId, ApprovalState, CallRequest, Channel, Classification, ConversationId, EffectClass, Failure, Image, MessageId,
    OperationKind, OperationState, Origin, Outcome, Shown, StepId, Task, ToolCallId, TurnId, TurnState, Usage,
};

/// Why a step says no more, where a person stopped it in the middle.
pub const STOPPED: &str = "stopped_by_user";

/// Something that happened in a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// An input was accepted; from here on it is never lost.
    TurnQueued {
        /// The new turn.
        turn: TurnId,
        /// The message that holds the input.
        message: MessageId,
        /// The id the client gave its message.
        client_id: Option<String>,
        /// A person, or tasks that fell due.
        origin: Origin,
        /// What was said.
        content: String,
        /// Where it was said into a turn that ended before a step was shown it: the message it was there, which is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        moved: Option<MessageId>,
        /// What came with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// A person said something into a turn that runs; no answer ends it before a step was shown this.
    TurnSteered {
        /// The turn.
        turn: TurnId,
        /// The message.
        message: MessageId,
        /// The id the client gave its message.
        client_id: Option<String>,
        /// Where the turn stood.
        state: TurnState,
        /// What was said.
        content: String,
        /// What came with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// What was said into a turn is shown to the model from a step on.
    SteeringShown {
        /// The turn.
        turn: TurnId,
        /// The number of that step.
        step: i32,
        /// The messages, oldest first.
        messages: Vec<MessageId>,
    },
    /// A runner took the turn up, the first time or again.
    TurnStarted {
        /// The turn.
        turn: TurnId,
        /// Counts the times it was taken up; writes of an older holder are refused.
        fence: i64,
    },
    /// A model answered; stored before any of its tool calls runs.
    StepAnswered {
        /// The turn.
        turn: TurnId,
        /// The new step.
        step: StepId,
        /// Counts from 1 inside the turn.
        number: i32,
        /// Which model.
        model: String,
        /// Why it stopped, in the provider's word.
        finish_reason: String,
        /// What it cost, when the provider said.
        usage: Option<Usage>,
        /// The text of the answer; may be empty beside tool calls.
        content: String,
        /// True when the turn ends with this text.
        last: bool,
        /// What it cost at the rate of its day, in millionths of a dollar; `None` where that is unknown.
        #[serde(default)]
        cost_micros: Option<i64>,
        /// True when it claims something that nothing recorded in its turn shows: taken back where `last` is false, else shown with a mark.
        #[serde(default)]
        unproven: bool,
    },
    /// An answer never came to its end, and what it used up counts.
    AnswerBrokenOff {
        /// The turn.
        turn: TurnId,
        /// The number under which it is counted.
        answer: i64,
        /// Which model was asked.
        model: String,
        /// Tokens that the provider counted, else an estimate.
        usage: Usage,
        /// True where the provider counted.
        counted: bool,
        /// What it cost at the rate of its day, in millionths of a dollar; `None` where that is unknown.
        cost_micros: Option<i64>,
    },
    /// The answer asked for a tool.
    ToolCallProposed {
        /// The turn.
        turn: TurnId,
        /// The step that asked.
        step: StepId,
        /// The new tool call.
        call: ToolCallId,
        /// What was asked for.
        request: CallRequest,
        /// Its place among the calls of the step, from 0.
        #[serde(default)]
        position: i32,
    },
    /// A tool call ended.
    ToolCallEnded {
        /// The turn.
        turn: TurnId,
        /// The tool call.
        call: ToolCallId,
        /// The tool's name.
        name: String,
        /// What came of it.
        outcome: Outcome,
        /// What the law said: `allow`, `ask` or `deny`; `None` when it was never judged.
        #[serde(default)]
        verdict: Option<String>,
        /// The approval that allowed it and is used up now.
        #[serde(default)]
        approval: Option<ApprovalId>,
        /// How many rows that it deleted or overwrote can be put back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<i64>,
    },
    /// A person put back what a call had deleted or overwritten.
    CallUndone {
        /// The turn.
        turn: TurnId,
        /// The tool call.
        call: ToolCallId,
        /// How many rows were put back.
        rows: i64,
    },
    /// A second model classified a proposal.
    ProposalClassified {
        /// The turn.
        turn: TurnId,
        /// The tool call.
        call: ToolCallId,
        /// What it said; the strictest there is when it gave no answer that could be read.
        classification: Classification,
        /// True when it gave an answer that could be read.
        answered: bool,
    },
    /// A proposal waits for a person; its turn waits with it.
    ApprovalRequested {
        /// The turn.
        turn: TurnId,
        /// The tool call.
        call: ToolCallId,
        /// The new approval.
        approval: ApprovalId,
        /// Fingerprint of the proposal, in hexadecimal.
        proposal_sha256: String,
        /// What the person is shown.
        shown: Box<Shown>,
        /// When it becomes a refusal by itself.
        expires_at: DateTime<Utc>,
    },
    /// An approval is no longer pending.
    ApprovalDecided {
        /// The turn.
        turn: TurnId,
        /// The tool call.
        call: ToolCallId,
        /// The approval.
        approval: ApprovalId,
        /// What was decided.
        state: ApprovalState,
        /// The way the decision came in.
        channel: Channel,
        /// The person's reason.
        reason: Option<String>,
        /// The id a client gave the message that decided.
        #[serde(default)]
        client_id: Option<String>,
    },
    /// A turn that waited is in the queue again.
    TurnResumed {
        /// The turn.
        turn: TurnId,
        /// The id a client gave the message that decided.
        client_id: Option<String>,
        /// That message.
        content: Option<String>,
    },
    /// An operation of a capability's call is about to happen, or is over.
    OperationRecorded {
        /// The turn.
        turn: TurnId,
        /// The tool call.
        call: ToolCallId,
        /// Its place among the operations of the call, from 1.
        ordinal: i32,
        /// What it works on; the field is named after the powers, which were all there was.
        power: OperationKind,
        /// How often it can have happened after a crash.
        class: EffectClass,
        /// What was asked for, without secrets.
        request: Value,
        /// Fingerprint of the request, in hexadecimal.
        #[serde(default)]
        request_sha256: String,
        /// Fingerprint of what the capability was answered, in hexadecimal.
        #[serde(default)]
        answer_sha256: Option<String>,
        /// Where it stands.
        state: OperationState,
    },
    /// A task was made or changed; `deleted` ones are gone from the list.
    TaskChanged {
        /// The task as it is now.
        task: Task,
        /// True when it was deleted.
        deleted: bool,
    },
    /// Tasks fell due and were handed to a turn.
    TasksFired {
        /// Which ones.
        tasks: Vec<super::TaskId>,
        /// The turn that will deal with them.
        turn: TurnId,
        /// When each of them was due, in the same order.
        #[serde(default)]
        due_at: Vec<DateTime<Utc>>,
        /// The model they name for that turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// Tasks are due and wait, since tasks began as many turns as they may in an hour. Said once in an hour.
    TasksHeld {
        /// Which ones.
        tasks: Vec<super::TaskId>,
        /// How many turns tasks may begin in an hour.
        limit: u64,
        /// When the next one may begin; `None` where none may as things are set.
        until: Option<DateTime<Utc>>,
    },
    /// A new version of a capability is live.
    CapabilityInstalled {
        /// Its name.
        name: String,
        /// Its new version.
        version: i32,
        /// sha256 of the component.
        sha256: String,
        /// The powers it has.
        grants: Value,
        /// Fingerprint of everything kept of the version, in hexadecimal.
        #[serde(default)]
        fingerprint: String,
    },
    /// A person disabled, enabled or rolled back a capability.
    CapabilityChanged {
        /// Its name.
        name: String,
        /// The live version now.
        version: i32,
        /// Whether it can be called.
        enabled: bool,
    },
    /// The turn is over.
    TurnEnded {
        /// The turn.
        turn: TurnId,
        /// One of the final states.
        state: TurnState,
        /// Why, where it did not simply complete; written for a person.
        reason: Option<String>,
        /// What kept it from its answer, where it failed.
        failure: Option<Failure>,
        /// Where the model had too many requests: seconds after which it may take one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u32>,
    },
}

impl Event {
    /// The word stored in the `kind` column.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TurnQueued { .. } => "turn_queued",
            Self::TurnSteered { .. } => "turn_steered",
            Self::SteeringShown { .. } => "steering_shown",
            Self::TurnStarted { .. } => "turn_started",
            Self::StepAnswered { .. } => "step_answered",
            Self::AnswerBrokenOff { .. } => "answer_broken_off",
            Self::ToolCallProposed { .. } => "tool_call_proposed",
            Self::ToolCallEnded { .. } => "tool_call_ended",
            Self::CallUndone { .. } => "call_undone",
            Self::ProposalClassified { .. } => "proposal_classified",
            Self::ApprovalRequested { .. } => "approval_requested",
            Self::ApprovalDecided { .. } => "approval_decided",
            Self::TurnResumed { .. } => "turn_resumed",
            Self::OperationRecorded { .. } => "operation_recorded",
            Self::CapabilityChanged { .. } => "capability_changed",
            Self::TaskChanged { .. } => "task_changed",
            Self::TasksFired { .. } => "tasks_fired",
            Self::TasksHeld { .. } => "tasks_held",
            Self::CapabilityInstalled { .. } => "capability_installed",
            Self::TurnEnded { .. } => "turn_ended",
        }
    }

    /// The turn it is about, where it is about one.
    pub fn turn(&self) -> Option<TurnId> {
        match self {
            Self::TurnQueued { turn, .. }
            | Self::TurnSteered { turn, .. }
            | Self::SteeringShown { turn, .. }
            | Self::TurnStarted { turn, .. }
            | Self::StepAnswered { turn, .. }
            | Self::AnswerBrokenOff { turn, .. }
            | Self::ToolCallProposed { turn, .. }
            | Self::ToolCallEnded { turn, .. }
            | Self::CallUndone { turn, .. }
            | Self::ProposalClassified { turn, .. }
            | Self::ApprovalRequested { turn, .. }
            | Self::ApprovalDecided { turn, .. }
            | Self::TurnResumed { turn, .. }
            | Self::OperationRecorded { turn, .. }
            | Self::TasksFired { turn, .. }
            | Self::TurnEnded { turn, .. } => Some(*turn),
            Self::CapabilityChanged { .. }
            | Self::TaskChanged { .. }
            | Self::TasksHeld { .. }
            | Self::CapabilityInstalled { .. } => None,
        }
    }
}

/// An event with its place in the conversation's stream.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// Whose stream.
    pub conversation: ConversationId,
    /// Counts from 1 without gaps inside the stream.
    pub sequence: i64,
    /// When it happened.
    pub at: DateTime<Utc>,
    /// What happened.
    pub event: Event,
}

#[cfg(test)]
mod tests;
