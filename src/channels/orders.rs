//! A message of the operator's own numbers comes to the operator before anybody else looks at it.

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;

use crate::domain::relay::MediaNote;
use crate::store::StoreError;

/// A message as it may be an order.
#[derive(Clone, Debug)]
pub struct NewOrder<'a> {
    /// The channel.
    pub channel: &'a str,
    /// Its author, exactly as the channel says it.
    pub from: &'a str,
    /// The peer's id of it.
    pub peer_id: &'a str,
    /// Its words.
    pub text: &'a str,
    /// The file that came with it.
    pub media: Option<&'a MediaNote>,
    /// True if it tells of an edit or a deletion.
    pub note: bool,
    /// When it was written, in whole seconds, if the channel says it.
    pub at: Option<DateTime<Utc>>,
    /// The text of the message that it answers. It is no word of this message.
    pub quoted: Option<&'a str>,
}

/// Takes orders.
pub trait Orders: Send + Sync {
    /// True if this author's messages on this channel are orders, and no contact's.
    fn is_theirs(&self, channel: &str, from: &str) -> bool;

    /// Takes a message of such an author. Only after this may the peer hear that we have it.
    fn take<'a>(&'a self, order: NewOrder<'a>) -> BoxFuture<'a, Result<(), StoreError>>;
}
