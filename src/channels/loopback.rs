//! The test channel: phones that are rows in the database. Everything can be tried with it, without an account.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{ChannelFeatures, ChannelStatus, ContactChannel, Inbox};
use crate::clock::Clock;
use crate::domain::relay::{ChannelState, LOOPBACK};
use crate::store::{ClaimedMessage, SendEnd, Store};

/// The test channel.
pub struct Loopback {
    store: Store,
    clock: Arc<dyn Clock>,
    status: watch::Sender<ChannelStatus>,
}

impl Loopback {
    /// Its phones are in this database.
    pub fn new(store: Store, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, status: watch::Sender::new(ChannelStatus::of(ChannelState::Online)) }
    }
}

impl ContactChannel for Loopback {
    fn name(&self) -> &'static str {
        LOOPBACK
    }

    fn kind(&self) -> &'static str {
        "loopback"
    }

    fn features(&self) -> ChannelFeatures {
        ChannelFeatures { typing: false, arrives_at_once: true }
    }

    /// Its messages come by the interface, so there is nothing to wait for.
    fn run(self: Arc<Self>, _: Inbox, shutdown: CancellationToken) -> BoxFuture<'static, ()> {
        async move { shutdown.cancelled().await }.boxed()
    }

    fn send<'a>(&'a self, message: &'a ClaimedMessage) -> BoxFuture<'a, SendEnd> {
        async move {
            match self.store.arrive_at_loopback(message, self.clock.now()).await {
                Ok(()) => SendEnd::Sent(message.peer_id().to_owned()),
                Err(error) => SendEnd::Unknown(error.to_string()),
            }
        }
        .boxed()
    }

    fn typing<'a>(&'a self, _: &'a str, _: bool) -> BoxFuture<'a, ()> {
        std::future::ready(()).boxed()
    }

    fn status(&self) -> watch::Receiver<ChannelStatus> {
        self.status.subscribe()
    }

    fn logout(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}
