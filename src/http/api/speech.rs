//! Speech to words and words to speech, by the servers that the operator has set up. The sound
//! passes through, and is kept nowhere.

use axum::Json;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::reply::{ApiRefusal, Body, QueryString, Reply, bytes};
use crate::domain::voice::VoiceAdapter;
use crate::domain::{FailureWords, UserRole};
use crate::faces::voice::{MOST_SPEECH, MOST_TEXT, SpeechError, SpeechServers};
use crate::http::visitor::{Owner, Visitor};
use crate::store::VoiceError;
use crate::wire::api::{SpeechTrial, SpokenText, Transcription, VoiceLine};

/// The type of a WAV file, as browsers and others write it.
const WAV: [&str; 4] = ["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"];

/// The page's word on a sound.
#[derive(Deserialize)]
pub(super) struct HeardSound {
    /// The tag of the person's language; the server finds it out when absent.
    #[serde(default)]
    lang: String,
}

/// The words of a person who is in a call.
pub(super) async fn transcribe(
    visitor: Visitor,
    QueryString(HeardSound { lang }): QueryString<HeardSound>,
    request: Request,
) -> Result<Response, ApiRefusal> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !WAV.contains(&&*kind) {
        return Err(no_wav());
    }
    let call = line(&visitor).await?.call.filter(|call| call.adapter == VoiceAdapter::Own);
    let call = call.ok_or_else(|| ApiRefusal::conflict("you are in no call with Law that hears by this server"))?.call;
    let sound = bytes(request, &()).await.map_err(|refusal| match refusal.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            too_large(format!("the sound is too large: {MOST_SPEECH} bytes is the most, half a minute"))
        }
        _ => refusal,
    })?;
    if !SpeechServers::is_sound(&sound) {
        return Err(no_wav());
    }
    // Minutes count between beats. A client that only sends sound, or whose first beat got lost,
    // beats by it.
    visitor.theirs().beat_call(call, visitor.now()).await?;
    let text = visitor.speech().words(&sound, &lang).await.map_err(|error| refused_to(&visitor, error))?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(Transcription { text })).into_response())
}

/// Words as speech. The last ones of a call come after its end, so none has to be open.
pub(super) async fn speech(visitor: Visitor, Body(SpokenText { text }): Body<SpokenText>) -> Result<Response, ApiRefusal> {
    line(&visitor).await?;
    if text.trim().is_empty() {
        return Err(ApiRefusal::bad("`text` is empty; there is nothing to say"));
    }
    if text.chars().count() > MOST_TEXT {
        return Err(too_large(format!("`text` has more than {MOST_TEXT} characters; send a sentence at a time")));
    }
    let sound = visitor.speech().speech(&text).await.map_err(|error| refused_to(&visitor, error))?;
    Ok(([(header::CONTENT_TYPE, WAV[0])], sound).into_response())
}

/// Both servers, tried with a sentence.
pub(super) async fn trial(Owner(doors): Owner) -> Reply<SpeechTrial> {
    Ok(Json(SpeechTrial { tried: doors.speech.try_out().await }))
}

/// The minutes and the call of the person, if their tier has voice at all.
pub(super) async fn line(visitor: &Visitor) -> Result<VoiceLine, ApiRefusal> {
    let line = visitor.theirs().voice_line(visitor.now()).await?;
    if line.voice { Ok(line) } else { Err(VoiceError::NoVoice.into()) }
}

/// The refusal for a fault of a server that the owner has set up. A member hears nothing of its
/// address, its settings and its key.
pub(super) fn refused_to(visitor: &Visitor, error: impl Into<ApiRefusal>) -> ApiRefusal {
    let refusal = error.into();
    match visitor.role() {
        UserRole::Owner => refusal,
        // Their own minutes.
        UserRole::Member if refusal.status() == StatusCode::TOO_MANY_REQUESTS => refusal,
        UserRole::Member => ApiRefusal::new(refusal.status(), FailureWords::BROKEN),
    }
}

fn no_wav() -> ApiRefusal {
    ApiRefusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send a WAV file, with the header Content-Type: audio/wav")
}

fn too_large(said: String) -> ApiRefusal {
    ApiRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, said)
}

impl From<SpeechError> for ApiRefusal {
    fn from(error: SpeechError) -> Self {
        tracing::warn!(%error, "a speech server was of no use");
        let status = match error {
            SpeechError::NotSet(_) => StatusCode::NOT_FOUND,
            SpeechError::Key { .. } => StatusCode::SERVICE_UNAVAILABLE,
            SpeechError::Silent(_) => StatusCode::GATEWAY_TIMEOUT,
            SpeechError::Unasked { .. }
            | SpeechError::Refused { .. }
            | SpeechError::Failed { .. }
            | SpeechError::Odd { .. }
            | SpeechError::Unsendable(_) => StatusCode::BAD_GATEWAY,
        };
        Self::new(status, error.to_string())
    }
}
