//! Requests as a provider reads them.

use super::*;

const STREAMED: RequestManner = RequestManner { streamed: true, counted: true, demanding: true };

fn asked(id: &str, name: &str, arguments: &str) -> Entry {
    let calls = vec![CallRequest { id: id.into(), name: name.into(), arguments: arguments.into() }];
    Entry::Assistant { content: String::new(), calls }
}

fn came(id: &str, content: &str) -> Entry {
    Entry::Tool { call_id: id.into(), content: content.into(), refusal: None }
}

/// The body as it is sent.
fn chat(request: &Request, model: &str, peer: RequestTarget, manner: RequestManner) -> Value {
    serde_json::from_str(&serde_json::to_string(&super::chat(request, model, peer, manner)).unwrap()).unwrap()
}

fn body(entries: Vec<Entry>, tools: usize) -> Value {
    let tool = ToolSpec { name: "execute_sql".into(), description: "d".into(), parameters: json!({}) };
    chat(
        &Request { entries, tools: vec![tool.into(); tools], ..Request::default() },
        "m",
        RequestTarget { quirks: quirks("openai", "m"), local: false, tagged_calls: false },
        STREAMED,
    )
}

fn quirks(provider: &str, model: &str) -> Quirks {
    crate::model::providers::Provider::named(provider).unwrap().quirks(model)
}

fn roles(body: &Value) -> Vec<&str> {
    body["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect()
}

#[test]
fn a_conversation_has_the_form_providers_expect() {
    let entries = vec![
        Entry::System("s".into()),
        Entry::User("u".into()),
        asked("c", "execute_sql", r#"{"query":"SELECT 1"}"#),
        came("c", "[]"),
    ];
    let body = body(entries, 1);
    assert_eq!(roles(&body), ["system", "user", "assistant", "tool"]);
    assert_eq!(body["messages"][2]["content"], Value::Null);
    assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], r#"{"query":"SELECT 1"}"#);
    assert_eq!(body["messages"][3]["tool_call_id"], "c");
    assert_eq!(body["stream"], true);
    assert_eq!(body["tools"][0]["function"]["parameters"], json!({ "type": "object", "properties": {} }));
}

#[test]
fn a_call_without_a_result_gets_one_and_a_result_without_a_call_is_left_out() {
    let entries = vec![came("old", "1"), asked("a", "x", "{}"), came("b", "2"), Entry::User("u".into())];
    let body = body(entries, 1);
    assert_eq!(roles(&body), ["assistant", "tool", "user"]);
    assert_eq!(body["messages"][1]["content"], "No result of this call was recorded.");
}

#[test]
fn an_id_that_comes_again_in_a_later_step_is_sent_as_another() {
    let entries = vec![asked("call_1", "x", "{}"), came("call_1", "a"), asked("call_1", "x", "{}"), came("call_1", "b")];
    let body = body(entries, 1);
    assert_eq!(body["messages"][2]["tool_calls"][0]["id"], "call_1_2");
    assert_eq!((&body["messages"][3]["tool_call_id"], &body["messages"][3]["content"]), (&json!("call_1_2"), &json!("b")));
}

#[test]
fn names_and_arguments_a_model_garbled_do_not_spoil_later_requests() {
    let body = body(vec![asked("a", "run this!", "{\"query\": \"SEL"), asked("b", "", "[1]")], 1);
    let function = &body["messages"][0]["tool_calls"][0]["function"];
    assert_eq!(function["name"], "run_this_");
    assert_eq!(function["arguments"], r#"{"unreadable_arguments":"{\"query\": \"SEL"}"#);
    assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["name"], "unknown");
}

#[test]
fn without_tools_earlier_calls_are_told_as_text() {
    let body = body(vec![Entry::User("u".into()), asked("a", "x", "{}"), came("a", "7"), came("a", "8")], 0);
    assert!(body.get("tools").is_none());
    assert_eq!(roles(&body), ["user", "assistant", "user"]);
    assert_eq!(body["messages"][1]["content"], "[I called x with {}]");
    assert_eq!(body["messages"][2]["content"], "[The result of x: 7]");
}

#[test]
fn a_model_of_this_machine_can_be_made_to_call() {
    let choice = |must_call, local, demanding| {
        let tool = ToolSpec { name: "execute_sql".into(), description: "d".into(), parameters: json!({}) };
        let request =
            Request { entries: vec![Entry::User("u".into())], tools: vec![tool.into()], must_call, ..Request::default() };
        let peer = RequestTarget { quirks: quirks("custom", "m"), local, tagged_calls: false };
        chat(&request, "m", peer, RequestManner { demanding, ..STREAMED })["tool_choice"].clone()
    };
    assert_eq!(choice(true, true, true), "required");
    assert_eq!(choice(false, true, true), Value::Null);
    assert_eq!(choice(true, false, true), Value::Null, "it is for servers of small models");
    assert_eq!(choice(true, true, false), Value::Null, "this one refused it");
    let tool = ToolSpec { name: "execute_sql".into(), description: "d".into(), parameters: json!({}) };
    let entries = vec![Entry::User("u".into())];
    let request = Request { entries, tools: vec![tool.into()], must_call: true, demanded_of_all: true, ..Request::default() };
    let peer = RequestTarget { quirks: quirks("custom", "m"), local: false, tagged_calls: false };
    assert_eq!(chat(&request, "m", peer, STREAMED)["tool_choice"], "required", "the profile says so");
    assert_eq!(chat(&request, "m", peer, RequestManner { demanding: false, ..STREAMED })["tool_choice"], Value::Null);
}

#[test]
fn where_a_server_escapes_calls_they_stand_in_the_text() {
    let entries = vec![Entry::User("u".into()), asked("c", "execute_sql", r#"{"query":"SELECT 'a'"}"#), came("c", "[]")];
    let tool = ToolSpec { name: "execute_sql".into(), description: "d".into(), parameters: json!({}) };
    let request = Request { entries, tools: vec![tool.into()], ..Request::default() };
    let peer = RequestTarget { quirks: quirks("custom", "m"), local: true, tagged_calls: true };
    let messages = chat(&request, "m", peer, STREAMED)["messages"].clone();
    let call = "<tool_call>\n{\"name\": \"execute_sql\", \"arguments\": {\"query\":\"SELECT 'a'\"}}\n</tool_call>";
    assert_eq!(messages[1], json!({ "role": "assistant", "content": call }));
    assert_eq!((&messages[2]["role"], &messages[2]["content"]), (&json!("tool"), &json!("[]")));
}

#[test]
fn a_whole_reply_is_asked_for_without_what_belongs_to_a_stream() {
    let request = Request::default();
    let peer = RequestTarget { quirks: quirks("custom", "m"), local: true, tagged_calls: false };
    let body = chat(&request, "m", peer, RequestManner { streamed: false, ..STREAMED });
    assert_eq!((&body["stream"], body.get("stream_options")), (&json!(false), None));
}

#[test]
fn an_empty_answer_of_the_past_is_not_sent_again() {
    let empty = Entry::Assistant { content: " ".into(), calls: Vec::new() };
    assert_eq!(roles(&body(vec![Entry::User("u".into()), empty], 1)), ["user"]);
}

#[test]
fn images_are_parts_of_their_message_with_tools_and_without() {
    let image = crate::domain::Image { sha256: "ab".into(), media_type: crate::domain::ImageType::Png, size: 3 };
    let picture = Picture { image, url: "data:image/png;base64,AAAA".into() };
    let seen = |content: &str| Entry::UserWithImages { content: content.into(), images: vec![picture.clone()] };
    let part = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } });
    for tools in [0, 1] {
        let body = body(vec![seen("what is this?"), seen("")], tools);
        assert_eq!(body["messages"][0]["content"], json!([{ "type": "text", "text": "what is this?" }, part]));
        assert_eq!(body["messages"][1]["content"], json!([part]));
    }
}

