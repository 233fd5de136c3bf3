//! Answers that are odd, wrong or hostile, and what is made of them.

use level3::domain::{CallRequest, Usage};
use level3::model::client::ModelLimits;
use level3::model::{Answer, ModelError, ModelErrorKind as Kind};
use serde_json::{Value, json};

use crate::server::{Do, Server, events, finish, good, piece, response};
use crate::{ask, client, limits, request};

async fn outcome(body: impl AsRef<[u8]>) -> Result<Answer, ModelError> {
    let server = Server::playing(vec![vec![Do::Send(events(body))]]).await;
    ask(&client(&server.base_url(), ModelLimits { retries: 0, ..limits() }), request()).await.0
}

fn chunk(chunk: Value) -> String {
    format!("data: {chunk}\n\n")
}

fn delta(delta: Value) -> String {
    chunk(json!({ "choices": [{ "index": 0, "delta": delta }] }))
}

fn tool_call(call: Value) -> String {
    delta(json!({ "tool_calls": [call] }))
}

fn call(id: &str, name: &str, arguments: &str) -> CallRequest {
    CallRequest { id: id.into(), name: name.into(), arguments: arguments.into() }
}

#[tokio::test]
async fn chunks_that_say_nothing_do_no_harm() {
    let body = [
        delta(json!({ "role": "assistant" })),
        chunk(json!({ "choices": [] })),
        chunk(json!({ "choices": null })),
        chunk(json!({ "choices": {} })),
        chunk(json!({ "choices": [null, 1, "x"] })),
        chunk(json!({})),
        chunk(json!({ "error": "", "choices": [] })),
        chunk(json!({ "error": {}, "choices": [] })),
        delta(json!({ "tool_calls": [] })),
        delta(json!({ "tool_calls": [null, 1, {}] })),
        delta(json!({ "content": "a" })),
        finish(),
        chunk(json!({ "choices": [], "usage": { "prompt_tokens": 1, "completion_tokens": 1 } })),
    ]
    .concat();
    let answer = outcome(body).await.unwrap();
    assert_eq!((answer.content.as_str(), answer.calls, answer.usage), ("a", vec![], Some(Usage { input: 1, output: 1 })));
}

#[tokio::test]
async fn an_answer_without_any_choice_is_no_answer() {
    let error = outcome(chunk(json!({ "choices": [] })).repeat(3) + "data: [DONE]\n\n").await.unwrap_err();
    assert_eq!(error.kind, Kind::Cut, "{error}");
    let whole = json!({ "choices": [], "usage": { "prompt_tokens": 1 } }).to_string();
    let error = outcome(whole).await.unwrap_err();
    assert!(error.kind == Kind::Malformed && error.message.contains("no `choices`"), "{error}");
}

#[tokio::test]
async fn of_two_choices_the_first_is_taken() {
    let both = |first: Value, second: Value| chunk(json!({ "choices": [second, first] }));
    let body = both(json!({ "index": 0, "delta": { "content": "a" } }), json!({ "index": 1, "delta": { "content": "X" } }))
        + &chunk(json!({ "choices": [{ "index": 1, "delta": { "content": "Y" }, "finish_reason": "stop" }] }))
        + &both(json!({ "index": 0, "delta": { "content": "b" } }), json!({ "index": 1, "delta": {} }))
        + &finish();
    assert_eq!(outcome(body).await.unwrap().content, "ab");
    let whole = json!({ "choices": [
        { "message": { "content": "a" }, "finish_reason": "stop" }, { "message": { "content": "X" }, "finish_reason": "stop" },
    ]});
    assert_eq!(outcome(whole.to_string()).await.unwrap().content, "a");
}

#[tokio::test]
async fn content_may_be_a_list_of_parts() {
    let parts = json!({ "content": [{ "type": "text", "text": "a" }, { "type": "image_url" }, "b", null, { "text": "c" }] });
    assert_eq!(outcome(delta(parts) + &finish()).await.unwrap().content, "abc");
}

#[tokio::test]
async fn an_error_in_the_middle_ends_the_answer_in_the_servers_words() {
    for (error, kind) in [
        (json!({ "error": { "message": "the GPU fell over", "code": 500 } }), Kind::Server),
        (json!({ "error": { "message": "slow: the GPU fell over", "code": "429" } }), Kind::RateLimited),
        (json!({ "type": "error", "error": { "type": "overloaded_error", "message": "the GPU fell over" } }), Kind::Server),
        (json!({ "error": "the GPU fell over" }), Kind::Server),
        (json!({ "error": { "message": "the GPU fell over", "code": -1 } }), Kind::Server),
        (json!({ "error": { "message": "the GPU fell over", "code": 1e300 } }), Kind::Server),
        (json!({ "error": { "message": "the GPU fell over", "code": "context_length_exceeded" } }), Kind::ContextOverflow),
    ] {
        let call = tool_call(json!({ "index": 0, "id": "a", "function": { "name": "restart", "arguments": "{}" } }));
        let failed = outcome(call + &chunk(error.clone()) + &finish()).await.unwrap_err();
        assert_eq!(failed.kind, kind, "{error}");
        assert!(failed.message.contains("the GPU fell over"), "{failed}");
    }
}

