//! Failures of a request: which of them the client tries again, and its words for a person.

use std::sync::Arc;
use std::time::{Duration, Instant};

use level3::clock::{SeededRandom, SystemClock};
use level3::model::client::{ChatClient, Endpoint, ModelLimits, Target};
use level3::model::{ModelError, ModelErrorKind as Kind};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::ports::reserved_port;
use crate::server::{Do, Reply, Server, events, good, piece, response};
use crate::{KEY, ask, client, limits, request};

/// The outcome and how many requests it took.
async fn outcome_of(replies: Vec<Reply>, limits: ModelLimits) -> (Result<String, ModelError>, usize) {
    let server = Server::playing(replies).await;
    let (outcome, _) = ask(&client(&server.base_url(), limits), request()).await;
    (outcome.map(|answer| answer.content), server.requests())
}

async fn failure_of(replies: Vec<Reply>, limits: ModelLimits) -> (Kind, String, usize) {
    let (outcome, requests) = outcome_of(replies, limits).await;
    let error = outcome.expect_err("a failure");
    (error.kind, error.message, requests)
}

fn refusal(status: &str, headers: &str, body: &str) -> Reply {
    vec![Do::Send(response(status, headers, body))]
}

#[tokio::test]
async fn a_429_with_a_web_page_is_tried_again() {
    let busy = refusal("429 Too Many Requests", "content-type: text/html\r\n", "<html><h1>Slow down</h1></html>");
    let (outcome, requests) = outcome_of(vec![busy.clone(), busy, good("a")], limits()).await;
    assert_eq!((outcome.unwrap().as_str(), requests), ("a", 3));
}

#[tokio::test]
async fn three_retries_and_then_a_sentence_that_says_so() {
    for (status, kind) in
        [("429 Too Many Requests", Kind::RateLimited), ("503 Busy", Kind::Server), ("529 Overloaded", Kind::Server)]
    {
        let (failed, message, requests) = failure_of(vec![refusal(status, "", "<h1>no</h1>")], limits()).await;
        assert_eq!((failed, requests), (kind, 4), "{message}");
        assert!(message.contains("It said: no") && message.ends_with("Tried 4 times."), "{message}");
    }
}

#[tokio::test]
async fn a_model_that_is_being_loaded_is_waited_for() {
    let loading = || {
        let body = r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#;
        refusal("503 Service Unavailable", "content-type: application/json\r\n", body)
    };
    let once = ModelLimits { retries: 0, ..limits() };
    let (outcome, requests) = outcome_of(vec![loading(), good("a")], once).await;
    assert_eq!((outcome.unwrap().as_str(), requests), ("a", 2));
}

