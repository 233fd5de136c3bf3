//! Reading a request: what is refused, what is ignored, and what of the history is new.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::refusal::Refusal;
use crate::domain::ConversationId;
use crate::store::{Fingerprint, ShownRequest};
use crate::wire::v1::{CompletionRequest, GivenMessage, MODEL};

/// The header that names the conversation, in both directions.
pub(super) const CONVERSATION: &str = "x-level3-conversation";
/// Says how often the official clients have tried already.
const RETRIES: &str = "x-stainless-retry-count";
/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 255;
/// The longest history.
const MAX_MESSAGES: usize = 2000;

/// A request that can be done.
#[derive(Debug)]
pub(super) struct Asked {
    /// What is accepted.
    pub(super) shown: ShownRequest,
    pub(super) stream: bool,
    pub(super) include_usage: bool,
}

impl<S: Send + Sync> FromRequest<S> for Asked {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let headers = request.headers().clone();
        // A form of another page, which a browser would send unasked, is of another type.
        let kind = text(&headers, header::CONTENT_TYPE.as_str()).and_then(|kind| kind.split(';').next());
        if !kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
            let told = "send the body as JSON, with the header Content-Type: application/json";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, told));
        }
        let body = Bytes::from_request(request, state).await.map_err(|error| match error.status() {
            StatusCode::PAYLOAD_TOO_LARGE => {
                Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body has more than {} bytes", super::MAX_BODY_BYTES))
            }
            _ => Refusal::bad("the body did not arrive whole"),
        })?;
        let request = serde_json::from_slice(&body)
            .map_err(|error| Refusal::bad(format!("the body cannot be read as a chat completion request: {error}")))?;
        read(request, &headers)
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn read(request: CompletionRequest, headers: &HeaderMap) -> Result<Asked, Refusal> {
    if request.model != MODEL {
        return Err(Refusal::no_model(&request.model));
    }
    refuse_unsupported(&request)?;
    let key = text(headers, "idempotency-key").map(key).transpose()?;
    let retried = text(headers, RETRIES).and_then(|count| count.parse::<u32>().ok()).is_some_and(|count| count > 0);
    let conversation = conversation(&request, headers)?;
    let history = History::read(&request.messages)?;
    let shown = ShownRequest {
        conversation,
        key,
        retried,
        history: history.before,
        asked: history.asked,
        instructions: link(&Fingerprint::default(), "system", &history.instructions),
        instructions_text: instructions_text(&history.instructions),
        withdrawn_text: "[The client's program gives no instructions any more; those it gave before hold no longer.]",
        history_text: history_text(&history.earlier),
        input: history.input,
    };
    let include_usage = request.stream_options.is_some_and(|options| options.include_usage == Some(true));
    Ok(Asked { shown, stream: request.stream == Some(true), include_usage })
}

fn key(key: &str) -> Result<Fingerprint, Refusal> {
    if key.is_empty() || key.len() > MAX_KEY_BYTES {
        return Err(Refusal::bad(format!("Idempotency-Key must have 1 to {MAX_KEY_BYTES} bytes")));
    }
    Ok(Sha256::digest(key).into())
}

/// The conversation a request names, in the header or in `metadata`.
fn conversation(request: &CompletionRequest, headers: &HeaderMap) -> Result<Option<ConversationId>, Refusal> {
    const NUMBER: &str = "a conversation is named by its number, as this server gave it";
    let number = |text: &str, place| {
        let number = text.trim().parse().map_err(|_| Refusal::bad(NUMBER).at(place))?;
        Ok::<_, Refusal>(ConversationId(number))
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
            Err(Refusal::bad(format!("{CONVERSATION} and metadata name different conversations")).at(place))
        }
        (header, named) => Ok(header.or(named)),
    }
}

/// Refuses what would make the answer another than the client expects. What only tunes a model is ignored.
fn refuse_unsupported(request: &CompletionRequest) -> Result<(), Refusal> {
    const TOOLS: &str = "level3 runs its own tools and gives none back to the client; leave this out";
    const TEXT: &str = "level3 answers in text, without a schema and without sound; leave this out";
    let empty = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
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
        return Err(Refusal::bad(format!("`{name}` is not supported: {told}")).at(name.as_str()).code("unsupported_parameter"));
    }
    Ok(())
}

/// A history, taken apart.
struct History {
    /// Fingerprint of what stands before the input; `None` where nothing does.
    before: Option<Fingerprint>,
    /// Fingerprint of it all.
    asked: Fingerprint,
    /// What stands before the input.
    earlier: Vec<(String, String)>,
    /// The user's messages behind the last answer.
    input: String,
    /// The system messages, wherever they stand. They may change with each request (a date), so they are no part of the fingerprints.
    instructions: String,
}

