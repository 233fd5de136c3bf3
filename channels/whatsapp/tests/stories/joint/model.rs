//! A model that a function plays, behind the protocol of OpenAI.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use crate::http;

/// The model's server.
pub struct Model {
    port: u16,
}

type Decide = Arc<dyn Fn(&[Value]) -> Value + Send + Sync>;

impl Model {
    /// Starts it. `decide` gets the messages of a request and gives the assistant's.
    pub async fn start(decide: impl Fn(&[Value]) -> Value + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let decide: Decide = Arc::new(decide);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, Arc::clone(&decide)));
            }
        });
        Self { port }
    }

    /// Its address.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }
}

async fn serve(mut socket: TcpStream, decide: Decide) -> std::io::Result<()> {
    let Some(request) = http::read(&mut socket).await? else { return Ok(()) };
    if request.path.ends_with("/models") {
        let models = json!({"data": [{"id": "scripted"}]}).to_string();
        return http::answer(&mut socket, 200, "application/json", models.as_bytes()).await;
    }
    if !request.path.ends_with("/chat/completions") {
        return http::answer(&mut socket, 404, "application/json", b"{}").await;
    }
    let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let said = decide(asked["messages"].as_array().map(Vec::as_slice).unwrap_or_default());
    let reason = if said["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    let chunk = |choice: Value| format!("data: {}\n\n", json!({"id": "c", "model": "scripted", "choices": [choice]}));
    let body = chunk(json!({"index": 0, "delta": said}))
        + &chunk(json!({"index": 0, "delta": {}, "finish_reason": reason}))
        + "data: [DONE]\n\n";
    http::answer(&mut socket, 200, "text/event-stream", body.as_bytes()).await
}

/// The assistant says something.
pub fn says(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

/// The assistant asks for one tool.
pub fn asks_for(name: &str, arguments: &Value) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"role": "assistant", "tool_calls": [{"index": 0, "id": "a", "type": "function", "function": function}]})
}
