//! Answers in the shape of each provider, made by hand after its documents and after reports of
//! what it really sends.

use level3::domain::Usage;
use level3::model::{Answer, ModelErrorKind};
use serde_json::{Value, json};

use crate::server::{Do, Reply, Server, events, good, response};
use crate::{ask, client, client_of, limits, request};

/// A stream of these chunks.
fn stream(chunks: &[Value]) -> Reply {
    let body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    vec![Do::Send(events(body + "data: [DONE]\n\n"))]
}

async fn answered(reply: Reply) -> (Answer, String) {
    let server = Server::playing(vec![reply]).await;
    let (outcome, heard) = ask(&client(&server.base_url(), limits()), request()).await;
    assert_eq!(server.requests(), 1);
    (outcome.unwrap(), heard)
}

fn calls(answer: &Answer) -> Vec<(&str, &str)> {
    answer.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
}

const QUERY: &str = r#"{"query":"SELECT 1"}"#;

#[tokio::test]
async fn groq_says_a_tier_and_counts_in_a_field_of_its_own() {
    let chunk = |delta: Value, reason: Value| {
        json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "llama-3.3-70b-versatile", "system_fingerprint": "fp",
            "service_tier": "on_demand", "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason }] })
    };
    let mut first = chunk(json!({ "role": "assistant", "content": null }), Value::Null);
    first["x_groq"] = json!({ "id": "req_1" });
    let call = json!({ "tool_calls": [{ "id": "functions.execute_sql:0", "type": "function", "index": 0,
        "function": { "name": "execute_sql", "arguments": QUERY } }] });
    let mut last = chunk(json!({}), json!("tool_calls"));
    last["x_groq"] =
        json!({ "id": "req_1", "usage": { "queue_time": 0.01, "prompt_tokens": 9, "completion_tokens": 4, "total_time": 0.1 } });
    let (answer, _) = answered(stream(&[first, chunk(call, Value::Null), last])).await;
    assert_eq!((calls(&answer), answer.usage), (vec![("execute_sql", QUERY)], Some(Usage { input: 9, output: 4 })));
    assert_eq!(answer.model, "llama-3.3-70b-versatile");
}

