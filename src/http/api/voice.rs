//! Calls with Law: begun, kept up by beats, ended. The words that are said in one are messages like any other.

use axum::Json;
use axum::http::StatusCode;
use serde::Deserialize;

use super::reply::{ApiRefusal, At, Body, QueryString, Reply};
use crate::domain::VoiceCallId;
use crate::domain::voice::VoiceAdapter;
use crate::faces::voice::SpeechError;
use crate::http::visitor::Visitor;
use crate::store::VoiceError;
use crate::wire::api::{BeginCall, EndedCall, SpeechPlaces, VoiceCall, VoiceLine};

/// The character who is talked with.
const LAW: &str = "law";

/// How a call ended.
#[derive(Deserialize)]
pub(super) struct HowEnded {
    /// True if the page could not go on.
    #[serde(default)]
    failed: bool,
}

pub(super) async fn line(visitor: Visitor) -> Reply<VoiceLine> {
    let servers = SpeechPlaces { hears: visitor.speech().hears_at(), speaks: visitor.speech().speaks_at() };
    Ok(Json(VoiceLine { servers, ..visitor.theirs().voice_line(visitor.now()).await? }))
}

pub(super) async fn begin(visitor: Visitor, Body(BeginCall { adapter, take_over }): Body<BeginCall>) -> Reply<VoiceCall> {
    if adapter == VoiceAdapter::Own && visitor.speech().hears_at().is_none() {
        return Err(ApiRefusal::conflict(SpeechError::NotSet("VOICE_STT_URL").to_string()));
    }
    let (theirs, now) = (visitor.theirs(), visitor.now());
    let conversation = theirs.main_conversation_of(visitor.profile(LAW)?.name, now).await?;
    Ok(Json(theirs.begin_call(conversation, adapter, take_over, now).await?))
}

pub(super) async fn beat(visitor: Visitor, At(call): At<i64>) -> Reply<VoiceCall> {
    Ok(Json(visitor.theirs().beat_call(VoiceCallId(call), visitor.now()).await?))
}

pub(super) async fn end(visitor: Visitor, At(call): At<i64>, QueryString(how): QueryString<HowEnded>) -> Reply<EndedCall> {
    let call = VoiceCallId(call);
    let reason = visitor.theirs().end_call(call, how.failed, visitor.now()).await?;
    Ok(Json(EndedCall { call, reason }))
}

impl From<VoiceError> for ApiRefusal {
    fn from(error: VoiceError) -> Self {
        match error {
            VoiceError::NoVoice => Self::new(StatusCode::FORBIDDEN, error.to_string()),
            VoiceError::Quota(_) => Self::new(StatusCode::TOO_MANY_REQUESTS, error.to_string()),
            VoiceError::Busy(_) => Self::conflict(error.to_string()),
            VoiceError::Unknown(_) => Self::unknown(error.to_string()),
            // It was there, and is no more.
            VoiceError::Over(_) => Self::new(StatusCode::GONE, error.to_string()),
            VoiceError::Store(error) => error.into(),
        }
    }
}
