//! The heartbeat settles wake-ups, at fixed intervals and at the very moment something is due. Due
//! tasks become turns, approvals that nobody decided in time become refusals, and rows that were
//! kept long enough are forgotten. Nothing due, nothing done.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use tokio_util::sync::CancellationToken;

use crate::channels::Channels;
use crate::clock::Clock;
use crate::domain::{Task, WakeUpKind, worded};
use crate::faces::campaigns::Campaigns;
use crate::profiles::Profiles;
use crate::store::{Fired, FollowedUp, Store, StoreError};

/// How soon to try again after the database did not answer.
const RETRY_AFTER: TimeDelta = TimeDelta::seconds(5);

/// Settles wake-ups.
pub struct Heartbeat {
    store: Store,
    profiles: Profiles,
    campaigns: Campaigns,
    channels: Channels,
    clock: Arc<dyn Clock>,
    interval: TimeDelta,
}

impl Heartbeat {
    /// `interval`: how often to beat even if no due date says so.
    pub fn new(
        store: Store,
        profiles: Profiles,
        campaigns: Campaigns,
        channels: Channels,
        clock: Arc<dyn Clock>,
        interval: TimeDelta,
    ) -> Self {
        Self { store, profiles, campaigns, channels, clock, interval }
    }

    /// Beats until `shutdown`. Several missed ticks, for example of a suspended machine, are one
    /// tick.
    pub async fn run(self, shutdown: CancellationToken) {
        let mut next = DateTime::<Utc>::MIN_UTC;
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                // The event says when it is due, so the database is not asked.
                at = self.store.signals().alarm().rung() => next = next.min(at),
                () = self.clock.sleep_until(next) => next = self.next_beat().await,
            }
        }
    }

    /// Beats; returns the time of the next beat, however this one went.
    async fn next_beat(&self) -> DateTime<Utc> {
        self.beat().await.unwrap_or_else(|error| {
            tracing::warn!(error = &error as &dyn std::error::Error, "the heartbeat could not look for wake-ups");
            self.clock.now() + RETRY_AFTER
        })
    }

    /// Settles everything due; returns the time of the next beat.
    async fn beat(&self) -> Result<DateTime<Utc>, StoreError> {
        let now = self.clock.now();
        let mut next = now + self.interval;
        for kind in self.store.kinds_due(now).await? {
            // If a kind cannot be settled, the others do not wait for it.
            let again = self.settle(kind, now).await.unwrap_or_else(|error| {
                tracing::warn!(error = &error as &dyn std::error::Error, %kind, "wake-ups could not be settled; trying again soon");
                Some(now + RETRY_AFTER)
            });
            next = again.map_or(next, |again| next.min(again));
        }
        Ok(self.store.next_wake_up(now).await?.map_or(next, |due| next.min(due)))
    }

    /// Settles everything due of one kind. If something has to wait, returns the time it may go on.
    async fn settle(&self, kind: WakeUpKind, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, StoreError> {
        match kind {
            WakeUpKind::Approval => self.store.expire_approvals(now).await?,
            WakeUpKind::Kept => self.store.forget_kept(now).await?,
            WakeUpKind::Reminder => self.store.give_reminders(now).await?,
            WakeUpKind::Timer => self.store.end_timers(now).await?,
            WakeUpKind::Voice => self.store.end_voice_calls(now).await?,
            WakeUpKind::FollowUp => {
                let FollowedUp { asked, held_until } = self.store.follow_up_due(&self.channels.online(), now).await?;
                if asked > 0 {
                    tracing::info!(asked, "contacts were silent");
                }
                return Ok(held_until);
            }
            WakeUpKind::Campaign => {
                for campaign in self.store.campaigns_due(now).await? {
                    self.campaigns.kick(campaign).await;
                }
            }
            WakeUpKind::Task => {
                let input = |profile: &str, tasks: &[Task]| {
                    let profile = self.profiles.get(profile).ok();
                    describe(profile.and_then(|profile| profile.completes_with), tasks)
                };
                let Fired { turns, held_until } = self.store.fire_due_tasks(now, input).await?;
                if let Some(until) = held_until {
                    tracing::warn!(%until, "tasks are due and wait: tasks began as many turns as they may in an hour");
                }
                if turns > 0 {
                    tracing::info!(turns, "tasks fell due");
                }
                return Ok(held_until);
            }
        }
        Ok(None)
    }
}

/// The input of a turn that due tasks begin, for a model that does them and completes each `with`
/// this tool; without one they are the person's own, and the model only tells of them. The turn's
/// origin says so, and no code reads these sentences. The tour, a model that is code, reads the
/// numbers in the lines below them.
fn describe(with: Option<&str>, tasks: &[Task]) -> String {
    let wanted = with.map_or_else(
        || "They are for the user to do: tell the user of them, and complete or change none before the user says so.".to_owned(),
        |tool| format!("Do what they ask, tell the user, and complete each with {tool}."),
    );
    let mut text = worded(&format!("[heartbeat] These tasks are due. {wanted}"));
    for task in tasks {
        let due = task.due_at.map(|due| due.to_rfc3339_opts(SecondsFormat::Secs, true)).unwrap_or_default();
        text.push_str(&format!("\n- task {}, due {due}: {}", task.id, task.title));
        if !task.details.is_empty() {
            text.push_str(&format!("\n  {}", task.details.replace('\n', "\n  ")));
        }
    }
    text
}

#[cfg(test)]
mod tests;
