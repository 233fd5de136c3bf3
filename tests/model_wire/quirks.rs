//! The request as each provider gets it: the same conversation, in the form that provider takes.

use std::sync::Arc;

use chrono::TimeDelta;
use level3::clock::{ManualClock, SeededRandom};
use level3::domain::{CallRequest, ToolSpec};
use level3::model::client::{ChatClient, Endpoint, ModelLimits, Target};
use level3::model::providers::PROVIDERS;
use level3::model::{Abilities, Entry, Model, Request};
use serde_json::{Value, json};

use crate::server::{Server, good};
use crate::{ask, client_of};

/// A conversation with everything in it that some provider refuses.
fn conversation() -> Vec<Entry> {
    let call = |id: &str| CallRequest { id: id.into(), name: "look".into(), arguments: "{\"at\":1}".into() };
    vec![
        Entry::System("Who you are.".into()),
        Entry::User("Look twice.".into()),
        Entry::User("At once.".into()),
        Entry::Assistant { content: String::new(), calls: vec![call("call_1"), call("call_2")] },
        Entry::Tool { call_id: "call_1".into(), content: String::new(), refusal: None },
        Entry::Tool { call_id: "call_2".into(), content: "2".into(), refusal: None },
        Entry::System("What is new.".into()),
        Entry::User("[controller] Go on.".into()),
    ]
}

fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, parameters: Value| ToolSpec { name: name.into(), description: "d".into(), parameters };
    let at = json!({ "type": ["integer", "null"], "format": "int64", "default": null });
    let look = json!({ "$schema": "s", "type": "object", "properties": { "at": at }, "additionalProperties": false });
    vec![tool("look", look), tool("stop", json!({}))]
}

/// The body that a model of a provider is sent.
async fn sent(provider: &str, model: &str) -> Value {
    sent_for(
        provider,
        model,
        Request { entries: conversation(), tools: tools().into_iter().map(Into::into).collect(), ..Request::default() },
    )
    .await
}

/// The same for any request.
async fn sent_for(provider: &str, model: &str, request: Request) -> Value {
    let server = Server::playing(vec![good("a")]).await;
    let client = client_of(provider, model, &server.base_url());
    ask(&client, request).await.0.unwrap();
    let asked = server.asked.lock().unwrap()[0].clone();
    serde_json::from_str(asked.split_once("\r\n\r\n").unwrap().1).unwrap()
}

fn roles(body: &Value) -> Vec<&str> {
    body["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect()
}

const AS_WRITTEN: [&str; 8] = ["system", "user", "user", "assistant", "tool", "tool", "system", "user"];
const ONE_SYSTEM: [&str; 7] = ["system", "user", "user", "assistant", "tool", "tool", "user"];
const IN_TURN: [&str; 6] = ["system", "user", "assistant", "tool", "tool", "user"];

#[tokio::test]
async fn every_provider_is_sent_a_body_it_takes() {
    for provider in &PROVIDERS {
        let body = sent(provider.name, "m").await;
        assert!(body.get("response_format").is_none() && body.get("tool_choice").is_none(), "{}: {body}", provider.name);
        assert!(body.get("parallel_tool_calls").is_none() && body.get("reasoning_format").is_none(), "{}: {body}", provider.name);
        let bounds = ["max_tokens", "max_completion_tokens"].map(|name| body[name].as_u64());
        assert!(bounds.iter().flatten().count() == 1, "{}: one bound, in one word: {body}", provider.name);
        assert_eq!(body["tools"].as_array().unwrap().len(), 2);
        let last = body["messages"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["role"], &last["content"]), (&"user".into(), &"[controller] Go on.".into()), "{}", provider.name);
    }
}

#[tokio::test]
async fn openai_and_groq_bound_the_answer_in_the_new_word() {
    for provider in ["openai", "groq"] {
        let body = sent(provider, "m").await;
        assert_eq!((body["max_completion_tokens"].as_u64(), body.get("max_tokens")), (Some(8192), None), "{provider}");
        assert_eq!(roles(&body), AS_WRITTEN);
        assert_eq!(body["stream_options"], json!({ "include_usage": true }));
        assert_eq!(body["tools"][0]["function"]["parameters"]["properties"]["at"]["type"], json!(["integer", "null"]));
        assert_eq!(body["tools"][1]["function"]["parameters"], json!({ "type": "object", "properties": {} }));
    }
}

#[tokio::test]
async fn anthropic_and_openrouter_get_the_old_word_and_no_empty_text() {
    for provider in ["anthropic", "openrouter"] {
        let body = sent(provider, "claude-sonnet-4-5").await;
        assert_eq!((body["max_tokens"].as_u64(), body.get("max_completion_tokens")), (Some(8192), None), "{provider}");
        assert_eq!(roles(&body), AS_WRITTEN);
        assert_eq!((&body["messages"][3]["content"], &body["messages"][4]["content"]), (&Value::Null, &json!("(no text)")));
    }
}

