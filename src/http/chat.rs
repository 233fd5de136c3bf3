//! `/chat`: one socket, see `docs/protocol.md`. A socket shows committed events in order, each
//! once. Deltas are the one exception.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;

use super::said::{self, NotTaken};
use super::{Doors, images};
use crate::domain::{ApprovalId, Channel, ConversationId, DEFAULT_PROFILE, Decision};
use crate::facts::{Event, EventRecord};
use crate::memory;
use crate::model::Model;
use crate::store::{DecideError, Hint, NewMessage, StoreError};
use crate::wire::{ClientFrame, MAX_IMAGE_BYTES, MAX_IMAGES, MAX_MESSAGE_BYTES, SentImage, ServerFrame};

/// A socket's own buffers. With axum's default of 128 KiB each they would be most of what an idle
/// socket costs. A longer frame gets a longer one.
const BUFFER_BYTES: usize = 1024;
/// JSON may write a character with six bytes; images come in base64.
const MAX_FRAME_BYTES: usize = 6 * MAX_MESSAGE_BYTES + MAX_IMAGES * (MAX_IMAGE_BYTES / 3 + 1) * 4 + 8 * 1024;
/// A frame of this size leaves the allocator enough memory to give back.
const LARGE_FRAME_BYTES: usize = 1 << 20;
/// Memory is given back when the last socket ends, and each time as many have ended as this.
const CROWD: usize = 256;
/// The longest id a client may give its message.
const MAX_ID_BYTES: usize = 200;
/// How long a client may go without reading before its socket ends, in real time: it guards against
/// peers that hang.
const SEND_PATIENCE: Duration = Duration::from_secs(30);
/// After so many pings without any answer the client counts as gone. One would be too few: a client
/// in the middle of a large message on a slow line cannot answer.
const UNANSWERED: u32 = 4;
/// Events read at a time for a client that has fallen behind.
const PAGE: i64 = 200;

/// The reason for which a socket ends.
enum SocketEnd {
    /// The client is gone, or does not read.
    Gone,
    /// The client closed it.
    Closed,
    /// The client breaks the protocol of sockets; the code and the words to close with.
    Misread(u16, &'static str),
    /// The database does not answer; the client should come back.
    Database(StoreError),
    /// The server ends or restarts.
    Shutdown,
}

impl From<StoreError> for SocketEnd {
    fn from(error: StoreError) -> Self {
        Self::Database(error)
    }
}

impl From<axum::Error> for SocketEnd {
    /// Tells the faults of a client from the end of its connection.
    fn from(error: axum::Error) -> Self {
        use tungstenite::Error;
        use tungstenite::error::ProtocolError::ResetWithoutClosingHandshake;
        match error.into_inner().downcast().as_deref() {
            Ok(Error::Protocol(ResetWithoutClosingHandshake)) => Self::Gone,
            Ok(Error::Protocol(_)) => Self::Misread(close_code::PROTOCOL, "this is no frame of a websocket"),
            Ok(Error::Utf8(_)) => Self::Misread(close_code::INVALID, "text is UTF-8"),
            Ok(Error::Capacity(_)) => Self::Misread(close_code::SIZE, "the message is too big"),
            Ok(_) | Err(_) => Self::Gone,
        }
    }
}

pub(super) async fn open(State(doors): State<Doors>, upgrade: WebSocketUpgrade) -> Response {
    // Shared by the parts of the task, each of which would else have room for a copy.
    let (tracker, doors) = (doors.sockets.clone(), Arc::new(doors));
    upgrade
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
        .max_message_size(MAX_FRAME_BYTES)
        .max_frame_size(MAX_FRAME_BYTES)
        .on_upgrade(move |socket| {
            let there = tracker.clone();
            tracker.track_future(async move {
                serve(socket, doors).await;
                if there.len() % CROWD == 1 {
                    tokio::task::spawn_blocking(memory::give_back);
                }
            })
        })
}

async fn serve(socket: WebSocket, doors: Arc<Doors>) {
    let (sink, stream) = socket.split();
    let mut socket = Socket { sink, doors, positions: HashMap::new(), waiting: Vec::new() };
    let close = match socket.run(stream).await {
        Err(SocketEnd::Gone) => return,
        Err(SocketEnd::Closed) => {
            // The answer with the client's own code is written already, and only has to leave.
            let _ = tokio::time::timeout(Duration::from_secs(1), socket.sink.close()).await;
            return;
        }
        Err(SocketEnd::Misread(code, reason)) => CloseFrame { code, reason: reason.into() },
        Err(SocketEnd::Database(error)) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "closing a socket");
            let told = match &error {
                StoreError::Full(_) => "no space left on the device of the server",
                _ => "the database does not answer; come back",
            };
            CloseFrame { code: close_code::ERROR, reason: told.into() }
        }
        Ok(()) | Err(SocketEnd::Shutdown) if socket.doors.restart.is_cancelled() => {
            CloseFrame { code: close_code::RESTART, reason: "the server restarts".into() }
        }
        Ok(()) | Err(SocketEnd::Shutdown) => CloseFrame { code: close_code::AWAY, reason: "the server stops".into() },
    };
    // The client may be gone already.
    let _ = tokio::time::timeout(Duration::from_secs(1), socket.sink.send(Message::Close(Some(close)))).await;
}

