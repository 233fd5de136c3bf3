//! The frames that a client sends.

use serde::{Deserialize, Serialize};

use crate::domain::{ApprovalId, CampaignId, ConversationId, VoiceCallId};

/// An image as a client sends it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SentImage {
    /// `image/png`, `image/jpeg`, `image/webp` or `image/gif`.
    pub media_type: String,
    /// Its bytes in base64.
    pub data: String,
}

/// A frame from a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClientFrame {
    /// Something to react to.
    Message {
        /// The person's words.
        content: String,
        /// Any text the client chooses; sent again, the message is not accepted twice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The main conversation when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conversation: Option<ConversationId>,
        /// The profile it is for: its main conversation, if none is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile: Option<String>,
        /// True to show it to the turn that runs, at its next step, and not to let it wait its
        /// turn. If none runs, it is a message like any other.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        steer: bool,
        /// The pictures that come with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<SentImage>,
        /// The call in which it was spoken.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<VoiceCallId>,
    },
    /// Ends what runs and what waits in a conversation.
    Stop {
        /// The main conversation when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conversation: Option<ConversationId>,
    },
    /// Allows what an approval shows.
    Approve {
        /// The approval.
        approval: ApprovalId,
        /// Calls of this capability, or of this definition of an external tool, need no approval
        /// from now on.
        #[serde(default)]
        always: bool,
    },
    /// Refuses what an approval shows.
    Deny {
        /// The approval.
        approval: ApprovalId,
        /// Why, for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Asks for every recorded frame after a sequence number, then for what comes.
    Resume {
        /// The last `seq` the client has; 0 for all.
        after: i64,
        /// The main conversation when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conversation: Option<ConversationId>,
    },
    /// Somebody is there and watches over a campaign: it holds for 40 seconds. For the owner.
    Present {
        /// The campaign.
        campaign: CampaignId,
    },
}

/// A text that is no frame.
#[derive(Debug, thiserror::Error)]
#[error("this is not a frame of the protocol: {why}")]
pub struct NoFrame {
    /// Its `id`, if it has one: the client finds the message by it that was refused.
    pub id: Option<String>,
    why: serde_json::Error,
}

impl ClientFrame {
    /// Reads a frame. Serde would take a list for one too, which no version of the protocol has.
    ///
    /// # Errors
    /// The reason why the text is no frame.
    pub fn read(text: &str) -> Result<Self, NoFrame> {
        #[derive(Deserialize)]
        struct Named {
            id: Option<String>,
        }
        if !text.trim_start().starts_with('{') {
            return Err(NoFrame { id: None, why: serde::de::Error::custom("it is no object") });
        }
        serde_json::from_str(text).map_err(|why| {
            let id = serde_json::from_str(text).ok().and_then(|Named { id }| id);
            NoFrame { id, why }
        })
    }
}