#[tokio::test]
async fn mistral_gets_one_system_text_roles_in_turn_short_ids_and_is_not_asked_to_count() {
    let body = sent("mistral", "mistral-medium-latest").await;
    assert_eq!(roles(&body), ["system", "user", "assistant", "tool", "tool", "assistant", "user"]);
    let messages = &body["messages"];
    assert_eq!(messages[0]["content"], "Who you are.\n\nWhat is new.");
    assert_eq!(messages[1]["content"], "Look twice.\n\nAt once.");
    for place in 0..2 {
        let id = messages[2]["tool_calls"][place]["id"].as_str().unwrap();
        assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        assert_eq!(messages[3 + place]["tool_call_id"], id);
    }
    assert_ne!(messages[3]["tool_call_id"], messages[4]["tool_call_id"]);
    assert_eq!((body.get("stream_options"), body["max_tokens"].as_u64()), (None, Some(8192)));
    // A router hands its complaints on, and counts itself.
    let routed = sent("openrouter", "mistralai/mistral-large-2411").await;
    assert_eq!((roles(&routed), routed.get("stream_options").is_some()), (roles(&body), true));
}

#[tokio::test]
async fn gemini_gets_schemas_with_one_type_for_each_value_and_no_empty_ones() {
    let body = sent("gemini", "gemini-2.5-flash").await;
    assert_eq!(roles(&body), ONE_SYSTEM);
    let tools = &body["tools"];
    let look = json!({ "type": "object", "properties": { "at": { "type": "integer", "nullable": true } } });
    assert_eq!((&tools[0]["function"]["parameters"], tools[1]["function"].get("parameters")), (&look, None));
    assert!(body["messages"][3 - 1 + 1]["tool_calls"][0].get("extra_content").is_none());
}

#[tokio::test]
async fn newer_gemini_models_get_a_word_in_place_of_the_signature_of_a_thought() {
    let body = sent("gemini", "gemini-3-pro-preview").await;
    let calls = &body["messages"][3]["tool_calls"];
    assert_eq!(calls[0]["extra_content"]["google"]["thought_signature"], "skip_thought_signature_validator");
    assert!(calls[1].get("extra_content").is_none(), "only the first of a step has one");
}

#[tokio::test]
async fn local_servers_get_one_system_text_roles_in_turn_and_a_cool_head() {
    for provider in ["ollama", "lmstudio", "llamacpp", "custom"] {
        let body = sent(provider, "m").await;
        assert_eq!(roles(&body), IN_TURN, "{provider}");
        assert_eq!(
            (&body["temperature"], body["messages"][1]["content"].as_str()),
            (&json!(0.2), Some("Look twice.\n\nAt once."))
        );
        assert!(body["max_tokens"].as_u64().is_some_and(|most| (2048..=4096).contains(&most)), "{provider}: {body}");
    }
}

#[tokio::test]
async fn a_request_may_bound_its_answer_lower_and_not_higher() {
    for (provider, word) in [("openai", "max_completion_tokens"), ("anthropic", "max_tokens"), ("ollama", "max_tokens")] {
        let bound = async |answer_tokens| {
            sent_for(provider, "m", Request { answer_tokens, ..crate::request() }).await[word].as_u64().unwrap()
        };
        let most = bound(None).await;
        assert_eq!((bound(Some(100)).await, bound(Some(u32::MAX)).await), (100, most), "{provider}");
    }
}

#[tokio::test]
async fn single_models_differ_from_their_provider() {
    assert_eq!(sent("openai", "gpt-4.1-nano").await["parallel_tool_calls"], false);
    assert_eq!(sent("groq", "qwen/qwen3-32b").await["reasoning_format"], "parsed");
}

#[tokio::test]
async fn a_llama_cpp_server_is_asked_once_how_much_it_can_take() {
    let server = Server::playing(vec![good("a")]).await;
    let client = client_of("llamacpp", "qwen", &server.base_url());
    assert_eq!(client.abilities(), Abilities { context_tokens: 4096, images: false }, "nobody asked");
    server.says_beside("/props", json!({ "default_generation_settings": { "n_ctx": 6000 }, "modalities": { "vision": true } }));
    for _ in 0..3 {
        client.prepare().await;
    }
    assert_eq!(client.abilities(), Abilities { context_tokens: 6000, images: true });
    assert_eq!(server.beside.lock().unwrap()["/props"].1, 1, "asked once");
    ask(&client, crate::request()).await.0.unwrap();
    let asked = server.asked.lock().unwrap()[0].clone();
    assert!(asked.contains("\"max_tokens\":3000"), "half of it is left to the question: {asked}");
}

