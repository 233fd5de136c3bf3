//! Calls with Law: begun, kept up by beats, ended. The words that are said in one are messages like
//! any other.

use axum::Json;
use axum::http::StatusCode;
use serde::Deserialize;

use super::reply::{ApiRefusal, At, Body, QueryString, Reply};
use super::speech;
use crate::domain::VoiceCallId;
use crate::domain::voice::{VoiceAdapter, VoiceLanguage};
use crate::faces::voice::{RoomMade, SpeechError, VapiError};
use crate::http::visitor::Visitor;
use crate::store::{NewCall, VoiceError};
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
    let servers =
        SpeechPlaces { hears: visitor.speech().hears_at(), speaks: visitor.speech().speaks_at(), vapi: visitor.vapi().is_set() };
    Ok(Json(VoiceLine { servers, ..visitor.theirs().voice_line(visitor.now()).await? }))
}

pub(super) async fn begin(visitor: Visitor, Body(asked): Body<BeginCall>) -> Reply<VoiceCall> {
    let BeginCall { adapter, take_over, lang } = asked;
    // A person without voice hears of their tier, and nothing of the settings of this server.
    speech::line(&visitor).await?;
    if adapter == VoiceAdapter::Own && visitor.speech().hears_at().is_none() {
        let told = SpeechError::NotSet("VOICE_STT_URL").to_string();
        return Err(speech::refused_to(&visitor, ApiRefusal::conflict(told)));
    }
    if adapter == VoiceAdapter::Vapi {
        visitor.vapi().ready().map_err(|error| speech::refused_to(&visitor, error))?;
    }
    let (theirs, now) = (visitor.theirs(), visitor.now());
    let conversation = theirs.main_conversation_of(visitor.profile(LAW)?.name, now).await?;
    let new = NewCall { conversation, adapter, take_over, made: None };
    let begun = match adapter {
        VoiceAdapter::Vapi => with_room(&visitor, new, lang).await?,
        VoiceAdapter::Browser | VoiceAdapter::Own => theirs.begin_call(new, now).await?,
    };
    Ok(Json(begun))
}

/// Begins a call once Vapi has made it. Until then nothing is begun, and a call that is to be taken
/// over goes on.
async fn with_room(visitor: &Visitor, new: NewCall<'_>, language: VoiceLanguage) -> Result<VoiceCall, ApiRefusal> {
    let theirs = visitor.theirs();
    let tried = theirs.try_call(new, visitor.now()).await?;
    let room = visitor.vapi().make(tried.call, tried.seconds_left, language).await;
    let RoomMade { id, room } = room.map_err(|error| speech::refused_to(visitor, error))?;
    let made = NewCall { made: Some((tried.call, &*id)), ..new };
    let begun = theirs.begin_call(made, visitor.now()).await?;
    Ok(VoiceCall { room: Some(room), ..begun })
}

pub(super) async fn beat(visitor: Visitor, At(call): At<i64>) -> Reply<VoiceCall> {
    Ok(Json(visitor.theirs().beat_call(VoiceCallId(call), visitor.now()).await?))
}

pub(super) async fn end(visitor: Visitor, At(call): At<i64>, QueryString(how): QueryString<HowEnded>) -> Reply<EndedCall> {
    let call = VoiceCallId(call);
    let reason = visitor.theirs().end_call(call, how.failed, visitor.now()).await?;
    Ok(Json(EndedCall { call, reason }))
}

impl From<VapiError> for ApiRefusal {
    fn from(error: VapiError) -> Self {
        tracing::warn!(%error, "a call by Vapi could not be made");
        let status = match error {
            VapiError::NotSet(_) => StatusCode::CONFLICT,
            VapiError::Key(..) => StatusCode::SERVICE_UNAVAILABLE,
            VapiError::Short => StatusCode::TOO_MANY_REQUESTS,
            VapiError::Silent => StatusCode::GATEWAY_TIMEOUT,
            VapiError::Unasked(..) | VapiError::Refused(..) | VapiError::Odd(_) => StatusCode::BAD_GATEWAY,
        };
        Self::new(status, error.to_string())
    }
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
