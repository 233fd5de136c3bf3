//! The shapes that a good answer may have on the wire.

use std::time::{Duration, Instant};

use level3::domain::Usage;
use level3::model::client::ModelLimits;
use level3::model::{Answer, ModelErrorKind};
use serde_json::Value;

use crate::server::{Do, Reply, Server, events, finish, good, piece, response};
use crate::{ask, client, limits, request};

const TOOL_CALL: &[u8] = include_bytes!("recorded/llama-cpp-tool-call.sse");
const TEXT: &[u8] = include_bytes!("recorded/llama-cpp-text.sse");

async fn answered(reply: Reply) -> (Answer, String) {
    let server = Server::playing(vec![reply]).await;
    let (outcome, heard) = ask(&client(&server.base_url(), limits()), request()).await;
    assert_eq!(server.requests(), 1);
    (outcome.unwrap(), heard)
}

#[tokio::test]
async fn a_recorded_tool_call_of_a_real_server_is_read() {
    let (answer, heard) = answered(vec![Do::Send(events(TOOL_CALL))]).await;
    assert_eq!((answer.calls.len(), answer.finish_reason.as_str(), heard.as_str()), (1, "tool_calls", ""));
    assert_eq!(answer.calls[0].name, "execute_sql");
    assert!(serde_json::from_str::<Value>(&answer.calls[0].arguments).unwrap()["query"].is_string());
    assert!(answer.usage.is_some_and(|usage| usage.input > 100 && usage.output > 10));
    assert_eq!(answer.model, "1.5b.gguf");
}

#[tokio::test]
async fn one_byte_at_a_time_gives_the_same_as_all_at_once() {
    for recorded in [TOOL_CALL, TEXT] {
        let at_once = answered(vec![Do::Send(events(recorded))]).await;
        assert_eq!(answered(vec![Do::Trickle(events(recorded))]).await, at_once);
    }
}

#[tokio::test]
async fn done_without_a_finish_reason_is_a_cut_stream() {
    let server = Server::playing(vec![vec![Do::Send(events(piece("half") + "data: [DONE]\n\n"))]]).await;
    let (outcome, heard) = ask(&client(&server.base_url(), limits()), request()).await;
    assert_eq!((outcome.unwrap_err().kind, heard.as_str(), server.requests()), (ModelErrorKind::Cut, "half", 1));
}

#[tokio::test]
async fn the_end_may_come_without_done_and_without_the_connection_closing() {
    let reply = vec![Do::Send(events(piece("all") + &finish())), Do::Hang];
    let server = Server::playing(vec![reply]).await;
    let limits = ModelLimits { after_end: Duration::from_millis(50), ..limits() };
    let began = Instant::now();
    let (outcome, _) = ask(&client(&server.base_url(), limits), request()).await;
    assert_eq!(outcome.unwrap().content, "all");
    assert!(began.elapsed() < limits.silence, "it waited for the silence to end");
}

#[tokio::test]
async fn usage_may_come_last_in_a_chunk_of_its_own() {
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n";
    let (answer, _) = answered(vec![Do::Send(events(piece("a") + &finish() + usage + "data: [DONE]\n\n"))]).await;
    assert_eq!(answer.usage, Some(Usage { input: 5, output: 2 }));
}

#[tokio::test]
async fn line_ends_comments_and_pings_do_not_matter() {
    let body =
        [": OPENROUTER PROCESSING", "", "event: ping", "data: ping", "", &piece("a"), &finish(), "data: [DONE]", ""].join("\n");
    let (answer, _) = answered(vec![Do::Send(events(body.replace('\n', "\r\n")))]).await;
    assert_eq!(answer.content, "a");
}

#[tokio::test]
async fn bytes_that_are_no_utf8_do_not_end_the_answer() {
    let mut body = piece("a?b").into_bytes();
    let place = body.iter().position(|byte| *byte == b'?').unwrap();
    body[place] = 0xff;
    body.extend(finish().into_bytes());
    let (answer, _) = answered(vec![Do::Send(events(body))]).await;
    assert_eq!(answer.content, "a\u{fffd}b");
}

