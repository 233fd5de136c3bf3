//! A client of `/chat`.

use std::net::SocketAddr;

use futures::{SinkExt, StreamExt};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::in_time;

pub struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The first frame of the connection.
    pub hello: Value,
}

impl Client {
    pub async fn connect(address: SocketAddr) -> Self {
        Self::connect_with(address, None).await
    }

    /// The same with a cookie.
    pub async fn connect_with(address: SocketAddr, cookie: Option<&str>) -> Self {
        let mut request = format!("ws://{address}/chat").into_client_request().unwrap();
        if let Some(cookie) = cookie {
            request.headers_mut().insert("cookie", cookie.parse().unwrap());
        }
        let (mut socket, _) = tokio_tungstenite::connect_async(request).await.expect("the socket opens");
        let hello = next(&mut socket).await.expect("a first frame");
        assert_eq!(hello["type"], "hello");
        Self { socket, hello }
    }

    pub async fn send(&mut self, frame: Value) {
        self.socket.send(Message::text(frame.to_string())).await.expect("sent");
    }

    pub async fn say(&mut self, content: &str) {
        self.send(json!({ "type": "message", "content": content })).await;
    }

    /// Approves a question, as its card does.
    pub async fn approve(&mut self, question: &Value) {
        self.send(json!({ "type": "approve", "approval": question["id"] })).await;
    }

    /// Approves a question, and from now on all of its kind.
    pub async fn always(&mut self, question: &Value) {
        self.send(json!({ "type": "approve", "approval": question["id"], "always": true })).await;
    }

    /// Declines a question without a reason.
    pub async fn deny(&mut self, question: &Value) {
        self.send(json!({ "type": "deny", "approval": question["id"] })).await;
    }

    /// Stops the running turn, as the button does.
    pub async fn stop(&mut self) {
        self.send(json!({ "type": "stop" })).await;
    }

    /// Follows the main conversation, and is told everything after this frame.
    pub async fn resume(&mut self, after: impl Serialize) {
        self.send(json!({ "type": "resume", "after": after })).await;
    }

    /// Follows the main conversation from now on.
    pub async fn follow(&mut self) {
        let last = self.hello["last_seq"].clone();
        self.resume(last).await;
    }

    /// The next question for a person.
    pub async fn asked(&mut self) -> Value {
        let asks = |frame: &Value| frame["type"] == "approval" && frame["state"] == "pending";
        self.until(asks).await.pop().expect("a frame that asks")
    }

    /// The next frame.
    pub async fn frame(&mut self) -> Value {
        next(&mut self.socket).await.expect("a frame, not the end of the connection")
    }

    /// Frames up to the first that satisfies, and with it.
    pub async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            let frame = self.frame().await;
            let found = wanted(&frame);
            frames.push(frame);
            if found {
                return frames;
            }
        }
    }

    /// Frames up to the end of a turn, whichever way it ends; those left out that come as they may.
    pub async fn turn(&mut self) -> Vec<Value> {
        let mut frames = self.until(ends_turn).await;
        frames.retain(is_of_turn);
        frames
    }

    /// Says something and returns the frames of the turn.
    pub async fn ask(&mut self, content: &str) -> Vec<Value> {
        self.say(content).await;
        self.turn().await
    }

    /// Says something, approves every question, and returns the frames of the turn.
    pub async fn allow(&mut self, content: &str) -> Vec<Value> {
        self.say(content).await;
        let mut frames = Vec::new();
        loop {
            let frame = self.frame().await;
            if frame["type"] == "approval" && frame["state"] == "pending" {
                self.approve(&frame).await;
            }
            let over = ends_turn(&frame);
            if is_of_turn(&frame) {
                frames.push(frame);
            }
            if over {
                return frames;
            }
        }
    }

    /// The code with which the server closes.
    pub async fn closed(&mut self) -> Option<u16> {
        loop {
            match in_time("the server's close", self.socket.next()).await {
                Some(Ok(Message::Close(frame))) => return frame.map(|frame| frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }
}

fn ends_turn(frame: &Value) -> bool {
    match frame["type"].as_str() {
        Some("turn") => matches!(frame["state"].as_str(), Some("completed" | "aborted")),
        Some("error") => frame.get("turn").is_some(),
        _ => false,
    }
}

/// False for pieces of text, and for news of a conversation that the client did not follow yet.
fn is_of_turn(frame: &Value) -> bool {
    frame["type"] != "delta" && frame["list"] != "conversations"
}

async fn next(socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>) -> Option<Value> {
    // One limit for the whole wait: the server's pings are no frames.
    let frame = async {
        loop {
            match socket.next().await? {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).expect("frames are JSON")),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    };
    in_time("a frame", frame).await
}

/// The frames' types, with the state of `turn` frames.
pub fn kinds(frames: &[Value]) -> Vec<String> {
    let kind = |frame: &Value| match (frame["type"].as_str().unwrap_or("?"), frame["state"].as_str()) {
        ("turn", Some(state)) => format!("turn {state}"),
        (kind, _) => kind.to_owned(),
    };
    frames.iter().map(kind).collect()
}

/// The first frame of this type.
pub fn of_type<'a>(frames: &'a [Value], kind: &str) -> &'a Value {
    frames.iter().find(|frame| frame["type"] == kind).unwrap_or_else(|| panic!("no `{kind}` among {frames:#?}"))
}

/// The success of each tool call, and its result for the model.
pub fn results(frames: &[Value]) -> Vec<(bool, String)> {
    let results = frames.iter().filter(|frame| frame["type"] == "tool_result");
    results.map(|frame| (frame["ok"].as_bool().unwrap(), frame["result"].as_str().unwrap().to_owned())).collect()
}
