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
mod tests {
    use super::*;
    use crate::domain::{ConversationId, Origin};

    fn lease(fence: i64) -> Lease {
        Lease {
            turn: TurnId(1),
            conversation: ConversationId(1),
            profile: String::new(),
            fence,
            origin: Origin::Message,
            takes: 1,
        }
    }

    fn text(writing: &Writing, fence: i64) -> Option<String> {
        writing.of(TurnId(1), fence).map(|unfinished| unfinished.text)
    }

    #[test]
    fn what_is_written_is_known_until_the_pen_is_put_down() {
        let writing = Writing::default();
        let pen = writing.begin(&lease(1), 2, "m");
        assert_eq!(text(&writing, 1), None, "nothing was said");
        pen.write("one ");
        pen.write("two");
        assert_eq!(text(&writing, 1).as_deref(), Some("one two"));
        assert_eq!(text(&writing, 2), None, "that is somebody else's");
        pen.begin_again();
        assert_eq!(text(&writing, 1), None);
        pen.write("three");
        drop(pen);
        assert_eq!(text(&writing, 1), None);
    }

    #[test]
    fn an_old_holder_neither_writes_into_the_text_of_the_new_one_nor_takes_it_away() {
        let writing = Writing::default();
        let old = writing.begin(&lease(1), 1, "m");
        let new = writing.begin(&lease(2), 1, "m");
        new.write("new");
        old.write("old");
        old.begin_again();
        drop(old);
        assert_eq!(text(&writing, 2).as_deref(), Some("new"));
    }
}
