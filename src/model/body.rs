//! Builds the body of a request in the OpenAI form, and mends it if a stored conversation would
//! make a provider refuse it for good.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::providers::{CallIds, LimitField, Quirks, SystemPlace, Turns};
use super::{Entry, Picture, Request, schema};
use crate::domain::{CallRequest, SchemaForm, ToolSpec};

/// The server and model that a request goes to.
#[derive(Clone, Copy)]
pub(super) struct RequestTarget {
    /// The demands of its provider.
    pub(super) quirks: Quirks,
    /// True for a model on this machine.
    pub(super) local: bool,
    /// True if calls of the past are to be written into the text, see
    /// [`super::tells::ModelProperties::escapes_calls`].
    pub(super) tagged_calls: bool,
}

/// Small models call tools far more reliably when they are cooled down; the big ones are left as
/// their makers set them, and some of those refuse the setting.
const LOCAL_TEMPERATURE: f64 = 0.2;

/// Stands for a missing text if a provider wants every message to have one.
const NO_TEXT: &str = "(no text)";
/// Stands between a tool's result and the user's next words, if a provider wants the assistant to
/// have spoken.
const SEEN: &str = "I have seen the result.";
/// Its provider's word for a call whose signature is not there.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// How an answer is asked for.
#[derive(Clone, Copy)]
pub(super) struct RequestManner {
    /// In pieces, as it is written; else as a whole.
    pub(super) streamed: bool,
    /// With its tokens counted, which some old servers refuse.
    pub(super) counted: bool,
    /// With a call demanded if the request says so, which some servers refuse.
    pub(super) demanding: bool,
}

/// The JSON body of a chat request.
#[derive(Serialize)]
pub(super) struct ChatBody<'a> {
    /// An object.
    #[serde(flatten)]
    fields: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<&'a RawValue>,
}

impl ChatBody<'_> {
    /// True if it has this option.
    pub(super) fn has(&self, option: &str) -> bool {
        self.fields.get(option).is_some()
    }
}

/// The body of a request to this model.
pub(super) fn chat<'a>(request: &'a Request, model: &str, peer: RequestTarget, manner: RequestManner) -> ChatBody<'a> {
    let quirks = peer.quirks;
    let messages = if request.tools.is_empty() { calls_as_text(&request.entries) } else { called(&request.entries, peer) };
    let mut body = json!({ "model": model, "messages": mended(messages, quirks), "stream": manner.streamed });
    let limit = match quirks.limit {
        LimitField::MaxTokens => "max_tokens",
        LimitField::MaxCompletionTokens => "max_completion_tokens",
    };
    body[limit] = quirks.answer_tokens.into();
    if let Some(temperature) = request.temperature.or(peer.local.then_some(LOCAL_TEMPERATURE)) {
        body["temperature"] = temperature.into();
    }
    if manner.streamed && manner.counted {
        body["stream_options"] = json!({ "include_usage": true });
    }
    if quirks.thinks_aside {
        body["reasoning_format"] = "parsed".into();
    }
    if !request.tools.is_empty() {
        if quirks.one_call {
            body["parallel_tool_calls"] = false.into();
        }
        if request.must_call && manner.demanding && (peer.local || request.demanded_of_all) {
            body["tool_choice"] = "required".into();
        }
    }
    let tools = request.tools.iter().map(|spec| spec.sent(quirks.schema, |spec| tool(spec, quirks.schema))).collect();
    ChatBody { fields: body, tools }
}

/// A tool in a request.
fn tool(spec: &ToolSpec, form: SchemaForm) -> Box<RawValue> {
    let mut function = json!({ "name": spec.name, "description": spec.description });
    if let Some(parameters) = schema::parameters(&spec.parameters, form) {
        function["parameters"] = parameters;
    }
    to_raw_value(&json!({ "type": "function", "function": function })).expect("a value is JSON")
}

