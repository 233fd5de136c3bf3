//! `/chat`: one socket of one user, see `docs/protocol.md`. A socket shows committed events in
//! order, each once. Deltas are the one exception.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;

use super::images;
use super::said::{self, NotTaken};
use super::visitor::Visitor;
use crate::domain::todo::QuotaReached;
use crate::domain::{ApprovalId, CampaignId, Channel, ConversationId, Decision};
use crate::facts::{Event, EventRecord};
use crate::memory;
use crate::store::{Announced, CampaignError, DecideError, NewMessage, StoreError, Theirs};
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
    /// The user may not come in any more, or not by this way.
    NotLetIn,
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

pub(super) async fn open(visitor: Visitor, upgrade: WebSocketUpgrade) -> Response {
    // Shared by the parts of the task, each of which would else have room for a copy.
    let visitor = Arc::new(visitor);
    // It counts from here on, so that the server does not end between the answer and the socket's
    // first look.
    let there = visitor.sockets().token();
    upgrade
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
        .max_message_size(MAX_FRAME_BYTES)
        .max_frame_size(MAX_FRAME_BYTES)
        .on_upgrade(async move |socket| {
            serve(socket, visitor).await;
            if there.task_tracker().len() % CROWD == 1 {
                tokio::task::spawn_blocking(memory::give_back);
            }
        })
}

async fn serve(socket: WebSocket, visitor: Arc<Visitor>) {
    let (sink, stream) = socket.split();
    let theirs = visitor.theirs();
    let mut socket = Socket { sink, visitor, theirs, positions: HashMap::new(), waiting: Vec::new() };
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
        Err(SocketEnd::NotLetIn) => CloseFrame { code: close_code::POLICY, reason: "sign in again".into() },
        Ok(()) | Err(SocketEnd::Shutdown) if socket.visitor.restarts() => {
            CloseFrame { code: close_code::RESTART, reason: "the server restarts".into() }
        }
        Ok(()) | Err(SocketEnd::Shutdown) => CloseFrame { code: close_code::AWAY, reason: "the server stops".into() },
    };
    // The client may be gone already.
    let _ = tokio::time::timeout(Duration::from_secs(1), socket.sink.send(Message::Close(Some(close)))).await;
}

struct Socket {
    sink: SplitSink<WebSocket, Message>,
    visitor: Arc<Visitor>,
    theirs: Theirs,
    /// The conversations that this socket follows, with the newest sequence number it showed of
    /// each.
    positions: HashMap<ConversationId, i64>,
    /// The approvals in other conversations, as the client was last told, in their order.
    waiting: Vec<(ApprovalId, ConversationId)>,
}

