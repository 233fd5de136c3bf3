//! Channels to people outside: what brings their messages and takes ours. A channel knows nothing
//! of instances. It hands each message to the inbox, which commits it, and sends what the outbox
//! has committed as being sent.

mod inbox;
mod loopback;
mod media;
mod orders;
mod program;
mod protocol;
mod sender;

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::domain::relay::ChannelState;
use crate::store::{ClaimedMessage, SendEnd, Store};

pub use inbox::{Dropped, Inbox, IncomingFile, IncomingMessage};
pub use loopback::{Loopback, LoopbackFault, LoopbackFaults};
pub use media::{MediaFolder, kept_at, put as put_media};
pub use orders::{NewOrder, Orders};
pub use program::Program;
pub use sender::Sender;

/// A way to people outside.
pub trait ContactChannel: Send + Sync {
    /// Its name, which instances carry.
    fn name(&self) -> &'static str;

    /// `loopback` or `program`.
    fn kind(&self) -> &'static str;

    /// The things it can do beside sending.
    fn features(&self) -> ChannelFeatures;

    /// Brings messages to the inbox, until `shutdown`.
    fn run(self: Arc<Self>, inbox: Inbox, shutdown: CancellationToken) -> BoxFuture<'static, ()>;

    /// Makes the one attempt to send a message.
    fn send<'a>(&'a self, message: &'a ClaimedMessage) -> BoxFuture<'a, SendEnd>;

    /// Shows, or no longer shows, that something is being written.
    fn typing<'a>(&'a self, to: &'a str, on: bool) -> BoxFuture<'a, ()>;

    /// How it stands, now and at each change.
    fn status(&self) -> watch::Receiver<ChannelStatus>;

    /// Ends its session at the service.
    fn logout(&self) -> BoxFuture<'_, ()>;
}

/// The things that a channel can do beside sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelFeatures {
    /// It shows that something is being written.
    pub typing: bool,
    /// A message that was sent has arrived: nobody says so later.
    pub arrives_at_once: bool,
}

/// How a channel stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelStatus {
    /// Its state.
    pub state: ChannelState,
    /// When it came into it.
    pub since: DateTime<Utc>,
    /// The text to show as a QR code.
    pub qr: Option<String>,
    /// The code to type on the phone instead of scanning.
    pub pairing_code: Option<String>,
    /// Our own address, if it is known.
    pub address: Option<String>,
    /// Why, in a sentence for a person.
    pub reason: Option<String>,
    /// Until when, if it is locked and that is known.
    pub until: Option<DateTime<Utc>>,
}

impl ChannelStatus {
    /// A state of which nothing more is known.
    pub fn of(state: ChannelState, since: DateTime<Utc>) -> Self {
        Self { state, since, qr: None, pairing_code: None, address: None, reason: None, until: None }
    }
}

/// A channel with what was dropped of it.
#[derive(Clone)]
pub struct OpenChannel {
    /// The channel.
    pub channel: Arc<dyn ContactChannel>,
    /// Counts what was dropped.
    pub dropped: Arc<Dropped>,
}

/// The channels of this server. Cheap to clone.
#[derive(Clone, Default)]
pub struct Channels {
    open: Arc<[OpenChannel]>,
    /// Takes what the operator's own numbers write.
    orders: Option<Arc<dyn Orders>>,
}

impl Channels {
    /// These channels.
    pub fn new(channels: Vec<Arc<dyn ContactChannel>>) -> Self {
        let open = |channel| OpenChannel { channel, dropped: Arc::default() };
        Self { open: channels.into_iter().map(open).collect(), orders: None }
    }

    /// The same, whose messages are offered to these orders before they count as a contact's.
    pub fn ordered_by(self, orders: Option<Arc<dyn Orders>>) -> Self {
        Self { orders, ..self }
    }

    /// The inbox of a channel.
    pub fn inbox(&self, open: &OpenChannel, store: &Store, clock: &Arc<dyn Clock>, media: &std::path::Path) -> Inbox {
        let (name, dropped) = (open.channel.name(), Arc::clone(&open.dropped));
        Inbox::new(store.clone(), Arc::clone(clock), name, dropped, media.to_owned()).ordered_by(self.orders.clone())
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &OpenChannel> {
        self.open.iter()
    }

    /// The one of this name.
    pub fn get(&self, name: &str) -> Option<&OpenChannel> {
        self.all().find(|open| open.channel.name() == name)
    }

    /// The names of those that are online, and since when.
    pub fn online(&self) -> BTreeMap<&'static str, DateTime<Utc>> {
        let online = self.all().filter_map(|open| {
            let status = open.channel.status();
            let status = status.borrow();
            (status.state == ChannelState::Online).then(|| (open.channel.name(), status.since))
        });
        online.collect()
    }

    /// Runs all of them and their senders until `shutdown`.
    pub async fn run(
        self,
        store: Store,
        clock: Arc<dyn Clock>,
        owner: Arc<str>,
        media: std::path::PathBuf,
        shutdown: CancellationToken,
    ) {
        let mut parts = tokio::task::JoinSet::new();
        for open in self.all().cloned() {
            let inbox = self.inbox(&open, &store, &clock, &media);
            let OpenChannel { channel, dropped: _ } = open;
            parts.spawn(Arc::clone(&channel).run(inbox, shutdown.clone()));
            let sender = Sender::new(store.clone(), Arc::clone(&clock), channel, Arc::clone(&owner));
            parts.spawn(sender.run(shutdown.clone()));
        }
        while let Some(ended) = parts.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a channel broke; ending, so that it is started again");
                std::panic::resume_unwind(error.into_panic());
            }
        }
    }
}
