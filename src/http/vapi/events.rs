//! The door at which Vapi tells what happens in a call. An authentic message is answered with 200,
//! whatever is in it: Vapi throws other answers away.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chrono::DateTime;
use serde_json::{Value, json};

use super::asked::{folded, message_id};
use super::{AtCall, MAX_BODY_BYTES, header, tools, unauthorized, unavailable};
use crate::domain::{Heard, VoiceCallId};
use crate::http::said;
use crate::http::visitor::{Stranger, Visitor};
use crate::store::{NewMessage, StoreError, VapiCall, VoiceError};

/// The type of a final transcript, as it is asked for and as some of Vapi's servers write it.
const FINAL: [&str; 2] = ["transcript[transcriptType='final']", "transcript[transcriptType=\"final\"]"];

pub(super) async fn take(stranger: Stranger, AtCall(call): AtCall, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MAX_BODY_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let known = stranger.vapi().by_signature(VoiceCallId(call), |name| header(&parts.headers, name), &body).await;
    let known = match known {
        Ok(Some(known)) => known,
        Ok(None) => return unauthorized(),
        Err(error) => return unavailable(&error),
    };
    let visitor = stranger.visitor_in(&known);
    let read: Value = serde_json::from_slice(&body).unwrap_or_default();
    match happened(&visitor, known.call(), &read["message"]).await {
        Ok(answer) => Json(answer).into_response(),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, call, "a message of Vapi's could not be followed");
            Json(json!({})).into_response()
        }
    }
}

async fn happened(visitor: &Visitor, call: &VapiCall, message: &Value) -> Result<Value, StoreError> {
    let theirs = visitor.theirs();
    let kind = message["type"].as_str().unwrap_or_default();
    match kind {
        "status-update" => {
            let told = match message["status"].as_str() {
                Some("in-progress") => theirs.beat_call(call.call, visitor.now()).await.map(|_| ()),
                Some("ended") => theirs.end_call(call.call, false, visitor.now()).await.map(|_| ()),
                // Scheduled, queued, ringing and forwarding change nothing here.
                _ => Ok(()),
            };
            if let Err(VoiceError::Store(error)) = told {
                return Err(error);
            }
        }
        "end-of-call-report" => theirs.report_call(call.call, seconds(message), visitor.now()).await?,
        "tool-calls" => return tools::results(visitor, call, message).await,
        "hang" => tracing::warn!(call = %call.call, "Vapi waited for long in a call"),
        _ if kind == "transcript" || FINAL.contains(&kind) => decides(visitor, call, message, kind).await?,
        _ => {}
    }
    Ok(json!({}))
}

/// The whole seconds of a call, by its report.
fn seconds(message: &Value) -> Option<i64> {
    let at = |name: &str| {
        let written = message[name].as_str().or_else(|| message["call"][name].as_str())?;
        DateTime::parse_from_rfc3339(written).ok()
    };
    let seconds = (at("endedAt")? - at("startedAt")?).num_seconds();
    (seconds >= 0).then_some(seconds)
}

/// A final transcript of the person's may decide a question that waits, before the model's side
/// brings the same words. It is a message of the same id then, so that it counts once.
async fn decides(visitor: &Visitor, call: &VapiCall, message: &Value, kind: &str) -> Result<(), StoreError> {
    let is_final = FINAL.contains(&kind) || message["transcriptType"] == "final";
    let text = message["transcript"].as_str().unwrap_or_default().trim();
    // The words that came last by the model's side are an old answer.
    let came = call.heard.as_deref().is_some_and(|heard| folded(heard) == folded(text));
    if !is_final || message["role"] != "user" || !call.open || came {
        return Ok(());
    }
    if said::fits(visitor, call.conversation, text, false).await.is_err() {
        return Ok(());
    }
    let (theirs, now) = (visitor.theirs(), visitor.now());
    let Some(question) = theirs.question(call.conversation, now).await? else { return Ok(()) };
    let heard = question.words.heard(text);
    // Other words decline a question, but only whole: the model's side brings them.
    let Some(heard @ (Heard::Yes | Heard::No)) = heard else { return Ok(()) };
    let id = message_id(call.call, call.said.saturating_add(1), text);
    let counted = visitor.counted();
    let said = NewMessage { content: text, client_id: Some(&id), steer: true, images: &[], counted: &counted, spoken: true };
    theirs.answer(&question, heard, &said, now).await?;
    Ok(())
}
