//! The JSON of `/api/events` and `/api/heartbeat`.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::{ConversationId, InstanceId, TurnId, WakeUpKind};

/// `GET /api/events`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Events {
    /// The newest first.
    pub events: Vec<ListedEvent>,
    /// The `before` of the next page, which is older; `None` at the end.
    pub next: Option<i64>,
}

/// An event, in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedEvent {
    /// Its place in the order of all streams.
    pub position: i64,
    /// The conversation whose stream it is.
    pub conversation: ConversationId,
    /// The profile of that conversation.
    #[serde(default)]
    pub profile: String,
    /// The instance of Relay whose conversation that is: a person reads it there, and not in Chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceId>,
    /// Its number there.
    pub seq: i64,
    /// When it happened.
    pub at: DateTime<Utc>,
    /// The word for what happened.
    pub kind: String,
    /// The turn that it is about.
    pub turn: Option<TurnId>,
    /// The event in a sentence for a person.
    pub said: String,
    /// The words that belong to it, shortened; may be empty.
    pub text: String,
    /// The event itself, as `/api/replay/turns` has it, each of its texts shortened.
    pub event: Value,
}

/// `GET /api/heartbeat`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeartbeatReport {
    /// The soonest first, at most 50.
    pub next: Vec<NextWakeUp>,
    /// The events that tell what became of tasks, reminders, timers, calls with Law and approvals
    /// that were due, the newest first, at most 50.
    pub did: Vec<ListedEvent>,
}

/// Something that is due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NextWakeUp {
    /// The kind of thing.
    pub kind: WakeUpKind,
    /// The number of the task, also of a reminder; of the approval, the call with Law, the
    /// instance, the campaign or what is kept; of a timer, that of its user.
    pub subject: i64,
    /// When it is due.
    pub at: DateTime<Utc>,
    /// The title of the task, also of a reminder's or a timer's; the tool of the approval; the
    /// contact of the instance; or the name of the campaign.
    pub title: Option<String>,
}
