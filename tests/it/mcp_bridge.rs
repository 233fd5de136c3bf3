//! `level3 mcp`: an agent on standard input and output reaches the running server, and gets every
//! answer however it leaves.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::StreamExt;
use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Value, json};

use crate::mcp::{Heard, agent, asks, counter, said, tools, with_counter, writes};
use crate::support::api::{Ran, level3_with};
use crate::support::{TestApp, in_time};

/// All that a client says without waiting for answers.
fn at_once(calls: &[Value]) -> String {
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "At once", "version": "1"}});
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    lines.extend(calls.iter().cloned());
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn calls(id: u64, tool: &str, arguments: Value, meta: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// The answers, by the ids of the requests.
fn answers(ran: &Ran) -> Vec<(Value, Value)> {
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut answers: Vec<_> = lines.filter(|line| line.get("id").is_some()).map(|line| (line["id"].clone(), line)).collect();
    answers.sort_by_key(|(id, _)| id.to_string());
    answers
}

async fn bridge(app: &TestApp, input: &str) -> Ran {
    level3_with(&[("LEVEL3_LISTEN", &app.address().to_string())], &["mcp"], input).await
}

#[tokio::test]
async fn a_client_that_says_everything_and_closes_gets_every_answer() {
    let app = TestApp::start().await;
    with_counter(&app).await.0.cancel().await.unwrap();
    let requests = [
        calls(1, "count", json!({"n": 1}), json!({})),
        calls(2, "count", json!({"n": 2}), json!({})),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}),
        calls(4, "nobody", json!({}), json!({})),
    ];
    let answers = answers(&bridge(&app, &at_once(&requests)).await);
    let ids: Vec<_> = answers.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(ids, [json!("hello"), json!(1), json!(2), json!(3), json!(4)], "{answers:?}");
    let text = |at: usize| answers[at].1["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    let mut counted = [text(1), text(2)];
    counted.sort();
    assert_eq!(counted, ["{\"n\":1}", "{\"n\":2}"]);
    assert_eq!(answers[3].1["result"]["tools"].as_array().unwrap().len(), 2);
    assert!(answers[4].1["error"]["message"].as_str().unwrap().contains("Unknown tool"), "{answers:?}");
}

#[tokio::test]
async fn an_input_that_asks_nothing_or_ends_within_its_last_line_ends_the_bridge() {
    let app = TestApp::start().await;
    with_counter(&app).await.0.cancel().await.unwrap();
    for nothing in ["", "this is no message\n", "this is no message"] {
        assert!(answers(&bridge(&app, nothing).await).is_empty(), "{nothing}");
    }
    // A client that goes right after it has greeted.
    let hello = at_once(&[]).lines().next().unwrap().to_owned();
    assert_eq!(answers(&bridge(&app, &hello).await).len(), 1);
    let all = at_once(&[calls(1, "count", json!({}), json!({}))]);
    let answers = answers(&bridge(&app, all.trim_end()).await);
    assert_eq!(answers.last().unwrap().1["result"]["content"][0]["text"], "{\"n\":1}", "{answers:?}");
}

/// A server that begins to answer a call and is killed. The one that is there afterwards knows no
/// connection of before.
async fn killed(request: Request) -> Response {
    let message: Value = serde_json::from_slice(&to_bytes(request.into_body(), 1 << 16).await.unwrap()).unwrap_or_default();
    let greets = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "level3", "version": "1"}});
    match message["method"].as_str() {
        Some("initialize") => {
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": greets});
            ([("mcp-session-id", "1")], axum::Json(answer)).into_response()
        }
        Some("notifications/initialized") => StatusCode::ACCEPTED.into_response(),
        Some(_) => {
            let begun = futures::stream::iter([Ok("id: 1\ndata:\n\n")]);
            let ends = futures::stream::once(async {
                // The beginning leaves while this waits.
                tokio::task::yield_now().await;
                Err(std::io::Error::other("killed"))
            });
            ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(begun.chain(ends))).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[tokio::test]
async fn a_server_that_is_killed_is_told_for_every_open_request() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let router = axum::Router::new().route("/api/mcp", get(|| async { axum::Json(json!({"servers": []})) })).fallback(killed);
    tokio::spawn(async move { axum::serve(listener, router).await });
    let input = at_once(&[calls(1, "count", json!({}), json!({}))]);
    let answers = answers(&level3_with(&[("LEVEL3_LISTEN", &address)], &["mcp"], &input).await);
    assert_eq!(answers.len(), 2, "{answers:?}");
    let told = answers.iter().find(|(id, _)| *id == 1).unwrap().1["error"]["message"].as_str().unwrap();
    assert!(told.contains("It went away before it answered.") && told.contains("nothing happens twice"), "{told}");
}

