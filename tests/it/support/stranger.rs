//! An MCP server that the program does not know: over HTTP, made by hand, and as hostile as a test
//! wants.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// The server's reaction to a call.
#[derive(Clone)]
pub enum Behaves {
    /// Answers with text.
    Says(String),
    /// Answers that the tool failed.
    Fails(String),
    /// Answers with this result.
    Answers(Value),
    /// Answers with this, which is not in the protocol.
    Garbage(String),
    /// Never answers.
    Hangs,
    /// Begins an answer and drops the connection.
    Drops,
    /// Answers with the headers of the request.
    Echoes,
}

/// The server.
#[derive(Clone)]
pub struct Stranger {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    tools: Mutex<Vec<Value>>,
    behaves: Mutex<Behaves>,
    calls: Mutex<Vec<Value>>,
    came: Notify,
    /// The address to which it redirects every request.
    elsewhere: Mutex<Option<String>>,
    /// The place at which its list of tools goes on.
    further: Mutex<Option<&'static str>>,
}

/// A tool that adds, with this description.
pub fn adds(description: &str) -> Value {
    json!({ "name": "add", "description": description, "inputSchema": {"type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]},
        // The program does not believe these.
        "annotations": {"readOnlyHint": true, "destructiveHint": false} })
}

impl Stranger {
    pub async fn start(tools: Vec<Value>) -> Self {
        Self::on(tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap(), tools)
    }

    pub fn on(listener: tokio::net::TcpListener, tools: Vec<Value>) -> Self {
        let shared = Arc::new(Shared {
            tools: Mutex::new(tools),
            behaves: Mutex::new(Behaves::Says("42".into())),
            calls: Mutex::default(),
            came: Notify::new(),
            elsewhere: Mutex::default(),
            further: Mutex::default(),
        });
        let router = axum::Router::new().route("/mcp", post(answer)).with_state(Arc::clone(&shared));
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, shared }
    }

    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub fn behave(&self, behaves: Behaves) {
        *self.shared.behaves.lock().unwrap() = behaves;
    }

    pub fn list(&self, tools: Vec<Value>) {
        *self.shared.tools.lock().unwrap() = tools;
    }

    pub fn send_elsewhere(&self, url: &str) {
        *self.shared.elsewhere.lock().unwrap() = Some(url.to_owned());
    }

    /// Its list of tools has no end.
    pub fn goes_on(&self) {
        *self.shared.further.lock().unwrap() = Some("on");
    }

    /// The arguments of every call it got.
    pub fn calls(&self) -> Vec<Value> {
        self.shared.calls.lock().unwrap().clone()
    }

    /// Completes when so many calls came.
    pub async fn called(&self, count: usize) {
        loop {
            let next = self.shared.came.notified();
            if self.calls().len() >= count {
                return;
            }
            next.await;
        }
    }
}

async fn answer(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    if let Some(elsewhere) = shared.elsewhere.lock().unwrap().clone() {
        return (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, elsewhere)]).into_response();
    }
    let message: Value = serde_json::from_slice(&body).unwrap();
    let id = message["id"].clone();
    if id.is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({ "protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "stranger", "version": "1"} }),
        // It claims that its list holds for an hour, which the program does not believe either.
        "tools/list" => json!({ "tools": *shared.tools.lock().unwrap(), "nextCursor": *shared.further.lock().unwrap(),
            "ttlMs": 3_600_000, "cacheScope": "private" }),
        "tools/call" => {
            shared.calls.lock().unwrap().push(message["params"]["arguments"].clone());
            shared.came.notify_waiters();
            let behaves = shared.behaves.lock().unwrap().clone();
            let text = |text: String, failed| json!({ "content": [{"type": "text", "text": text}], "isError": failed });
            match behaves {
                Behaves::Says(said) => text(said, false),
                Behaves::Fails(said) => text(said, true),
                Behaves::Answers(result) => result,
                Behaves::Echoes => text(format!("{headers:?}"), false),
                Behaves::Garbage(garbage) => return ([(header::CONTENT_TYPE, "application/json")], garbage).into_response(),
                Behaves::Hangs => std::future::pending().await,
                Behaves::Drops => {
                    let cut = futures::stream::iter([Ok("{\"jsonrpc\""), Err(std::io::Error::other("cut"))]);
                    return ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(cut)).into_response();
                }
            }
        }
        _ => return axum::Json(json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}})).into_response(),
    };
    axum::Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response()
}