#[test]
fn every_request_bounds_the_answer_in_the_providers_own_word() {
    let request = Request::default();
    for (provider, word) in [("openai", "max_completion_tokens"), ("anthropic", "max_tokens"), ("ollama", "max_tokens")] {
        let body =
            chat(&request, "m", RequestTarget { quirks: quirks(provider, "m"), local: false, tagged_calls: false }, STREAMED);
        assert!(body[word].as_u64().is_some_and(|tokens| tokens >= 4096), "{provider}: {body}");
    }
    let openai =
        chat(&request, "m", RequestTarget { quirks: quirks("openai", "m"), local: false, tagged_calls: false }, STREAMED);
    assert!(openai.get("max_tokens").is_none() && openai.get("temperature").is_none(), "{openai}");
    let local = chat(&request, "m", RequestTarget { quirks: quirks("custom", "m"), local: true, tagged_calls: false }, STREAMED);
    assert_eq!(local["temperature"], LOCAL_TEMPERATURE);
    let said = Request { temperature: Some(0.7), ..Request::default() };
    for local in [true, false] {
        let peer = RequestTarget { quirks: quirks("openai", "gpt-5"), local, tagged_calls: false };
        assert_eq!(chat(&said, "m", peer, STREAMED)["temperature"], 0.7, "the profile says so");
    }
}

#[test]
fn pictures_and_texts_of_one_role_are_joined_without_losing_any() {
    let (text, parts) = (json!("a"), json!([{ "type": "image_url" }]));
    assert_eq!(joined(&text, &json!("b")), Some(json!("a\n\nb")));
    assert_eq!(joined(&text, &parts), Some(json!([{ "type": "text", "text": "a" }, { "type": "image_url" }])));
    assert_eq!(joined(&parts, &text), Some(json!([{ "type": "image_url" }, { "type": "text", "text": "a" }])));
    assert_eq!(joined(&parts, &parts).unwrap().as_array().unwrap().len(), 2);
    assert_eq!(joined(&text, &json!(7)), None);
}

#[test]
fn ids_of_nine_letters_are_unique_and_the_same_each_time() {
    let mut used = HashSet::new();
    let ids: Vec<_> = ["call_1", "call_1", "abcDEF123", "abcDEF123"]
        .map(|id| unused(&id_of(id, CallIds::NineLetters), &mut used, CallIds::NineLetters))
        .to_vec();
    assert!(ids.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())), "{ids:?}");
    assert_eq!((used.len(), ids[2].as_str()), (4, "abcDEF123"));
    assert_eq!(ids[0], id_of("call_1", CallIds::NineLetters));
}

#[test]
fn each_provider_gets_the_same_tool_in_its_own_form() {
    let parameters = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let tool = ToolSpec { name: "restart".into(), description: "d".into(), parameters: parameters.clone() };
    let request = Request { tools: vec![tool.into()], ..Request::default() };
    let sent = |provider| {
        let peer = RequestTarget { quirks: quirks(provider, "m"), local: false, tagged_calls: false };
        chat(&request, "m", peer, STREAMED)["tools"][0]["function"].get("parameters").cloned()
    };
    for _ in 0..2 {
        assert_eq!((sent("openai"), sent("gemini")), (Some(parameters.clone()), None));
    }
}
