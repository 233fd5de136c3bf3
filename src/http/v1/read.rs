//! Reads a request: which conversation it names, what is refused and what is ignored. `history`
//! reads its messages.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::history::{ClientHistory, link};
use super::refusal::V1Refusal;
use crate::domain::ConversationId;
use crate::store::{Fingerprint, ShownRequest};
use crate::wire::v1::{CompletionRequest, MODEL};

/// The header that names the conversation, in both directions.
pub(super) const CONVERSATION: &str = "x-level3-conversation";
/// How often one of the official clients has tried already.
const RETRIES: &str = "x-stainless-retry-count";
/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 255;

/// A request that can be answered.
#[derive(Debug)]
pub(super) struct AnswerableRequest {
    /// The message to accept.
    pub(super) shown: ShownRequest,
    pub(super) stream: bool,
    pub(super) include_usage: bool,
    /// How many bytes the body had.
    pub(super) bytes: usize,
}

impl<S: Send + Sync> FromRequest<S> for AnswerableRequest {
    type Rejection = V1Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, V1Refusal> {
        let headers = request.headers().clone();
        // A browser may send another page's form unasked, but a form has another type.
        let kind = text(&headers, header::CONTENT_TYPE.as_str()).and_then(|kind| kind.split(';').next());
        if !kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
            let told = "send the body as JSON, with the header Content-Type: application/json";
            return Err(V1Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, told));
        }
        let body = Bytes::from_request(request, state).await.map_err(|error| match error.status() {
            StatusCode::PAYLOAD_TOO_LARGE => V1Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, too_large()),
            _ => V1Refusal::bad("the body did not arrive whole"),
        })?;
        let request = serde_json::from_slice(&body)
            .map_err(|error| V1Refusal::bad(format!("the body cannot be read as a chat completion request: {error}")))?;
        let bytes = body.len();
        drop(body);
        Ok(Self { bytes, ..read(request, &headers)? })
    }
}

fn too_large() -> String {
    format!(
        "the body has more than {} bytes. Images of earlier messages may be left out: the header {CONVERSATION} says then where to go on",
        super::MAX_BODY_BYTES
    )
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn read(request: CompletionRequest, headers: &HeaderMap) -> Result<AnswerableRequest, V1Refusal> {
    if request.model != MODEL {
        return Err(V1Refusal::no_model(&request.model));
    }
    refuse_unsupported(&request)?;
    let key = text(headers, "idempotency-key").map(key).transpose()?;
    let retried = text(headers, RETRIES).and_then(|count| count.parse::<u32>().ok()).is_some_and(|count| count > 0);
    let conversation = conversation(&request, headers)?;
    let include_usage = request.stream_options.is_some_and(|options| options.include_usage == Some(true));
    let answer_tokens = answer_tokens(&request)?;
    let history = ClientHistory::read(request.messages)?;
    let shown = ShownRequest {
        conversation,
        key,
        retried,
        history: history.before,
        asked: history.asked,
        instructions: link(&Fingerprint::default(), "system", &history.instructions),
        instructions_text: instructions_text(&history.instructions),
        withdrawn_text: "[The client's program gives no instructions any more; those it gave before hold no longer.]",
        history_text: history.earlier,
        history_images: history.earlier_images,
        input: history.input,
        images: history.images,
        answer_tokens,
    };
    Ok(AnswerableRequest { shown, stream: request.stream == Some(true), include_usage, bytes: 0 })
}

/// How much the model may write in a step. Some clients send -1 if they set no bound.
fn answer_tokens(request: &CompletionRequest) -> Result<Option<u32>, V1Refusal> {
    let names = ["max_completion_tokens", "max_tokens"];
    let said = names.iter().filter_map(|name| Some((*name, request.rest.get(*name)?))).find(|(_, value)| !value.is_null());
    match said.map(|(name, value)| (name, value.as_i64())) {
        None | Some((_, Some(-1))) => Ok(None),
        Some((_, Some(tokens))) if tokens > 0 => Ok(Some(u32::try_from(tokens).unwrap_or(u32::MAX))),
        Some((name, _)) => Err(V1Refusal::bad(format!("`{name}` must be a whole number above 0")).at(name)),
    }
}

fn key(key: &str) -> Result<Fingerprint, V1Refusal> {
    if key.is_empty() || key.len() > MAX_KEY_BYTES {
        return Err(V1Refusal::bad(format!("Idempotency-Key must have 1 to {MAX_KEY_BYTES} bytes")));
    }
    Ok(Sha256::digest(key).into())
}

/// The conversation a request names, in the header or in `metadata`.
fn conversation(request: &CompletionRequest, headers: &HeaderMap) -> Result<Option<ConversationId>, V1Refusal> {
    const NUMBER: &str = "a conversation is named by its number, as this server gave it";
    let number = |text: &str, place| {
        let number = text.trim().parse().map_err(|_| V1Refusal::bad(NUMBER).at(place))?;
        Ok::<_, V1Refusal>(ConversationId(number))
    };
    let header = match headers.get(CONVERSATION) {
        Some(value) => Some(number(value.to_str().unwrap_or_default(), CONVERSATION)?),
        None => None,
    };
    let place = "metadata.conversation";
    let named = match request.metadata.as_ref().and_then(|metadata| metadata.get("conversation")) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(number(text, place)?),
        Some(other) => Some(number(&other.to_string(), place)?),
    };
    match (header, named) {
        (Some(header), Some(named)) if header != named => {
            Err(V1Refusal::bad(format!("{CONVERSATION} and metadata name different conversations")).at(place))
        }
        (header, named) => Ok(header.or(named)),
    }
}

/// Refuses a field that would make the answer another than the client expects. A field that only
/// tunes a model is ignored.
fn refuse_unsupported(request: &CompletionRequest) -> Result<(), V1Refusal> {
    const TOOLS: &str = "level3 runs its own tools and gives none back to the client; leave this out";
    const TEXT: &str = "level3 answers in text, without a schema and without sound; leave this out";
    let empty = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    for (name, value) in request.rest.iter().filter(|(_, value)| !empty(value)) {
        let told = match name.as_str() {
            "n" if value.as_u64() != Some(1) => "one request is one turn and has one answer: leave `n` at 1",
            "tools" | "functions" => TOOLS,
            "tool_choice" | "function_call" if !matches!(value.as_str(), Some("auto" | "none")) => TOOLS,
            "response_format" if value["type"] != "text" => TEXT,
            "modalities" if value.as_array().is_none_or(|kinds| kinds.iter().any(|kind| kind != "text")) => TEXT,
            "audio" => TEXT,
            "stop" => "an answer of the agent is not cut at words of the client; leave this out",
            "logprobs" | "top_logprobs" => "there are no probabilities to tell; leave this out",
            "web_search_options" => "level3 searches with capabilities of its own; leave this out",
            _ => continue,
        };
        return Err(V1Refusal::bad(format!("`{name}` is not supported: {told}")).at(name.as_str()).code("unsupported_parameter"));
    }
    Ok(())
}

fn instructions_text(instructions: &str) -> String {
    match instructions.trim() {
        "" => String::new(),
        text => format!("[Instructions of the client's program]\n{text}\n[End of these instructions]"),
    }
}

#[cfg(test)]
mod tests;
