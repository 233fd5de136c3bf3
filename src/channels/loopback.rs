//! The test channel: phones that are rows in the database. Everything can be tried with it, without
//! an account, and a test can have it do what a real service does at times: take long, lose a
//! message or its acknowledgement, say it twice, refuse.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use chrono::TimeDelta;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{ChannelFeatures, ChannelStatus, ContactChannel, Inbox};
use crate::clock::Clock;
use crate::domain::relay::{ChannelState, LOOPBACK};
use crate::store::{ClaimedMessage, SendEnd, Store};

/// A fault that one message meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopbackFault {
    /// It acknowledges only after so long.
    Delay(TimeDelta),
    /// The message is on its way, and nobody hears of it again.
    Lose,
    /// The message arrives, and its acknowledgement does not.
    LoseAnswer,
    /// The acknowledgement comes twice, the second time as a receipt of its own.
    AnswerTwice,
    /// It refuses the message, with this code.
    Refuse(String),
    /// There is no connection: surely nothing left.
    Offline,
}

/// The faults that the next messages of the test channel meet, one each, in their order. Cheap to
/// clone; without any nothing goes wrong.
#[derive(Clone, Debug, Default)]
pub struct LoopbackFaults(Arc<Mutex<VecDeque<Option<LoopbackFault>>>>);

impl LoopbackFaults {
    /// The next messages meet these; `None`: nothing goes wrong with that one.
    pub fn add(&self, faults: impl IntoIterator<Item = Option<LoopbackFault>>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(faults);
    }

    fn next(&self) -> Option<LoopbackFault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front().flatten()
    }
}

/// The test channel.
pub struct Loopback {
    store: Store,
    clock: Arc<dyn Clock>,
    faults: LoopbackFaults,
    inbox: OnceLock<Inbox>,
    status: watch::Sender<ChannelStatus>,
}

impl Loopback {
    /// Its phones are in this database.
    pub fn new(store: Store, clock: Arc<dyn Clock>, faults: LoopbackFaults) -> Self {
        let status = watch::Sender::new(ChannelStatus::of(ChannelState::Online, clock.now()));
        Self { store, clock, faults, inbox: OnceLock::new(), status }
    }

    async fn arrive(&self, message: &ClaimedMessage) -> SendEnd {
        match self.store.arrive_at_loopback(message, self.clock.now()).await {
            Ok(()) => SendEnd::Sent(message.peer_id().to_owned()),
            Err(error) => SendEnd::Unknown(error.to_string()),
        }
    }

    /// The word of a service about a message, beside the answer to its attempt.
    async fn tell(&self, message: &ClaimedMessage, end: &SendEnd) {
        if let Some(inbox) = self.inbox.get()
            && let Err(error) = inbox.settle(message.peer_id(), end).await
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "the word of the test channel about a message is lost");
        }
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
    fn run(self: Arc<Self>, inbox: Inbox, shutdown: CancellationToken) -> BoxFuture<'static, ()> {
        async move {
            let _ = self.inbox.set(inbox);
            shutdown.cancelled().await;
        }
        .boxed()
    }

    fn send<'a>(&'a self, message: &'a ClaimedMessage) -> BoxFuture<'a, SendEnd> {
        async move {
            let nobody_knows = || SendEnd::Unknown("the test channel gave no answer".to_owned());
            match self.faults.next() {
                None => self.arrive(message).await,
                Some(LoopbackFault::Delay(long)) => {
                    self.clock.sleep_until(self.clock.now() + long).await;
                    self.arrive(message).await
                }
                Some(LoopbackFault::Lose) => nobody_knows(),
                Some(LoopbackFault::LoseAnswer) => match self.arrive(message).await {
                    SendEnd::Sent(_) => nobody_knows(),
                    other => other,
                },
                Some(LoopbackFault::AnswerTwice) => {
                    let end = self.arrive(message).await;
                    self.tell(message, &end).await;
                    end
                }
                Some(LoopbackFault::Refuse(code)) => SendEnd::Refused(code, "the test channel refuses it".to_owned()),
                Some(LoopbackFault::Offline) => SendEnd::NotSent("the test channel is not connected".to_owned()),
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
