//! A client of one conversation that lives through everything: it comes back with `resume`, says
//! again what was not acknowledged, and keeps every `seq` it is shown. Some vanish in the moment
//! they have said something.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::support::{PATIENCE, in_time};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// The pause before a client that was turned away knocks again, if no new address comes earlier.
const AGAIN: Duration = Duration::from_millis(100);

/// The frames that a client was told, over all its connections.
#[derive(Default)]
pub struct Told {
    /// Every recorded frame, as it came.
    pub frames: Vec<Value>,
    /// The turn of each acknowledged message, by the id the client gave it.
    pub acknowledged: BTreeMap<String, i64>,
    /// The turns that are over, with how.
    pub ended: BTreeMap<i64, String>,
    /// Said so far.
    pub said: usize,
}

impl Told {
    fn take(&mut self, frame: &Value) {
        let turn = frame["turn"].as_i64();
        match (frame["type"].as_str(), frame["state"].as_str(), turn) {
            (Some("turn"), Some("queued"), Some(turn)) => {
                if let Some(id) = frame["id"].as_str() {
                    self.acknowledged.insert(id.to_owned(), turn);
                }
            }
            (Some("turn"), Some(state @ ("completed" | "aborted")), Some(turn)) => {
                drop(self.ended.insert(turn, state.to_owned()))
            }
            (Some("error"), _, Some(turn)) => drop(self.ended.insert(turn, "failed".to_owned())),
            _ => {}
        }
        if frame.get("seq").is_some() && frame["seq"].as_i64() > self.last() {
            self.frames.push(frame.clone());
        }
    }

    fn last(&self) -> Option<i64> {
        self.frames.last().and_then(|frame| frame["seq"].as_i64())
    }

    /// True if the message of this id is answered.
    fn is_over(&self, id: &str) -> bool {
        self.acknowledged.get(id).is_some_and(|turn| self.ended.contains_key(turn))
    }
}

/// A client, and what it does.
pub struct Watcher {
    pub conversation: i64,
    /// Goes away in the moment it has said something, and comes back later.
    pub vanishes: bool,
    pub told: Arc<Mutex<Told>>,
    pub address: watch::Receiver<Option<SocketAddr>>,
    /// Turns true when nothing new is to be said.
    pub enough: watch::Receiver<bool>,
    /// Told of every acknowledgement and end.
    pub progress: Arc<Notify>,
}

impl Watcher {
    /// Says `word ID` again and again, one message after the other, until it is enough and the last
    /// one is answered.
    pub async fn keep_saying(mut self, word: &'static str) {
        let mut number = 0;
        while !*self.enough.borrow() {
            let id = format!("{word}_{}_{number}", self.conversation);
            self.say(&id, &format!("{word} {id}")).await;
            number += 1;
        }
    }

    /// Says one thing and sees it answered, through whatever happens.
    pub async fn say(&mut self, id: &str, content: &str) {
        self.told.lock().unwrap().said += 1;
        let mut vanished = !self.vanishes;
        loop {
            let Some(mut socket) = self.connect().await else { continue };
            let acknowledged = self.told.lock().unwrap().acknowledged.contains_key(id);
            if !acknowledged {
                let message = json!({"type": "message", "id": id, "content": content, "conversation": self.conversation});
                let sent = socket.send(Message::text(message.to_string())).await;
                if !vanished && sent.is_ok() {
                    vanished = true;
                    continue;
                }
            }
            if self.read(&mut socket, id).await {
                return;
            }
        }
    }

    /// Connects and asks for the rest; `None` when turned away.
    async fn connect(&mut self) -> Option<Socket> {
        let waiting = self.address.wait_for(Option::is_some);
        let address = (*in_time("the server comes back", waiting).await.ok()?)?;
        let connected = tokio_tungstenite::connect_async(format!("ws://{address}/chat"));
        if let Ok(Ok((mut socket, _))) = tokio::time::timeout(PATIENCE, connected).await {
            let after = self.told.lock().unwrap().last().unwrap_or(0);
            let resume = json!({"type": "resume", "after": after, "conversation": self.conversation});
            if socket.send(Message::text(resume.to_string())).await.is_ok() {
                return Some(socket);
            }
        }
        let _ = tokio::time::timeout(AGAIN, self.address.changed()).await;
        None
    }

    /// Takes a frame in; true if the message is answered with it.
    fn take(&self, frame: &Value, id: &str) -> bool {
        let mut told = self.told.lock().unwrap();
        if let (Some(seq), Some(last)) = (frame["seq"].as_i64(), told.last()) {
            // The acknowledgement of a message said again is shown again; anything else comes once.
            let again = frame["type"] == "turn" && frame["state"] == "queued";
            assert!(seq > last || again, "conversation {}: {seq} came after {last}: {frame}", self.conversation);
        }
        told.take(frame);
        told.is_over(id)
    }

    /// Reads until the message is answered (true) or the connection breaks.
    async fn read(&mut self, socket: &mut Socket, id: &str) -> bool {
        // Pings are no news.
        let mut until = Instant::now() + PATIENCE;
        loop {
            let frame = tokio::select! {
                frame = tokio::time::timeout_at(until, socket.next()) => frame,
                // A server that is frozen says nothing; the next one stands elsewhere.
                Ok(()) = self.address.changed() => return false,
            };
            let Ok(frame) = frame else {
                panic!("conversation {}: nothing was heard of {id} for {PATIENCE:?}", self.conversation)
            };
            match frame {
                Some(Ok(Message::Text(text))) => {
                    until = Instant::now() + PATIENCE;
                    let frame: Value = serde_json::from_str(&text).expect("frames are JSON");
                    let over = self.take(&frame, id);
                    self.progress.notify_waiters();
                    if over {
                        return true;
                    }
                    // The server has no room for the message now: it is said again.
                    if frame["type"] == "error" && frame["id"] == id && frame["turn"].is_null() {
                        let _ = tokio::time::timeout(AGAIN, self.address.changed()).await;
                        return false;
                    }
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => {
                    let _ = tokio::time::timeout(AGAIN, self.address.changed()).await;
                    return false;
                }
                Some(Ok(_)) => {}
            }
        }
    }
}

/// A client that asks for everything and never reads a byte of it. Gives the socket, which has to
/// be kept.
pub async fn deaf(address: SocketAddr, conversation: i64) -> Option<Socket> {
    let (mut socket, _) = tokio_tungstenite::connect_async(format!("ws://{address}/chat")).await.ok()?;
    for _ in 0..50 {
        let resume = json!({"type": "resume", "after": 0, "conversation": conversation});
        socket.send(Message::text(resume.to_string())).await.ok()?;
    }
    Some(socket)
}