/// Messages in the order their provider wants, and with text wherever it wants some.
fn mended(messages: Vec<Value>, quirks: Quirks) -> Vec<Value> {
    let messages = match quirks.system {
        SystemPlace::Anywhere => messages,
        SystemPlace::OneFirst => one_system_first(messages),
    };
    let mut mended: Vec<Value> = Vec::new();
    for mut message in messages {
        let role = message["role"].clone();
        if quirks.turns == Turns::Alternating
            && let Some(last) = mended.last_mut()
            && last["role"] == role
            && (role == "user" || role == "assistant" && last["tool_calls"].is_null())
            && let Some(joined) = joined(&last["content"], &message["content"])
        {
            last["content"] = joined;
            if !message["tool_calls"].is_null() {
                last["tool_calls"] = message["tool_calls"].take();
            }
            continue;
        }
        if !quirks.user_after_result && role == "user" && mended.last().is_some_and(|last| last["role"] == "tool") {
            mended.push(json!({ "role": "assistant", "content": SEEN }));
        }
        if quirks.text_needed
            && message["tool_calls"].is_null()
            && message["content"].as_str().is_some_and(|text| text.trim().is_empty())
        {
            message["content"] = NO_TEXT.into();
        }
        mended.push(message);
    }
    mended
}

/// Two contents as one; `None` if both must stay as they are.
fn joined(first: &Value, second: &Value) -> Option<Value> {
    match (first, second) {
        (Value::String(first), Value::String(second)) => Some(format!("{first}\n\n{second}").into()),
        (Value::Null, other) | (other, Value::Null) => Some(other.clone()),
        // Parts, pictures among them.
        (Value::Array(first), Value::Array(second)) => Some(first.iter().chain(second).cloned().collect()),
        (Value::String(text), Value::Array(parts)) => Some([text_part(text)].iter().chain(parts).cloned().collect()),
        (Value::Array(parts), Value::String(text)) => Some(parts.iter().chain(&[text_part(text)]).cloned().collect()),
        _ => None,
    }
}

fn text_part(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// All system text in one message before everything else.
fn one_system_first(messages: Vec<Value>) -> Vec<Value> {
    let (system, others): (Vec<_>, Vec<_>) = messages.into_iter().partition(|message| message["role"] == "system");
    let text: Vec<_> = system.iter().filter_map(|message| message["content"].as_str()).collect();
    let first = (!text.is_empty()).then(|| json!({ "role": "system", "content": text.join("\n\n") }));
    first.into_iter().chain(others).collect()
}

/// Entries with their tool calls. Every call gets exactly one result and every result has its call,
/// or the provider refuses.
fn called(entries: &[Entry], peer: RequestTarget) -> Vec<Value> {
    let quirks = peer.quirks;
    let mut messages = Vec::new();
    let mut used = HashSet::new();
    let mut entries = entries.iter().peekable();
    while let Some(entry) = entries.next() {
        match entry {
            Entry::System(content) => messages.push(json!({ "role": "system", "content": content })),
            Entry::User(content) => messages.push(json!({ "role": "user", "content": content })),
            Entry::UserWithImages { content, images } => {
                messages.push(json!({ "role": "user", "content": parts(content, images) }));
            }
            // Its call was cut off by the length of the history.
            Entry::Tool { .. } => {}
            Entry::Assistant { content, calls } if calls.is_empty() => {
                if !content.trim().is_empty() {
                    messages.push(json!({ "role": "assistant", "content": content }));
                }
            }
            Entry::Assistant { content, calls } => {
                // The stored id with the one that is sent.
                let mut open: Vec<_> = calls
                    .iter()
                    .map(|call| (call.id.as_str(), unused(&id_of(&call.id, quirks.call_ids), &mut used, quirks.call_ids)))
                    .collect();
                messages.push(match peer.tagged_calls {
                    true => json!({ "role": "assistant", "content": tagged(content, calls) }),
                    false => json!({
                        "role": "assistant",
                        "content": if content.is_empty() { Value::Null } else { content.as_str().into() },
                        "tool_calls": calls.iter().zip(&open).map(|(asked, (_, id))| call(asked, id)).collect::<Vec<_>>(),
                    }),
                });
                if quirks.signed_calls
                    && let Some(message) = messages.last_mut()
                {
                    message["tool_calls"][0]["extra_content"] = json!({ "google": { "thought_signature": UNSIGNED } });
                }
                let is_result = |next: &&Entry| matches!(next, Entry::Tool { .. });
                while let Some(Entry::Tool { call_id, content, refusal: _ }) = entries.next_if(is_result) {
                    if let Some(place) = open.iter().position(|(id, _)| id == call_id) {
                        messages.push(json!({ "role": "tool", "tool_call_id": open.remove(place).1, "content": content }));
                    }
                }
                for (_, id) in open {
                    messages
                        .push(json!({ "role": "tool", "tool_call_id": id, "content": "No result of this call was recorded." }));
                }
            }
        }
    }
    messages
}

/// Calls in the words of a Hermes template, as the model wrote them: each an object between tags,
/// its arguments an object in it.
fn tagged(content: &str, calls: &[CallRequest]) -> String {
    let call = |asked: &CallRequest| {
        let sent = call(asked, "");
        let arguments = sent["function"]["arguments"].as_str().unwrap_or_default();
        format!("<tool_call>\n{{\"name\": {}, \"arguments\": {arguments}}}\n</tool_call>", sent["function"]["name"])
    };
    let text = (!content.trim().is_empty()).then(|| content.to_owned());
    text.into_iter().chain(calls.iter().map(call)).collect::<Vec<_>>().join("\n")
}

/// Text and images in the form that vision models take.
fn parts(content: &str, images: &[Picture]) -> Vec<Value> {
    let text = (!content.is_empty()).then(|| text_part(content));
    let image = |picture: &Picture| json!({ "type": "image_url", "image_url": { "url": &*picture.url } });
    text.into_iter().chain(images.iter().map(image)).collect()
}

/// An id in the form its provider takes; the same one each time.
fn id_of(id: &str, form: CallIds) -> String {
    match form {
        CallIds::NineLetters if id.len() != 9 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            hex::encode(Sha256::digest(id))[..9].to_owned()
        }
        CallIds::Any | CallIds::NineLetters => id.to_owned(),
    }
}

