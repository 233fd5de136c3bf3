//! The messages of a conversation, turn by turn, as a model may be shown them.

use chrono::{DateTime, Utc};

use super::{CallRequest, ConversationId, Image, RefusalCode, ToolCallId, TurnId, TurnState};

/// The messages of a conversation that a model may be shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Turns, oldest first; the running one last.
    pub exchanges: Vec<Exchange>,
    /// True if the conversation has older messages than these.
    pub more: bool,
    /// The conversations that it goes on from, each up to a turn; none if it is no branch.
    pub earlier: Vec<(ConversationId, TurnId)>,
}

/// One turn of the past, or the running one: its messages in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The turn.
    pub turn: TurnId,
    /// Its state.
    pub state: TurnState,
    /// Why it ended, if it did not simply complete.
    pub reason: Option<String>,
    /// Its messages, oldest first.
    pub entries: Vec<HistoryEntry>,
    /// True if a person said something into the running turn that no step has seen; it is not among
    /// the entries.
    pub waits: bool,
    /// The places of the entries that are answers without proof: they claim what no record of the
    /// turn shows.
    pub unproven: Vec<usize>,
}

/// One message, as far as a model needs it.
#[derive(Clone, Debug, PartialEq)]
pub enum HistoryEntry {
    /// The input, and when it came.
    User(String, DateTime<Utc>),
    /// A person's words into the running turn, and their time.
    Steered(String, DateTime<Utc>),
    /// The images that came with the message before this entry.
    Images(Vec<Image>),
    /// An answer, and the tools it asked for.
    Assistant(String, Vec<CallRequest>),
    /// A tool call's result, under the model's own id of the call; then the call, the number of
    /// lines it logged, and the kind of refusal, if it is one.
    Tool(String, String, ToolCallId, usize, Option<RefusalCode>),
}

impl Exchange {
    /// The input of the turn.
    pub fn input(&self) -> Option<&str> {
        self.entries.iter().find_map(|entry| match entry {
            HistoryEntry::User(content, _) => Some(content.as_str()),
            HistoryEntry::Steered(..) | HistoryEntry::Images(..) | HistoryEntry::Assistant(..) | HistoryEntry::Tool(..) => None,
        })
    }

    /// The calls of each of its steps.
    pub fn steps(&self) -> impl Iterator<Item = &[CallRequest]> {
        self.entries.iter().filter_map(|entry| match entry {
            HistoryEntry::Assistant(_, calls) => Some(calls.as_slice()),
            HistoryEntry::User(..) | HistoryEntry::Steered(..) | HistoryEntry::Images(..) | HistoryEntry::Tool(..) => None,
        })
    }

    /// True if anything was called in the turn.
    pub fn has_called(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry, HistoryEntry::Tool(..)))
    }
}
