//! Tells the rest of the process of commits, here or by another server. A missed signal loses
//! nothing: every listener reads the database as well.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast, watch};

use super::announced::Announced;
use super::campaigns::Presences;
use super::neighbours::{Hint, Outbox};
use crate::domain::voice::SILENCE;
use crate::domain::{CampaignId, ConversationId};
use crate::facts::{Event, EventRecord, TaskChanged, VoiceCallChanged};
use crate::telemetry::Metrics;
use crate::wire::ServerFrame;

/// How many events a slow listener may fall behind before it has to read them from the database.
const BACKLOG: usize = 1024;

/// Announcements of commits. Cheap to clone.
#[derive(Clone)]
pub struct Signals {
    events: broadcast::Sender<Announced<EventRecord>>,
    elsewhere: broadcast::Sender<Option<Hint>>,
    deltas: broadcast::Sender<Announced<ServerFrame>>,
    queue: Arc<Notify>,
    alarm: Arc<Alarm>,
    deliveries: watch::Sender<u64>,
    outbox: Arc<Outbox>,
    /// Counts the changes of who may come in.
    users: watch::Sender<u64>,
    presences: Presences,
    metrics: Metrics,
}

/// Says that something may be due earlier than the heartbeat knows.
#[derive(Default)]
pub struct Alarm {
    /// The earliest time that was said since the heartbeat heard of one.
    at: Mutex<Option<DateTime<Utc>>>,
    said: Notify,
}

impl Alarm {
    /// Something is due then.
    fn set(&self, due: DateTime<Utc>) {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        *at = Some(at.map_or(due, |earlier| earlier.min(due)));
        self.said.notify_one();
    }

    /// Something may be due at any time.
    fn ring(&self) {
        self.set(DateTime::<Utc>::MIN_UTC);
    }

    /// The earliest time at which something may be due, as soon as one was said. One is kept while
    /// nobody waits.
    pub async fn rung(&self) -> DateTime<Utc> {
        loop {
            self.said.notified().await;
            if let Some(at) = self.at.lock().unwrap_or_else(PoisonError::into_inner).take() {
                return at;
            }
        }
    }
}

/// Hears of the commits of other servers.
pub struct Elsewhere(broadcast::Receiver<Option<Hint>>);