struct Socket {
    sink: SplitSink<WebSocket, Message>,
    doors: Arc<Doors>,
    /// The conversations that this socket follows, with the newest sequence number it showed of
    /// each.
    positions: HashMap<ConversationId, i64>,
    /// The approvals in other conversations, as the client was last told.
    waiting: Vec<ApprovalId>,
}

impl Socket {
    async fn run(&mut self, mut stream: SplitStream<WebSocket>) -> Result<(), SocketEnd> {
        // The socket subscribes before it reads anything, so that it misses no event between.
        let mut events = self.doors.store.signals().events();
        let mut elsewhere = self.doors.store.signals().elsewhere();
        let mut deltas = self.doors.store.signals().deltas();
        // A task keeps room for the largest thing that it ever waits for. So whatever asks the database gets room of its own, and gives
        // it back: most sockets wait for nothing but the next frame.
        let (main, last_seq) = Box::pin(self.begin()).await?;
        let mut ping = tokio::time::interval(self.doors.limits.ping);
        ping.reset();
        // How many pings the client got since its last frame.
        let mut asked = 0;
        let shutdown = self.doors.shutdown.clone();
        loop {
            tokio::select! {
                // The order matters: a piece of text is shown before the record that replaces it.
                biased;
                () = shutdown.cancelled() => {
                    // The client still sees what is committed already.
                    Box::pin(self.catch_up_all()).await?;
                    return Err(SocketEnd::Shutdown);
                }
                // The recorded text replaces deltas that were missed.
                Ok(delta) = deltas.recv() => if self.follows(&delta) {
                    self.send(&delta).await?;
                },
                record = events.recv() => match record {
                    Ok(record) => {
                        self.show(&record).await?;
                        if matches!(record.event, Event::ApprovalRequested(_) | Event::ApprovalDecided(_)) {
                            Box::pin(self.tell_waiting(main)).await?;
                        }
                    }
                    Err(RecvError::Lagged(_)) => Box::pin(self.read_on(main)).await?,
                    Err(RecvError::Closed) => return Err(SocketEnd::Shutdown),
                },
                hint = elsewhere.next() => Box::pin(self.hear(hint, main)).await?,
                message = stream.next() => {
                    asked = 0;
                    match message {
                        Some(Ok(Message::Text(text))) => {
                            Box::pin(self.take(&text, main, last_seq)).await?;
                            let large = text.len() > LARGE_FRAME_BYTES;
                            drop(text);
                            if large {
                                memory::give_back();
                            }
                        }
                        Some(Ok(Message::Binary(_))) => {
                            return Err(SocketEnd::Misread(close_code::UNSUPPORTED, "frames are JSON text, not binary"));
                        }
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                        Some(Ok(Message::Close(_))) => return Err(SocketEnd::Closed),
                        Some(Err(error)) => return Err(error.into()),
                        None => return Err(SocketEnd::Gone),
                    }
                }
                // After the messages, so that an answer that has arrived counts.
                _ = ping.tick() => {
                    if asked == UNANSWERED {
                        return Err(SocketEnd::Gone);
                    }
                    asked += 1;
                    self.put(Message::Ping(Vec::new().into())).await?;
                }
            }
        }
    }

    /// Greets the client; returns the main conversation, and the place of its last event.
    async fn begin(&mut self) -> Result<(ConversationId, i64), SocketEnd> {
        let mains = self.doors.store.main_conversations(&self.doors.profiles.of_the_owner(), self.doors.clock.now()).await?;
        let main = *mains.get(DEFAULT_PROFILE).ok_or(SocketEnd::Gone)?;
        let last_seq = self.doors.store.last_sequence(main).await?;
        self.greet(main, mains, last_seq).await?;
        self.tell_waiting(main).await?;
        Ok((main, last_seq))
    }

