//! Reads a list of models and picks one that can hold a conversation.

use serde_json::Value;

/// The first model of a `GET /models` reply that is not for something else; `None` when there is
/// none.
pub(super) fn first_chat_model(list: &Value) -> Option<String> {
    all(list).into_iter().find(|name| is_for_chat(name))
}

/// The names in a `GET /models` reply, in its order.
pub(super) fn all(list: &Value) -> Vec<String> {
    entries(list).iter().filter_map(name).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The entries of a list of models, whatever it is called.
pub(super) fn entries(list: &Value) -> &[Value] {
    [&list["data"], &list["models"], list].into_iter().find_map(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The name in an entry. One provider puts `models/` before it and takes it without.
pub(super) fn name(entry: &Value) -> Option<&str> {
    let name = ["id", "name", "model"].iter().find_map(|field| entry[*field].as_str()).or(entry.as_str())?;
    Some(name.strip_prefix("models/").unwrap_or(name))
}

/// False for models whose name says that they do something else: embedding, ranking, speech,
/// pictures.
fn is_for_chat(name: &str) -> bool {
    const OTHER: [&str; 14] = [
        "embed",
        "bge-",
        "gte-",
        "e5-",
        "minilm",
        "rerank",
        "whisper",
        "tts",
        "transcribe",
        "dall-e",
        "stable-diffusion",
        "flux",
        "moderation",
        "clip-",
    ];
    let name = name.to_ascii_lowercase();
    // Only the model's own name counts, without the owner in front of it.
    let name = name.rsplit('/').next().unwrap_or(&name);
    !OTHER.iter().any(|word| if word.ends_with('-') { name.starts_with(word) } else { name.contains(word) })
}

#[cfg(test)]
mod tests;