impl Socket {
    async fn run(&mut self, mut stream: SplitStream<WebSocket>) -> Result<(), SocketEnd> {
        // The socket subscribes before it reads anything, so that it misses no event between.
        let (mut events, mut elsewhere, mut deltas) = (self.theirs.events(), self.theirs.elsewhere(), self.theirs.deltas());
        let mut changes = self.visitor.changes();
        // A task keeps room for the largest thing that it ever waits for. So whatever asks the
        // database gets room of its own, and gives it back: most sockets wait for nothing but the
        // next frame.
        let (main, last_seq) = Box::pin(self.begin()).await?;
        let mut ping = tokio::time::interval(self.visitor.limits().ping);
        ping.reset();
        // How many pings the client got since its last frame.
        let mut asked = 0;
        // True while the database has not said whether the user may still be here.
        let mut unsure = false;
        let shutdown = self.visitor.shutdown().clone();
        loop {
            tokio::select! {
                // The order matters: a turn comes before its text, and that before its record.
                biased;
                () = shutdown.cancelled() => {
                    // The client still sees what is committed already.
                    Box::pin(self.catch_up_all()).await?;
                    return Err(SocketEnd::Shutdown);
                }
                Ok(()) = changes.changed() => unsure = Box::pin(self.is_unsure()).await?,
                record = events.recv() => match record {
                    Ok(record) => {
                        if let Event::StepAnswered(answered) = &record.event {
                            self.show_pieces_of(record.conversation, answered, &mut deltas).await?;
                        }
                        self.show(&record).await?;
                        if matches!(record.event, Event::ApprovalRequested(_) | Event::ApprovalDecided(_)) {
                            Box::pin(self.follow_question(&record, main)).await?;
                        }
                    }
                    Err(RecvError::Lagged(_)) => Box::pin(self.read_on(main)).await?,
                    Err(RecvError::Closed) => return Err(SocketEnd::Shutdown),
                },
                // The recorded text replaces deltas that were missed.
                Ok(delta) = deltas.recv() => if self.follows(&delta) {
                    self.pass(delta.frame_json()).await?;
                },
                hint = elsewhere.recv() => Box::pin(self.hear(hint.unwrap_or_default(), main)).await?,
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
                    if unsure {
                        unsure = Box::pin(self.is_unsure()).await?;
                    }
                    asked += 1;
                    self.put(Message::Ping(Vec::new().into())).await?;
                }
            }
        }
    }

    /// Ends the socket if its user may not be here any more. True if the database does not say yet.
    async fn is_unsure(&self) -> Result<bool, SocketEnd> {
        match self.visitor.still_opens().await {
            Ok(true) => Ok(false),
            Ok(false) => Err(SocketEnd::NotLetIn),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a socket waits to hear whether its user may be here");
                Ok(true)
            }
        }
    }

    /// Greets the client; returns the main conversation, and the place of its last event.
    async fn begin(&mut self) -> Result<(ConversationId, i64), SocketEnd> {
        // The others are made when they are first used.
        let main = self.theirs.main_conversation_of(self.visitor.default_profile(), self.visitor.now()).await?;
        let mains = self.theirs.mains(&self.visitor.mains()).await?;
        let last_seq = self.theirs.last_sequence(main).await?;
        self.greet(main, mains, last_seq).await?;
        self.tell_waiting(main).await?;
        Ok((main, last_seq))
    }

    async fn greet(
        &mut self,
        main: ConversationId,
        conversations: BTreeMap<String, ConversationId>,
        last_seq: i64,
    ) -> Result<(), SocketEnd> {
        let model = self.visitor.model(self.visitor.default_profile()).await?;
        let queues = |name: &str| self.visitor.profile(name).is_ok_and(|profile| !profile.talked_over);
        let queueing = conversations.iter().filter(|(name, _)| queues(name)).map(|(_, id)| *id).collect();
        let hello = ServerFrame::Hello {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            conversation: main,
            conversations,
            queueing,
            last_seq,
            model: model.info(),
            images: model.abilities().images,
            safe_mode: self.visitor.safe_mode(),
        };
        self.send(&hello).await
    }

    /// Handles one frame of the client.
    async fn take(&mut self, text: &str, main: ConversationId, hello_seq: i64) -> Result<(), SocketEnd> {
        let frame = match ClientFrame::read(text) {
            Ok(frame) => frame,
            Err(error) => {
                let id = error.id.clone().filter(|id| said::unfit_id(&self.theirs, id).is_none());
                return self.refuse(&error.to_string(), id).await;
            }
        };
        match frame {
            ClientFrame::Message { content, id, conversation, profile, steer, images, call } => {
                let conversation = match said::addressed(&self.visitor, conversation, profile.as_deref()).await {
                    Ok(addressed) => addressed.unwrap_or(main),
                    Err(NotTaken::Refused(why)) => return self.refuse(&why, id).await,
                    Err(NotTaken::Store(error)) => return Err(error.into()),
                };
                if conversation == main {
                    // A client that never resumes sees the events after its arrival.
                    self.positions.entry(main).or_insert(hello_seq);
                }
                let spoken = match call {
                    Some(call) => self.theirs.is_talking(call, conversation, self.visitor.now()).await?,
                    None => false,
                };
                self.accept(conversation, id, &content, &images, steer, spoken).await
            }
            ClientFrame::Stop { conversation } => {
                match self.theirs.stop(conversation.unwrap_or(main), self.visitor.now()).await {
                    Ok(_) => Ok(()),
                    Err(error @ (StoreError::NoConversation(_) | StoreError::OfContact(..))) => {
                        self.refuse(&error.to_string(), None).await
                    }
                    Err(error) => Err(error.into()),
                }
            }
            ClientFrame::Approve { approval, always } => self.decide(approval, Decision::Approve { always }).await,
            ClientFrame::Deny { approval, reason } => self.decide(approval, Decision::Deny { reason }).await,
            ClientFrame::Resume { after, conversation } => {
                let conversation = conversation.unwrap_or(main);
                match self.theirs.last_sequence(conversation).await {
                    Ok(last) => self.positions.insert(conversation, after.clamp(0, last)),
                    Err(error @ StoreError::NoConversation(_)) => return self.refuse(&error.to_string(), None).await,
                    Err(error) => return Err(error.into()),
                };
                self.catch_up(conversation).await
            }
            ClientFrame::Present { campaign } => self.note_presence(campaign).await,
        }
    }

    /// Somebody watches over a campaign from here.
    async fn note_presence(&mut self, campaign: CampaignId) -> Result<(), SocketEnd> {
        let Some(campaigns) = self.visitor.campaigns() else {
            return self.refuse("campaigns are the owner's", None).await;
        };
        match campaigns.present(campaign).await {
            Ok(()) => Ok(()),
            Err(CampaignError::Store(error)) => Err(error.into()),
            Err(error) => self.refuse(&error.to_string(), None).await,
        }
    }

    async fn decide(&mut self, approval: ApprovalId, decision: Decision) -> Result<(), SocketEnd> {
        match self.theirs.decide(approval, decision, Channel::Page, self.visitor.now()).await {
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
        spoken: bool,
    ) -> Result<(), SocketEnd> {
        if let Some(told) = id.as_deref().and_then(|id| said::unfit_id(&self.theirs, id)) {
            return self.refuse(&told, None).await;
        }
        if let Err(misfit) = said::fits(&self.visitor, conversation, content, !images.is_empty()).await {
            return self.refuse(&misfit.to_string(), id).await;
        }
        let images = match images::read(images) {
            Ok(images) => images,
            Err(why) => return self.refuse(&why, id).await,
        };
        let client_id = id.clone();
        let counted = self.visitor.counted();
        let message = NewMessage { content, client_id: id.as_deref(), steer, images: &images, counted: &counted, spoken };
        let accepted = match said::take(&self.visitor, conversation, message).await {
            Ok(accepted) => accepted,
            Err(error @ (StoreError::NoConversation(_) | StoreError::OfContact(..) | StoreError::AskedByChannel)) => {
                return self.refuse(&error.to_string(), id).await;
            }
            Err(StoreError::Quota(reached)) => {
                return self.refuse_for(&reached.to_string(), id, reached == QuotaReached::MessagesOfTier).await;
            }
            Err(error @ StoreError::Full(_)) => {
                tracing::warn!(%error, "a message was not accepted");
                return self.refuse(&error.for_caller(), id).await;
            }
            Err(error) => return Err(error.into()),
        };
        if !accepted.again && self.positions.contains_key(&conversation) {
            // The event brings the acknowledgement, like any other frame.
            return Ok(());
        }
        let queued = self.theirs.accepting_event(conversation, accepted.turn, client_id.as_deref()).await?;
        // From the acknowledgement on, the client follows this conversation too.
        let position = *self.positions.entry(conversation).or_insert(queued.sequence - 1);
        if !accepted.again {
            return Ok(());
        }
        if position >= queued.sequence
            && let Some(frame) = queued.frame()
        {
            // The stream does not come to this place again, so the answer stands outside of it.
            self.send(&frame).await?;
        }
        self.catch_up(conversation).await
    }

    /// Shows an event that was just committed; if earlier ones are missing, shows those first.
    async fn show(&mut self, record: &Announced<EventRecord>) -> Result<(), SocketEnd> {
        let Some(position) = self.positions.get_mut(&record.conversation) else {
            return self.tell_changed(record.conversation, record.event.kind()).await;
        };
        match record.sequence - *position {
            ..=0 => Ok(()),
            1 => {
                *position = record.sequence;
                self.pass(record.frame_json()).await
            }
            _ => Box::pin(self.catch_up(record.conversation)).await,
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
            let records = self.theirs.events_after(conversation, position, PAGE).await?;
            let Some(newest) = records.last().map(|record| record.sequence) else { return Ok(()) };
            for frame in records.iter().filter_map(EventRecord::frame) {
                self.send(&frame).await?;
            }
            self.positions.insert(conversation, newest);
        }
    }

    async fn refuse(&mut self, why: &str, id: Option<String>) -> Result<(), SocketEnd> {
        self.refuse_for(why, id, false).await
    }

    /// `upgrade`: another tier would have allowed it.
    async fn refuse_for(&mut self, why: &str, id: Option<String>, upgrade: bool) -> Result<(), SocketEnd> {
        let content = why.to_owned();
        self.send(&ServerFrame::Error { content, turn: None, failure: None, id, usage: None, ms: None, upgrade }).await
    }

    async fn send(&mut self, frame: &impl Serialize) -> Result<(), SocketEnd> {
        let text = serde_json::to_string(frame).expect("frames are plain data");
        self.put(Message::Text(text.into())).await
    }

    /// Sends the JSON that an announcement has for all sockets, if it has any.
    async fn pass(&mut self, frame: Option<Bytes>) -> Result<(), SocketEnd> {
        match frame {
            Some(json) => self.put(Message::Text(Utf8Bytes::try_from(json).expect("JSON is UTF-8"))).await,
            None => Ok(()),
        }
    }

    async fn put(&mut self, message: Message) -> Result<(), SocketEnd> {
        match tokio::time::timeout(SEND_PATIENCE, self.sink.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(SocketEnd::Gone),
        }
    }
}

mod elsewhere;
mod pieces;
#[cfg(test)]
mod tests;
