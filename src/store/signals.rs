//! Tells the rest of the process what was committed, here or by another server. A missed signal loses nothing: whoever listens reads the
//! database as well.

use std::sync::Arc;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast};

use super::neighbours::{Hint, Outbox};
use crate::facts::{Event, EventRecord};
use crate::telemetry::Metrics;
use crate::wire::ServerFrame;

/// How many events a slow listener may fall behind before it has to read them from the database.
const BACKLOG: usize = 1024;

/// Announcements of commits. Cheap to clone.
#[derive(Clone)]
pub struct Signals {
    events: broadcast::Sender<EventRecord>,
    elsewhere: broadcast::Sender<Option<Hint>>,
    deltas: broadcast::Sender<ServerFrame>,
    queue: Arc<Notify>,
    tasks: Arc<Notify>,
    outbox: Arc<Outbox>,
    metrics: Metrics,
}

/// Hears of what other servers commit.
pub struct Elsewhere(broadcast::Receiver<Option<Hint>>);

impl Elsewhere {
    /// The next event of another server; `None` when some were missed, so that anything may have happened.
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
            tasks: Arc::default(),
            outbox: Arc::default(),
            metrics: Metrics::default(),
        }
    }

    /// The same announcements, counted by `metrics`.
    pub(super) fn counted(self, metrics: Metrics) -> Self {
        Self { metrics, ..self }
    }

    /// Every event that this server commits from now on. Events of one conversation may come out of order or be missed; their numbers show
    /// it.
    pub fn events(&self) -> broadcast::Receiver<EventRecord> {
        self.events.subscribe()
    }

    /// What other servers commit from now on.
    pub fn elsewhere(&self) -> Elsewhere {
        Elsewhere(self.elsewhere.subscribe())
    }

    /// Pieces of text as models write them, here and elsewhere, as `delta` frames. The record replaces what is missed.
    pub fn deltas(&self) -> broadcast::Receiver<ServerFrame> {
        self.deltas.subscribe()
    }

    /// A model here has written a piece of text.
    pub fn write(&self, delta: ServerFrame) {
        self.outbox.tell_text(&delta);
        self.pass(delta);
    }

    /// Wakes when a turn may be there to take up. A signal given while nobody waits is kept.
    pub fn queue(&self) -> &Notify {
        &self.queue
    }

    /// Wakes when a due date, or the end of an approval, may have changed. A signal given while nobody waits is kept.
    pub fn tasks(&self) -> &Notify {
        &self.tasks
    }

    pub(super) fn announce(&self, record: EventRecord) {
        if let Event::TurnEnded(ended) = &record.event {
            self.metrics.turn_ended(ended.state.as_str());
        }
        self.wake(record.event.kind());
        self.outbox.tell(&record);
        // Nobody listening is fine: the event is in the database.
        let _ = self.events.send(record);
    }

    /// Something may have been committed that nobody announced, or nobody will: everybody reads on, here and elsewhere.
    pub(super) fn doubt(&self) {
        self.outbox.say_missed();
        self.missed();
    }

    pub(super) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Another server committed an event.
    pub(super) fn hear(&self, hint: Hint) {
        self.wake(&hint.kind);
        let _ = self.elsewhere.send(Some(hint));
    }

    /// Other servers may have committed anything.
    pub(super) fn missed(&self) {
        self.queue.notify_one();
        self.tasks.notify_one();
        let _ = self.elsewhere.send(None);
    }

    /// A piece of text, to whoever watches here.
    pub(super) fn pass(&self, delta: ServerFrame) {
        let _ = self.deltas.send(delta);
    }

    fn wake(&self, kind: &str) {
        match kind {
            // Who looked for turns in the moment one was steered passed over it, since it was held.
            "turn_queued" | "turn_resumed" | "turn_ended" | "turn_steered" => self.queue.notify_one(),
            "task_changed" | "approval_requested" => self.tasks.notify_one(),
            _ => {}
        }
    }
}
