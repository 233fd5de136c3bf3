//! A stand-in for the server: keeps what it was asked, and answers as a test wants.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// A stand-in for the server: the questions it was asked, and its answers, status and body, by
/// method and path.
pub struct Answers {
    pub address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Answers {
    pub fn serve(answer: impl Fn(&str) -> (u16, Value) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, asked) = (listener.local_addr().unwrap().to_string(), Arc::new(Mutex::new(Vec::new())));
        let heard = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap());
                let (mut first, mut length, mut token) = (String::new(), 0, false);
                lines.read_line(&mut first).unwrap();
                loop {
                    let mut line = String::new();
                    lines.read_line(&mut line).unwrap();
                    let line = line.trim().to_ascii_lowercase();
                    if line.is_empty() {
                        break;
                    }
                    length = line.strip_prefix("content-length: ").map_or(length, |length| length.parse().unwrap());
                    token |= line.starts_with("authorization: bearer ");
                }
                let mut body = vec![0; length];
                lines.read_exact(&mut body).unwrap();
                let what = first.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
                let (status, said) = if token { answer(&what) } else { (401, json!({"error": "no token"})) };
                let said = said.to_string();
                heard.lock().unwrap().push(format!("{what} {}", String::from_utf8_lossy(&body)).trim_end().to_owned());
                let head = format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\n");
                write!(stream, "{head}content-length: {}\r\n\r\n{said}", said.len()).unwrap();
            }
        });
        Self { address, asked }
    }

    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

pub fn instance(id: i64, state: &str) -> Value {
    json!({"id": id, "state": state, "paused_from": null, "reason": null, "objective": "Arrange a viewing", "contact": "+491701234567",
        "channel": "loopback", "time_zone": null, "todos": [{"id": 1, "text": "Ask for a time", "status": "done"}], "heartbeat_seconds": 1800,
        "max_follow_ups": 5, "follow_ups": 0, "next_heartbeat_at": null, "conversation": 12, "key": null, "unknown": 0, "queued_messages": 0,
        "tokens": 0, "created_at": "2026-11-23T09:00:00Z", "updated_at": "2026-11-23T09:00:00Z", "ended_at": null})
}

pub fn message(id: i64, said_by: &str, text: &str, delivery: Option<&str>) -> Value {
    json!({"id": id, "seq": id - 30, "at": "2026-11-23T09:00:00Z", "said_by": said_by, "text": text, "untrusted": said_by == "contact",
        "delivery": delivery, "follow_up": false, "reason": null, "sent_at": null, "delivered_at": null, "read_at": null, "media": null,
        "cut": false})
}
