//! Reads a list of models and picks one that can hold a conversation.

use serde_json::Value;

/// The first model of a `GET /models` reply that is not for something else; `None` when there is none.
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

/// False for models whose name says that they do something else: embedding, ranking, speech, pictures.
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
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_model_that_can_talk_is_taken() {
        let list = json!({ "object": "list", "data": [
            { "id": "text-embedding-nomic-embed-text-v1.5" }, { "id": "BAAI/bge-m3" }, { "id": "qwen2.5:1.5b" }, { "id": "llama3" },
        ]});
        assert_eq!(first_chat_model(&list).as_deref(), Some("qwen2.5:1.5b"));
    }

    #[test]
    fn other_shapes_of_the_list_are_read_too() {
        assert_eq!(first_chat_model(&json!({ "models": [{ "name": "a" }] })).as_deref(), Some("a"));
        assert_eq!(first_chat_model(&json!(["a"])).as_deref(), Some("a"));
        for nothing in [json!({ "data": [] }), json!({ "data": null }), json!({}), json!(null), json!({ "data": [{ "id": 1 }] })]
        {
            assert_eq!(first_chat_model(&nothing), None, "{nothing}");
        }
    }
}
