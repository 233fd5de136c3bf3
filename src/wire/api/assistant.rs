//! Lea and Law: the view of both, a chat with one, and tiers.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::todo::{KeptTimer, TierLimits};
use crate::domain::{ConversationId, Role, SubtaskId, TaskId, Tier, UserId};

/// A tier with its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedTier {
    /// The tier.
    pub tier: Tier,
    /// Its limits; null is none.
    #[serde(flatten)]
    pub limits: TierLimits,
}

/// A person's tier, and how much is left of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowances {
    /// The tier.
    pub tier: Tier,
    /// Messages that the person may send today; null: as many as one likes.
    pub messages_left: Option<u32>,
    /// When the next day begins for the person.
    pub next_day_at: DateTime<Utc>,
    /// True if the tier has voice.
    pub voice: bool,
}

/// `GET /api/tiers`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tiers {
    /// Each with its limits.
    pub tiers: Vec<NamedTier>,
}

/// `GET /api/assistant`: what the view of Lea and Law needs before anything is said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssistantState {
    /// The person's conversation with each, by the profile's name; made when it is first used.
    pub conversations: BTreeMap<String, ConversationId>,
    /// The focus timer.
    pub timer: KeptTimer,
    /// The title of the timer's task.
    pub timed: Option<String>,
    /// The tier, and how much is left.
    pub allowances: Allowances,
    /// True if a call can be heard without the browser's recogniser: by a speech server, or by
    /// Vapi.
    #[serde(default)]
    pub hears: bool,
}

/// A function that an answer called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatCall {
    /// Its name.
    pub name: String,
    /// True if it did what was asked.
    pub success: bool,
    /// Its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The reason why it did not, in a sentence for the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A message of a chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatMessage {
    /// Its place in the conversation's stream: the `seq` of the frame that shows it.
    pub id: i64,
    /// A person or the assistant.
    pub role: Role,
    /// The words.
    pub content: String,
    /// When.
    pub timestamp: DateTime<Utc>,
    /// The functions that it called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub function_calls: Vec<ChatCall>,
}

/// A chat as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredChat {
    /// Whose.
    pub user_id: UserId,
    /// The newest messages, the oldest of them first.
    pub messages: Vec<ChatMessage>,
    /// The task that “it” means.
    pub last_referenced_task_id: Option<TaskId>,
    /// The subtask that “it” means.
    pub last_referenced_subtask_id: Option<SubtaskId>,
    /// When the last of its messages came.
    pub last_updated: Option<DateTime<Utc>>,
}

impl StoredChat {
    /// A chat that was not begun yet.
    pub fn of_nothing(user: UserId) -> Self {
        let (last_referenced_task_id, last_referenced_subtask_id, last_updated) = (None, None, None);
        Self { user_id: user, messages: Vec::new(), last_referenced_task_id, last_referenced_subtask_id, last_updated }
    }
}
