//! The text that models write in this process, so that a stop keeps its beginning. It lives in
//! memory alone: a crash loses it, and the step is made again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::TurnId;
use crate::store::Lease;

/// The text of a step so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unfinished {
    pub(super) fence: i64,
    pub(super) number: i32,
    pub(super) model: String,
    pub(super) text: String,
}

/// The unfinished texts. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Writing(Arc<Mutex<HashMap<TurnId, Unfinished>>>);

/// A step that writes. Once it is dropped, the step is finished or given up.
#[derive(Debug)]
pub struct Pen {
    writing: Writing,
    turn: TurnId,
    fence: i64,
}

impl Writing {
    /// A step begins to write.
    pub fn begin(&self, lease: &Lease, number: i32, model: &str) -> Pen {
        let unfinished = Unfinished { fence: lease.fence, number, model: model.to_owned(), text: String::new() };
        self.lock().insert(lease.turn, unfinished);
        Pen { writing: self.clone(), turn: lease.turn, fence: lease.fence }
    }

    /// The text of this turn's step so far; `None` if there is none, or if another holds the turn
    /// by now.
    pub(super) fn of(&self, turn: TurnId, fence: i64) -> Option<Unfinished> {
        let writing = self.lock();
        writing.get(&turn).filter(|unfinished| unfinished.fence == fence && !unfinished.text.trim().is_empty()).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TurnId, Unfinished>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pen {
    /// A piece of the answer.
    pub fn write(&self, piece: &str) {
        if let Some(unfinished) = self.writing.lock().get_mut(&self.turn).filter(|unfinished| unfinished.fence == self.fence) {
            unfinished.text.push_str(piece);
        }
    }

    /// The answer begins again: its text so far counts for nothing.
    pub fn begin_again(&self) {
        if let Some(unfinished) = self.writing.lock().get_mut(&self.turn).filter(|unfinished| unfinished.fence == self.fence) {
            unfinished.text.clear();
        }
    }
}

impl Drop for Pen {
    fn drop(&mut self) {
        let mut writing = self.writing.lock();
        if writing.get(&self.turn).is_some_and(|unfinished| unfinished.fence == self.fence) {
            writing.remove(&self.turn);
        }
    }
}

#[cfg(test)]
mod tests;
