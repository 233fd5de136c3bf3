//! The runner takes turns up and sees them through: one at a time in each conversation, several
//! side by side. Here are also the heartbeat, which settles wake-ups, and the log of turns.

mod heartbeat;
mod in_hand;
mod orders;
mod turn_log;
mod watch;
mod webhooks;

use std::collections::BTreeMap;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::TimeDelta;
use futures::FutureExt;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::agent::Agent;
use crate::channels::MediaFolder;
use crate::clock::Clock;
use crate::domain::{Failure, Origin};
use crate::executor::{Executor, Worked, Worker};
use crate::facts::Event;
use crate::failpoint::{self, Point};
use crate::memory;
use crate::store::{Lease, Standing, Store, StoreError, TakenUp, Wanted};

pub use heartbeat::Heartbeat;
use in_hand::InHand;
pub use turn_log::TurnLog;
use watch::Watch;
pub use webhooks::{Webhooks, webhook_grant};

/// How often a server with turns in hand gives a sign of life.
const SIGN_EVERY: Duration = Duration::from_secs(2);
/// How often the runner looks for others' signs, and for turns that nobody holds. New turns do not
/// wait for this: their commit wakes the runner.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How soon to try again after the database refused.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How often the runner tries to give a turn back. A restart gives it back in any case.
const TRIES: u32 = 60;
/// How long a turn rests after an error of the database.
const REST: TimeDelta = TimeDelta::seconds(5);
/// After so many errors at the same place a turn is given up.
const MOST_TAKES: i32 = 5;
/// How many turns run at once. Turns in the agent's own SQL do not count: they have their own
/// limit. It is larger, so that the turns of one moment all find room there.
const SIDE_BY_SIDE: usize = 32;

/// The workers that have the place of the agent, by the name of their profile.
pub type Workers = Arc<BTreeMap<&'static str, Arc<dyn Worker>>>;

/// Takes turns up and sees them through.
#[derive(Clone)]
pub struct Runner {
    store: Store,
    agent: Arc<Agent>,
    executor: Executor,
    workers: Workers,
    clock: Arc<dyn Clock>,
    /// The name of this server in its leases.
    owner: Arc<str>,
    grace: Duration,
    /// So many deaths of the server at one tool call end its turn.
    deaths: i32,
    in_hand: InHand,
    /// True once a turn was given back to rest, or was lost, until the runner has heard of it:
    /// nothing else may tell it when to take the turn up.
    unsettled: Arc<AtomicBool>,
}

impl Runner {
    /// `owner` must be of this server alone, and the same after its restart. `grace` is how long
    /// turns get to reach a checkpoint when the process ends, in real time: it guards against what
    /// hangs. So many `deaths` of the server at one tool call end its turn. The files of contacts
    /// are in `media`.
    pub fn new(executor: Executor, owner: &str, grace: Duration, deaths: i32, media: MediaFolder) -> Self {
        let (store, clock) = (executor.store.clone(), Arc::clone(&executor.clock));
        let agent = Arc::new(Agent::new(executor.clone(), media));
        Self {
            store,
            agent,
            executor,
            workers: Workers::default(),
            clock,
            owner: owner.into(),
            grace,
            deaths,
            in_hand: InHand::default(),
            unsettled: Arc::default(),
        }
    }

    /// The same with workers that have the place of the agent for turns of some profiles.
    pub fn with_workers(self, workers: Workers) -> Self {
        Self { workers, ..self }
    }