impl History {
    fn read(messages: &[GivenMessage]) -> Result<Self, Refusal> {
        if messages.len() > MAX_MESSAGES {
            let told = format!("the history has {} messages; {MAX_MESSAGES} is the most", messages.len());
            return Err(Refusal::bad(told).at("messages").code("context_length_exceeded"));
        }
        let (mut instructions, mut said) = (Vec::new(), Vec::new());
        for (at, message) in messages.iter().enumerate() {
            let text = content(&message.content, at)?;
            match message.role.as_str() {
                "system" | "developer" => instructions.push(text),
                "user" | "assistant" | "tool" | "function" => said.push((at, message.role.clone(), text)),
                other => {
                    let told = format!("`{other}` is no role; there are system, developer, user, assistant and tool");
                    return Err(Refusal::bad(told).at(format!("messages[{at}].role")));
                }
            }
        }
        let begins = said.iter().rposition(|(_, role, _)| role == "assistant").map_or(0, |at| at + 1);
        let input = said.split_off(begins);
        if let Some((at, ..)) = input.iter().find(|(_, role, _)| role != "user") {
            let told = "level3 runs its own tools: a result of a tool cannot be the input";
            return Err(Refusal::bad(told).at(format!("messages[{at}].role")));
        }
        if input.iter().all(|(_, _, text)| text.trim().is_empty()) {
            return Err(
                Refusal::bad("there is nothing to react to: the last message must be the user's, with text").at("messages")
            );
        }
        let chain =
            |from, said: &[(usize, String, String)]| said.iter().fold(from, |before, (_, role, text)| link(&before, role, text));
        let before = (!said.is_empty()).then(|| chain(Fingerprint::default(), &said));
        let asked = chain(before.unwrap_or_default(), &input);
        let input: Vec<_> = input.into_iter().map(|(_, _, text)| text).collect();
        let earlier = said.into_iter().map(|(_, role, text)| (role, text)).collect();
        Ok(Self { before, asked, earlier, input: input.join("\n\n"), instructions: instructions.join("\n\n") })
    }
}

/// The text of a message.
fn content(content: &Value, at: usize) -> Result<String, Refusal> {
    let parts = match content {
        Value::Null => return Ok(String::new()),
        Value::String(text) => return Ok(text.clone()),
        Value::Array(parts) => parts,
        _ => return Err(Refusal::bad("`content` must be text or a list of parts").at(format!("messages[{at}].content"))),
    };
    let text = |(number, part): (usize, &Value)| match (part["type"].as_str(), &part["text"], &part["refusal"]) {
        (Some("text" | "input_text" | "output_text"), Value::String(text), _) => Ok(text.clone()),
        (Some("refusal"), _, Value::String(text)) => Ok(text.clone()),
        (kind, ..) => {
            let kind = kind.unwrap_or("without a type");
            let told = format!("a part `{kind}` is not supported here: send text");
            Err(Refusal::bad(told).at(format!("messages[{at}].content[{number}]")).code("unsupported_content"))
        }
    };
    parts.iter().enumerate().map(text).collect::<Result<Vec<_>, _>>().map(|parts| parts.join("\n"))
}

/// The fingerprint of a history with one message more. Clients trim what they keep, so blanks around a text do not count.
pub(super) fn link(before: &Fingerprint, role: &str, text: &str) -> Fingerprint {
    let text = text.replace("\r\n", "\n");
    Sha256::new().chain_update(before).chain_update(role).chain_update([0]).chain_update(text.trim()).finalize().into()
}

fn instructions_text(instructions: &str) -> String {
    match instructions.trim() {
        "" => String::new(),
        text => format!("[Instructions of the client's program]\n{text}\n[End of these instructions]"),
    }
}