#[tokio::test]
async fn a_call_that_groq_could_not_read_is_read_here_or_asked_for_again() {
    let refused = |wrote: &str| {
        let error = json!({ "error": { "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
            "type": "invalid_request_error", "code": "tool_use_failed", "failed_generation": wrote } });
        vec![Do::Send(response("400 Bad Request", "", error.to_string()))]
    };
    let (answer, _) = answered(refused(r#"<function=execute_sql{"query":"SELECT 1"}</function>"#)).await;
    assert_eq!(calls(&answer), [("execute_sql", QUERY)]);
    let server = Server::playing(vec![refused("<function=unknown{}</function>"), good("hello")]).await;
    let (outcome, _) = ask(&client(&server.base_url(), limits()), request()).await;
    assert_eq!((outcome.unwrap().content.as_str(), server.requests()), ("hello", 2));
    let server = Server::playing(vec![refused("?")]).await;
    let error = ask(&client(&server.base_url(), limits()), request()).await.0.unwrap_err();
    assert_eq!((error.kind, server.requests()), (ModelErrorKind::Malformed, 4));
    assert!(error.message.contains("could not read") && error.message.contains("Tried 4 times"), "{error}");
}

#[tokio::test]
async fn openai_counts_in_a_last_chunk_without_choices_and_hides_in_other_fields() {
    let chunk = |delta: Value, reason: Value| {
        json!({ "id": "1", "service_tier": "default", "usage": null, "obfuscation": "xyz",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
    };
    let piece =
        |arguments: &str| chunk(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": arguments } }] }), Value::Null);
    let begin = json!({ "role": "assistant", "content": null, "refusal": null, "tool_calls": [{ "index": 0, "id": "call_abc", "type": "function",
        "function": { "name": "execute_sql", "arguments": "" } }] });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 5, "completion_tokens": 2, "completion_tokens_details": { "reasoning_tokens": 0 } } });
    let (answer, _) = answered(stream(&[
        chunk(begin, Value::Null),
        piece("{\"query\":"),
        piece("\"SELECT 1\"}"),
        chunk(json!({}), json!("tool_calls")),
        usage,
    ]))
    .await;
    assert_eq!((calls(&answer), answer.usage), (vec![("execute_sql", QUERY)], Some(Usage { input: 5, output: 2 })));
    assert_eq!(answer.calls[0].id, "call_abc");
}

#[tokio::test]
async fn mistral_sends_calls_whole_with_short_ids_and_thinking_as_parts() {
    let chunk = |delta: Value, reason: Value| json!({ "id": "1", "model": "magistral", "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] });
    let thinking = json!({ "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] }] });
    let text = json!({ "content": [{ "type": "text", "text": "I look." }] });
    let both = json!({ "tool_calls": [
        { "id": "D681PevKs", "function": { "name": "execute_sql", "arguments": QUERY }, "index": 0 },
        { "id": "null", "function": { "name": "execute_sql", "arguments": { "query": "SELECT 2" } }, "index": 1 } ] });
    let mut last = chunk(both, json!("tool_calls"));
    last["usage"] = json!({ "prompt_tokens": 7, "total_tokens": 10, "completion_tokens": 3, "prompt_audio_seconds": null });
    let (answer, heard) = answered(stream(&[chunk(thinking, Value::Null), chunk(text, Value::Null), last])).await;
    assert_eq!(calls(&answer), [("execute_sql", QUERY), ("execute_sql", r#"{"query":"SELECT 2"}"#)]);
    assert_eq!(
        (answer.content.as_str(), heard.as_str(), answer.usage),
        ("I look.", "I look.", Some(Usage { input: 7, output: 3 }))
    );
}

#[tokio::test]
async fn gemini_sends_all_calls_at_once_without_ids_and_says_stop() {
    let call = |query: &str| {
        json!({ "function": { "arguments": json!({ "query": query }).to_string(), "name": "execute_sql" }, "id": "", "type": "function",
            "extra_content": { "google": { "thought_signature": "c2ln" } } })
    };
    for index in [None, Some(0)] {
        let mut both = [call("SELECT 1"), call("SELECT 2")];
        for call in both.iter_mut().filter(|_| index.is_some()) {
            call["index"] = json!(index);
        }
        let chunk = json!({ "choices": [{ "delta": { "role": "assistant", "tool_calls": both }, "finish_reason": "stop", "index": 0 }],
            "model": "gemini-2.5-flash", "object": "chat.completion.chunk", "usage": { "completion_tokens": 4, "prompt_tokens": 9, "total_tokens": 80 } });
        let (answer, _) = answered(stream(&[chunk])).await;
        assert_eq!(calls(&answer), [("execute_sql", QUERY), ("execute_sql", r#"{"query":"SELECT 2"}"#)], "{index:?}");
        assert_eq!((answer.calls[0].id.as_str(), answer.calls[1].id.as_str()), ("call_1", "call_2"));
        assert_eq!((answer.finish_reason.as_str(), answer.usage), ("stop", Some(Usage { input: 9, output: 4 })));
    }
}

#[tokio::test]
async fn gemini_puts_its_errors_into_a_list() {
    let error = json!([{ "error": { "code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT" } }]);
    let server = Server::playing(vec![vec![Do::Send(response("400 Bad Request", "", error.to_string()))]]).await;
    let error = ask(&client_of("gemini", "gemini-2.5-flash", &server.base_url()), request()).await.0.unwrap_err();
    assert!(error.message.contains("API key not valid") && error.message.contains("(400)"), "{error}");
    assert_eq!(error.kind, ModelErrorKind::Unauthorized, "another model may answer instead");
}

#[tokio::test]
async fn anthropic_counts_in_the_last_chunk_and_ends_a_call_with_an_empty_piece() {
    let chunk = |delta: Value, reason: Value| {
        json!({ "id": "msg_1", "object": "chat.completion.chunk", "model": "claude-sonnet-4-5-20250929",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
    };
    let begin = json!({ "tool_calls": [{ "index": 0, "id": "toolu_01", "type": "function", "function": { "name": "execute_sql", "arguments": "" } }] });
    let piece = |arguments: &str| json!({ "tool_calls": [{ "index": 0, "function": { "arguments": arguments } }] });
    let mut last = chunk(json!({}), json!("tool_calls"));
    last["usage"] = json!({ "prompt_tokens": 12, "completion_tokens": 6, "total_tokens": 18 });
    let (answer, heard) = answered(stream(&[
        chunk(json!({ "role": "assistant", "content": "" }), Value::Null),
        chunk(json!({ "content": "I look." }), Value::Null),
        chunk(begin, Value::Null),
        chunk(piece(""), Value::Null),
        chunk(piece(QUERY), Value::Null),
        chunk(piece(""), Value::Null),
        last,
    ]))
    .await;
    assert_eq!((calls(&answer), heard.as_str()), (vec![("execute_sql", QUERY)], "I look."));
    assert_eq!((answer.calls[0].id.as_str(), answer.usage), ("toolu_01", Some(Usage { input: 12, output: 6 })));
}

#[tokio::test]
async fn openrouter_thinks_in_two_fields_pays_in_a_third_and_names_the_provider() {
    let chunk = |delta: Value, reason: Value| {
        json!({ "id": "gen-1", "provider": "Anthropic", "model": "anthropic/claude-sonnet-4.5",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason, "native_finish_reason": reason }] })
    };
    let thinking = json!({ "role": "assistant", "content": "", "reasoning": "Hm.", "reasoning_details": [{ "type": "reasoning.text", "text": "Hm." }] });
    let usage = json!({ "choices": [{ "index": 0, "delta": { "role": "assistant", "content": "" }, "finish_reason": null }],
        "usage": { "prompt_tokens": 3, "completion_tokens": 2, "cost": 0.00012, "is_byok": false } });
    let (answer, heard) =
        answered(stream(&[chunk(thinking, Value::Null), chunk(json!({ "content": "Yes." }), json!("stop")), usage])).await;
    assert_eq!((answer.content.as_str(), heard.as_str(), answer.usage), ("Yes.", "Yes.", Some(Usage { input: 3, output: 2 })));
}

#[tokio::test]
async fn ollama_sends_calls_whole_and_says_stop_or_tool_calls() {
    for reason in ["stop", "tool_calls"] {
        let chunk = |delta: Value, reason: Value| {
            json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "qwen2.5:7b", "system_fingerprint": "fp_ollama",
                "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
        };
        let call = json!({ "role": "assistant", "content": "", "tool_calls": [{ "id": "call_x1", "index": 0, "type": "function",
            "function": { "name": "execute_sql", "arguments": QUERY } }] });
        let thinking = json!({ "role": "assistant", "content": "", "reasoning": "Hm." });
        let end = json!({ "role": "assistant", "content": "" });
        let (answer, _) =
            answered(stream(&[chunk(thinking, Value::Null), chunk(call, Value::Null), chunk(end, json!(reason))])).await;
        assert_eq!((calls(&answer), answer.content.as_str()), (vec![("execute_sql", QUERY)], ""), "{reason}");
    }
}

#[tokio::test]
async fn lm_studio_gives_every_call_an_index_and_the_name_only_once() {
    let piece = |index: u64, id: Value, name: Value, arguments: &str| {
        json!({ "choices": [{ "index": 0, "delta": { "role": "assistant", "tool_calls": [{ "index": index, "id": id, "type": "function",
            "function": { "name": name, "arguments": arguments } }] }, "logprobs": null, "finish_reason": null }], "stats": {} })
    };
    let (answer, _) = answered(stream(&[
        piece(0, json!("1234"), json!("execute_sql"), ""),
        piece(0, Value::Null, Value::Null, QUERY),
        piece(1, json!("5678"), json!("execute_sql"), ""),
        piece(1, Value::Null, Value::Null, "{\"query\":\"SELECT 2\"}"),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
    ]))
    .await;
    assert_eq!(calls(&answer), [("execute_sql", QUERY), ("execute_sql", r#"{"query":"SELECT 2"}"#)]);
}

#[tokio::test]
async fn llama_cpp_old_and_new_are_both_read() {
    // Before it could stream calls it sent them whole, with an index and the timings beside.
    let old = json!({ "choices": [{ "finish_reason": "tool_calls", "index": 0, "delta": { "role": "assistant", "content": null,
        "tool_calls": [{ "index": 0, "type": "function", "function": { "name": "execute_sql", "arguments": QUERY } }] } }],
        "usage": { "completion_tokens": 2, "prompt_tokens": 3, "total_tokens": 5 }, "timings": { "predicted_n": 2 } });
    let (answer, _) = answered(stream(&[old])).await;
    assert_eq!((calls(&answer), answer.usage), (vec![("execute_sql", QUERY)], Some(Usage { input: 3, output: 2 })));
    // Now: a role first, thinking aside, the call in pieces with its id on the first one, usage
    // last with no choices.
    let chunk = |delta: Value, reason: Value| json!({ "choices": [{ "finish_reason": reason, "index": 0, "delta": delta }], "model": "q.gguf", "system_fingerprint": "b7000" });
    let piece = |arguments: &str| json!({ "tool_calls": [{ "index": 0, "function": { "arguments": arguments } }] });
    let first = json!({ "tool_calls": [{ "index": 0, "id": "gT4LYuKpF4XwDSHlPHpc3xEyCnYxAuOV", "type": "function", "function": { "name": "execute_sql", "arguments": "{" } }] });
    let (answer, heard) = answered(stream(&[
        chunk(json!({ "role": "assistant", "content": null }), Value::Null),
        chunk(json!({ "reasoning_content": "Hm." }), Value::Null),
        chunk(first, Value::Null),
        chunk(piece("\"query\":"), Value::Null),
        chunk(piece("\"SELECT 1\"}"), Value::Null),
        chunk(json!({}), json!("tool_calls")),
        json!({ "choices": [], "usage": { "completion_tokens": 2, "prompt_tokens": 3, "prompt_tokens_details": { "cached_tokens": 1 } }, "timings": {} }),
    ]))
    .await;
    assert_eq!(
        (calls(&answer), heard.as_str(), answer.usage),
        (vec![("execute_sql", QUERY)], "", Some(Usage { input: 3, output: 2 }))
    );
}

#[tokio::test]
async fn calls_without_type_or_index_and_with_objects_are_read_from_any_of_them() {
    let call = |query: &str| json!({ "function": { "name": "execute_sql", "arguments": { "query": query } } });
    let chunk =
        json!({ "choices": [{ "delta": { "tool_calls": [call("SELECT 1"), call("SELECT 2")] }, "finish_reason": "stop" }] });
    let (answer, _) = answered(stream(&[chunk])).await;
    assert_eq!(calls(&answer), [("execute_sql", QUERY), ("execute_sql", r#"{"query":"SELECT 2"}"#)]);
}

#[tokio::test]
async fn thinking_is_life_and_no_text_in_both_of_its_fields() {
    for field in ["reasoning", "reasoning_content"] {
        let thinking = json!({ "choices": [{ "index": 0, "delta": { field: "Hm.", "content": null } }] });
        let text = json!({ "choices": [{ "index": 0, "delta": { "content": "Yes." }, "finish_reason": "stop" }] });
        let (answer, heard) = answered(stream(&[thinking, text])).await;
        assert_eq!((answer.content.as_str(), heard.as_str()), ("Yes.", "Yes."), "{field}");
    }
}

#[tokio::test]
async fn a_call_written_as_text_counts_only_where_the_tool_was_offered_and_its_schema_fits() {
    for (text, calls) in [
        ("<tool_call>\n<function=execute_sql>\n<parameter=query>\nSELECT 1\n</parameter>\n</function>\n</tool_call>", 1),
        ("<function=execute_sql>{\"query\": \"SELECT 1\"}</function>", 1),
        ("```json\n{\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}\n```", 1),
        ("<tool_call>{\"name\": \"drop_all\", \"arguments\": {\"query\": \"SELECT 1\"}}</tool_call>", 0),
        ("<function=execute_sql><parameter=sql>SELECT 1</parameter></function>", 0),
        ("<tool_call>{\"name\": \"execute_sql\", \"arguments\": {\"query\": 1}}</tool_call>", 0),
    ] {
        let (answer, heard) = answered(good(text)).await;
        assert_eq!((answer.calls.len(), heard.as_str()), (calls, text), "{text}");
        assert_eq!(answer.content.as_str(), if calls == 1 { "" } else { text });
    }
}
