//! How the process ends: in good order, at once, or in the middle of a capability that may be to
//! blame.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::api::{ask_at, level3_with};
use crate::support::{Client, ModelServer, Server, administrator, asks_for, kinds};

/// A peer that takes connections and says nothing.
async fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// The connection that asks the model for an answer. The model does not know the other requests.
async fn asked(model: &TcpListener) -> TcpStream {
    loop {
        let (mut stream, _) = model.accept().await.unwrap();
        let mut head = [0; 16];
        stream.read_exact(&mut head).await.unwrap();
        if head.starts_with(b"POST /v1/chat") {
            return stream;
        }
        stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await.unwrap();
    }
}

/// Frames of the main conversation from its beginning.
async fn whole(server: &Server, last: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut client = Client::connect(server.address).await;
    client.resume(0).await;
    client.until(last).await
}

/// The same of another conversation.
async fn whole_of(server: &Server, conversation: &Value, last: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut client = Client::connect(server.address).await;
    client.send(json!({"type": "resume", "after": 0, "conversation": conversation})).await;
    client.until(last).await
}

async fn crashes(data: &Path) -> i64 {
    let mut behind = administrator(data, "level3").connect().await.unwrap();
    let count = sqlx::query_scalar("SELECT count(*) FROM level3.capability_crashes").fetch_one(&mut behind).await.unwrap();
    behind.close().await.unwrap();
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capability_in_whose_middle_the_process_ends_three_times_is_disabled_and_the_conversation_of_the_call_told() {
    let (peer, host) = silent().await;
    let code = format!("export default async function hangs() {{ return (await fetch('http://{host}/')).status; }}");
    let written = json!({"name": "hangs", "description": "Asks.", "code": code, "grants": {"http": {"hosts": [format!("http://{host}")]}},
        "parameters_schema": {"type": "object", "properties": {}}});
    let ready = json!({"role": "assistant", "content": "Try it."});
    let steps = [asks_for("write_capability", &written), ready, asks_for("hangs", &json!({}))];
    let last = json!({"role": "assistant", "content": "It cannot be called."});
    let model = ModelServer::start(move |number, _| steps.get(number).unwrap_or(&last).clone()).await;
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let base_url = model.base_url();
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "scripted"), ("LEVEL3_EGRESS_ALLOW", &host)];

    let mut server = Server::start(&data, &settings).await;
    let mut client = Client::connect(server.address).await;
    client.say("write it").await;
    let asking = client.asked().await;
    client.approve(&asking).await;
    client.turn().await;
    let made = format!("http://{}/api/conversations", server.address);
    let conversation = ask_at(&made, Method::POST, Some(json!({}))).await.1["conversation"].clone();
    client.send(json!({"type": "message", "content": "ask the peer", "conversation": conversation})).await;
    for crashed in 0..3 {
        // A guest that is connected is in the middle of the call.
        let connected = peer.accept().await.unwrap();
        assert_eq!(crashes(&data).await, crashed);
        server.kill().await;
        drop(connected);
        server = Server::start(&data, &settings).await;
    }
    let last = |frame: &Value| frame["type"] == "assistant" && frame["content"] == "It cannot be called.";
    let frames = whole_of(&server, &conversation, last).await;
    let disabled = frames.iter().find(|frame| frame["type"] == "capability" && frame["enabled"] == false).expect("an event");
    assert_eq!((&disabled["name"], &disabled["version"]), (&json!("hangs"), &json!(1)));
    let told = |frame: &&Value| frame["type"] == "assistant" && frame["content"].as_str().unwrap().contains("3 times");
    assert_eq!(frames.iter().filter(told).count(), 1, "{frames:#?}");
    let for_a_model = |frame: &Value| frame["content"].as_str().is_some_and(|content| content.starts_with('['));
    assert!(!frames.iter().any(for_a_model), "a person reads it: {frames:#?}");
    let ended: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_result").collect();
    assert_eq!((ended.len(), &ended[0]["ok"]), (1, &json!(false)), "{ended:#?}");
    assert_eq!(crashes(&data).await, 3);
    assert_eq!(std::fs::read_dir(data.join("calls")).unwrap().count(), 0, "nothing is counted twice");
    let checked = level3_with(&[("LEVEL3_LISTEN", &server.address.to_string())], &["replay", "--check"], "").await;
    assert_eq!(checked.code, 0, "{checked:?}");
    // A person who enables it begins at zero.
    let enable = format!("http://{}/api/capabilities/hangs/enable", server.address);
    assert_eq!(ask_at(&enable, Method::POST, Some(json!({}))).await.0, 200);
    assert_eq!(crashes(&data).await, 0);
    assert_eq!(server.terminate().await, Some(0));
}

/// A server whose model never answers; the model's listener, the server, a client.
async fn started(data: &Path, seconds: &str) -> (TcpListener, Server, Client) {
    let (model, address) = silent().await;
    let base_url = format!("http://{address}/v1");
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "m"), ("LEVEL3_SHUTDOWN_SECONDS", seconds)];
    let server = Server::start(data, &settings).await;
    let client = Client::connect(server.address).await;
    (model, server, client)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_reaches_no_checkpoint_holds_the_end_up_for_as_long_as_was_set() {
    let place = tempfile::tempdir().unwrap();
    let (model, mut server, mut client) = started(&place.path().join("data"), "1").await;
    client.say("hello").await;
    let _asked = asked(&model).await;
    server.signal();
    assert_eq!(client.closed().await, Some(1001));
    assert_eq!(server.exit_code().await, Some(0));
    server.logged("before these turns reached a checkpoint").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_sigterm_ends_the_process_at_once_and_nothing_is_lost() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let (model, mut server, mut client) = started(&data, "600").await;
    client.say("hello").await;
    let _asked = asked(&model).await;
    server.signal();
    assert_eq!(client.closed().await, Some(1001));
    server.signal();
    assert_eq!(server.exit_code().await, Some(143));

    let model = ModelServer::start(|_, _| json!({"role": "assistant", "content": "Here."})).await;
    let base_url = model.base_url();
    let server = Server::start(&data, &[("LLM_BASE_URL", &base_url), ("LLM_MODEL", "m")]).await;
    let frames = whole(&server, |frame| frame["type"] == "turn" && frame["state"] == "completed").await;
    assert!(kinds(&frames).contains(&"assistant".to_owned()), "{frames:#?}");
    assert_eq!(server.terminate().await, Some(0));
}