    /// Works until `shutdown`, then brings running turns to a checkpoint and gives them back.
    pub async fn run(self, shutdown: CancellationToken) {
        let mut keeping = JoinSet::new();
        keeping.spawn(self.clone().keep());
        let mut working = JoinSet::new();
        // This server holds the data folder, so the holder of older leases under its name is dead.
        let mut astray = true;
        let (mut watch, mut gone, mut due) = (Watch::default(), Vec::new(), true);
        // True if there may be more turns than places: then one that ends makes room.
        let mut more = false;
        // Alone with nothing to look after, a server does not look: whatever begins wakes it. A
        // claim passes over a turn that a transaction holds at that moment, and if that is rolled
        // back, nothing wakes: so each claim is followed by one look.
        let mut watchful = true;
        let mut tick = Box::pin(self.pause(LOOK_EVERY));
        let mut taken = self.store.places().open(&self.owner, self.executor.reading());
        loop {
            if std::mem::take(&mut due) {
                if !std::mem::replace(&mut watchful, true) {
                    tick.set(self.pause(LOOK_EVERY));
                }
                match self.take_up(&mut astray, std::mem::take(&mut gone), &mut working, &shutdown).await {
                    Ok(left) => more = left,
                    Err(error) => {
                        tracing::warn!(error = &error as &dyn std::error::Error, "could not look for turns; trying again soon");
                        // A turn may have become ours without our hearing of it.
                        (astray, watchful) = (true, true);
                        tick.set(self.pause(RETRY_AFTER));
                    }
                }
            }
            self.store.places().set(self.places(&working));
            watchful |= self.unsettled.swap(false, Ordering::Relaxed) || self.store.signals().in_company();
            tokio::select! {
                () = shutdown.cancelled() => break,
                Some(taken) = taken.recv() => {
                    self.store.places().heard();
                    match taken.filter(|_| failpoint::hit(Point::AfterClaim).is_ok()) {
                        Some(TakenUp { lease, standing }) => self.start(lease, standing, &mut working, &shutdown),
                        // A turn may have become ours without our hearing of it.
                        None => (astray, due) = (true, true),
                    }
                }
                () = self.store.signals().queue().notified(), if self.has_place(&working) => due = true,
                () = self.store.gate().entered(), if !self.has_place(&working) => due = true,
                Some(_) = working.join_next() => due = more,
                () = &mut tick, if watchful => {
                    match self.store.look(&self.owner, self.clock.now()).await {
                        Ok(look) => {
                            watchful = look.more;
                            gone = watch.look(look.holders);
                            due = look.free || !gone.is_empty();
                        }
                        Err(error) => {
                            tracing::warn!(error = &error as &dyn std::error::Error, "could not look for turns; trying again soon");
                        }
                    }
                    due |= astray;
                    tick.set(self.pause(LOOK_EVERY));
                }
            }
        }
        self.store.places().close();
        let drained = tokio::time::timeout(self.grace, async { while working.join_next().await.is_some() {} }).await;
        let unbegun: Vec<_> =
            std::iter::from_fn(|| taken.try_recv().ok()).flatten().map(|taken| (taken.lease.turn, taken.lease.fence)).collect();
        if drained.is_err() {
            tracing::info!(turns = working.len(), "ending before these turns reached a checkpoint; they go on at the next start");
        }
        let held: Vec<_> = self.in_hand.all().into_iter().chain(unbegun).collect();
        working.shutdown().await;
        if held.is_empty() {
            return;
        }
        // These turns did not fail, so this take does not count. If the database cannot be
        // told, it counts, and they go on all the same.
        if let Err(error) = self.store.hand_back(&held, self.clock.now()).await {
            tracing::warn!(%error, "could not give turns back");
        }
    }

    fn has_place(&self, working: &JoinSet<()>) -> bool {
        self.places(working) > 0
    }

    /// The places without a turn at work. A claim may take those that are reserved, too: if nothing
    /// comes of a reservation, nobody tells the runner.
    fn places(&self, working: &JoinSet<()>) -> usize {
        SIDE_BY_SIDE.saturating_sub(working.len().saturating_sub(self.store.gate().inside()))
    }