#[tokio::test]
async fn every_providers_way_to_refuse_is_understood() {
    let why = "tools[0] is wrong";
    for body in [
        json!({ "error": { "message": why, "type": "invalid_request_error", "param": null, "code": null } }), // OpenAI
        json!({ "type": "error", "error": { "type": "invalid_request_error", "message": why }, "request_id": "r" }), // Anthropic
        json!([{ "error": { "code": 400, "message": why, "status": "INVALID_ARGUMENT", "details": [] } }]),   // Google
        json!({ "object": "error", "message": why, "type": "invalid_request", "param": null, "code": 1500 }), // Mistral, vLLM
        json!({ "error": why }),                                                                              // Ollama
        json!({ "error": why, "error_type": "validation" }),                                                  // Hugging Face
        json!({ "error": { "message": why, "code": 400, "metadata": { "raw": "x" } }, "user_id": "u" }),      // OpenRouter
        json!({ "error": { "code": "400", "message": why } }),                                                // Azure
        json!({ "detail": why }),                                                                             // FastAPI
        json!({ "detail": [{ "loc": ["body", "tools"], "msg": why, "type": "value_error" }] }),               // FastAPI
        json!({ "message": why, "id": "x" }),                                                                 // Cohere
        json!({ "success": false, "errors": [{ "code": 7, "message": why }] }),                               // Cloudflare
        json!({ "errors": [why] }),
        json!({ "title": why, "status": 400, "type": "about:blank" }),
    ] {
        let server = Server::playing(vec![vec![Do::Send(response("400 Bad Request", "", body.to_string()))]]).await;
        let error = ask(&client(&server.base_url(), limits()), request()).await.0.unwrap_err();
        assert_eq!((error.kind, server.requests()), (Kind::Refused, 1), "{body}");
        assert!(error.message.contains(why) && error.message.contains("400"), "{body}: {error}");
    }
}

#[tokio::test]
async fn refusals_without_sense_are_refusals_all_the_same() {
    let deep = "[".repeat(10_000);
    let script = "<script>".repeat(1_000);
    for body in ["", "null", "{", "\0\u{1}", &deep, &script, "{\"error\":null}", "[]", "{\"error\":{\"message\":{\"a\":1}}}"] {
        let server = Server::playing(vec![vec![Do::Send(response("400 Bad Request", "", body))]]).await;
        let error = ask(&client(&server.base_url(), limits()), request()).await.0.unwrap_err();
        assert_eq!(error.kind, Kind::Refused, "{body}");
        assert!(error.message.contains("(400)") && error.message.len() < 1000, "{error}");
    }
}

#[tokio::test]
async fn megabytes_of_tags_in_an_error_are_shortened_before_they_are_read() {
    let error = chunk(json!({ "error": { "message": "<script>".repeat(900_000), "code": 400 } }));
    let began = std::time::Instant::now();
    let failed = outcome(error).await.unwrap_err();
    assert!(failed.kind == Kind::Refused && failed.message.len() < 1000, "{failed}");
    assert!(began.elapsed() < std::time::Duration::from_secs(60), "it took {:?}", began.elapsed());
}

#[tokio::test]
async fn a_name_that_is_null_at_first_comes_later() {
    for index in [json!(0), Value::Null] {
        let first = json!({ "index": index, "id": "a", "type": null, "function": { "name": null, "arguments": null } });
        let second = json!({ "index": index, "id": null, "function": { "name": "restart", "arguments": "{}" } });
        let answer = outcome(tool_call(first) + &tool_call(second) + &finish()).await.unwrap();
        assert_eq!(answer.calls, [call("a", "restart", "{}")], "index {index}");
    }
}

#[tokio::test]
async fn calls_with_equal_ids_or_indices_stay_apart_and_get_ids_of_their_own() {
    let arguments = |n: i32| json!({ "n": n }).to_string();
    for (indices, ids) in [
        ([Some(0), Some(1), Some(2)], ["a", "a", "a"]),
        ([Some(0), Some(0), Some(0)], ["a", "b", "c"]),
        ([Some(0), Some(0), Some(0)], ["a", "a", "a"]),
        ([None, None, None], ["a", "a", "a"]),
        ([None, None, None], ["", "", ""]),
        ([Some(-1), Some(7), Some(7)], ["", "", "b"]),
    ] {
        let calls = (0..3).map(|n| {
            let function = json!({ "name": format!("x{n}"), "arguments": arguments(n) });
            json!({ "index": indices[n as usize], "id": ids[n as usize], "function": function })
        });
        let calls: Vec<_> = calls.collect();
        let apart: String = calls.iter().map(|call| tool_call(call.clone())).collect();
        for body in [apart, delta(json!({ "tool_calls": calls }))] {
            let answer = outcome(body + &finish()).await.unwrap();
            let said: Vec<_> = answer.calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect();
            let expected: Vec<_> = (0..3).map(|n| (format!("x{n}"), arguments(n))).collect();
            assert_eq!(said, expected, "{indices:?} {ids:?}");
            let unique: std::collections::HashSet<_> = answer.calls.iter().map(|call| &call.id).collect();
            assert!(unique.len() == 3 && !unique.contains(&String::new()), "{indices:?} {ids:?}: {unique:?}");
        }
    }
}

