//! The cost of a turn over the websocket with a model that answers at once, beside the floor: one
//! committed insert in the same Postgres. Ratios count; times vary with the machine.
//!
//! `cargo bench --bench turn`

#![allow(missing_docs, clippy::print_stdout, reason = "a program that prints")]

mod common;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use futures::{SinkExt, StreamExt};
use level3::app::{App, DataFolder, Opening, Outside, listen};
use level3::clock::{SystemClock, SystemRandom};
use level3::config::Config;
use level3::domain::{CallRequest, ModelInfo};
use level3::egress::SystemResolver;
use level3::model::choice::ModelSource;
use level3::model::{Answer, Entry, Model, ModelError, OnDelta, Request};
use level3::postgres::Database;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use common::{Insert, percentile};

const REPETITIONS: usize = 200;
/// Commits of a turn: accept, claim, answer. With three tool calls: a further step and three
/// outcomes.
const SIMPLE_COMMITS: f64 = 3.0;
const TOOLS_COMMITS: f64 = 7.0;

/// Answers at once: with three tool calls when asked for tools, else with a word.
struct Instantly;

impl Model for Instantly {
    fn answer<'a>(&'a self, request: Request, on_delta: OnDelta<'a>) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let call = |id: &str, name: &str, arguments: Value| CallRequest {
            id: id.into(),
            name: name.into(),
            arguments: arguments.to_string(),
        };
        let calls = match request.entries.last() {
            Some(Entry::User(text)) if text.ends_with("write") => vec![call(
                "w",
                "write_capability",
                json!({"name": "double", "description": "d", "code": "export default (p) => p.n * 2", "parameters_schema": {"type": "object"}}),
            )],
            Some(Entry::User(text)) if text.ends_with("tools") => vec![
                call("a", "execute_sql", json!({"query": "SELECT 1"})),
                call("b", "manage_tasks", json!({"action": "list"})),
                call("c", "double", json!({"n": 21})),
            ],
            _ => Vec::new(),
        };
        let content = if calls.is_empty() { "Hello." } else { "" }.to_owned();
        if !content.is_empty() {
            on_delta(&content);
        }
        let finish_reason = if calls.is_empty() { "stop" } else { "tool_calls" }.to_owned();
        Box::pin(async move { Ok(Answer { content, calls, finish_reason, usage: None, model: "instant".into() }) })
    }

    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "configured".into(), provider: "bench".into(), name: "instant".into() }
    }
}

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let settings: HashMap<String, String> = HashMap::from([("LEVEL3_LISTEN".into(), "127.0.0.1:0".into())]);
    let config = Config { data_dir: folder.path().join("data"), ..Config::read(&settings).unwrap() };
    let data = DataFolder::take(&config.data_dir, &SystemRandom).unwrap();
    let database = Database::open(&config).await.unwrap();
    let models = Arc::new(ModelSource::fixed(Arc::new(Instantly)));
    let outside = Outside {
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        models,
        scrubber: Default::default(),
        profiles: Default::default(),
        resolver: Arc::new(SystemResolver),
        connections: level3::http::ConnectionLimits::within(1024),
    };
    let listener = listen(config.listen).await.unwrap();
    let opening = Opening::begin(&data, &outside);
    let app = App::start(&config, data, opening, &database, listener, outside).await.unwrap();

    let (mut socket, _) = tokio_tungstenite::connect_async(format!("ws://{}/chat", app.address())).await.unwrap();
    turn(&mut socket, "write").await;
    for _ in 0..20 {
        turn(&mut socket, "hello").await;
        turn(&mut socket, "tools").await;
    }
    // They take turns, so that a loud minute of the machine falls on all of them.
    let (mut floor, mut simple, mut tools) = (Vec::new(), Vec::new(), Vec::new());
    let mut insert = Insert::prepare(&config).await;
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        insert.once().await;
        floor.push(start.elapsed());
        simple.push(turn(&mut socket, "hello").await);
        tools.push(turn(&mut socket, "tools").await);
    }
    let floor_p50 = percentile(&mut floor, 50);
    println!("{:42} {:>10} {:>10} {:>22}", "", "p50", "p99", "p50 / (commits × floor)");
    for (what, mut times, commits) in [
        ("floor: one insert, committed", floor, 1.0),
        ("simple turn", simple, SIMPLE_COMMITS),
        ("turn with three tool calls", tools, TOOLS_COMMITS),
    ] {
        let (p50, p99) = (percentile(&mut times, 50), percentile(&mut times, 99));
        println!("{what:42} {p50:>10.1?} {p99:>10.1?} {:>21.2}x", p50.as_secs_f64() / (commits * floor_p50.as_secs_f64()));
    }
    app.shutdown().cancel();
    app.ended().await;
    database.stop().await.unwrap();
}

type Socket = tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>;

/// From sending a message to the frame that ends its turn.
async fn turn(socket: &mut Socket, content: &str) -> Duration {
    let mut calls = 0;
    let start = Instant::now();
    socket.send(Message::text(json!({"type": "message", "content": content}).to_string())).await.unwrap();
    loop {
        let Message::Text(text) = socket.next().await.unwrap().unwrap() else { continue };
        let frame: Value = serde_json::from_str(&text).unwrap();
        assert_ne!(frame["type"], "error", "{frame}");
        calls += usize::from(frame["type"] == "tool_result" && frame["ok"] == true);
        if frame["type"] == "turn" && frame["state"] == "completed" {
            let wanted = match content {
                "tools" => 3,
                "write" => 1,
                _ => 0,
            };
            assert_eq!(calls, wanted, "the turn did what is measured");
            return start.elapsed();
        }
    }
}
