//! Facts. Each is written in the transaction that makes it true, and is all that replay and the
//! sockets read.
//!
//! A subject has one file: its kinds of events, the rows that replay makes of them, the frames that
//! clients see, the lines in the log of a turn, and the words of the command line.
//! docs/adding-an-event.md says how to add to one.

mod approval;
mod brief;
mod call;
mod campaign;
mod capability;
mod fact;
mod message;
mod operation;
mod operator;
mod relay;
mod rows;
mod said;
mod steering;
mod step;
mod task;
mod todo;
mod turn;
mod voice;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::domain::{ConversationId, StepId, ToolCallId, TurnId};
use crate::wire::{Sequenced, ServerFrame};

pub use approval::{ApprovalDecided, ApprovalRequested};
pub use call::{CallBegun, CallUndone, DENIED, ProposalClassified, ToolCallEnded, ToolCallProposed};
pub use campaign::{
    ArtifactKept, CampaignChanged, CampaignConversation, CampaignTaskChanged, ChatForgotten, ContextChanged, CycleAsked,
    CycleEnded, CycleWords, FileRead, LeadsKept, PageRead, PageTouched, ProposalRefused, ScriptRan,
};
pub use capability::{CapabilityChanged, CapabilityInstalled};
pub use fact::LogLine;
pub use message::CountedMessage;
pub use operation::OperationRecorded;
pub use operator::{GlobalContextChanged, ScreenPictured};
pub use relay::{DeliveryChanged, InstanceMade, InstanceMoved, RelayMessageKept, RepliesShown};
pub use rows::{Change, Table};
pub use said::failure;
pub use steering::{SteeringShown, TurnSteered};
pub use step::{AnswerBrokenOff, CONTROLLER, STOPPED, StepAnswered};
pub use task::{TaskChanged, TasksFired, TasksHeld};
pub use todo::{BegunAnew, ItemNamed, ReminderGiven, TaskBrokenDown, TimerChanged};
pub use turn::{TurnEnded, TurnQueued, TurnResumed, TurnStarted};
pub use voice::VoiceCallChanged;

use fact::{Fact, Reading};
use rows::{Stamp, time};

/// The tables that follow from events.
pub static TABLES: [&Table; 26] = [
    &rows::CONVERSATIONS,
    &turn::TURNS,
    &step::STEPS,
    &step::BROKEN_ANSWERS,
    &call::TOOL_CALLS,
    &message::MESSAGES,
    &message::ATTACHMENTS,
    &approval::APPROVALS,
    &operation::OPERATIONS,
    &task::TASKS,
    &todo::TIMERS,
    &todo::LAST_NAMED,
    &message::MESSAGE_COUNTS,
    &capability::CAPABILITY_VERSIONS,
    &capability::CAPABILITIES,
    &relay::RELAY_INSTANCES,
    &relay::RELAY_MESSAGES,
    &operator::OPERATOR_CONTEXT,
    &call::AUDIT_ENTRIES,
    &campaign::CAMPAIGNS,
    &campaign::CAMPAIGN_TASKS,
    &campaign::LEADS,
    &campaign::ARTIFACTS,
    &campaign::CAMPAIGN_CONTEXTS,
    &voice::VOICE_CALLS,
    &voice::VOICE_SECONDS,
];

/// The things that an event is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The turn, whose log tells of it.
    pub turn: Option<TurnId>,
    /// The step.
    pub step: Option<StepId>,
    /// The tool call.
    pub call: Option<ToolCallId>,
}

/// Declares the kinds of events: the struct that holds the fields, the word that is stored, and the
/// fields that say what it is about.
macro_rules! events {
    ($($name:ident = $kind:literal $(about $($about:ident)+)?),+ $(,)?) => {
        /// Something that happened in a conversation.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum Event {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] #[serde(rename = $kind)] $name($name)),+
        }

        impl Event {
            /// Every kind there is.
            #[cfg(test)]
            const KINDS: &'static [&'static str] = &[$($kind),+];

            /// The word stored in the `kind` column.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$name(_) => $kind),+ }
            }

            /// The turn, the step and the call it is about.
            #[allow(clippy::needless_update, reason = "some kinds are about all three")]
            pub fn about(&self) -> About {
                match self {
                    $(Self::$name(_fact) => About { $($($about: _fact.$about.into(),)+)? ..About::default() }),+
                }
            }

            fn fact(&self) -> &dyn Fact {
                match self { $(Self::$name(fact) => fact),+ }
            }
        }

        $(impl From<$name> for Event {
            fn from(fact: $name) -> Self {
                Self::$name(fact)
            }
        })+
    };
}

