//! Tests of `domain::grants`.

use serde_json::{Value, json};

use super::*;

fn grants(written: Value) -> Grants {
    serde_json::from_value(written).unwrap()
}

#[test]
fn only_what_reaches_outside_needs_approval() {
    assert!(!Grants::harmless().need_approval() && !Grants::none().need_approval());
    for written in [
        json!({"http": {"hosts": ["a.example"]}}),
        json!({"sql": {"access": "read"}}),
        json!({"kv": {}}),
        json!({"secrets": {"A_KEY": ["a.example"]}}),
        json!({"tools": {"names": ["restart"]}}),
    ] {
        assert!(grants(written.clone()).need_approval(), "{written}");
    }
}

#[test]
fn grants_cover_the_same_and_less_and_never_more() {
    let wide = grants(json!({
        "http": {"hosts": ["*.example.com"]}, "sql": {"access": "write"}, "kv": {},
        "secrets": {"K": ["a.example.com", "b.example.com"]}, "tools": {"names": ["a", "b"]},
    }));
    assert!(wide.cover(&wide) && wide.cover(&Grants::harmless()) && Grants::none().cover(&Grants::harmless()));
    for narrower in [
        json!({"http": {"hosts": ["x.example.com"]}}),
        json!({"sql": {"access": "read"}}),
        json!({"secrets": {"K": ["b.example.com"]}}),
        json!({"tools": {"names": ["a"]}}),
    ] {
        assert!(wide.cover(&grants(narrower.clone())), "{narrower}");
    }
    for wider in [
        json!({"http": {"hosts": ["example.org"]}}),
        json!({"secrets": {"K": ["c.example.com"]}}),
        json!({"secrets": {"L": ["a.example.com"]}}),
        json!({"tools": {"names": ["c"]}}),
    ] {
        assert!(!wide.cover(&grants(wider.clone())), "{wider}");
    }
    assert!(!grants(json!({"sql": {"access": "read"}})).cover(&grants(json!({"sql": {"access": "write"}}))));
    assert!(!Grants::harmless().cover(&grants(json!({"kv": {}}))));
}

#[test]
fn the_words_name_everything_that_is_allowed() {
    let words = grants(json!({
        "http": {"hosts": [{"host": "api.example.com", "path": "/v1/", "methods": ["GET"]}]},
        "sql": {"access": "write"}, "kv": {}, "secrets": {"API_KEY": ["api.example.com"]}, "tools": {"names": ["manage_tasks"]},
    }))
    .in_words()
    .join("\n");
    for said in
        ["GET", "https://api.example.com/v1/", "change the agent's own tables", "between calls", "secret API_KEY", "manage_tasks"]
    {
        assert!(words.contains(said), "{said}: {words}");
    }
}