impl Elsewhere {
    /// The next event of another server, or change that is no event; `None` if some were missed, so
    /// that anything may have happened.
    pub async fn next(&mut self) -> Option<Hint> {
        match self.0.recv().await {
            Ok(hint) => hint,
            Err(RecvError::Lagged(_)) => None,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl Signals {
    pub(super) fn new() -> Self {
        Self {
            events: broadcast::channel(BACKLOG).0,
            elsewhere: broadcast::channel(BACKLOG).0,
            deltas: broadcast::channel(BACKLOG).0,
            queue: Arc::default(),
            alarm: Arc::default(),
            deliveries: watch::Sender::new(0),
            outbox: Arc::default(),
            users: watch::Sender::new(0),
            presences: Presences::default(),
            metrics: Metrics::default(),
        }
    }

    /// The same announcements, which `metrics` counts.
    pub(super) fn counted(self, metrics: Metrics) -> Self {
        Self { metrics, ..self }
    }

    /// Every event that this server commits from now on. Events of one conversation may come out of
    /// order or be missed; their numbers show it.
    pub fn events(&self) -> broadcast::Receiver<Announced<EventRecord>> {
        self.events.subscribe()
    }

    /// The commits of other servers from now on.
    pub fn elsewhere(&self) -> Elsewhere {
        Elsewhere(self.elsewhere.subscribe())
    }

    /// The same as they come: a listener that falls behind is told that it did.
    pub(super) fn hints(&self) -> broadcast::Receiver<Option<Hint>> {
        self.elsewhere.subscribe()
    }

    /// Pieces of text as models write them, here and elsewhere, as `delta` frames. The record
    /// replaces missed ones.
    pub fn deltas(&self) -> broadcast::Receiver<Announced<ServerFrame>> {
        self.deltas.subscribe()
    }

    /// A model here has written a piece of text.
    pub fn write(&self, delta: ServerFrame) {
        self.outbox.tell_text(&delta);
        self.pass(delta);
    }

    /// Tells of each time at which somebody may have lost their way in: who holds a door open looks
    /// again.
    pub fn users(&self) -> watch::Receiver<u64> {
        self.users.subscribe()
    }

    /// How often somebody may have lost their way in, until now.
    pub fn user_changes(&self) -> u64 {
        *self.users.borrow()
    }

    /// The users who may come in have changed, here: the other servers hear of it too. Nothing
    /// wakes whoever may not come in, so the heartbeat looks again.
    pub(super) fn users_changed(&self) {
        self.outbox.say_missed();
        self.alarm.ring();
        self.users.send_modify(|changes| *changes += 1);
    }

    /// Those who watch over campaigns, here or at another server.
    pub fn presences(&self) -> &Presences {
        &self.presences
    }

    /// Somebody watches over a campaign from here: the other servers hear of it too, before any
    /// event that follows from it.
    pub fn watched(&self, campaign: CampaignId, now: DateTime<Utc>) {
        self.presences.note(campaign, now);
        self.outbox.tell_watched(campaign);
    }

    /// A conversation has another title or place in the list: sockets hear of it, here and at the
    /// other servers.
    pub(super) fn placed(&self, conversation: ConversationId) {
        let hint = Hint::placed(conversation);
        self.outbox.tell_hint(hint.clone());
        let _ = self.elsewhere.send(Some(hint));
    }

    /// Wakes a runner that may find a turn to take up. A signal is kept while nobody waits.
    pub fn queue(&self) -> &Notify {
        &self.queue
    }

    /// Wakes the heartbeat if something may be due earlier than it knows.
    pub fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    /// Something is due at this time, which no event says.
    pub(super) fn due_at(&self, at: DateTime<Utc>) {
        self.alarm.set(at);
    }

    /// Tells each sender of messages to contacts that there may be something to send.
    pub fn deliveries(&self) -> watch::Receiver<u64> {
        self.deliveries.subscribe()
    }

    /// Has each sender look once more.
    pub(super) fn poke_deliveries(&self) {
        self.deliveries.send_modify(|changes| *changes += 1);
    }

    pub(super) fn announce(&self, record: EventRecord) {
        self.announce_all(vec![record], true);
    }

    /// Announces the events of one commit. `wakes` is false if the end of a turn among them lets no
    /// other turn begin, or the turn that came was taken up at once: then no runner has to look for
    /// one, here or elsewhere.
    pub(super) fn announce_all(&self, records: Vec<EventRecord>, wakes: bool) {
        for record in records {
            if let Event::TurnEnded(ended) = &record.event {
                self.metrics.turn_ended(ended.state.as_str());
            }
            let wakes = wakes || !matches!(record.event, Event::TurnEnded(_) | Event::TurnQueued(_));
            if wakes {
                self.wake(record.event.kind());
            }
            if let Some(at) = due_by(&record.event) {
                self.alarm.set(at);
            }
            self.outbox.tell(&record, wakes);
            // If nobody listens, that is fine: the event is in the database.
            let _ = self.events.send(Announced::new(record));
        }
    }

    /// There may be a commit that nobody announced, or will: all listeners read on, here and
    /// elsewhere.
    pub(super) fn doubt(&self) {
        self.outbox.say_missed();
        self.missed();
    }

    /// True if another server is known to work on this database.
    pub fn in_company(&self) -> bool {
        self.outbox.in_company()
    }

    /// True if this server would hear of another one, and there is none: whatever changes, changes
    /// here.
    pub fn is_alone(&self) -> bool {
        self.outbox.is_alone()
    }

    /// Notes whether other servers work on this database. The runner looks after the first one that
    /// comes.
    pub(super) fn set_company(&self, company: bool) {
        if self.outbox.set_company(company) {
            self.queue.notify_one();
        }
    }

    pub(super) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Another server committed an event.
    pub(super) fn hear(&self, hint: Hint) {
        if hint.wakes {
            self.wake(&hint.kind);
        }
        // A hint does not say when.
        if matches!(
            hint.kind.as_str(),
            "task_changed"
                | "approval_requested"
                | "timer_changed"
                | "instance_made"
                | "instance_moved"
                | "campaign_changed"
                | "cycle_ended"
                | "voice_call_changed"
        ) {
            self.alarm.ring();
        }
        let _ = self.elsewhere.send(Some(hint));
    }

    /// Other servers may have committed anything.
    pub(super) fn missed(&self) {
        self.users.send_modify(|changes| *changes += 1);
        self.queue.notify_one();
        self.alarm.ring();
        self.poke_deliveries();
        let _ = self.elsewhere.send(None);
    }

    /// Passes a piece of text to the listeners of this process.
    pub(super) fn pass(&self, delta: ServerFrame) {
        let _ = self.deltas.send(Announced::new(delta));
    }

    fn wake(&self, kind: &str) {
        match kind {
            // A runner that looked for turns while one was being steered skipped its locked row:
            // wake it again.
            "turn_queued" | "turn_resumed" | "turn_ended" | "turn_steered" => self.queue.notify_one(),
            // A message may go, also one that was held.
            "instance_made" | "instance_moved" | "relay_message_kept" | "delivery_changed" => self.poke_deliveries(),
            _ => {}
        }
    }
}

/// The time at which something is due by an event. Something that is due no more wakes nobody: the
/// heartbeat finds nothing then.
fn due_by(event: &Event) -> Option<DateTime<Utc>> {
    match event {
        Event::TaskChanged(TaskChanged { task, deleted: false }) if task.status.is_active() => {
            [task.due_at, task.remind_at].into_iter().flatten().min()
        }
        Event::ApprovalRequested(asked) => Some(asked.expires_at),
        Event::TimerChanged(changed) => changed.timer.ends_at,
        Event::InstanceMade(made) => made.instance.progress.heartbeat_at,
        Event::InstanceMoved(moved) => moved.progress.heartbeat_at,
        Event::CampaignChanged(changed) => changed.campaign.next_at,
        Event::CycleEnded(ended) => ended.campaign.next_at,
        Event::VoiceCallChanged(VoiceCallChanged { ended_at: None, started_at, .. }) => Some(*started_at + SILENCE),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
