//! The way in: a message of a channel is checked, and then kept, dropped or counted. Only after
//! this may the peer hear that we have it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, Utc};
use futures::FutureExt;

use super::media;
use super::orders::{NewOrder, Orders};
use crate::clock::Clock;
use crate::domain::RelayMessageId;
use crate::domain::relay::{ContactAddress, MediaNote};
use crate::store::{Came, NewIncoming, SendEnd, Store, StoreError};

/// How many messages were dropped since the start, by why.
#[derive(Debug, Default)]
pub struct Dropped {
    group: AtomicU64,
    broadcast: AtomicU64,
    status: AtomicU64,
    own: AtomicU64,
    address: AtomicU64,
}

impl Dropped {
    /// The numbers with their names.
    pub fn counts(&self) -> [(&'static str, u64); 5] {
        let Self { group, broadcast, status, own, address } = self;
        [("group", group), ("broadcast", broadcast), ("status", status), ("own", own), ("address", address)]
            .map(|(name, count)| (name, count.load(Ordering::Relaxed)))
    }

    fn count(&self, why: &str) {
        let counter = match why {
            "group" => &self.group,
            "broadcast" => &self.broadcast,
            "status" => &self.status,
            "own" => &self.own,
            _ => &self.address,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// A message as a channel brings it.
#[derive(Clone, Debug, Default)]
pub struct IncomingMessage {
    /// The peer's id of it.
    pub id: String,
    /// The address of its author, unchecked.
    pub from: String,
    /// Its words.
    pub text: String,
    /// `direct`, or where else it was said.
    pub chat: String,
    /// True if our own account said it.
    pub own: bool,
    /// A file that came with it.
    pub file: Option<IncomingFile>,
    /// The other side, if our own account said it.
    pub to: Option<String>,
    /// True if it tells of an edit or a deletion.
    pub note: bool,
    /// When it was written, in whole seconds, if the channel says it.
    pub at: Option<DateTime<Utc>>,
    /// The text of the message that it answers, for an order.
    pub quoted: Option<String>,
}

/// A file that came with a message.
#[derive(Clone, Debug)]
pub enum IncomingFile {
    /// It is here.
    At(PathBuf),
    /// It was not fetched, or lies where no file of a contact may.
    Omitted {
        /// Its size.
        bytes: i64,
        /// Its kind, as the peer says.
        kind: String,
    },
}

/// The longest id of a peer.
const MOST_ID: usize = 200;

/// Takes messages for one channel. Cheap to clone.
#[derive(Clone)]
pub struct Inbox {
    store: Store,
    clock: Arc<dyn Clock>,
    channel: &'static str,
    dropped: Arc<Dropped>,
    media: PathBuf,
    orders: Option<Arc<dyn Orders>>,
}

impl Inbox {
    /// `media` is the folder for files that are kept.
    pub fn new(store: Store, clock: Arc<dyn Clock>, channel: &'static str, dropped: Arc<Dropped>, media: PathBuf) -> Self {
        Self { store, clock, channel, dropped, media, orders: None }
    }

    /// The same, with somebody who takes orders.
    pub fn ordered_by(self, orders: Option<Arc<dyn Orders>>) -> Self {
        Self { orders, ..self }
    }

    /// The one who takes this message as an order: it is said by one of the operator's numbers, to
    /// us directly, or to itself from our own account.
    fn ordered(&self, message: &IncomingMessage) -> Option<&Arc<dyn Orders>> {
        let to_itself = message.own && message.to.as_deref() == Some(&*message.from);
        let orders = self.orders.as_ref().filter(|orders| orders.is_theirs(self.channel, &message.from));
        orders.filter(|_| message.chat == "direct" && (!message.own || to_itself))
    }

    /// Takes a message. `None`: it was dropped for good.
    ///
    /// # Errors
    /// If it cannot be kept now; the peer has to bring it again.
    pub async fn take(&self, message: IncomingMessage) -> Result<Option<Came>, StoreError> {
        let orders = self.ordered(&message).cloned();
        let elsewhere = (message.chat != "direct").then_some(message.chat.as_str());
        let why = if message.own && orders.is_none() { Some("own") } else { elsewhere };
        let from = ContactAddress::read(&message.from);
        let unnamed = message.id.is_empty() || message.id.len() > MOST_ID;
        if why.is_none() && unnamed {
            // Its channel hears that we have it, so nobody else would tell of it.
            let bytes = message.id.len();
            tracing::warn!(channel = self.channel, bytes, "a message was dropped, since its id has not 1 to {MOST_ID} bytes");
        }
        let why = why.or_else(|| (from.is_err() || unnamed).then_some("address"));
        let (None, Ok(from)) = (why, from) else {
            self.dropped.count(why.unwrap_or("address"));
            return Ok(None);
        };
        let (peer_id, text) = (&*message.id, &*message.text);
        if let Some(orders) = orders {
            // A message of ours comes back from our own account, under an id of ours.
            if message.own && self.store.message_at_peer(self.channel, peer_id).await?.is_some() {
                self.dropped.count("own");
                return Ok(None);
            }
            // A note is answered and is no order, so its file stays with the channel.
            let media = match message.file.as_ref().filter(|_| !message.note) {
                Some(file) => Some(self.kept(file).await?),
                None => None,
            };
            let (channel, from, media) = (self.channel, &*message.from, media.as_ref());
            let (note, at, quoted) = (message.note, message.at, message.quoted.as_deref());
            orders.take(NewOrder { channel, from, peer_id, text, media, note, at, quoted }).await?;
            return Ok(Some(Came::Ordered));
        }
        let media = message.file.as_ref().map(|file| self.kept(file).boxed());
        let new = NewIncoming { channel: self.channel, from: &from, peer_id, text, media };
        self.store.take_from_contact(new, self.clock.now()).await.map(Some)
    }

    /// Keeps a file that came, and says what it is.
    async fn kept(&self, file: &IncomingFile) -> Result<MediaNote, StoreError> {
        match file {
            IncomingFile::At(path) => media::keep(path, &self.media).await,
            IncomingFile::Omitted { bytes, kind } => {
                Ok(MediaNote { sha256: None, kind: media::plain_kind(kind), bytes: *bytes, omitted: true })
            }
        }
    }

    /// Records what a peer says of a message of ours, found by its id at the peer.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn settle(&self, peer_id: &str, end: &SendEnd) -> Result<(), StoreError> {
        let message: Option<RelayMessageId> = self.store.message_at_peer(self.channel, peer_id).await?;
        if let Some(message) = message {
            self.store.record_delivery(message, end, self.clock.now()).await?;
        }
        Ok(())
    }
}