#[tokio::test]
async fn a_server_that_would_escape_calls_of_the_past_gets_them_as_text() {
    for (arguments, tagged) in [(r#""{\"at\":\"sky\"}""#, true), (r#"{"at": "sky"}"#, false)] {
        let server = Server::playing(vec![good("a")]).await;
        let prompt = format!("<tool_call>\n{{\"name\": \"look\", \"arguments\": {arguments}}}\n</tool_call>");
        server.says_beside("/props", json!({ "default_generation_settings": { "n_ctx": 6000 } }));
        server.says_beside("/apply-template", json!({ "prompt": prompt }));
        let client = client_of("custom", "qwen", &server.base_url());
        client.prepare().await;
        ask(
            &client,
            Request { entries: conversation(), tools: tools().into_iter().map(Into::into).collect(), ..Request::default() },
        )
        .await
        .0
        .unwrap();
        let asked = server.asked.lock().unwrap()[0].clone();
        assert_eq!((asked.contains(r#""tool_calls""#), asked.contains("<tool_call>")), (!tagged, tagged), "{asked}");
    }
}

#[tokio::test]
async fn ollama_and_lm_studio_are_asked_at_their_own_addresses() {
    let server = Server::playing(vec![good("a")]).await;
    server.says_beside("/api/ps", json!({ "models": [{ "name": "llama3:latest", "context_length": 8192 }] }));
    server.says_beside("/api/show", json!({ "capabilities": ["completion", "vision"] }));
    server.says_beside("/api/v0/models", json!({ "data": [{ "id": "q", "type": "llm", "loaded_context_length": 5000 }] }));
    for (provider, model, takes) in [("ollama", "llama3", (8192, true)), ("lmstudio", "q", (5000, false))] {
        let client = client_of(provider, model, &server.base_url());
        client.prepare().await;
        let Abilities { context_tokens, images, .. } = client.abilities();
        assert_eq!((context_tokens, images), takes, "{provider}");
    }
}

#[tokio::test]
async fn ollama_is_asked_again_until_the_model_is_loaded_and_others_once_whatever_they_say() {
    let server = Server::playing(vec![good("a")]).await;
    server.says_beside("/api/ps", json!({ "models": [] }));
    server.says_beside("/props", json!({ "error": "no such thing" }));
    let (ollama, llama) = (client_of("ollama", "llama3", &server.base_url()), client_of("custom", "m", &server.base_url()));
    for client in [&ollama, &ollama, &llama, &llama] {
        client.prepare().await;
    }
    let asked = |path: &str| server.beside.lock().unwrap()[path].1;
    assert_eq!((asked("/api/ps"), asked("/props")), (2, 1));
    assert_eq!((ollama.abilities().context_tokens, llama.abilities().context_tokens), (4096, 32 * 1024));
    server.says_beside("/api/ps", json!({ "models": [{ "model": "llama3", "context_length": 8192 }] }));
    for _ in 0..3 {
        ollama.prepare().await;
    }
    assert_eq!((ollama.abilities().context_tokens, asked("/api/ps")), (8192, 1));
}

#[tokio::test]
async fn a_server_that_fails_to_say_how_much_it_can_take_is_left_alone_for_a_minute() {
    let server = Server::playing(vec![good("a")]).await;
    server.says_beside("/props", "");
    let clock = ManualClock::at("2026-11-20T08:00:00Z".parse().unwrap());
    let client = |provider: &str| {
        let endpoint = Endpoint::new(&server.base_url(), None).unwrap();
        let target = Target { endpoint, model: Some("m".into()), provider: provider.into(), kind: "configured" };
        ChatClient::new(target, crate::limits(), Arc::new(clock.clone()), Arc::new(SeededRandom::new(7))).unwrap()
    };
    let (gateway, llama) = (client("custom"), client("llamacpp"));
    let asked = || server.beside.lock().unwrap()["/props"].1;
    for _ in 0..3 {
        gateway.prepare().await;
    }
    assert_eq!(asked(), 1, "it may have no such answer");
    for _ in 0..3 {
        llama.prepare().await;
    }
    assert_eq!(asked(), 4, "it has one, once it has loaded its model");
    server.says_beside("/props", json!({ "n_ctx": 6000 }));
    clock.advance(TimeDelta::seconds(59));
    gateway.prepare().await;
    assert_eq!(asked(), 0);
    clock.advance(TimeDelta::seconds(1));
    for _ in 0..2 {
        gateway.prepare().await;
    }
    assert_eq!((asked(), gateway.abilities().context_tokens), (1, 6000));
}

#[tokio::test]
async fn what_a_person_says_of_a_model_wins_over_what_the_server_says() {
    let server = Server::playing(vec![good("a")]).await;
    server.says_beside("/props", json!({ "n_ctx": 6000 }));
    let endpoint = level3::model::client::Endpoint::new(&server.base_url(), None).unwrap();
    let target =
        level3::model::client::Target { endpoint, model: Some("m".into()), provider: "llamacpp".into(), kind: "configured" };
    let limits = ModelLimits { context_tokens: Some(2048), ..crate::limits() };
    let (clock, random) = (level3::clock::SystemClock, level3::clock::SeededRandom::new(7));
    let client =
        level3::model::client::ChatClient::new(target, limits, std::sync::Arc::new(clock), std::sync::Arc::new(random)).unwrap();
    client.prepare().await;
    assert_eq!(client.abilities().context_tokens, 2048);
}
