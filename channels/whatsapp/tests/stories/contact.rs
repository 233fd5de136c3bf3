//! The other side of a story: a real client of the same library, with its own account.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use wacore::store::InMemoryBackend;
use wacore::types::events::{Event, EventHandler, InboundMessage};
use waproto::whatsapp as wa;
use whatsapp_rust::bot::{Bot, BotHandle};
use whatsapp_rust::transport::TokioWebSocketTransportFactory;
use whatsapp_rust::{Client, InboundDurabilityHook, Jid, SendOptions, TokioRuntime};

use crate::mock::Mock;
use crate::program::{OURS, soon};

/// The contact's number.
pub const THEIRS: &str = "4915200000002";

/// The messages that a client heard, with their ids.
type Heard = Arc<Mutex<Vec<(String, wa::Message)>>>;

struct Accept(Heard);

#[async_trait]
impl InboundDurabilityHook for Accept {
    async fn on_messages(&self, _client: Arc<Client>, batch: &[InboundMessage]) -> anyhow::Result<()> {
        let heard = batch.iter().map(|message| (message.info.id.clone(), (*message.message).clone()));
        self.0.lock().unwrap().extend(heard);
        Ok(())
    }
}

/// Scans the first code with a phone of its own, and knows when the client is ready.
struct Scan {
    mock: Mock,
    number: String,
    device: u16,
    ready: Arc<Mutex<(bool, bool)>>,
}

impl EventHandler for Scan {
    fn handle_event(&self, event: Arc<Event>) {
        let mut ready = self.ready.lock().unwrap();
        match &*event {
            Event::PairingQrCode(code) if !ready.0 => {
                ready.0 = true;
                self.mock.scan(&code.code, &self.number, self.device);
            }
            Event::Connected(_) => ready.1 = true,
            _ => {}
        }
    }
}

/// A client.
pub struct Contact {
    /// The library's client.
    pub client: Arc<Client>,
    heard: Heard,
    _handle: BotHandle,
}

impl Contact {
    /// A contact that is online.
    pub async fn paired(mock: &Mock) -> Self {
        Self::with(mock, THEIRS, 1).await
    }

    /// Anybody else who is online.
    pub async fn of(mock: &Mock, number: &str) -> Self {
        Self::with(mock, number, 1).await
    }

    /// The phone of our own account.
    pub async fn own_phone(mock: &Mock) -> Self {
        Self::with(mock, OURS, 2).await
    }

    async fn with(mock: &Mock, number: &str, device: u16) -> Self {
        let (heard, ready) = (Heard::default(), Arc::default());
        let scan = Scan { mock: mock.clone(), number: number.to_owned(), device, ready: Arc::clone(&ready) };
        let bot = Bot::builder()
            .with_backend_arc(Arc::new(InMemoryBackend::new()))
            .with_transport_factory(TokioWebSocketTransportFactory::new().with_url(mock.url()))
            .with_http_client(mock.files.clone())
            .with_runtime(TokioRuntime)
            .with_version((2, 3000, 0))
            .with_push_name("Mock")
            .with_wanted_pre_key_count(30)
            .with_inbound_durability_hook(Accept(Arc::clone(&heard)))
            .with_event_handler(scan)
            .build()
            .await
            .unwrap();
        let client = bot.client();
        let contact = Self { client, heard, _handle: bot.spawn() };
        soon("the contact is online", || ready.lock().unwrap().1).await;
        contact
    }

    /// Sends a message to our number, and gives back its id.
    pub async fn send(&self, message: wa::Message) -> String {
        self.client.send_message(ours(), message).await.unwrap().message_id
    }

    /// Says a text to our number.
    pub async fn say(&self, said: &str) -> String {
        self.send(text(said)).await
    }

    /// Says a text under an id of our choice.
    pub async fn say_as(&self, id: &str, said: &str) {
        self.client.send_message_with_options(ours(), text(said), SendOptions::default().with_message_id(id)).await.unwrap();
    }

    /// The first message that it heard of this kind, with its id.
    pub async fn hears<T>(&self, what: &str, wanted: impl Fn(&wa::Message) -> Option<T>) -> (String, T) {
        let mut found = None;
        soon(what, || {
            found = self.heard.lock().unwrap().iter().find_map(|(id, message)| Some((id.clone(), wanted(message)?)));
            found.is_some()
        })
        .await;
        found.unwrap()
    }

    /// The id under which it heard this text.
    pub async fn hears_text(&self, said: &str) -> String {
        self.hears(said, |message| (text_of(message)? == said).then_some(())).await.0
    }

    /// The texts that it heard.
    pub fn texts(&self) -> Vec<String> {
        self.heard.lock().unwrap().iter().filter_map(|(_, message)| text_of(message)).collect()
    }

    /// The ids of those texts.
    pub fn ids(&self) -> Vec<String> {
        self.heard.lock().unwrap().iter().filter(|(_, message)| text_of(message).is_some()).map(|(id, _)| id.clone()).collect()
    }

    /// How many pictures it heard.
    pub fn pictures(&self) -> usize {
        self.heard.lock().unwrap().iter().filter(|(_, message)| message.image_message.is_set()).count()
    }

    /// Hears for a while, for what must not come.
    pub async fn listens(&self) {
        tokio::time::sleep(Duration::from_millis(1500)).await;
    }
}

/// Our number's name.
pub fn ours() -> Jid {
    Jid::pn(OURS)
}

/// A message with a text.
pub fn text(said: &str) -> wa::Message {
    wa::Message { conversation: Some(said.to_owned()), ..Default::default() }
}

fn text_of(message: &wa::Message) -> Option<String> {
    message.conversation.clone().or_else(|| message.extended_text_message.as_option()?.text.clone())
}
