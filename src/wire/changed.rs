//! Lists of `/api` that a change elsewhere makes old.

use serde::{Deserialize, Serialize};

/// The word for a change of a conversation's title or place in the list. No event tells of it.
pub const PLACED: &str = "conversation_placed";

/// A list of `/api` that is about all conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedList {
    /// `GET /api/tasks`.
    Tasks,
    /// `GET /api/capabilities`.
    Capabilities,
    /// `GET /api/assistant`: the timer.
    Timer,
    /// `GET /api/relay/instances`.
    Relay,
    /// `GET /api/campaigns`, and each of them.
    Campaigns,
    /// `GET /api/conversations`, and each of them.
    Conversations,
}

impl ChangedList {
    /// Every list.
    pub const ALL: [Self; 6] = [Self::Tasks, Self::Capabilities, Self::Timer, Self::Relay, Self::Campaigns, Self::Conversations];

    /// The list that an event of this kind, or [`PLACED`], changes.
    pub fn of(kind: &str) -> Option<Self> {
        match kind {
            "task_changed" | "reminder_given" => Some(Self::Tasks),
            "timer_changed" => Some(Self::Timer),
            "capability_installed" | "capability_changed" => Some(Self::Capabilities),
            "campaign_changed"
            | "campaign_task_changed"
            | "leads_kept"
            | "artifact_kept"
            | "context_changed"
            | "proposal_refused"
            | "cycle_ended" => Some(Self::Campaigns),
            "instance_made" | "instance_moved" | "relay_message_kept" | "delivery_changed" => Some(Self::Relay),
            "turn_queued" | "turn_ended" | "approval_requested" | "approval_decided" | "begun_anew" | PLACED => {
                Some(Self::Conversations)
            }
            _ => None,
        }
    }
}
