//! Takes turns up and sees them through: one at a time in each conversation, several side by side. And the heartbeat, which turns due
//! tasks into turns, and the log of turns.

mod heartbeat;
mod turn_log;

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::agent::{Agent, Worked};
use crate::clock::Clock;
use crate::domain::{Event, Failure};
use crate::store::{Lease, Store, StoreError};

pub use heartbeat::Heartbeat;
pub use turn_log::TurnLog;

/// How long a turn stays with a runner that does not renew.
const LEASE: TimeDelta = TimeDelta::seconds(60);
const RENEW_EVERY: TimeDelta = TimeDelta::seconds(20);
/// How often lost leases are looked for. New turns do not wait for this: their commit wakes the runner.
const POLL_EVERY: TimeDelta = TimeDelta::seconds(5);
/// How long a turn rests after the database failed it.
const REST: TimeDelta = TimeDelta::seconds(5);
/// A turn that was taken up so often without coming to an end is given up.
const MAX_FENCE: i64 = 20;
/// Turns at work at once.
const SIDE_BY_SIDE: usize = 16;

/// Takes turns up and sees them through.
#[derive(Clone)]
pub struct Runner {
    store: Store,
    agent: Arc<Agent>,
    clock: Arc<dyn Clock>,
    /// Names this server in its leases.
    owner: Arc<str>,
    grace: Duration,
}

impl Runner {
    /// `owner` must be of this server alone, and the same after its restart. `grace` is how long turns get to reach a checkpoint when the
    /// process ends, in real time: it guards against what hangs.
    pub fn new(store: Store, agent: Arc<Agent>, clock: Arc<dyn Clock>, owner: &str, grace: Duration) -> Self {
        Self { store, agent, clock, owner: owner.into(), grace }
    }

    /// Works until `shutdown`, then brings what runs to a checkpoint and gives it back.
    pub async fn run(self, shutdown: CancellationToken) {
        // We hold the data folder, so whoever held these leases under our name is dead.
        if let Err(error) = self.store.expire_leases(&self.owner, self.clock.now()).await {
            tracing::warn!(%error, "could not take up our own turns at once; they follow when their leases run out");
        }
        let mut working = JoinSet::new();
        loop {
            self.take_up(&mut working, &shutdown).await;
            tokio::select! {
                () = shutdown.cancelled() => break,
                () = self.store.signals().queue().notified(), if working.len() < SIDE_BY_SIDE => {}
                Some(_) = working.join_next() => {}
                () = self.clock.sleep_until(self.clock.now() + POLL_EVERY) => {}
            }
        }
        let drained = tokio::time::timeout(self.grace, async { while working.join_next().await.is_some() {} }).await;
        if drained.is_err() {
            tracing::info!(turns = working.len(), "ending before these turns reached a checkpoint; they go on at the next start");
            working.shutdown().await;
        }
    }

    async fn take_up(&self, working: &mut JoinSet<()>, shutdown: &CancellationToken) {
        while working.len() < SIDE_BY_SIDE && !shutdown.is_cancelled() {
            match self.store.claim(&self.owner, self.clock.now(), LEASE).await {
                Ok(Some(lease)) => {
                    let (runner, shutdown) = (self.clone(), shutdown.clone());
                    let span = tracing::info_span!("turn", turn = %lease.turn);
                    working.spawn(async move { runner.see_through(&lease, &shutdown).await }.instrument(span));
                }
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "could not look for turns; trying again soon");
                    return;
                }
            }
        }
    }

    async fn see_through(&self, lease: &Lease, shutdown: &CancellationToken) {
        // Listening begins before the work, so that no stop is missed.
        let stopped = self.stopped(lease);
        let worked = tokio::select! {
            worked = self.agent.work(lease, shutdown) => worked,
            () = stopped => return,
            () = self.keep(lease) => return,
        };
        let given_back = match worked {
            Ok(Worked::Ended | Worked::Waiting) | Err(StoreError::LostLease) => return,
            Ok(Worked::Paused) => self.store.set_lease(lease, self.clock.now()).await,
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "work on a turn broke off");
                self.after_failure(lease).await
            }
        };
        if let Err(error) = given_back {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not give a turn back; its lease will run out");
        }
    }

    /// The turn rests and is tried again; one that has failed too often is ended.
    async fn after_failure(&self, lease: &Lease) -> Result<(), StoreError> {
        if lease.fence < MAX_FENCE {
            return self.store.set_lease(lease, self.clock.now() + REST).await;
        }
        let reason =
            "This turn was taken up again and again and never came to an end, so it was given up. The server's log says why.";
        self.store.fail_turn(lease, Failure::Server, reason, self.clock.now()).await
    }

    /// Completes when the turn was ended by somebody else, as `stop` does.
    fn stopped(&self, lease: &Lease) -> impl Future<Output = ()> + use<> {
        let mut events = self.store.signals().events();
        let ours = lease.turn;
        async move {
            loop {
                match events.recv().await {
                    Ok(record) if matches!(record.event, Event::TurnEnded { turn, .. } if turn == ours) => return,
                    // An end that was missed is noticed at the next write, by its fence.
                    Ok(_) | Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {}
                    Err(tokio::sync::broadcast::error::RecvError::Closed) => std::future::pending().await,
                }
            }
        }
    }

    /// Renews the lease; completes when it is lost.
    async fn keep(&self, lease: &Lease) {
        loop {
            self.clock.sleep_until(self.clock.now() + RENEW_EVERY).await;
            match self.store.set_lease(lease, self.clock.now() + LEASE).await {
                Ok(()) => {}
                Err(StoreError::LostLease) => return,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "could not renew a lease");
                }
            }
        }
    }
}
