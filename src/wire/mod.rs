//! The frames of `/chat`, in both directions: those of a server here, those of a client beside it.
//! `docs/protocol.md` is their description; `facts` makes those of events.

pub mod api;
mod changed;
mod client;
pub mod v1;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::todo::KeptTimer;
use crate::domain::voice::VoiceEnd;
use crate::domain::{
    ApprovalId, ApprovalState, CallFault, Channel, Classification, ConversationId, Failure, Image, MessageId, ModelInfo,
    OperationKind, OperationState, Origin, RefusalCode, Requests, Shown, ShownColumn, TaskId, ToolCallId, TurnId, TurnState,
    VoiceCallId, VoiceState,
};

pub use changed::{ChangedList, PLACED};
pub use client::{ClientFrame, NoFrame, SentImage};

/// The longest message a client may send, in bytes of UTF-8: files of 1 MiB, and words beside them.
pub const MAX_MESSAGE_BYTES: usize = (1024 + 64) * 1024;

/// The most images a message may bring.
pub const MAX_IMAGES: usize = 4;

/// The largest image, in bytes.
pub const MAX_IMAGE_BYTES: usize = 5 << 20;

/// The largest request to `/mcp`, in bytes: a capability in base64 is the largest thing there is to
/// send.
pub const MAX_MCP_BYTES: usize = 4 << 20;

