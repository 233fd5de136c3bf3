//! The frames that a client sends.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::{ApprovalId, CampaignId, ConversationId, VoiceCallId, misfit, shortened, without_halves};

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

/// The types of frames.
const TYPES: [&str; 6] = ["message", "stop", "approve", "deny", "resume", "present"];
/// The fields of all of them.
const FIELDS: [&str; 12] =
    ["content", "id", "conversation", "profile", "steer", "images", "call", "approval", "always", "reason", "after", "campaign"];
/// The most bytes of the words about a value.
const MOST_WORDS: usize = 300;

/// A text that is no frame.
#[derive(Debug, thiserror::Error)]
#[error("this is not a frame of the protocol: {why}")]
pub struct NoFrame {
    /// Its `id`, if it has one: the client finds the message by it that was refused.
    pub id: Option<String>,
    why: String,
}

impl ClientFrame {
    /// Reads a frame. Serde would take a list for one too, which no version of the protocol has.
    ///
    /// # Errors
    /// The reason why the text is no frame.
    pub fn read(text: &str) -> Result<Self, NoFrame> {
        if !text.trim_start().starts_with('{') {
            return Err(NoFrame { id: None, why: "it is no object".to_owned() });
        }
        let text = &*without_halves(text);
        serde_json::from_str(text).map_err(|error| {
            let Ok(fields) = serde_json::from_str::<Map<String, Value>>(text) else {
                return NoFrame { id: None, why: "it is no JSON".to_owned() };
            };
            let id = fields.get("id").and_then(Value::as_str).map(str::to_owned);
            NoFrame { id, why: fault(fields, &error.to_string()) }
        })
    }
}

/// The field at fault, and the value that is expected there. `told`: serde's words, which name no
/// field of a frame.
fn fault(fields: Map<String, Value>, told: &str) -> String {
    let types = TYPES.join(", ");
    match fields.get("type") {
        None => return format!("`type` is missing; it is one of: {types}"),
        Some(Value::String(kind)) if TYPES.contains(&kind.as_str()) => {}
        Some(other) => return format!("`type` is {}; it is one of: {types}", shortened(&other.to_string(), MOST_WORDS)),
    }
    let mut frame = Value::Object(fields);
    let wrong = |frame: &Value| ClientFrame::deserialize(frame).err().map(|error| error.to_string());
    let whole = wrong(&frame);
    let field = FIELDS.into_iter().find(|name| {
        let Some(value) = frame.as_object_mut().and_then(|fields| fields.remove(*name)) else { return false };
        let other = wrong(&frame) != whole;
        frame[*name] = value;
        other
    });
    let why = misfit(whole.as_deref().unwrap_or(told));
    let why = shortened(&why, MOST_WORDS);
    field.map_or_else(|| why.to_string(), |field| format!("`{field}`: {why}"))
}
