//! The things that all parts of the program share: the way to level3, the folder, the journal, and
//! who waits for what.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::Instant;
use whatsapp_rust::chrono::{DateTime, SecondsFormat, Utc};

use crate::folder::Folder;
use crate::journal::Journal;
use crate::lines::Reports;
use crate::protocol::{Report, State, Status};

/// The answer of WhatsApp's server to a message of ours.
#[derive(Debug, PartialEq, Eq)]
pub enum Ack {
    /// It took the message.
    Taken,
    /// It refused it, with this code.
    Refused(String),
}

/// An incoming message, by its writer's number and its id.
pub type Key = (String, String);

/// The shared things.
pub struct Shared {
    /// The way to level3.
    pub reports: Reports,
    /// The program's folder.
    pub folder: Folder,
    journal: Mutex<Journal>,
    state: Mutex<Option<State>>,
    accepting: Mutex<HashMap<Key, Vec<oneshot::Sender<()>>>>,
    sending: Mutex<HashMap<String, oneshot::Sender<Ack>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// With nobody waiting yet.
    pub fn new(reports: Reports, folder: Folder, journal: Journal) -> Self {
        let (accepting, sending) = (Mutex::default(), Mutex::default());
        Self { reports, folder, journal: Mutex::new(journal), state: Mutex::default(), accepting, sending }
    }

    /// The journal.
    pub fn journal(&self) -> MutexGuard<'_, Journal> {
        lock(&self.journal)
    }

    /// Tells level3 the state if it changed, or if there is more to say than its name.
    pub fn tell(&self, status: Status) {
        let before = lock(&self.state).replace(status.state);
        if before != Some(status.state) || status != Status::plain(status.state) {
            self.reports.say(&Report::Status(status));
        }
    }

    /// A place among those who wait for level3 to accept a message, and true if nobody waited for
    /// it yet.
    pub fn await_accepted(&self, key: Key) -> (oneshot::Receiver<()>, bool) {
        let (done, accepted) = oneshot::channel();
        let mut accepting = lock(&self.accepting);
        let waiting = accepting.entry(key).or_default();
        // A connection that broke took its waiting task with it.
        waiting.retain(|done| !done.is_closed());
        let first = waiting.is_empty();
        waiting.push(done);
        (accepted, first)
    }

    /// level3 has accepted a message: whoever waits goes on, and so does who asks later.
    pub fn accepted(&self, from: String, id: String) {
        if let Err(error) = self.journal().accepted(&from, &id) {
            // Not acknowledged, then: WhatsApp delivers it again, and level3 accepts it again.
            log::error!("the journal cannot be written: {error}");
            return;
        }
        for done in lock(&self.accepting).remove(&(from, id)).unwrap_or_default() {
            let _ = done.send(());
        }
    }

    /// A place to wait for the server's answer to this id.
    pub fn await_ack(&self, id: &str) -> oneshot::Receiver<Ack> {
        let (done, ack) = oneshot::channel();
        lock(&self.sending).insert(id.to_owned(), done);
        ack
    }

    /// The connection is gone: no answer to what was sent over it will come over it.
    pub fn nobody_answers(&self) {
        lock(&self.sending).clear();
    }

    /// Hands the server's answer to the one who waits for it. The answer comes back if nobody does.
    pub fn acknowledge(&self, id: &str, ack: Ack) -> Option<Ack> {
        match lock(&self.sending).remove(id) {
            Some(waiting) => waiting.send(ack).err(),
            None => Some(ack),
        }
    }
}

/// Waits for a time, or for ever.
pub async fn passed(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}

/// A time as the protocol writes it.
pub fn written(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The time in so many seconds, as the protocol writes it.
pub fn in_future(from_now: std::time::Duration) -> String {
    let seconds = i64::try_from(from_now.as_secs()).unwrap_or(i64::MAX).min(i64::from(u32::MAX));
    written(Utc::now() + whatsapp_rust::chrono::Duration::seconds(seconds))
}
