//! The heartbeat settles wake-ups, at fixed intervals and at the very moment something is due. Due
//! tasks become turns, approvals that nobody decided in time become refusals, and rows that were
//! kept long enough are forgotten. Nothing due, nothing done.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::domain::{MANAGE_TASKS, Task, WakeUpKind};
use crate::store::{Fired, Store, StoreError};

/// How soon to try again after the database did not answer.
const RETRY_AFTER: TimeDelta = TimeDelta::seconds(5);

/// Settles wake-ups.
pub struct Heartbeat {
    store: Store,
    clock: Arc<dyn Clock>,
    interval: TimeDelta,
}

impl Heartbeat {
    /// `interval`: how often to beat even if no due date says so.
    pub fn new(store: Store, clock: Arc<dyn Clock>, interval: TimeDelta) -> Self {
        Self { store, clock, interval }
    }

    /// Beats until `shutdown`. Several missed ticks, for example of a suspended machine, are one
    /// tick.
    pub async fn run(self, shutdown: CancellationToken) {
        loop {
            let next = match self.beat().await {
                Ok(next) => next,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "the heartbeat could not look for wake-ups");
                    self.clock.now() + RETRY_AFTER
                }
            };
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = self.store.signals().tasks().notified() => {}
                () = self.clock.sleep_until(next) => {}
            }
        }
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
            WakeUpKind::FollowUp => {
                let asked = self.store.follow_up_due(now).await?;
                if asked > 0 {
                    tracing::info!(asked, "contacts were silent");
                }
            }
            WakeUpKind::Task => {
                let Fired { turns, held_until } = self.store.fire_due_tasks(now, describe).await?;
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

/// The input of a turn that due tasks begin. The turn's origin says so; no code reads these words.
fn describe(tasks: &[Task]) -> String {
    let mut text =
        format!("[heartbeat] These tasks are due. Do what they ask, tell the user, and complete each with {MANAGE_TASKS}.");
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