#[tokio::test]
async fn refusals_that_trying_cannot_mend_are_not_tried_again() {
    for (status, kind, names) in [
        ("400 Bad Request", Kind::Refused, "400"),
        ("401 Unauthorized", Kind::Unauthorized, "LLM_API_KEY"),
        ("402 Payment Required", Kind::Payment, "LLM_API_KEY"),
        ("403 Forbidden", Kind::Unauthorized, "LLM_API_KEY"),
        ("404 Not Found", Kind::Refused, "LLM_MODEL"),
        ("413 Too Large", Kind::ContextOverflow, "too long"),
        ("422 Unprocessable", Kind::Refused, "422"),
        ("302 Found", Kind::Refused, "LLM_BASE_URL"),
    ] {
        let reply = refusal(status, "location: http://127.0.0.1:1/\r\n", r#"{"error":{"message":"no","code":17}}"#);
        let (failed, message, requests) = failure_of(vec![reply, good("a")], limits()).await;
        assert_eq!((failed, requests), (kind, 1), "{message}");
        assert!(message.contains(names), "{message}");
    }
}

#[tokio::test]
async fn an_integer_error_code_keeps_status_and_message() {
    let reply = refusal("400 Bad Request", "", r#"{"error":{"message":"bad schema","code":400,"param":null}}"#);
    let (kind, message, _) = failure_of(vec![reply], limits()).await;
    assert_eq!(kind, Kind::Refused);
    assert!(message.contains("bad schema") && message.contains("400"), "{message}");
}

#[tokio::test]
async fn a_conversation_too_long_is_told_apart_from_other_refusals() {
    // The body that llama.cpp really sends.
    let body = r#"{"error":{"code":400,"message":"request (40030 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":40030,"n_ctx":8192}}"#;
    let (kind, message, requests) = failure_of(vec![refusal("400 Bad Request", "", body)], limits()).await;
    assert_eq!((kind, requests), (Kind::ContextOverflow, 1));
    assert!(message.contains("40030 tokens"), "{message}");
}

#[tokio::test]
async fn a_short_retry_after_is_waited_for_and_a_long_one_ends_the_trying() {
    let wait = |value: &str| refusal("429 Too Many Requests", &format!("Retry-After: {value}\r\n"), "");
    let began = Instant::now();
    let (outcome, _) = outcome_of(vec![wait("0"), wait("Fri, 31 Dec 1999 23:59:59 GMT"), wait("0.3"), good("a")], limits()).await;
    assert_eq!(outcome.unwrap(), "a");
    assert!(began.elapsed() >= Duration::from_millis(300), "it did not wait");
    for long in ["31", "3600", "Fri, 31 Dec 2100 23:59:59 GMT"] {
        let (kind, message, requests) = failure_of(vec![wait(long), good("a")], limits()).await;
        assert_eq!((kind, requests), (Kind::RateLimited, 1));
        assert!(message.contains("It asks to wait "), "{message}");
    }
}

#[tokio::test]
async fn nothing_is_tried_again_after_the_first_token() {
    for tail in [vec![], vec![Do::Reset]] {
        let reply = [vec![Do::Send(events(piece("half")))], tail].concat();
        let (failed, message, requests) = failure_of(vec![reply, good("a")], limits()).await;
        assert_eq!((failed, requests), (Kind::Cut, 1), "{message}");
    }
}

#[tokio::test]
async fn what_breaks_before_the_first_token_is_tried_again() {
    let role = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    let error = "data: {\"error\":{\"code\":503,\"message\":\"overloaded\"}}\n\n";
    for broken in [
        vec![],
        vec![Do::Reset],
        vec![Do::Send(events(""))],
        vec![Do::Send(events(role)), Do::Reset],
        vec![Do::Send(events(error))],
    ] {
        let (outcome, requests) = outcome_of(vec![broken, good("a")], limits()).await;
        assert_eq!((outcome.unwrap().as_str(), requests), ("a", 2));
    }
}

#[tokio::test]
async fn an_announced_body_that_ends_early_is_cut() {
    let body = piece("half");
    let chunked = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n", body.len());
    let (kind, ..) = failure_of(vec![vec![Do::Send(chunked.into())]], limits()).await;
    assert_eq!(kind, Kind::Cut);
}

#[tokio::test]
async fn a_model_that_says_nothing_is_asked_once_more_and_no_oftener() {
    let limits = ModelLimits { first_token: Duration::from_millis(500), ..limits() };
    for silent in [vec![Do::Hang], vec![Do::Send(events("")), Do::Hang], vec![Do::Send(events("")), Do::Comments]] {
        let (kind, message, requests) = failure_of(vec![silent], limits).await;
        assert_eq!((kind, requests), (Kind::Timeout, 2), "{message}");
        assert!(message.contains("0.5 seconds") && message.contains("LLM_MODEL"), "{message}");
    }
}

#[tokio::test]
async fn a_silence_in_the_middle_ends_the_answer_also_when_comments_go_on() {
    let limits = ModelLimits { silence: Duration::from_millis(60), ..limits() };
    for silence in [Do::Hang, Do::Comments] {
        let (kind, _, requests) = failure_of(vec![vec![Do::Send(events(piece("half"))), silence]], limits).await;
        assert_eq!((kind, requests), (Kind::Timeout, 1));
    }
}

#[tokio::test]
async fn an_endless_line_an_endless_answer_and_broken_pieces_are_refused() {
    let small = ModelLimits { answer_bytes: 100_000, wire_bytes: 300_000, ..limits() };
    let long = piece(&"x".repeat(10 << 20));
    let words: String = (0..12_000).map(|number| format!("{number} ")).collect();
    let many = piece(&words).repeat(2);
    let empty = "data: {\"choices\":[]}\n\n".repeat(20_000);
    let html = "<!doctype html><title>Router</title>";
    for (body, why) in [
        (long.as_str(), "one line is longer than 100000 bytes"),
        (&many, "longer than 100000 bytes"),
        (&empty, "it does not end"),
        ("data: {\"choices\":[}\n\n", "a piece of it is broken JSON"),
        (html, "it is a web page; LLM_BASE_URL"),
        ("{\"object\":\"list\"}", "it has no `choices`"),
        ("{\"choices\":}", "it is broken JSON"),
    ] {
        let (kind, message, requests) = failure_of(vec![vec![Do::Send(events(body))]], small).await;
        assert_eq!((kind, requests), (Kind::Malformed, 1), "{message}");
        assert!(message.contains(why), "{message}");
    }
    let (kind, message, _) = failure_of(vec![vec![Do::Send(events(&long))]], limits()).await;
    assert_eq!(kind, Kind::Malformed);
    assert!(message.contains("8388608 bytes"), "{message}");
}

#[tokio::test]
async fn nobody_at_the_address_is_told_with_the_variable_to_set() {
    let (_nobody, address) = reserved_port();
    let (outcome, _) = ask(&client(&format!("http://{address}/v1"), limits()), request()).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.kind, Kind::Unreachable);
    assert!(error.message.contains("LLM_BASE_URL") && error.message.contains("Tried 4 times"), "{error}");
}

#[tokio::test]
async fn an_https_address_where_no_tls_is_spoken_is_told_and_nothing_panics() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::new(&format!("https://{}/v1", listener.local_addr().unwrap()), Some(KEY)).unwrap();
    let _plain = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap_or_default();
        }
    });
    let target = Target { endpoint, model: Some("m".into()), provider: "custom".into(), kind: "configured" };
    match ChatClient::new(target, limits(), Arc::new(SystemClock), Arc::new(SeededRandom::new(1))) {
        // A machine without certificates cannot make a client for https at all.
        Err(error) => assert!(error.to_string().contains("ca-certificates"), "{error}"),
        Ok(client) => {
            let error = ask(&client, request()).await.0.unwrap_err();
            assert_eq!(error.kind, Kind::Unreachable, "{error}");
        }
    }
}