    /// Shows everything that was missed.
    async fn read_on(&mut self, main: ConversationId) -> Result<(), SocketEnd> {
        self.catch_up_all().await?;
        self.tell_waiting(main).await
    }

    fn follows(&self, delta: &ServerFrame) -> bool {
        matches!(delta, ServerFrame::Delta { conversation, .. } if self.positions.contains_key(conversation))
    }

    async fn greet(
        &mut self,
        main: ConversationId,
        conversations: BTreeMap<String, ConversationId>,
        last_seq: i64,
    ) -> Result<(), SocketEnd> {
        let model = self.model().await?;
        let hello = ServerFrame::Hello {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            conversation: main,
            conversations,
            last_seq,
            model: model.info(),
            images: model.abilities().images,
            safe_mode: self.doors.safe_mode,
        };
        self.send(&hello).await
    }

    /// The model that would answer in the main conversation now. A server that is slow to describe
    /// its model does not keep the page waiting: then the current model is told as it is known
    /// without it.
    async fn model(&self) -> Result<Arc<dyn Model>, SocketEnd> {
        let profile = self.doors.store.policy(DEFAULT_PROFILE).await?;
        let chosen = self.doors.models.chosen(None, &profile.models);
        match tokio::time::timeout(self.doors.limits.description, chosen).await {
            Ok(model) => Ok(model),
            Err(_) => Ok(self.doors.models.current().await),
        }
    }

    /// Tells the client which approvals wait in conversations that it does not follow, if that has
    /// changed since it was last told. A client sees those of the main conversation when it
    /// resumes.
    async fn tell_waiting(&mut self, main: ConversationId) -> Result<(), SocketEnd> {
        let waiting = self.doors.store.waiting_approvals().await?.into_iter();
        let elsewhere = waiting.filter(|(_, conversation)| *conversation != main && !self.positions.contains_key(conversation));
        let approvals: Vec<_> = elsewhere.map(|(approval, _)| approval).collect();
        if approvals == self.waiting {
            return Ok(());
        }
        self.waiting.clone_from(&approvals);
        self.send(&ServerFrame::Waiting { approvals }).await
    }

    /// Handles one frame of the client.
    async fn take(&mut self, text: &str, main: ConversationId, hello_seq: i64) -> Result<(), SocketEnd> {
        let frame = match serde_json::from_str::<ClientFrame>(text) {
            Ok(frame) => frame,
            Err(error) => return self.refuse(&format!("this is not a frame of the protocol: {error}"), None).await,
        };
        match frame {
            ClientFrame::Message { content, id, conversation, profile, steer, images } => {
                let conversation = match said::addressed(&self.doors, conversation, profile.as_deref()).await {
                    Ok(addressed) => addressed.unwrap_or(main),
                    Err(NotTaken::Refused(why)) => return self.refuse(&why, id).await,
                    Err(NotTaken::Store(error)) => return Err(error.into()),
                };
                if conversation == main {
                    // A client that never resumes sees the events after its arrival.
                    self.positions.entry(main).or_insert(hello_seq);
                }
                self.accept(conversation, id, &content, &images, steer).await
            }
            ClientFrame::Stop { conversation } => {
                self.doors.store.stop(conversation.unwrap_or(main), self.doors.clock.now()).await?;
                Ok(())
            }
            ClientFrame::Approve { approval, always } => self.decide(approval, Decision::Approve { always }).await,
            ClientFrame::Deny { approval, reason } => self.decide(approval, Decision::Deny { reason }).await,
            ClientFrame::Resume { after, conversation } => {
                let conversation = conversation.unwrap_or(main);
                match self.doors.store.last_sequence(conversation).await {
                    Ok(last) => self.positions.insert(conversation, after.clamp(0, last)),
                    Err(error @ StoreError::NoConversation(_)) => return self.refuse(&error.to_string(), None).await,
                    Err(error) => return Err(error.into()),
                };
                self.catch_up(conversation).await
            }
        }
    }

    async fn decide(&mut self, approval: ApprovalId, decision: Decision) -> Result<(), SocketEnd> {
        match self.doors.store.decide(approval, decision, Channel::Page, self.doors.clock.now()).await {
            // The events tell of the decision.
            Ok(()) => Ok(()),
            Err(DecideError::Store(error)) => Err(error.into()),
            Err(error) => self.refuse(&error.to_string(), None).await,
        }
    }