#[tokio::test]
async fn null_fields_unknown_fields_and_thinking_are_passed_over() {
    let body = concat!(
        r#"data: {"id":null,"object":7,"choices":null,"usage":null,"error":null}"#,
        "\n\n",
        r#"data: {"choices":[{"index":null,"delta":{"role":null,"content":null,"tool_calls":null,"reasoning_content":"hm"},"finish_reason":null}]}"#,
        "\n\n",
        r#"data: {"choices":[{"delta":{"content":"a","x":{"y":[]}},"logprobs":null}],"service_tier":"x"}"#,
        "\n\n",
        r#"data: {"choices":[{"delta":null,"finish_reason":"stop"}]}"#,
        "\n\n"
    );
    let (answer, heard) = answered(vec![Do::Send(events(body))]).await;
    assert_eq!((answer.content.as_str(), heard.as_str(), answer.usage), ("a", "a", None));
    assert!(answer.estimate.is_some_and(|estimate| estimate.input > 0 && estimate.output > 0), "{answer:?}");
}

#[tokio::test]
async fn arguments_may_be_an_object_and_type_and_index_may_be_missing() {
    let body = concat!(
        r#"data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"execute_sql","arguments":{"query":"SELECT 1"}}}]}}]}"#,
        "\n\n",
        r#"data: {"choices":[{"delta":{"tool_calls":[{"id":"","function":{"name":"restart","arguments":""}}]},"finish_reason":"tool_calls"}]}"#,
        "\n\n"
    );
    let (answer, _) = answered(vec![Do::Send(events(body))]).await;
    let calls: Vec<_> = answer.calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(calls, [("a", "execute_sql", r#"{"query":"SELECT 1"}"#), ("call_2", "restart", "{}")]);
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let body = r#" {"model":"whole","choices":[{"index":0,"message":{"role":"assistant","content":"all"},"finish_reason":"stop"}],
        "usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
    for content_type in ["application/json", "text/event-stream", "text/plain"] {
        let headers = format!("content-type: {content_type}\r\n");
        let (answer, heard) = answered(vec![Do::Trickle(response("200 OK", &headers, body))]).await;
        assert_eq!((answer.content.as_str(), heard.as_str(), answer.model.as_str()), ("all", "all", "whole"));
    }
}

#[tokio::test]
async fn a_whole_reply_without_a_finish_reason_is_whole_all_the_same_but_half_a_reply_is_cut() {
    let body = r#"{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"restart","arguments":{}}}]}}]}"#;
    let (answer, _) = answered(vec![Do::Send(response("200 OK", "", body))]).await;
    assert_eq!((answer.calls[0].id.as_str(), answer.calls[0].arguments.as_str()), ("call_1", "{}"));
    let server = Server::playing(vec![vec![Do::Send(response("200 OK", "", &body[..60]))]]).await;
    let limits = ModelLimits { retries: 0, ..limits() };
    let (outcome, _) = ask(&client(&server.base_url(), limits), request()).await;
    assert_eq!(outcome.unwrap_err().kind, ModelErrorKind::Cut);
}

#[tokio::test]
async fn a_tool_call_written_as_text_becomes_one_and_the_text_goes() {
    let text = r#"<tool_call>{"name": "execute_sql", "arguments": {"query": "SELECT 1"}}</tool_call>"#;
    let (answer, heard) = answered(good(text)).await;
    assert_eq!((answer.calls[0].name.as_str(), answer.content.as_str(), heard.as_str()), ("execute_sql", "", text));
}

#[tokio::test]
async fn the_request_carries_key_model_messages_and_tools() {
    let server = Server::playing(vec![good("a")]).await;
    ask(&client(&server.base_url(), limits()), request()).await.0.unwrap();
    let asked = server.asked.lock().unwrap()[0].clone();
    let (head, body) = asked.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{head}");
    assert!(head.contains(&format!("authorization: Bearer {}", crate::KEY)), "{head}");
    assert!(head.contains(concat!("user-agent: level3/", env!("CARGO_PKG_VERSION"))), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["model"], &body["stream"]), (&"m".into(), &true.into()));
    assert_eq!(body["tools"][0]["function"]["name"], "execute_sql");
}
