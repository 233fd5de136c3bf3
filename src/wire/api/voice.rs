//! Calls with Law.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::voice::{VoiceAdapter, VoiceEnd};
use crate::domain::{ConversationId, VoiceCallId, VoiceState};

/// `POST /api/voice/calls`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeginCall {
    /// The ears and the mouth.
    pub adapter: VoiceAdapter,
    /// True to end the call that goes on in another tab.
    #[serde(default)]
    pub take_over: bool,
}

/// A call that goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoiceCall {
    /// Its number.
    pub call: VoiceCallId,
    /// The conversation in which everything is said.
    pub conversation: ConversationId,
    /// Its ears and mouth.
    pub adapter: VoiceAdapter,
    /// Its state.
    pub state: VoiceState,
    /// When the person called.
    pub started_at: DateTime<Utc>,
    /// The seconds of voice that are left of the month; null: as many as one likes.
    pub seconds_left: Option<u64>,
    /// True in the last minute.
    pub warned: bool,
    /// How often the page is to beat.
    pub beat_seconds: u32,
}

/// `GET /api/voice`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoiceLine {
    /// True if the tier has voice.
    pub voice: bool,
    /// As in a call.
    pub seconds_left: Option<u64>,
    /// The call that goes on, in this tab or in another.
    pub call: Option<VoiceCall>,
}

/// A call has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedCall {
    /// Its number.
    pub call: VoiceCallId,
    /// Why.
    pub reason: VoiceEnd,
}