    /// Takes up turns that nobody holds, and those of servers that are `gone`. True if there may be
    /// more of them than places.
    async fn take_up(
        &self,
        astray: &mut bool,
        gone: Vec<String>,
        working: &mut JoinSet<()>,
        shutdown: &CancellationToken,
    ) -> Result<bool, StoreError> {
        if *astray {
            self.store.give_back_all(&self.owner, &self.in_hand.turns(), self.clock.now()).await?;
            *astray = false;
        }
        if !gone.is_empty() {
            tracing::warn!(servers = ?gone, "these servers hold turns and give no sign of life; taking their turns up");
        }
        while self.has_place(working) && !shutdown.is_cancelled() {
            let places = self.places(working);
            let leases = self.store.claim_some(&self.owner, &gone, places, self.clock.now()).await?;
            let all = leases.len() < places;
            for lease in leases {
                self.start(lease, None, working, shutdown);
            }
            if all {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Begins the work on a turn in hand, which may have been `read` already where it stands.
    fn start(&self, lease: Lease, read: Option<Standing>, working: &mut JoinSet<()>, shutdown: &CancellationToken) {
        let (runner, shutdown) = (self.clone(), shutdown.clone());
        let held = self.in_hand.take(&lease);
        let span = tracing::info_span!("turn", turn = %lease.turn);
        let work = async move { runner.see_through(&lease, read, held.lost(), &shutdown).await };
        working.spawn(work.instrument(span));
    }

    async fn see_through(&self, lease: &Lease, read: Option<Standing>, lost: &CancellationToken, shutdown: &CancellationToken) {
        let worked = async {
            // The server died again and again in this call. Deaths between calls say nothing of the
            // turn.
            if lease.takes > self.deaths && self.has_open_calls(lease).await? {
                return self.give_up(lease).await;
            }
            match lease.origin {
                Origin::Command => self.carry_out(lease, shutdown).await,
                Origin::Message | Origin::Task | Origin::FollowUp | Origin::Cycle => {
                    match self.workers.get(lease.profile.as_str()) {
                        Some(worker) => worker.work(lease, shutdown).await,
                        None => self.agent.work(lease, read, shutdown).await,
                    }
                }
            }
        };
        let worked = tokio::select! {
            // A panic is a fault like any other: without an end the conversation would stand still.
            worked = AssertUnwindSafe(worked).catch_unwind() => {
                worked.unwrap_or_else(|_panic| Err(StoreError::broken(io::Error::other("it panicked"))))
            }
            () = lost.cancelled() => return,
        };
        let fault = match worked {
            Ok(Worked::Ended | Worked::Waiting) => return,
            Err(StoreError::LostLease) => return self.unsettled.store(true, Ordering::Relaxed),
            Ok(Worked::Paused) => None,
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "work on a turn broke off");
                Some(error)
            }
        };
        // The fault that broke the work off also keeps the turn from being given back, while it
        // lasts.
        for _ in 0..TRIES {
            match self.give_back(lease, fault.as_ref()).await {
                Ok(()) | Err(StoreError::LostLease) => {
                    if fault.is_some() {
                        self.unsettled.store(true, Ordering::Relaxed);
                    }
                    return;
                }
                Err(error) => tracing::warn!(%error, "could not give a turn back; trying again"),
            }
            self.pause(RETRY_AFTER).await;
        }
    }

    async fn has_open_calls(&self, lease: &Lease) -> Result<bool, StoreError> {
        Ok(!self.store.standing(lease, Wanted::turn_alone(self.clock.now())).await?.open.is_empty())
    }

    /// Lets a runner take the turn up at once, or, after a fault, once it has rested. A turn that
    /// has failed too often ends.
    async fn give_back(&self, lease: &Lease, fault: Option<&StoreError>) -> Result<(), StoreError> {
        let (held, now) = ([(lease.turn, lease.fence)], self.clock.now());
        match fault {
            None => self.store.hand_back(&held, now).await,
            // A person has to make room, and the turn waits for it however long that takes.
            Some(StoreError::Full(_)) => self.store.hand_back(&held, now + REST).await,
            Some(_) if self.store.came_further(lease).await? || lease.takes < MOST_TAKES => {
                self.store.give_back(lease, now + REST).await
            }
            Some(_) => self.give_up(lease).await.map(drop),
        }
    }

    /// Ends a turn that gets no further, so that its conversation goes on.
    async fn give_up(&self, lease: &Lease) -> Result<Worked, StoreError> {
        let reason = format!(
            "This turn was taken up {} times at the same place and came no further, so it was given up. What it did before is kept. Ask for \
             a smaller part of it, or in another way; the server's log says why.",
            lease.takes
        );
        self.store.fail_turn(lease, Failure::Server, &reason, self.clock.now()).await?;
        Ok(Worked::Ended)
    }

    /// Gives signs of life while turns are in hand. Lets go of turns that ended, or that another
    /// server took over.
    async fn keep(self) {
        let (mut events, mut elsewhere) = (self.store.signals().events(), self.store.signals().elsewhere());
        let mut tick = Box::pin(self.pause(SIGN_EVERY));
        let mut worked = false;
        loop {
            tokio::select! {
                record = events.recv() => match record {
                    Ok(record) => {
                        if let Event::TurnEnded(ended) = &record.event {
                            self.in_hand.lose(ended.turn);
                            worked = true;
                        }
                        continue;
                    }
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                },
                hint = elsewhere.next() => {
                    // Only three others write into a turn that is held here: a person who stops or
                    // steers it, and a server that takes us for dead.
                    if hint.is_some_and(|hint| !hint.turn.is_some_and(|turn| self.in_hand.has(turn))) {
                        continue;
                    }
                }
                () = &mut tick => {
                    tick.set(self.pause(SIGN_EVERY));
                    // Turns leave freed memory behind, which the program holds until somebody gives
                    // it back.
                    if self.in_hand.turns().is_empty() && std::mem::take(&mut worked) {
                        self.store.rest();
                        tokio::task::spawn_blocking(memory::give_back);
                    }
                }
            }
            if let Err(error) = self.give_sign().await {
                tracing::warn!(error = &error as &dyn std::error::Error, "could not give a sign of life");
            }
        }
    }

    async fn give_sign(&self) -> Result<(), StoreError> {
        let thought = self.in_hand.all();
        if thought.is_empty() {
            return Ok(());
        }
        let turns: Vec<_> = thought.iter().map(|(turn, _)| *turn).collect();
        let held = self.store.give_sign(&self.owner, &turns).await?;
        for (turn, fence) in thought {
            if !held.contains(&(turn, fence)) {
                self.unsettled.store(true, Ordering::Relaxed);
                self.in_hand.lose_attempt(turn, fence);
            }
        }
        Ok(())
    }

    /// Completes after this time, even if the clock is set back meanwhile: a server that waited for
    /// its clock would be taken for dead.
    fn pause(&self, span: Duration) -> impl Future<Output = ()> + Send + use<> {
        let until = self.clock.now() + TimeDelta::from_std(span).unwrap_or_default();
        let slept = tokio::time::timeout(span, self.clock.sleep_until(until));
        async move { drop(slept.await) }
    }
}
