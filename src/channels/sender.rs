//! Sends the outbox of one channel: the claim of a message is committed first, then comes the one
//! attempt, and then its end is recorded. So no message is ever tried twice by itself.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use tokio_util::sync::CancellationToken;

use super::ContactChannel;
use crate::clock::Clock;
use crate::domain::RelayMessageId;
use crate::domain::relay::{ChannelState, Pace, RelayMessage};
use crate::failpoint::{self, Point};
use crate::store::{OutboxLook, SendEnd, Store, StoreError};

/// How soon to try again after the database did not answer.
const RETRY_AFTER: TimeDelta = TimeDelta::seconds(2);
/// The longest time for which typing is shown before a message to a contact: a lone one leaves
/// within three seconds.
const TYPING: TimeDelta = TimeDelta::seconds(2);

/// Sends the outbox of one channel.
pub struct Sender {
    store: Store,
    clock: Arc<dyn Clock>,
    channel: Arc<dyn ContactChannel>,
    owner: Arc<str>,
    /// True once the attempts of this server's life before are settled.
    settled: bool,
}

impl Sender {
    /// `owner` must be of this server alone, and the same after its restart.
    pub fn new(store: Store, clock: Arc<dyn Clock>, channel: Arc<dyn ContactChannel>, owner: Arc<str>) -> Self {
        Self { store, clock, channel, owner, settled: false }
    }

    /// Sends until `shutdown`. An attempt under way is waited for.
    pub async fn run(mut self, shutdown: CancellationToken) {
        let mut changes = self.store.signals().deliveries();
        let mut status = self.channel.status();
        while !shutdown.is_cancelled() {
            changes.mark_unchanged();
            let online = status.borrow_and_update().state == ChannelState::Online;
            let next = match self.go_on(online).await {
                Ok(next) => next,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "the outbox could not be looked at; trying again soon"
                    );
                    Some(self.clock.now() + RETRY_AFTER)
                }
            };
            let until = async {
                match next {
                    Some(at) => self.clock.sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = shutdown.cancelled() => return,
                Ok(()) = changes.changed() => {}
                Ok(()) = status.changed() => {}
                () = until => {}
            }
        }
    }

    /// Sends what may go now; the time at which to look again.
    async fn go_on(&mut self, online: bool) -> Result<Option<DateTime<Utc>>, StoreError> {
        let name = self.channel.name();
        loop {
            let look = self.store.look_at_outbox(name, &self.owner, self.clock.now()).await?;
            if !self.settled {
                // Nothing was being sent if nothing waits.
                if !matches!(look, OutboxLook::Empty) {
                    self.store.give_up_attempts(name, &self.owner, true, self.clock.now()).await?;
                }
                self.settled = true;
                continue;
            }
            match look {
                OutboxLook::Empty => return Ok(None),
                OutboxLook::Later(at) => return Ok(Some(at)),
                // The channel says when it is there again.
                OutboxLook::Next(_) if !online => return Ok(None),
                OutboxLook::Next(message) => self.send(&message).await?,
            }
            if self.channel.status().borrow().state != ChannelState::Online {
                return Ok(None);
            }
        }
    }

    async fn send(&self, next: &RelayMessage) -> Result<(), StoreError> {
        let id = next.id;
        // The operator's person waits for the answer, and saw typing for as long as the task ran.
        if self.channel.features().typing && next.instance.is_some() {
            self.channel.typing(&next.contact, true).await;
            self.clock.sleep_until(self.clock.now() + Pace::typing(&next.text).min(TYPING)).await;
        }
        let Some(message) = self.store.claim_message(id, &self.owner, self.clock.now()).await? else { return Ok(()) };
        let end = self.channel.send(&message).await;
        failpoint::hit(Point::AfterSend).map_err(StoreError::broken)?;
        self.record(id, &end).await;
        if matches!(end, SendEnd::Sent(_)) && self.channel.features().arrives_at_once {
            self.record(id, &SendEnd::Delivered).await;
        }
        tracing::info!(message = %id, ?end, "an attempt to send ended");
        Ok(())
    }

    /// Records the end of an attempt. If the database does not take it, the message stays as being
    /// sent, and is unknown at the next start.
    async fn record(&self, id: RelayMessageId, end: &SendEnd) {
        for _ in 0..30 {
            match self.store.record_delivery(id, end, self.clock.now()).await {
                Ok(_) => return,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, message = %id, "the end of an attempt is not recorded yet")
                }
            }
            self.clock.sleep_until(self.clock.now() + RETRY_AFTER).await;
        }
    }
}
