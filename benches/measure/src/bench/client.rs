//! A client of `/chat`, as plain as can be: a blocking socket.

use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, Utf8Bytes, WebSocket};

use super::door::TOKEN;

/// How long a frame that must come may take.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Client {
    socket: WebSocket<TcpStream>,
    /// The main conversation, and the newest event in it.
    pub main: i64,
    pub last: i64,
}

/// The fields of frames that are looked at.
#[derive(Default, Deserialize)]
struct Frame {
    #[serde(rename = "type")]
    kind: String,
    turn: Option<i64>,
    state: Option<String>,
    name: Option<String>,
    content: Option<String>,
    ok: Option<bool>,
    conversation: Option<i64>,
    last_seq: Option<i64>,
    seq: Option<i64>,
}

/// A turn, with the times at which its frames came.
pub struct Turn {
    began: Instant,
    ended: Instant,
    calls: Vec<(String, Instant)>,
    results: Vec<(String, Instant)>,
    /// The times at which the tokens were there.
    pub tokens: Vec<Instant>,
}

impl Turn {
    /// From the message to the frame that ends the turn.
    pub fn took(&self) -> Duration {
        self.ended - self.began
    }

    /// When the message was sent.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// From the frame of one call to the frame of the result of another, or of the same.
    pub fn between(&self, call: usize, result: usize) -> Duration {
        self.results[result].1 - self.calls[call].1
    }
}

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let mut request = format!("ws://{address}/chat").into_client_request().expect("an address");
        request.headers_mut().insert("authorization", format!("Bearer {TOKEN}").parse().expect("a header"));
        let (socket, _) = tungstenite::client(request, stream).expect("the socket opens");
        let mut client = Self { socket, main: 0, last: 0 };
        let hello = client.frame();
        assert_eq!(hello.kind, "hello");
        client.main = hello.conversation.expect("a main conversation");
        client.last = hello.last_seq.unwrap_or_default();
        client
    }

    fn frame(&mut self) -> Frame {
        self.read().0
    }

    /// The next frame, and its text.
    fn read(&mut self) -> (Frame, Utf8Bytes) {
        loop {
            if let Message::Text(text) = self.socket.read().expect("a frame comes") {
                let frame: Frame = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
                assert_ne!(frame.kind, "error", "{text}");
                return (frame, text);
            }
        }
    }

    /// Sends a frame; returns the time at which it began to.
    pub fn send(&mut self, frame: &str) -> Instant {
        let began = Instant::now();
        self.socket.send(Message::text(frame)).expect("sent");
        began
    }

    /// Says `bench:WORDS` in a conversation and waits until its turn is over; every call has to
    /// succeed.
    pub fn turn(&mut self, conversation: i64, words: &str) -> Turn {
        let began = self.say(conversation, words);
        let (mut calls, mut results, mut tokens) = (Vec::new(), Vec::new(), Vec::new());
        // A turn that a killed server left behind may come to its end first.
        let mut own = None;
        loop {
            let frame = self.frame();
            let now = Instant::now();
            match &*frame.kind {
                "delta" => {
                    let text = frame.content.unwrap_or_default();
                    tokens.extend(text.split_whitespace().map(|_| now));
                }
                "tool_call" => calls.push((frame.name.unwrap_or_default(), now)),
                "tool_result" => {
                    let name = frame.name.unwrap_or_default();
                    assert_eq!(frame.ok, Some(true), "{name} failed in the turn of `{words}`");
                    results.push((name, now));
                }
                "approval" => panic!("the turn of `{words}` waits for a person"),
                "turn" => match frame.state.as_deref() {
                    Some("queued") if frame.content.is_some() => own = frame.turn,
                    Some("aborted") => panic!("the turn of `{words}` was aborted"),
                    Some("completed") if own == frame.turn => {
                        return Turn { began, ended: now, calls, results, tokens };
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }

    /// Says it, and waits for the first token of the answer.
    pub fn begin(&mut self, conversation: i64, words: &str) {
        self.say(conversation, words);
        while self.frame().kind != "delta" {}
    }

    /// Says it, and waits for nothing.
    pub fn say(&mut self, conversation: i64, words: &str) -> Instant {
        let content = format!("bench:{words}");
        self.send(&json!({"type": "message", "conversation": conversation, "content": content}).to_string())
    }

    /// Ends what runs and what waits in a conversation.
    pub fn stop(&mut self, conversation: i64) {
        self.send(&json!({"type": "stop", "conversation": conversation}).to_string());
    }

    /// Waits for a message of any client; returns the frame that tells of it.
    pub fn until_queued(&mut self) -> Utf8Bytes {
        loop {
            let (frame, text) = self.read();
            if frame.kind == "turn" && frame.state.as_deref() == Some("queued") {
                return text;
            }
        }
    }

    /// Waits for the end of a turn of another client.
    pub fn until_completed(&mut self) {
        loop {
            let frame = self.frame();
            if frame.kind == "turn" && frame.state.as_deref() == Some("completed") {
                return;
            }
        }
    }

    /// Asks for everything after an event, and waits until the newest one is there.
    pub fn resume(&mut self, after: i64) {
        let (main, last) = (self.main, self.last);
        self.send(&json!({"type": "resume", "conversation": main, "after": after}).to_string());
        while after < last && self.frame().seq.is_none_or(|seq| seq < last) {}
    }
}
