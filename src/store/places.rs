//! The free places of this server's runner. If there is one, the statement that accepts a message
//! takes up its turn as well, and reads where it stands: nothing of the turn waits for a claim.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::mpsc;

use super::queue::standing::Enquiry;
use super::{Lease, Standing, Wanted};

/// How much the first step of a turn reads, by the name of its profile.
pub type ReadByProfile = Arc<dyn Fn() -> BTreeMap<&'static str, Wanted> + Send + Sync>;

/// A turn that was taken up as its message was accepted.
#[derive(Debug)]
pub struct TakenUp {
    /// The turn in hand.
    pub lease: Lease,
    /// The place where it stands.
    pub standing: Option<Standing>,
}

/// The places of a runner. Clones share them.
#[derive(Clone, Default)]
pub struct Places(Arc<Mutex<Option<Open>>>);

#[derive(Clone)]
struct Open {
    owner: Arc<str>,
    /// The places without a turn at work.
    free: usize,
    /// Those of them that wait for a turn, or whose turn the runner has not heard of.
    reserved: usize,
    reading: ReadByProfile,
    taken: mpsc::UnboundedSender<Option<TakenUp>>,
}

impl Places {
    fn with<T>(&self, work: impl FnOnce(&mut Option<Open>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A runner works under this name. It hears of the turns that were taken up for it; `None`: one
    /// may be its own without anybody knowing which. It has no place until it says so.
    pub fn open(&self, owner: &str, reading: ReadByProfile) -> mpsc::UnboundedReceiver<Option<TakenUp>> {
        let (taken, heard) = mpsc::unbounded_channel();
        self.with(|open| *open = Some(Open { owner: owner.into(), free: 0, reserved: 0, reading, taken }));
        heard
    }

    /// The runner has so many places without a turn at work; some of them may be reserved.
    pub fn set(&self, free: usize) {
        self.with(|open| open.iter_mut().for_each(|open| open.free = free));
    }

    /// The runner has heard what came of a reservation: a turn has the place until the runner says
    /// otherwise.
    pub fn heard(&self) {
        self.with(|open| {
            if let Some(open) = open {
                open.reserved = open.reserved.saturating_sub(1);
                open.free = open.free.saturating_sub(1);
            }
        });
    }

    /// The runner takes nothing up any more.
    pub fn close(&self) {
        self.with(|open| *open = None);
    }

    /// One of the places, if one is free.
    pub(super) fn reserve(&self) -> Option<Place> {
        let open = self.with(|open| {
            let open = open.as_mut().filter(|open| open.free > open.reserved)?;
            open.reserved += 1;
            Some(open.clone())
        });
        open.map(|open| Place { open, places: self.clone(), settled: false })
    }
}

/// A place that waits for a turn. Dropped before it is known what came of the statement, it tells
/// the runner.
pub(super) struct Place {
    open: Open,
    places: Places,
    settled: bool,
}

impl Place {
    /// The name in the lease.
    pub(super) fn owner(&self) -> &str {
        &self.open.owner
    }

    /// How much is read, of each profile.
    pub(super) fn reading(&self) -> BTreeMap<&'static str, Wanted> {
        (self.open.reading)()
    }

    /// The statement is over, and took this up.
    pub(super) fn settle(mut self, taken: Option<TakenUp>) {
        self.settled = true;
        if taken.is_none() {
            self.places.with(|open| open.iter_mut().for_each(|open| open.reserved = open.reserved.saturating_sub(1)));
            return;
        }
        // A runner that has ended gives back what was taken up for it at its next start.
        let _ = self.open.taken.send(taken);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.settled {
            let _ = self.open.taken.send(None);
        }
    }
}

/// The same for the database.
pub(super) fn written(asked: &BTreeMap<&'static str, Enquiry>) -> Value {
    asked.iter().map(|(profile, asked)| ((*profile).to_owned(), asked.shape())).collect::<serde_json::Map<_, _>>().into()
}

#[cfg(test)]
mod tests;
