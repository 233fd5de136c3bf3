//! Takes turns up and sees them through: one at a time in each conversation, several side by side. And the heartbeat, which turns due
//! tasks into turns, and the log of turns.

mod heartbeat;
mod turn_log;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::agent::{Agent, Worked};
use crate::clock::Clock;
use crate::domain::{Event, Failure, TurnId};
use crate::store::{Lease, Store, StoreError};

pub use heartbeat::Heartbeat;
pub use turn_log::TurnLog;

/// How long a turn stays with a runner that does not renew.
const LEASE: TimeDelta = TimeDelta::seconds(60);
const RENEW_EVERY: TimeDelta = TimeDelta::seconds(20);
/// How often lost leases are looked for. New turns do not wait for this: their commit wakes the runner.
const POLL_EVERY: TimeDelta = TimeDelta::seconds(5);
/// How soon to try again what the database refused.
const RETRY_AFTER: TimeDelta = TimeDelta::seconds(1);
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
    /// The turns at work here, each with its fence.
    in_hand: Arc<Mutex<BTreeSet<(TurnId, i64)>>>,
}

impl Runner {
    /// `owner` must be of this server alone, and the same after its restart. `grace` is how long turns get to reach a checkpoint when the
    /// process ends, in real time: it guards against what hangs.
    pub fn new(store: Store, agent: Arc<Agent>, clock: Arc<dyn Clock>, owner: &str, grace: Duration) -> Self {
        Self { store, agent, clock, owner: owner.into(), grace, in_hand: Arc::default() }
    }

    /// Works until `shutdown`, then brings what runs to a checkpoint and gives it back.
    pub async fn run(self, shutdown: CancellationToken) {
        let mut working = JoinSet::new();
        // We hold the data folder, so whoever held these leases under our name is dead.
        let mut astray = true;
        loop {
            if let Err(error) = self.take_up(&mut astray, &mut working, &shutdown).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "could not look for turns; trying again soon");
                // A turn may have become ours without our hearing of it.
                astray = true;
            }
            let pause = if astray { RETRY_AFTER } else { POLL_EVERY };
            tokio::select! {
                () = shutdown.cancelled() => break,
                () = self.store.signals().queue().notified(), if working.len() < SIDE_BY_SIDE => {}
                Some(_) = working.join_next() => {}
                () = self.clock.sleep_until(self.clock.now() + pause) => {}
            }
        }
        let drained = tokio::time::timeout(self.grace, async { while working.join_next().await.is_some() {} }).await;
        if drained.is_err() {
            tracing::info!(turns = working.len(), "ending before these turns reached a checkpoint; they go on at the next start");
            working.shutdown().await;
        }
    }

    async fn take_up(
        &self,
        astray: &mut bool,
        working: &mut JoinSet<()>,
        shutdown: &CancellationToken,
    ) -> Result<(), StoreError> {
        if *astray {
            self.store.expire_leases(&self.owner, &self.in_hand(), self.clock.now()).await?;
            *astray = false;
        }
        while working.len() < SIDE_BY_SIDE && !shutdown.is_cancelled() {
            let Some(lease) = self.store.claim(&self.owner, &self.in_hand(), self.clock.now(), LEASE).await? else { break };
            let (runner, shutdown) = (self.clone(), shutdown.clone());
            self.lock().insert((lease.turn, lease.fence));
            let span = tracing::info_span!("turn", turn = %lease.turn);
            let work = async move {
                runner.see_through(&lease, &shutdown).await;
                runner.lock().remove(&(lease.turn, lease.fence));
            };
            working.spawn(work.instrument(span));
        }
        Ok(())
    }

    fn in_hand(&self) -> Vec<TurnId> {
        self.lock().iter().map(|(turn, _)| *turn).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<(TurnId, i64)>> {
        self.in_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn see_through(&self, lease: &Lease, shutdown: &CancellationToken) {
        // Listening begins before the work, so that no stop is missed.
        let stopped = self.stopped(lease);
        let worked = tokio::select! {
            worked = self.agent.work(lease, shutdown) => worked,
            () = stopped => return,
            () = self.keep(lease) => return,
        };
        let rest = match worked {
            Ok(Worked::Ended | Worked::Waiting) | Err(StoreError::LostLease) => return,
            Ok(Worked::Paused) => None,
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "work on a turn broke off");
                Some(self.clock.now() + REST)
            }
        };
        // What broke off the work keeps it from being given back as well, for as long as it lasts; not so long as the lease would.
        let tries = 1..=LEASE.num_seconds();
        for _ in tries {
            match self.give_back(lease, rest).await {
                Ok(()) | Err(StoreError::LostLease) => return,
                Err(error) => tracing::warn!(%error, "could not give a turn back; trying again"),
            }
            self.clock.sleep_until(self.clock.now() + RETRY_AFTER).await;
        }
    }

    /// The turn can be taken up at once, or, after a failure, when it has rested; one that has failed too often is ended.
    async fn give_back(&self, lease: &Lease, rest: Option<DateTime<Utc>>) -> Result<(), StoreError> {
        let Some(rest) = rest else { return self.store.set_lease(lease, self.clock.now()).await };
        if lease.fence < MAX_FENCE {
            return self.store.set_lease(lease, rest).await;
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
