//! Tests of `model::names`.

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
    for nothing in [json!({ "data": [] }), json!({ "data": null }), json!({}), json!(null), json!({ "data": [{ "id": 1 }] })] {
        assert_eq!(first_chat_model(&nothing), None, "{nothing}");
    }
}
