//! Tests of `model::tells`.

use super::*;

fn properties(context_tokens: u32, images: Option<bool>) -> ModelProperties {
    ModelProperties { context_tokens: Some(context_tokens), images, escapes_calls: false }
}

#[test]
fn escaped_arguments_between_tags_are_noticed() {
    let shown = |arguments: &str| {
        let call = format!("{{\"name\": \"look\", \"arguments\": {arguments}}}");
        json!({ "prompt": format!("<|im_start|>assistant\n<tool_call>\n{call}\n</tool_call><|im_end|>\n") })
    };
    assert!(escapes_calls(&shown(r#""{\"at\":\"sky\"}""#)));
    assert!(!escapes_calls(&shown(r#"{"at": "sky"}"#)));
    assert!(!escapes_calls(&json!(null)), "a server that does not know the question");
}

#[test]
fn each_server_says_it_in_its_own_words() {
    let old = json!({ "default_generation_settings": { "n_ctx": 8192 }, "total_slots": 1 });
    assert_eq!(props(&old), properties(8192, None));
    let new = json!({ "default_generation_settings": { "params": {}, "n_ctx": 16384 }, "modalities": { "vision": true, "audio": false } });
    assert_eq!(props(&new), properties(16384, Some(true)));
    let list = json!({ "data": [{ "id": "a", "type": "llm" }, { "id": "b", "type": "vlm", "loaded_context_length": 9000, "max_context_length": 32768 }] });
    assert_eq!(loaded(&list, "b"), properties(9000, Some(true)));
    assert_eq!(loaded(&list, "c"), ModelProperties::default());
    let running = json!({ "models": [{ "name": "llama3:latest", "model": "llama3:latest", "context_length": 4096 }] });
    let shown =
        json!({ "parameters": "stop \"x\"\nnum_ctx                        16384", "capabilities": ["completion", "tools"] });
    assert_eq!(ollama(&running, &shown, "llama3"), properties(4096, Some(false)));
    assert_eq!(ollama(&json!({ "models": [] }), &shown, "llama3"), properties(16384, Some(false)));
}

#[test]
fn a_list_says_what_the_model_was_given_and_not_what_it_could_take() {
    let list = json!({ "data": [{ "id": "q.gguf", "meta": { "n_ctx": 8192, "n_ctx_train": 32768 } }, { "id": "v", "max_model_len": 16000 }] });
    assert_eq!(ModelProperties::listed(&list, "q.gguf"), Some(properties(8192, None)));
    assert_eq!(ModelProperties::listed(&list, "v"), Some(properties(16000, None)));
    let old = json!({ "data": [{ "id": "q.gguf", "meta": { "n_ctx_train": 32768 } }] });
    assert_eq!(ModelProperties::listed(&old, "q.gguf"), None);
    for nonsense in [json!(null), json!({ "default_generation_settings": { "n_ctx": -1 } }), json!({ "n_ctx": 0 }), json!([1])] {
        assert_eq!(props(&nonsense), ModelProperties::default(), "{nonsense}");
    }
}
