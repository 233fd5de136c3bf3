//! Tells the rest of the process what was committed. A missed signal loses nothing: whoever listens reads the database as well.

use std::sync::Arc;

use tokio::sync::{Notify, broadcast};

use crate::domain::EventRecord;
use crate::telemetry::Metrics;

/// How many events a slow listener may fall behind before it has to read them from the database.
const BACKLOG: usize = 1024;

/// Announcements of commits. Cheap to clone.
#[derive(Clone)]
pub struct Signals {
    events: broadcast::Sender<EventRecord>,
    queue: Arc<Notify>,
    tasks: Arc<Notify>,
    metrics: Metrics,
}

impl Signals {
    pub(super) fn new() -> Self {
        Self { events: broadcast::channel(BACKLOG).0, queue: Arc::default(), tasks: Arc::default(), metrics: Metrics::default() }
    }

    /// The same announcements, counted by `metrics`.
    pub(super) fn counted(self, metrics: Metrics) -> Self {
        Self { metrics, ..self }
    }

    /// Every event committed from now on. Events of one conversation may come out of order or be missed; their numbers show it.
    pub fn events(&self) -> broadcast::Receiver<EventRecord> {
        self.events.subscribe()
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
        use crate::domain::Event::{ApprovalRequested, TaskChanged, TurnEnded, TurnQueued, TurnResumed, TurnSteered};
        if let TurnEnded { state, .. } = &record.event {
            self.metrics.turn_ended(state.as_str());
        }
        match &record.event {
            // Who looked for turns in the moment one was steered passed over it, since it was held.
            TurnQueued { .. } | TurnResumed { .. } | TurnEnded { .. } | TurnSteered { .. } => self.queue.notify_one(),
            TaskChanged { .. } | ApprovalRequested { .. } => self.tasks.notify_one(),
            _ => {}
        }
        // Nobody listening is fine: the event is in the database.
        let _ = self.events.send(record);
    }
}