/// `id`, or something near it if an earlier call has it already: servers that give no ids get the
/// same ones in every step, and some providers refuse an id they have seen.
fn unused(id: &str, used: &mut HashSet<String>, form: CallIds) -> String {
    let spare = (2..).map(|number| id_of(&format!("{id}_{number}"), form));
    let id = std::iter::once(id.to_owned()).chain(spare).find(|id| !used.contains(id)).unwrap_or_default();
    used.insert(id.clone());
    id
}

fn call(call: &CallRequest, id: &str) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": name(&call.name), "arguments": arguments(&call.arguments) } })
}

/// A name as providers allow it; one a model made up would be refused in every later request.
fn name(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = name.chars().take(64).map(allowed).collect();
    if name.is_empty() { "unknown".into() } else { name }
}

/// Arguments as JSON text of an object. Arguments that a model garbled are kept as text inside one,
/// since servers parse this again.
fn arguments(text: &str) -> String {
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(_) => text.to_owned(),
        Err(_) => json!({ "unreadable_arguments": text }).to_string(),
    }
}

/// Entries with tool calls as text: some providers refuse tool messages in a request that offers no
/// tools.
fn calls_as_text(entries: &[Entry]) -> Vec<Value> {
    let mut names = HashMap::new();
    let mut shown = HashSet::new();
    let mut messages = Vec::new();
    for entry in entries {
        let (role, content) = match entry {
            Entry::System(content) => ("system", content.clone()),
            Entry::User(content) => ("user", content.clone()),
            Entry::UserWithImages { content, images } => {
                messages.push(json!({ "role": "user", "content": parts(content, images) }));
                continue;
            }
            Entry::Assistant { content, calls } => {
                let mut content = content.clone();
                for call in calls {
                    names.insert(call.id.as_str(), call.name.as_str());
                    shown.remove(call.id.as_str());
                    content.push_str(&format!("\n[I called {} with {}]", call.name, call.arguments));
                }
                ("assistant", content.trim_start().to_owned())
            }
            Entry::Tool { call_id, content, refusal: _ } => {
                let Some(name) = names.get(call_id.as_str()).filter(|_| shown.insert(call_id.as_str())) else { continue };
                ("user", format!("[The result of {name}: {content}]"))
            }
        };
        if !content.is_empty() {
            messages.push(json!({ "role": role, "content": content }));
        }
    }
    messages
}

#[cfg(test)]
mod tests;
