//! The JSON of `/api/conversations`, `/api/search` and `/api/tasks`.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::domain::{ConversationId, Role, Subtask, Task, TaskStatus, TurnId};
use crate::wire::Sequenced;

/// Body of `POST /api/conversations`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewConversation {
    /// The profile it keeps for life; the default one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The place of another conversation that it goes on from, with that one's profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<BranchPoint>,
}

/// The answer to `POST /api/conversations`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeConversation {
    /// Its number.
    pub conversation: ConversationId,
}

/// A place in a conversation from which another one goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BranchPoint {
    /// The conversation.
    pub conversation: ConversationId,
    /// The last frame that belongs to both. A turn that had not ended there is left out.
    pub seq: i64,
}

/// `GET /api/conversations`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversations {
    /// The pinned ones, then the others; among each the one with the newest event first.
    pub conversations: Vec<ListedConversation>,
    /// The `after` of the next page; `None` at the end of the list.
    pub next: Option<String>,
}

/// A conversation in the list, and `GET /api/conversations/{id}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedConversation {
    /// Its number.
    pub id: ConversationId,
    /// A person's own title, or the beginning of what a person said or ordered first; if nobody
    /// did, the name of the character it is with, or `None`. Characters that turn text are
    /// written out.
    pub title: Option<String>,
    /// Its profile.
    pub profile: String,
    /// True for the one that a message without `conversation` goes to.
    pub main: bool,
    /// The time of its newest event.
    pub active_at: DateTime<Utc>,
    /// True if a turn is under way or waits.
    pub running: bool,
    /// How many approvals wait for a person.
    pub waiting: i64,
    /// True if a person pinned it.
    pub pinned: bool,
    /// True if a person put it away.
    pub archived: bool,
    /// The place that it goes on from, if it is a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<BranchPoint>,
    /// The conversations that go on from it, the oldest first, each with the place in this one; not
    /// in the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<BranchPoint>,
}

/// Body of `PATCH /api/conversations/{id}`; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConversationChange {
    /// A title; an empty one gives the first words back their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Keep it at the top of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Put it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
}

/// The answer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedConversation {
    /// The conversation.
    pub id: ConversationId,
}

/// `DELETE /api/conversations/{id}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deleted {
    /// The conversation.
    pub id: ConversationId,
    /// The effect, in a sentence.
    pub said: String,
}

/// `GET /api/conversations/{id}/frames`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frames {
    /// The oldest first, as `/chat` sends them.
    pub frames: Vec<Sequenced>,
    /// The `before` of the next page, which is older; `None` if this one reaches the beginning.
    pub before: Option<i64>,
    /// The place that the conversation goes on from, if it is a branch; only beside the oldest
    /// frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<BranchPoint>,
}

/// `GET /api/conversations/{id}/export?format=json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConversationExport {
    /// The conversation.
    pub conversation: ConversationId,
    /// All of them, the oldest first, as `/chat` sends them.
    pub frames: Vec<Sequenced>,
    /// The place that the conversation goes on from, if it is a branch.
    pub from: Option<BranchPoint>,
    /// Its title.
    pub title: String,
}

impl ConversationExport {
    /// The file: its keys are in the order of the alphabet, whichever frame they are of.
    pub fn file(&self) -> String {
        json!(self).to_string()
    }
}

/// `GET /api/search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchResults {
    /// The newest first.
    pub found: Vec<SearchHit>,
}

/// A message that holds the words, or a conversation whose title does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchHit {
    /// The conversation.
    pub conversation: ConversationId,
    /// Its title, as in the list.
    pub title: Option<String>,
    /// The turn of the message; `None` if the title was found.
    pub turn: Option<TurnId>,
    /// The role of its speaker; `None` if the title was found.
    pub role: Option<Role>,
    /// When.
    pub at: DateTime<Utc>,
    /// The place in the text, in pieces.
    pub snippet: Vec<Piece>,
}

/// A piece of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// True if it is one of the words that were looked for.
    pub hit: bool,
}

/// `GET /api/tasks`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tasks {
    /// Open ones first, the soonest due first.
    pub tasks: Vec<Task>,
    /// True if there are more than one answer holds.
    pub more: bool,
}

/// Body of `POST /api/tasks` and `PATCH /api/tasks/{id}`; a field that is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskOrder {
    /// One line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Anything longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// Its state; not for a new task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// When it falls due, RFC 3339; an empty text takes the date away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<String>,
    /// All of its subtasks, in their order: renamed, ticked or moved; not for a new task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtasks: Option<Vec<Subtask>>,
}