#[tokio::test]
async fn arguments_that_are_empty_cut_or_no_object_are_kept_for_the_tool_to_refuse() {
    for (arguments, kept) in [
        (json!(""), "{}"),
        (json!(null), "{}"),
        (json!("null"), "{}"),
        (json!({ "query": "SELECT 1" }), r#"{"query":"SELECT 1"}"#),
        (json!("{\"query\": \"SEL"), "{\"query\": \"SEL"),
        (json!([1]), "[1]"),
        (json!(7), "7"),
        (json!("\"\\\"\""), "\"\\\"\""),
    ] {
        let body = tool_call(json!({ "index": 0, "id": "a", "function": { "name": "execute_sql", "arguments": arguments } }));
        let answer = outcome(body + &finish()).await.unwrap();
        assert_eq!(answer.calls, [call("a", "execute_sql", kept)]);
    }
}

#[tokio::test]
async fn a_thousand_calls_are_taken_and_more_are_thrown_away() {
    let calls = |count: usize| {
        let call = |n| tool_call(json!({ "index": n, "id": format!("c{n}"), "function": { "name": "x", "arguments": "{}" } }));
        (0..count).map(call).collect::<String>() + &finish()
    };
    assert_eq!(outcome(calls(1024)).await.unwrap().calls.len(), 1024);
    let error = outcome(calls(1025)).await.unwrap_err();
    assert_eq!(error.kind, Kind::Malformed);
    assert!(error.message.contains("more than 1024 tool calls") && error.message.contains("none of them was run"), "{error}");
}

#[tokio::test]
async fn counts_of_tokens_that_cannot_be_are_not_believed() {
    let max = i64::MAX.to_string();
    for (input, usage) in [
        ("3.0", Some(Usage { input: 3, output: 2 })),
        ("-5", Some(Usage { input: 0, output: 2 })),
        ("1e300", Some(Usage { input: 0, output: 2 })),
        ("1e999", Some(Usage { input: 0, output: 2 })),
        ("NaN", Some(Usage { input: 0, output: 2 })),
        ("-Infinity", Some(Usage { input: 0, output: 2 })),
        ("18446744073709551615", Some(Usage { input: 0, output: 2 })),
        (&max, Some(Usage { input: 0, output: 2 })),
        ("\"7\"", Some(Usage { input: 0, output: 2 })),
    ] {
        let counted = format!("data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":{input},\"completion_tokens\":2}}}}\n\n");
        let answer = outcome(piece("a") + &finish() + &counted).await.unwrap();
        assert_eq!((answer.content.as_str(), answer.usage), ("a", usage), "{input}");
    }
}

#[tokio::test]
async fn json_that_python_writes_and_halves_of_characters_are_read() {
    let body = r#"data: {"choices":[{"index":0,"delta":{"content":"a\ud83d"},"logprobs":{"content":[{"logprob":-Infinity}]}}]}"#;
    let answer = outcome(format!("{body}\n\n{}", finish())).await.unwrap();
    assert_eq!(answer.content, "a\u{fffd}");
}

#[tokio::test]
async fn very_deep_json_is_refused_and_nothing_overflows() {
    let deep = |opening: &str, closing: &str| opening.repeat(200_000) + &closing.repeat(200_000);
    for body in [
        format!("data: {{\"choices\":{}}}\n\n", deep("[", "]")),
        format!("data: {}\n\n", deep("{\"a\":", "}")),
        format!("{{\"choices\":{}}}", deep("[", "]")),
        deep("[", "]"),
    ] {
        let error = outcome(body).await.unwrap_err();
        assert!(matches!(error.kind, Kind::Malformed | Kind::Cut), "{error}");
    }
    // Inside the text of arguments it is the tool's to refuse, also if the client looks for a call
    // in written text.
    let nested = deep("{\"a\":", "}");
    let body = tool_call(json!({ "index": 0, "id": "a", "function": { "name": "x", "arguments": nested } }));
    assert_eq!(outcome(body + &finish()).await.unwrap().calls[0].arguments, nested);
    let written = format!("<tool_call>{}</tool_call>", "{\"name\":".repeat(10_000));
    let server = Server::playing(vec![good(&written)]).await;
    assert_eq!(ask(&client(&server.base_url(), limits()), request()).await.0.unwrap().content, written);
}
