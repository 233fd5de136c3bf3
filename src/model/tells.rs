//! Reads what a server on one's own machine says of its model: how much it can take as it was
//! started, and whether it sees.

use serde_json::{Value, json};

use super::names;
use super::providers::Tells;
use super::transport::Transport;

/// The most that is read of such a reply, in bytes. Ollama's holds the whole licence of a model.
const LONGEST: usize = 2 << 20;

/// A server's words about its model; a question it left open is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ModelProperties {
    /// Tokens of one request with its answer.
    pub(super) context_tokens: Option<u32>,
    /// True if it sees images.
    pub(super) images: Option<bool>,
    /// True if it shows a model the arguments of its past calls as a text within JSON, every
    /// quotation mark escaped, between the tags of a Hermes template. Older servers of llama.cpp
    /// do. A small model then writes its next calls so.
    pub(super) escapes_calls: bool,
}

/// Asks; `None` when nobody answered.
pub(super) async fn ask(transport: &Transport, place: Tells, model: &str) -> Option<ModelProperties> {
    Some(match place {
        Tells::Nothing => ModelProperties::default(),
        Tells::Props | Tells::Somewhere => {
            let props = props(&read(transport, "/props", None).await?);
            if props == ModelProperties::default() {
                // Another server, which knows neither.
                return Some(props);
            }
            let shown = read(transport, "/apply-template", Some(&conversation_with_a_call())).await.unwrap_or_default();
            ModelProperties { escapes_calls: escapes_calls(&shown), ..props }
        }
        Tells::Loaded => loaded(&read(transport, "/api/v0/models", None).await?, model),
        Tells::Running => {
            let running = read(transport, "/api/ps", None).await?;
            let shown = read(transport, "/api/show", Some(&json!({ "model": model }))).await.unwrap_or_default();
            ollama(&running, &shown, model)
        }
    })
}

/// The JSON at a path; `null` if the server has no such path, or no JSON there.
async fn read(transport: &Transport, path: &str, body: Option<&Value>) -> Option<Value> {
    let mut response = transport.beside(path, body).await?;
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LONGEST {
            break;
        }
    }
    let status = response.status();
    // A server that is still loading says so with 503, and is asked again.
    if status.is_server_error() { None } else { Some(serde_json::from_slice(&bytes).unwrap_or_default()) }
}

/// A conversation with a call, which llama.cpp's server is asked to show as its model would read
/// it.
fn conversation_with_a_call() -> Value {
    let call = json!({ "id": "a", "type": "function", "function": { "name": "look", "arguments": "{\"at\":\"sky\"}" } });
    let parameters = json!({ "type": "object", "properties": { "at": { "type": "string" } } });
    json!({
        "messages": [
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": null, "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "a", "content": "blue" },
        ],
        "tools": [{ "type": "function", "function": { "name": "look", "description": "Looks.", "parameters": parameters } }],
    })
}

/// True if the server shows the call so.
fn escapes_calls(shown: &Value) -> bool {
    let form = r#"<tool_call> {"name": "look", "arguments": "{\"at\":\"sky\"}"} </tool_call>"#;
    let shown = shown["prompt"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    shown.contains(form)
}

impl ModelProperties {
    /// The words of a list of models about `model`: llama.cpp and vLLM say it there.
    pub(super) fn listed(list: &Value, model: &str) -> Option<Self> {
        let entry = names::entries(list).iter().find(|entry| names::name(entry) == Some(model))?;
        // `n_ctx_train` is what the model could take, not what it was given.
        let places = [&entry["meta"]["n_ctx"], &entry["max_model_len"]];
        let inputs = &entry["architecture"]["input_modalities"];
        let told =
            Self { context_tokens: places.into_iter().find_map(tokens), images: has(inputs, "image"), escapes_calls: false };
        (told != Self::default()).then_some(told)
    }
}

/// A number of tokens that can be one.
fn tokens(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok().filter(|tokens| *tokens >= 256)
}

/// True if a list has the word; `None` if there is no list.
fn has(list: &Value, word: &str) -> Option<bool> {
    list.as_array().map(|list| list.iter().any(|one| one == word))
}

/// llama.cpp: the context of one slot, of which a request has one.
fn props(props: &Value) -> ModelProperties {
    let places = [&props["default_generation_settings"]["n_ctx"], &props["n_ctx"]];
    ModelProperties {
        context_tokens: places.into_iter().find_map(tokens),
        images: props["modalities"]["vision"].as_bool(),
        escapes_calls: false,
    }
}

fn loaded(list: &Value, model: &str) -> ModelProperties {
    let entry = names::entries(list).iter().find(|entry| names::name(entry) == Some(model)).unwrap_or(&Value::Null);
    let images = entry["type"].as_str().map(|kind| kind == "vlm");
    ModelProperties { context_tokens: tokens(&entry["loaded_context_length"]), images, escapes_calls: false }
}

/// Ollama: what runs says what it was given; else a model's own settings say what it will be given.
fn ollama(running: &Value, shown: &Value, model: &str) -> ModelProperties {
    // `llama3` and `llama3:latest` are one.
    let same = |name: Option<&str>| name.is_some_and(|name| name == model || name.strip_suffix(":latest") == Some(model));
    let entry = names::entries(running).iter().find(|entry| same(names::name(entry)) || same(entry["model"].as_str()));
    let given = entry.and_then(|entry| tokens(&entry["context_length"]));
    let set = || {
        let lines = shown["parameters"].as_str().unwrap_or_default().lines();
        lines.filter_map(|line| line.trim().strip_prefix("num_ctx")).find_map(|rest| rest.trim().parse().ok())
    };
    ModelProperties { context_tokens: given.or_else(set), images: has(&shown["capabilities"], "vision"), escapes_calls: false }
}

#[cfg(test)]
mod tests;
