//! Calls with Law.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::voice::{VoiceAdapter, VoiceEnd, VoiceLanguage};
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
    /// The language of what the server says itself, as a tag such as `pt-BR`; English when absent.
    #[serde(default)]
    pub lang: VoiceLanguage,
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
    /// The room of a call by Vapi; with its beginning alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<VapiRoom>,
}

/// The room in which a call by Vapi takes place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VapiRoom {
    /// Its address.
    pub url: String,
    /// The token that opens it, if one is asked for.
    pub token: Option<String>,
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
    /// The speech servers.
    #[serde(default)]
    pub servers: SpeechPlaces,
}

/// The hosts of the speech servers that the operator has set up; null: none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeechPlaces {
    /// The one that turns speech into words.
    pub hears: Option<String>,
    /// The one that turns words into speech.
    pub speaks: Option<String>,
    /// True if Vapi can be called.
    #[serde(default)]
    pub vapi: bool,
}

/// The answer of `POST /api/voice/transcriptions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcription {
    /// The words; empty if there were none.
    pub text: String,
}

/// `POST /api/voice/speech`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpokenText {
    /// The words to speak.
    pub text: String,
}

/// The answer of `POST /api/voice/trial`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeechTrial {
    /// The servers that are set up.
    pub tried: Vec<TriedSpeech>,
}

/// One speech server as it was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedSpeech {
    /// The server, in words.
    pub what: String,
    /// True if it did what it is for.
    pub ok: bool,
    /// The finding, or the thing to do.
    pub said: String,
}

/// A call has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedCall {
    /// Its number.
    pub call: VoiceCallId,
    /// Why.
    pub reason: VoiceEnd,
}