events! {
    TurnQueued = "turn_queued" about turn,
    TurnStarted = "turn_started" about turn,
    TurnResumed = "turn_resumed" about turn,
    TurnEnded = "turn_ended" about turn,
    TurnSteered = "turn_steered" about turn,
    SteeringShown = "steering_shown" about turn,
    StepAnswered = "step_answered" about turn step,
    AnswerBrokenOff = "answer_broken_off" about turn,
    ToolCallProposed = "tool_call_proposed" about turn step call,
    ProposalClassified = "proposal_classified" about turn call,
    CallBegun = "call_begun" about turn call,
    ToolCallEnded = "tool_call_ended" about turn call,
    CallUndone = "call_undone" about turn call,
    ApprovalRequested = "approval_requested" about turn call,
    ApprovalDecided = "approval_decided" about turn call,
    OperationRecorded = "operation_recorded" about turn call,
    TaskChanged = "task_changed",
    TasksFired = "tasks_fired" about turn,
    TasksHeld = "tasks_held",
    TaskBrokenDown = "task_broken_down" about turn call,
    ItemNamed = "item_named",
    TimerChanged = "timer_changed",
    ReminderGiven = "reminder_given",
    BegunAnew = "begun_anew",
    CapabilityInstalled = "capability_installed",
    CapabilityChanged = "capability_changed",
    InstanceMade = "instance_made",
    InstanceMoved = "instance_moved",
    RelayMessageKept = "relay_message_kept",
    RepliesShown = "replies_shown" about turn,
    DeliveryChanged = "delivery_changed" about turn,
    GlobalContextChanged = "global_context_changed",
    ScreenPictured = "screen_pictured" about turn call,
    CampaignChanged = "campaign_changed",
    CampaignTaskChanged = "campaign_task_changed",
    LeadsKept = "leads_kept",
    ArtifactKept = "artifact_kept",
    ContextChanged = "context_changed",
    CycleWords = "cycle_words" about turn,
    CycleAsked = "cycle_asked" about turn,
    ProposalRefused = "proposal_refused" about turn step,
    CycleEnded = "cycle_ended" about turn,
    ScriptRan = "script_ran" about turn call,
    PageRead = "page_read" about turn call,
    PageTouched = "page_touched" about turn call,
    ChatForgotten = "chat_forgotten",
    VoiceCallChanged = "voice_call_changed",
}

impl Event {
    /// Its lines in the log of its turn; none if it says nothing new about one. `input` is what the
    /// turn reacts to, if that is known.
    pub fn log(&self, input: Option<&str>) -> Vec<LogLine> {
        let mut lines = Vec::new();
        self.fact().read(&mut Reading::Log(input, &mut lines));
        lines
    }

    /// A heading and a text, as the command line prints them: kind and fields, if it has no words
    /// of its own.
    pub fn headline(&self) -> (String, String) {
        let mut printed = None;
        self.fact().read(&mut Reading::Print(&mut printed));
        printed.unwrap_or_else(|| (self.kind().to_owned(), json!(self).to_string()))
    }
}

/// An event with its place in the conversation's stream.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// The conversation whose stream it is.
    pub conversation: ConversationId,
    /// Counts from 1 without gaps inside the stream.
    pub sequence: i64,
    /// The time at which it happened.
    pub at: DateTime<Utc>,
    /// The event.
    pub event: Event,
}

impl EventRecord {
    /// The rows that it changes, and how. Replay makes them, and live code is compared with it; it
    /// looks at nothing but the event.
    pub fn changes(&self) -> Vec<Change> {
        let reached = json!({ "conversation_id": self.conversation, "last_sequence": self.sequence });
        let mut changes = vec![rows::CONVERSATIONS.set(self.conversation, reached)];
        self.event.fact().read(&mut Reading::Rows(self.stamp(), &mut changes));
        changes
    }

    /// The frame that shows it, or `None` for an event that no client sees.
    pub fn frame(&self) -> Option<Sequenced> {
        let mut frame = None;
        self.event.fact().read(&mut Reading::Frame(self.stamp(), &mut frame));
        frame.map(|frame| Sequenced { frame, conversation: self.conversation, seq: self.sequence, at: time(self.at) })
    }

    /// The event in a sentence for a person, and the words that belong to it. A frame has the
    /// better sentence if it has one, and then the text for a model is not needed.
    pub fn sentence_and_words(&self) -> (String, String) {
        match self.frame().map(|sequenced| sequenced.frame) {
            Some(ServerFrame::ToolResult { name, said, .. }) => (said, name),
            Some(
                ServerFrame::Fired { content, .. }
                | ServerFrame::Held { content, .. }
                | ServerFrame::Timer { content, .. }
                | ServerFrame::Reminder { content, .. },
            ) => (content, String::new()),
            _ => self.event.headline(),
        }
    }

    fn stamp(&self) -> Stamp {
        Stamp { conversation: self.conversation, time: time(self.at), sequence: self.sequence }
    }
}

#[cfg(test)]
mod tests;