/// A frame from a server. Frames that stand for a recorded event carry `conversation` and `seq`,
/// see [`Sequenced`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerFrame {
    /// The first frame on every connection.
    Hello {
        /// The server's version.
        version: String,
        /// The main conversation.
        conversation: ConversationId,
        /// The main one of each profile that is for the person here, by the profile's name.
        conversations: BTreeMap<String, ConversationId>,
        /// Those of them in which a message never joins the running turn.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        queueing: Vec<ConversationId>,
        /// The newest `seq` in `conversation`.
        last_seq: i64,
        /// Which model answers.
        model: ModelInfo,
        /// True if that model sees images, as far as is known; one that does not is told that there
        /// were some.
        images: bool,
        /// True when capabilities were not loaded after repeated crashes.
        safe_mode: bool,
    },
    /// A turn changed state. The first one, `queued`, acknowledges a message.
    Turn {
        /// The turn.
        turn: TurnId,
        /// Its new state.
        state: TurnState,
        /// The client's own id of the message; with `queued` and with `message` only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The origin of the turn's input; with `queued` only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Origin>,
        /// The words that were said; with `queued` and with `message` only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// The number of a message that was said into this turn while it ran; `state` is then what
        /// it was and is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageId>,
        /// The message this one was while it belonged to a turn that ended without having seen it;
        /// with the first `queued` only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        moved: Option<MessageId>,
        /// The pictures that came with it; only beside `content`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
        /// The reason for its end, if it did not simply complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The requests that it made to models, and their cost; with the state that ends it only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Requests>,
        /// How long it took without waiting for a person, in milliseconds; likewise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ms: Option<i64>,
    },
    /// From this step on the model is shown words that a person said into the turn.
    Shown {
        /// The turn.
        turn: TurnId,
        /// The number of that step.
        step: i32,
        /// The messages.
        messages: Vec<MessageId>,
    },
    /// A piece of an answer that is being written; never recorded.
    Delta {
        /// The conversation of the step.
        conversation: ConversationId,
        /// Which turn.
        turn: TurnId,
        /// Which step of the turn, counted from 1.
        step: i32,
        /// Text of a higher attempt replaces what a lower one showed of the same step.
        attempt: i64,
        /// The piece.
        content: String,
    },
    /// Text of the assistant.
    Assistant {
        /// The whole text.
        content: String,
        /// The turn.
        turn: TurnId,
        /// Which step of the turn said it, counted from 1; replaces the deltas of that step.
        step: i32,
        /// True if the turn ends with it.
        #[serde(rename = "final")]
        last: bool,
        /// True if a person stopped it here, in the middle.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stopped: bool,
        /// True when it claims something that nothing recorded in its turn shows; taken back if it
        /// is not final.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unproven: bool,
    },
    /// A tool is about to be called.
    ToolCall {
        /// The tool.
        name: String,
        /// Its arguments; a string if the model sent no valid JSON.
        arguments: Value,
        /// The call.
        call: ToolCallId,
        /// The turn.
        turn: TurnId,
    },
    /// A tool call ended.
    ToolResult {
        /// The tool.
        name: String,
        /// The outcome, as the model reads it.
        result: String,
        /// False when the tool refused or failed.
        ok: bool,
        /// The outcome in one sentence for a person.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        said: String,
        /// How long it took, in milliseconds, if it was carried out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ms: Option<i64>,
        /// The version of the capability that was called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<i32>,
        /// The columns of its rows, if it is one statement that gives rows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        columns: Vec<ShownColumn>,
        /// How many rows there are, those that `result` leaves out among them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total: Option<i64>,
        /// The fault in its own words, if it failed and they say more than `said`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Box<CallFault>>,
        /// True if something that it did elsewhere may or may not have happened.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        uncertain: bool,
        /// The kind of refusal, if it is one; `denied` is a person's own no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<RefusalCode>,
        /// The lines a capability logged.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        logs: Vec<String>,
        /// How many rows that it deleted or overwrote can be put back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<i64>,
        /// The call.
        call: ToolCallId,
        /// The turn.
        turn: TurnId,
    },
    /// A person put back what a call had deleted or overwritten.
    Undone {
        /// The call.
        call: ToolCallId,
        /// The turn.
        turn: TurnId,
        /// How many rows.
        rows: i64,
    },
    /// A proposal waits for a person, or was decided. The turn waits with it; other conversations
    /// go on.
    Approval {
        /// The approval.
        id: ApprovalId,
        /// `pending` first, then once how it ended.
        state: ApprovalState,
        /// The call.
        call: ToolCallId,
        /// The turn.
        turn: TurnId,
        /// The proposal, as it is shown; with `pending` only.
        #[serde(flatten)]
        shown: Option<Box<Shown>>,
        /// When it becomes a refusal by itself, RFC 3339; with `pending` only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<chrono::DateTime<chrono::Utc>>,
        /// The way the decision came in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        channel: Option<Channel>,
        /// The person's reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// When it was decided, RFC 3339; not with `pending`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided_at: Option<chrono::DateTime<chrono::Utc>>,
    },
    /// The approvals that wait for a person in conversations that this client does not follow.
    /// Comes again when it changes; never recorded.
    Waiting {
        /// The approvals, the oldest first.
        approvals: Vec<ApprovalId>,
    },
    /// Something that is listed for all conversations changed in one that this client does not
    /// follow, or the list of conversations itself; never recorded.
    Changed {
        /// The list to read again.
        list: ChangedList,
    },
    /// A second model classified a proposal.
    Classified {
        /// The call.
        call: ToolCallId,
        /// The turn.
        turn: TurnId,
        /// The classifier's words.
        #[serde(flatten)]
        classification: Classification,
    },
    /// A call does something outside, or has done it: a capability, or level3 at an external
    /// server.
    Operation {
        /// The call.
        call: ToolCallId,
        /// The turn.
        turn: TurnId,
        /// Its place among the operations of the call, from 1.
        ordinal: i32,
        /// The kind of thing it works on.
        power: OperationKind,
        /// The request, without secrets.
        request: Value,
        /// Its state.
        state: OperationState,
    },
    /// Something went wrong; says what to do.
    Error {
        /// The error, in words.
        content: String,
        /// The turn that failed; absent when a frame was refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnId>,
        /// The cause that kept that turn from its answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        /// The client's own id of the message that was refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The requests that the turn made to models, and their cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Requests>,
        /// How long the turn took without waiting for a person, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ms: Option<i64>,
        /// True if another tier would have allowed it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        upgrade: bool,
    },
    /// A task was made, changed or deleted.
    Task {
        /// The task as it is now.
        task: Value,
        /// True when it is gone.
        deleted: bool,
    },
    /// A campaign was made, or something of it changed.
    Campaign {
        /// The campaign as it is now.
        campaign: Value,
        /// The change in words.
        content: String,
    },
    /// A task of a campaign was made or changed.
    CampaignTask {
        /// The task as it is now.
        task: Value,
        /// The change in words.
        content: String,
    },
    /// Leads of a campaign came in or changed.
    Lead {
        /// The leads as they are now, of many the first.
        leads: Vec<Value>,
        /// How many they are in all.
        count: usize,
        /// The change in words.
        content: String,
    },
    /// A version of an artifact was kept. Its content is asked for.
    Artifact {
        /// The artifact, without its content.
        artifact: Value,
    },
    /// Tasks fell due and began a turn. Its `turn` frame came before, with words for the model.
    Fired {
        /// The turn.
        turn: TurnId,
        /// Which tasks.
        tasks: Vec<TaskId>,
        /// The same in a sentence for a person.
        content: String,
    },
    /// Tasks are due and wait, since tasks began as many turns as they may in an hour.
    Held {
        /// Which tasks.
        tasks: Vec<TaskId>,
        /// When the next one may begin, RFC 3339; absent if none may as things are set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<chrono::DateTime<chrono::Utc>>,
        /// The same in words.
        content: String,
    },
    /// A call with Law began, can be heard, or ended.
    Voice {
        /// The call.
        call: VoiceCallId,
        /// Its state now.
        state: VoiceState,
        /// Why it ended, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<VoiceEnd>,
        /// The same in words.
        content: String,
    },
    /// A person's timer changed, or its time is over.
    Timer {
        /// The timer as it is now.
        timer: KeptTimer,
        /// True if its time is over.
        over: bool,
        /// The same in a sentence for the person.
        content: String,
    },
    /// The person is reminded of a task. No model was asked.
    Reminder {
        /// The task.
        task: TaskId,
        /// The time for which the reminder was set, RFC 3339.
        remind_at: chrono::DateTime<chrono::Utc>,
        /// True if it is given more than a minute after that time: the server was not there.
        late: bool,
        /// The same in a sentence for the person.
        content: String,
    },
    /// The person began anew: nothing before this frame is shown any more.
    Anew {
        /// The last turn before it.
        after: TurnId,
    },
    /// A word about a turn that is under way; never recorded.
    Notice {
        /// The conversation.
        conversation: ConversationId,
        /// The turn.
        turn: TurnId,
        /// The word.
        content: String,
    },
    /// A capability is live.
    Capability {
        /// Its name.
        name: String,
        /// Its version.
        version: i32,
        /// False when it was disabled.
        enabled: bool,
    },
}

/// A frame with its place in a conversation's stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sequenced {
    /// The frame.
    #[serde(flatten)]
    pub frame: ServerFrame,
    /// The conversation whose stream it is.
    pub conversation: ConversationId,
    /// The event's sequence number.
    pub seq: i64,
    /// When it happened.
    pub at: chrono::DateTime<chrono::Utc>,
}

#[cfg(test)]
mod tests;