/// A server that greets, and refuses each call with the status that it is named by.
async fn refuses(request: Request) -> Response {
    let message: Value = serde_json::from_slice(&to_bytes(request.into_body(), 1 << 16).await.unwrap()).unwrap_or_default();
    if message["method"] != "tools/call" {
        return killed(Request::new(Body::from(message.to_string()))).await;
    }
    let status: StatusCode = message["params"]["name"].as_str().unwrap().parse().unwrap();
    let mut refused = (status, "not like this").into_response();
    if status == StatusCode::UNAUTHORIZED {
        refused.headers_mut().insert(header::WWW_AUTHENTICATE, "Bearer".parse().unwrap());
    }
    refused
}

#[tokio::test]
async fn a_status_that_is_no_answer_is_told_for_its_request() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let router = axum::Router::new().route("/api/mcp", get(|| async { axum::Json(json!({"servers": []})) })).fallback(refuses);
    tokio::spawn(async move { axum::serve(listener, router).await });
    for status in [400, 401, 403, 404, 413, 415, 500, 503] {
        let input = at_once(&[calls(1, &status.to_string(), json!({}), json!({}))]);
        let answers = answers(&level3_with(&[("LEVEL3_LISTEN", &address)], &["mcp"], &input).await);
        let (_, answer) = answers.iter().find(|(id, _)| *id == 1).unwrap_or_else(|| panic!("{status}: {answers:?}"));
        let told = answer["error"]["message"].as_str().unwrap();
        assert!(told.starts_with("level3 ") && told.contains("nothing happens twice"), "{status}: {told}");
    }
}

#[tokio::test]
async fn a_request_beyond_the_measure_is_answered_with_it() {
    let app = TestApp::start().await;
    let long = json!({"x": "y".repeat(4 << 20)});
    let requests = [calls(1, "nobody", long, json!({})), json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})];
    let answers = answers(&bridge(&app, &at_once(&requests)).await);
    assert_eq!(answers.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>(), [json!("hello"), json!(1), json!(2)], "{answers:?}");
    let told = answers[1].1["error"]["message"].as_str().unwrap();
    assert!(told.contains("4194304 is the most"), "{told}");
}

#[tokio::test]
async fn an_answer_that_takes_long_is_waited_for_after_the_input_has_ended() {
    let app = TestApp::start().await;
    app.leaves("the bridge ends before its question is decided");
    // A client that hears of the progress gets its answer when the time to decide is over.
    let asks = calls(1, "write_capability", counter(), json!({"progressToken": "t"}));
    let input = at_once(&[asks]);
    let meanwhile = async {
        app.until("SELECT count(*) FROM approvals WHERE state = 'pending'", 1).await;
        app.advance(31);
    };
    let (ran, ()) = tokio::join!(bridge(&app, &input), meanwhile);
    let answers = answers(&ran);
    assert_eq!(answers.len(), 2, "{ran:?}");
    let text = answers[1].1["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("approval 1"), "{text}");
}

#[tokio::test]
async fn an_agent_on_standard_input_and_output_reaches_the_running_server() {
    let app = TestApp::with(&[("LEVEL3_TOKEN", "s3cret-token")]).await;
    let place = tempfile::tempdir().unwrap();
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_level3"));
    command.arg("mcp").env_clear().current_dir(place.path()).kill_on_drop(true);
    command.env("LEVEL3_LISTEN", app.address().to_string()).env("LEVEL3_TOKEN", "s3cret-token");
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let pipes = AsyncRwTransport::new_client(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let (agent, mut hears) = agent("On a pipe");
    let client = agent.serve(pipes).await.unwrap();
    assert_eq!(tools(&client).await, ["write_capability"]);
    let double = writes("double", "export default function double({ n }) { return 2 * n; }", json!({}));
    assert!(said(&client.call_tool(asks("write_capability", double)).await.unwrap()).0);
    assert_eq!(hears.recv().await, Some(Heard::ToolsChanged));
    assert_eq!(said(&client.call_tool(asks("double", json!({"n": 4}))).await.unwrap()), (true, "8".into()));
    client.cancel().await.unwrap();
    let code = in_time("the end of the bridge, with its input", child.wait()).await.unwrap();
    assert!(code.success(), "{code}");
}

#[tokio::test]
async fn without_a_server_the_bridge_says_so_and_ends() {
    let ran = level3_with(&[("LEVEL3_LISTEN", "127.0.0.1:1")], &["mcp"], "").await;
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(ran.err.contains("no level3 answers at http://127.0.0.1:1/"), "{ran:?}");
    let app = TestApp::with(&[("LEVEL3_TOKEN", "s3cret-token")]).await;
    let ran = level3_with(&[("LEVEL3_LISTEN", &app.address().to_string())], &["mcp"], "").await;
    assert!(ran.code == 1 && ran.err.contains("LEVEL3_TOKEN"), "{ran:?}");
}