#[tokio::test]
async fn a_server_that_repeats_the_key_does_not_get_it_into_the_message() {
    let body = format!("{{\"error\":\"wrong key {KEY}\"}}");
    let (_, message, _) = failure_of(vec![refusal("401 Unauthorized", "", &body)], limits()).await;
    assert!(message.contains("wrong key [key]"), "{message}");
}

#[tokio::test]
async fn a_server_that_does_not_know_the_usage_option_is_asked_without_it() {
    let reply = refusal("400 Bad Request", "", r#"{"error":{"message":"Unknown parameter: stream_options"}}"#);
    let server = Server::playing(vec![reply, good("a")]).await;
    let client = client(&server.base_url(), limits());
    ask(&client, request()).await.0.unwrap();
    ask(&client, request()).await.0.unwrap();
    let asked: Vec<_> = server.asked.lock().unwrap().iter().map(|asked| asked.contains("stream_options")).collect();
    assert_eq!(asked, [true, false, false]);
}

/// The error that llama.cpp's server sends when it loses the thread of a tool call that it is
/// passing on in pieces.
const LOST: &str = r#"{"error":{"code":500,"message":"Invalid diff: now finding less tool calls!","type":"server_error"}}"#;

#[tokio::test]
async fn a_server_that_breaks_off_its_own_stream_is_asked_for_the_whole() {
    let begun = events(format!("{}data: {LOST}\n\n", piece("Let me ")));
    let message = r#"{"role":"assistant","content":"Let me see."}"#;
    let whole = format!(r#"{{"choices":[{{"index":0,"finish_reason":"stop","message":{message}}}],"model":"m"}}"#);
    let server = Server::playing(vec![vec![Do::Send(begun)], refusal("200 OK", "", &whole)]).await;
    let (answer, heard) = ask(&client(&server.base_url(), limits()), request()).await;
    assert_eq!((answer.unwrap().content.as_str(), heard.as_str()), ("Let me see.", "Let me "));
    let streamed: Vec<_> = server.asked.lock().unwrap().iter().map(|asked| asked.contains(r#""stream":true"#)).collect();
    assert_eq!(streamed, [true, false]);
}

#[tokio::test]
async fn a_server_that_cannot_give_the_whole_either_is_told_of_as_it_is() {
    let begun = events(format!("{}data: {LOST}\n\n", piece("Let me ")));
    let (kind, message, requests) =
        failure_of(vec![vec![Do::Send(begun)], refusal("500 Internal Server Error", "", LOST)], limits()).await;
    assert!(kind == Kind::Server && message.contains("Invalid diff"), "{message}");
    // Once more in pieces would show the beginning twice.
    assert_eq!(requests, 2);
}

#[tokio::test]
async fn an_answer_that_repeats_itself_for_ever_is_ended() {
    let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
    let flood = vec![Do::Send([head, piece("Well, ").into_bytes()].concat()), Do::Flood(piece("yes, ").into_bytes())];
    let server = Server::playing(vec![flood]).await;
    let (answer, _) = ask(&client(&server.base_url(), limits()), request()).await;
    let answer = answer.unwrap();
    assert_eq!((answer.content.as_str(), answer.finish_reason.as_str()), ("Well, yes", "repetition"));
}

#[tokio::test]
async fn an_answer_that_goes_on_with_empty_lines_has_ended_before_them() {
    let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
    let flood = vec![Do::Send([head, piece("Well.").into_bytes()].concat()), Do::Flood(piece("\n\n").into_bytes())];
    let server = Server::playing(vec![flood]).await;
    let (answer, _) = ask(&client(&server.base_url(), limits()), request()).await;
    let answer = answer.unwrap();
    assert_eq!((answer.content.as_str(), answer.finish_reason.as_str()), ("Well.", "stop"));
}

#[tokio::test]
async fn a_server_that_does_not_know_how_to_demand_a_call_is_asked_without() {
    let reply = refusal("400 Bad Request", "", r#"{"error":{"message":"tool_choice must be auto or none"}}"#);
    let server = Server::playing(vec![reply, good("a")]).await;
    let client = client(&server.base_url(), limits());
    for _ in 0..2 {
        let request = level3::model::Request { must_call: true, ..request() };
        ask(&client, request).await.0.unwrap();
    }
    let demanded: Vec<_> =
        server.asked.lock().unwrap().iter().map(|asked| asked.contains(r#""tool_choice":"required""#)).collect();
    assert_eq!(demanded, [true, false, false]);
}

#[tokio::test]
async fn a_server_that_does_not_make_its_model_call_is_not_asked_to_again() {
    let server = Server::playing(vec![good("I would rather talk.")]).await;
    let client = client(&server.base_url(), limits());
    for _ in 0..2 {
        let request = level3::model::Request { must_call: true, ..request() };
        assert_eq!(ask(&client, request).await.0.unwrap().content, "I would rather talk.");
    }
    let demanded: Vec<_> =
        server.asked.lock().unwrap().iter().map(|asked| asked.contains(r#""tool_choice":"required""#)).collect();
    assert_eq!(demanded, [true, false]);
}

#[tokio::test]
async fn talk_without_end_where_a_call_was_demanded_is_not_waited_for_and_not_shown() {
    let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
    let words: String = (0..200).map(|number| piece(&format!("word{number} "))).collect();
    let talk = vec![Do::Send([head, words.into_bytes()].concat()), Do::Hang];
    let server = Server::playing(vec![talk, good("I cannot.")]).await;
    let request = level3::model::Request { must_call: true, ..request() };
    let (answer, heard) = ask(&client(&server.base_url(), limits()), request).await;
    assert_eq!((answer.unwrap().content.as_str(), heard.as_str()), ("I cannot.", "I cannot."));
    assert_eq!(server.requests(), 2);
}

#[tokio::test]
async fn dropping_the_answer_closes_the_connection() {
    let server = Server::playing(vec![vec![Do::Send(events(piece("half"))), Do::Hang]]).await;
    let client = client(&server.base_url(), limits());
    let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let on_delta = move |_: &str| said.send(()).unwrap_or_default();
    {
        use level3::model::Model;
        let mut answer = client.answer(request(), &on_delta);
        tokio::select! {
            _ = &mut answer => panic!("the answer has no end"),
            first = heard.recv() => assert!(first.is_some()),
        }
    }
    server.closed_by_client().await;
}
