//! The messages of a conversation, turn by turn, as a model may be shown them.

use chrono::{DateTime, Utc};

use super::{CallRequest, Image, RefusalCode, ToolCallId, TurnId, TurnState};

/// The messages of a conversation that a model may be shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Turns, oldest first; the running one last.
    pub exchanges: Vec<Exchange>,
    /// True when the conversation has older messages than these.
    pub more: bool,
}

/// One turn of the past, or the running one: its messages in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The turn.
    pub turn: TurnId,
    /// Where it stands.
    pub state: TurnState,
    /// Why it ended, where it did not simply complete.
    pub reason: Option<String>,
    /// Its messages, oldest first.
    pub entries: Vec<HistoryEntry>,
    /// True when something was said into the running turn that no step was shown yet; it is not among the entries.
    pub waits: bool,
    /// Which of them are answers that claim something nothing recorded in the turn shows, by their place, in order.
    pub unproven: Vec<usize>,
}

/// One message, as far as a model needs it.
#[derive(Clone, Debug, PartialEq)]
pub enum HistoryEntry {
    /// The input, and when it came.
    User(String, DateTime<Utc>),
    /// What the person said into the turn while it ran, and when.
    Steered(String, DateTime<Utc>),
    /// What came with the message before this entry.
    Images(Vec<Image>),
    /// An answer, and the tools it asked for.
    Assistant(String, Vec<CallRequest>),
    /// A tool call's result, under the model's own id of the call; which call it was, how many lines it logged, and what kind of refusal
    /// it is.
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

    /// True if anything was called in the turn.
    pub fn has_called(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry, HistoryEntry::Tool(..)))
    }
}