    async fn accept(
        &mut self,
        conversation: ConversationId,
        id: Option<String>,
        content: &str,
        images: &[SentImage],
        steer: bool,
    ) -> Result<(), SocketEnd> {
        if id.as_ref().is_some_and(|id| id.len() > MAX_ID_BYTES || id.contains('\0')) {
            return self.refuse(&format!("`id` must have {MAX_ID_BYTES} bytes at most and no zero character"), None).await;
        }
        if content.trim().is_empty() && images.is_empty() {
            return self.refuse("`content` is empty; there is nothing to react to", id).await;
        }
        if content.len() > MAX_MESSAGE_BYTES {
            let told = format!("the message has {} bytes; {MAX_MESSAGE_BYTES} is the most", content.len());
            return self.refuse(&told, id).await;
        }
        let images = match images::read(images) {
            Ok(images) => images,
            Err(why) => return self.refuse(&why, id).await,
        };
        let store = self.doors.store.clone();
        let client_id = id.clone();
        let message = NewMessage { content, client_id: id.as_deref(), steer, images: &images };
        let accepted = match said::take(&self.doors, conversation, message).await {
            Ok(accepted) => accepted,
            Err(error @ StoreError::NoConversation(_)) => return self.refuse(&error.to_string(), id).await,
            Err(error @ StoreError::Full(_)) => {
                tracing::warn!(%error, "a message was not accepted");
                return self.refuse(&error.for_caller(), id).await;
            }
            Err(error) => return Err(error.into()),
        };
        if let std::collections::hash_map::Entry::Vacant(position) = self.positions.entry(conversation) {
            // From the acknowledgement on, the client follows this conversation too.
            let queued = store.accepting_event(conversation, accepted.turn, client_id.as_deref()).await?;
            position.insert(queued.sequence - 1);
        }
        if accepted.again {
            let queued = store.accepting_event(conversation, accepted.turn, client_id.as_deref()).await?;
            if let Some(frame) = queued.frame() {
                self.send(&frame).await?;
            }
            return self.catch_up(conversation).await;
        }
        // The event brings the acknowledgement, like any other frame.
        Ok(())
    }

    /// Shows an event that was just committed; if earlier ones are missing, shows those first.
    async fn show(&mut self, record: &EventRecord) -> Result<(), SocketEnd> {
        let Some(position) = self.positions.get_mut(&record.conversation) else { return Ok(()) };
        match record.sequence - *position {
            ..=0 => Ok(()),
            1 => {
                *position = record.sequence;
                match record.frame() {
                    Some(frame) => self.send(&frame).await,
                    None => Ok(()),
                }
            }
            _ => Box::pin(self.catch_up(record.conversation)).await,
        }
    }

    /// Shows the event that another server committed, and those missed before it, if this socket
    /// follows the conversation.
    async fn hear(&mut self, hint: Option<Hint>, main: ConversationId) -> Result<(), SocketEnd> {
        let Some(hint) = hint else { return self.read_on(main).await };
        if self.positions.get(&hint.conversation).is_some_and(|position| hint.sequence > *position) {
            self.catch_up(hint.conversation).await?;
        }
        match hint.kind.as_str() {
            "approval_requested" | "approval_decided" => self.tell_waiting(main).await,
            _ => Ok(()),
        }
    }

    async fn catch_up_all(&mut self) -> Result<(), SocketEnd> {
        for conversation in self.positions.keys().copied().collect::<Vec<_>>() {
            self.catch_up(conversation).await?;
        }
        Ok(())
    }

    /// Shows everything after this socket's position.
    async fn catch_up(&mut self, conversation: ConversationId) -> Result<(), SocketEnd> {
        loop {
            let position = self.positions.get(&conversation).copied().unwrap_or(0);
            let records = self.doors.store.events_after(conversation, position, PAGE).await?;
            let Some(newest) = records.last().map(|record| record.sequence) else { return Ok(()) };
            for frame in records.iter().filter_map(EventRecord::frame) {
                self.send(&frame).await?;
            }
            self.positions.insert(conversation, newest);
        }
    }

    async fn refuse(&mut self, why: &str, id: Option<String>) -> Result<(), SocketEnd> {
        self.send(&ServerFrame::Error { content: why.to_owned(), turn: None, failure: None, id, usage: None, ms: None }).await
    }

    async fn send(&mut self, frame: &impl Serialize) -> Result<(), SocketEnd> {
        let text = serde_json::to_string(frame).expect("frames are plain data");
        self.put(Message::Text(text.into())).await
    }

    async fn put(&mut self, message: Message) -> Result<(), SocketEnd> {
        match tokio::time::timeout(SEND_PATIENCE, self.sink.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(SocketEnd::Gone),
        }
    }
}

#[cfg(test)]
mod tests;