fn history_text(earlier: &[(String, String)]) -> String {
    if earlier.is_empty() {
        return String::new();
    }
    let said = earlier.iter().map(|(role, text)| format!("{role}: {}", text.trim())).collect::<Vec<_>>().join("\n\n");
    format!(
        "[Earlier messages, as the client gives them: not recorded here, and nothing in them was done here]\n{said}\n[End of the earlier messages]"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask(body: Value, headers: &[(&'static str, &str)]) -> Result<Asked, Value> {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        read(serde_json::from_value(body).unwrap(), &headers).map_err(|refusal| json!(refusal.into_event())["error"].take())
    }

    fn say(messages: Value) -> ShownRequest {
        ask(json!({"model": "level3", "messages": messages}), &[]).unwrap().shown
    }

    #[test]
    fn what_follows_the_last_answer_is_the_input() {
        let shown = say(json!([
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "one"}, {"role": "assistant", "content": "two"},
            {"role": "user", "content": [{"type": "text", "text": "three"}, {"type": "text", "text": "four"}]},
            {"role": "user", "content": "five"},
        ]));
        assert_eq!(shown.input, "three\nfour\n\nfive");
        assert!(shown.history_text.contains("\nuser: one\n\nassistant: two\n"), "{}", shown.history_text);
        assert!(shown.instructions_text.contains("\nbe kind\n"));
    }

    #[test]
    fn an_answer_that_is_sent_back_is_the_history_that_was_foretold() {
        let first = say(json!([{"role": "user", "content": "one"}]));
        assert_eq!(first.history, None);
        let told = link(&first.asked, "assistant", "two\r\nlines ");
        let next = json!([{"role": "user", "content": " one"}, {"role": "assistant", "content": "two\nlines"}, {"role": "user", "content": "x"}]);
        assert_eq!(say(next.clone()).history, Some(told));
        for (at, field, other) in [(0, "content", "ona"), (1, "content", "two lines"), (0, "role", "assistant")] {
            let mut forked = next.clone();
            forked[at][field] = json!(other);
            assert_ne!(say(forked).history, Some(told), "{other}");
        }
    }

    #[test]
    fn what_would_change_the_answer_is_refused_and_what_tunes_a_model_is_not() {
        let with = |name: &str, value: Value| {
            let mut body = json!({"model": "level3", "messages": [{"role": "user", "content": "hi"}]});
            body[name] = value;
            ask(body, &[])
        };
        for (name, value) in [
            ("n", json!(2)),
            ("tools", json!([{"type": "function"}])),
            ("tool_choice", json!("required")),
            ("functions", json!([{}])),
            ("response_format", json!({"type": "json_object"})),
            ("modalities", json!(["text", "audio"])),
            ("audio", json!({"voice": "x"})),
            ("stop", json!(["\n"])),
            ("logprobs", json!(true)),
            ("web_search_options", json!({"x": 1})),
        ] {
            let error = with(name, value).unwrap_err();
            assert_eq!((&error["param"], &error["code"]), (&json!(name), &json!("unsupported_parameter")), "{error}");
        }
        for (name, value) in [
            ("n", json!(1)),
            ("tools", json!([])),
            ("tools", Value::Null),
            ("tool_choice", json!("auto")),
            ("response_format", json!({"type": "text"})),
            ("modalities", json!(["text"])),
            ("stop", Value::Null),
            ("logprobs", json!(false)),
            ("max_tokens", json!(5)),
            ("temperature", json!(0.2)),
            ("user", json!("u")),
            ("unheard_of", json!({"a": 1})),
        ] {
            assert!(with(name, value).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_wrong_message_is_named() {
        for (messages, param) in [
            (json!([]), "messages"),
            (json!([{"role": "user", "content": "  "}]), "messages"),
            (json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]), "messages"),
            (json!([{"role": "robot", "content": "a"}]), "messages[0].role"),
            (json!([{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}]), "messages[1].role"),
            (json!([{"role": "user", "content": 7}]), "messages[0].content"),
            (
                json!([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}]}]),
                "messages[0].content[1]",
            ),
        ] {
            let error = ask(json!({"model": "level3", "messages": messages}), &[]).unwrap_err();
            assert_eq!(error["param"], param, "{error}");
        }
        let other = ask(json!({"model": "gpt-4o", "messages": []}), &[]).unwrap_err();
        assert!(other["code"] == "model_not_found" && other["message"].as_str().unwrap().contains("`level3`"), "{other}");
    }

    #[test]
    fn a_conversation_is_named_by_header_or_metadata() {
        let ask = |metadata: Value, headers: &[(&'static str, &str)]| {
            let body = json!({"model": "level3", "messages": [{"role": "user", "content": "hi"}], "metadata": metadata});
            super::tests::ask(body, headers).map(|asked| asked.shown.conversation.map(|id| id.0))
        };
        assert_eq!(ask(json!(null), &[]), Ok(None));
        assert_eq!(ask(json!({"conversation": "7"}), &[]), Ok(Some(7)));
        assert_eq!(ask(json!({"conversation": 7}), &[(CONVERSATION, "7")]), Ok(Some(7)));
        assert_eq!(ask(json!({"other": "x"}), &[(CONVERSATION, "8")]), Ok(Some(8)));
        for wrong in [ask(json!({"conversation": "7"}), &[(CONVERSATION, "8")]), ask(json!({"conversation": "main"}), &[])] {
            assert_eq!(wrong.unwrap_err()["param"], "metadata.conversation");
        }
    }
}
