//! The client: one websocket, commands by number, events by session. It sends no command of its
//! own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::error::CdpFault;

/// A command has this long for its answer.
const ANSWER: Duration = Duration::from_secs(10);
/// The largest message: a picture of a big screen is 10 MB.
const MAX_MESSAGE: usize = 32 << 20;

/// An event of a session.
#[derive(Debug)]
pub(super) struct CdpEvent {
    pub(super) method: String,
    pub(super) params: Value,
}

type Answer = oneshot::Sender<Result<Value, CdpFault>>;

#[derive(Default)]
struct Table {
    gone: bool,
    /// The commands that wait, each with the session it was sent to.
    waiting: HashMap<u64, (String, Answer)>,
    /// The listeners of sessions; the browser's own has no name.
    sessions: HashMap<String, mpsc::UnboundedSender<CdpEvent>>,
}

/// A connection to a browser. It ends when it is dropped.
pub(super) struct Connection {
    out: mpsc::Sender<String>,
    table: Arc<Mutex<Table>>,
    next: AtomicU64,
    /// The interactions that are under way.
    pub(super) interacting: AtomicUsize,
    /// Held while new tabs begin or cease to be held: the end of one interaction does not let those
    /// of another go.
    pub(super) holding: tokio::sync::Mutex<()>,
}

fn locked(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    /// Takes up a websocket over a stream.
    pub(super) async fn over(stream: TcpStream, url: &str) -> Result<Arc<Self>, Error> {
        let config = WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
        let (socket, _) = tokio_tungstenite::client_async_with_config(url, stream, Some(config)).await?;
        let (mut sink, mut source) = socket.split();
        let (out, mut messages) = mpsc::channel::<String>(64);
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                if sink.send(Message::text(message)).await.is_err() {
                    break;
                }
            }
            let _ = sink.close().await;
        });
        let table = Arc::new(Mutex::new(Table::default()));
        let heard = Arc::clone(&table);
        tokio::spawn(async move {
            while let Some(Ok(message)) = source.next().await {
                if let Message::Text(text) = message
                    && let Ok(message) = serde_json::from_str(&text)
                {
                    hear(&heard, message);
                }
            }
            // All that waits learns that the browser is gone.
            let mut table = locked(&heard);
            *table = Table { gone: true, ..Table::default() };
        });
        Ok(Arc::new(Self {
            out,
            table,
            next: AtomicU64::new(1),
            interacting: AtomicUsize::new(0),
            holding: tokio::sync::Mutex::default(),
        }))
    }

    /// The events of a session, from now on.
    pub(super) fn listen(&self, session: &str) -> mpsc::UnboundedReceiver<CdpEvent> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut table = locked(&self.table);
        if !table.gone {
            table.sessions.insert(session.to_owned(), sender);
        }
        receiver
    }

    /// True if the browser went away.
    pub(super) fn is_gone(&self) -> bool {
        locked(&self.table).gone
    }

    /// Sends a command to a session, or to the browser itself if it has no name, and waits for the
    /// answer.
    pub(super) async fn call(&self, session: &str, method: &'static str, params: Value) -> Result<Value, CdpFault> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        {
            let mut table = locked(&self.table);
            if table.gone {
                return Err(CdpFault::Gone);
            }
            table.waiting.insert(id, (session.to_owned(), sender));
        }
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        if self.out.send(message.to_string()).await.is_err() {
            return Err(CdpFault::Gone);
        }
        let answered = timeout(ANSWER, answer).await;
        locked(&self.table).waiting.remove(&id);
        match answered {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(CdpFault::Gone),
            Err(_) => Err(CdpFault::Slow(method)),
        }
    }
}

/// Hands a message on.
fn hear(table: &Mutex<Table>, mut message: Value) {
    let mut table = locked(table);
    if let Some(id) = message["id"].as_u64() {
        let Some((_, waits)) = table.waiting.remove(&id) else { return };
        let _ = waits.send(answered(&mut message));
        return;
    }
    let (method, params) = (message["method"].as_str().unwrap_or_default().to_owned(), message["params"].take());
    if method == "Target.detachedFromTarget"
        && let Some(gone) = params["sessionId"].as_str()
    {
        table.sessions.remove(gone);
        table.waiting.retain(|_, (session, _)| session != gone);
    }
    let session = message["sessionId"].as_str().unwrap_or_default();
    if let Some(listener) = table.sessions.get(session) {
        let _ = listener.send(CdpEvent { method, params });
    }
}

fn answered(message: &mut Value) -> Result<Value, CdpFault> {
    match message.get("error") {
        // The session ended before the command arrived.
        Some(error) if error["code"] == -32001 => Err(CdpFault::Gone),
        Some(error) => Err(CdpFault::Refused(error["message"].as_str().unwrap_or("no reason").to_owned())),
        None => Ok(message["result"].take()),
    }
}
