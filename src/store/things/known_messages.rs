//! The messages that this server has read last of a conversation, so that the next step of one of
//! its turns reads only what came after them. The database says whether they are still as they
//! were: whatever changes the messages of a turn writes an event that names the turn, or that the
//! function `standing` knows as one about all of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::history::Message;
use crate::domain::{ConversationId, TurnId};

/// The most conversations whose messages are kept. Beyond that all are forgotten, which costs each
/// of them one longer reading.
const MOST_CONVERSATIONS: usize = 64;
/// The most bytes of text that are kept of one conversation.
const MOST_BYTES: usize = 256 * 1024;

/// The newest messages of the turns before one, as they were at an event.
#[derive(Debug)]
pub(in crate::store) struct KnownMessages {
    /// No turn is later than this one.
    through: TurnId,
    /// The last event of the conversation at that time.
    sequence: i64,
    /// The number of messages that were wanted of earlier turns; the list may have one more.
    wanted: usize,
    /// In the order in which a model is shown them.
    rows: Vec<Arc<Message>>,
}

impl KnownMessages {
    /// The place after which the database reads on; nothing if so many messages are not what was
    /// read.
    pub(in crate::store) fn place(&self, wanted: usize) -> Option<Value> {
        (self.wanted == wanted).then(|| json!({ "through": self.through, "sequence": self.sequence }))
    }

    /// These and the messages that came after them, the last of them those of `turn`: of earlier
    /// turns as many of the newest as one reading of all would have given.
    pub(in crate::store) fn followed_by(&self, newer: impl Iterator<Item = Arc<Message>>, turn: TurnId) -> Vec<Arc<Message>> {
        let mut rows: Vec<_> = self.rows.iter().cloned().chain(newer).collect();
        let mut earlier: Vec<_> = rows.iter().filter(|row| row.turn_id != turn).map(|row| row.message_id).collect();
        earlier.sort_unstable_by(|id, other| other.cmp(id));
        if let Some(oldest) = earlier.get(self.wanted) {
            rows.retain(|row| row.turn_id == turn || row.message_id >= *oldest);
        }
        rows
    }
}

/// Those of the conversations that turns worked in lately. Clones share them.
#[derive(Clone, Default)]
pub(in crate::store) struct KnownByConversation(Arc<Mutex<HashMap<ConversationId, Arc<KnownMessages>>>>);

impl KnownByConversation {
    /// The messages known of a conversation.
    pub(in crate::store) fn of(&self, conversation: ConversationId) -> Option<Arc<KnownMessages>> {
        self.with(|known| known.get(&conversation).map(Arc::clone))
    }

    /// Keeps what was read for `turn` when the conversation's last event was `sequence`.
    pub(in crate::store) fn keep(
        &self,
        conversation: ConversationId,
        turn: TurnId,
        sequence: i64,
        wanted: usize,
        rows: &[Arc<Message>],
    ) {
        let rows: Vec<_> = rows.iter().filter(|row| row.turn_id < turn).cloned().collect();
        let bytes: usize = rows.iter().map(|row| row.bytes()).sum();
        let through = TurnId(turn.0.saturating_sub(1));
        self.with(|known| {
            if bytes > MOST_BYTES {
                known.remove(&conversation);
                return;
            }
            if known.len() >= MOST_CONVERSATIONS && !known.contains_key(&conversation) {
                known.clear();
            }
            known.insert(conversation, Arc::new(KnownMessages { through, sequence, wanted, rows }));
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<ConversationId, Arc<KnownMessages>>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::MessageId;

    /// Messages of a number and a turn each.
    fn rows(rows: &[(i64, i64)]) -> Vec<Arc<Message>> {
        let row = |(id, turn): &(i64, i64)| {
            let row = json!({"turn_id": turn, "message_id": id, "state": "completed", "role": "user", "content": "hi",
                             "created_at": "2026-11-26T00:00:00Z"});
            Arc::new(serde_json::from_value(row).unwrap())
        };
        rows.iter().map(row).collect()
    }

    fn ids(rows: &[Arc<Message>]) -> Vec<MessageId> {
        rows.iter().map(|row| row.message_id).collect()
    }

    #[test]
    fn of_all_earlier_messages_the_newest_stay_as_many_as_were_wanted_and_one() {
        let known = KnownByConversation::default();
        let here = ConversationId(1);
        // The question of turn 3 came before the answer of turn 2. The running turn's own are no
        // part of what is kept.
        known.keep(here, TurnId(3), 17, 3, &rows(&[(1, 1), (2, 1), (3, 2), (5, 2), (4, 3)]));
        let kept = known.of(here).unwrap();
        assert_eq!(kept.place(3), Some(json!({"through": 2, "sequence": 17})));
        assert_eq!(kept.place(4), None, "more is wanted than was read");
        let running = rows(&[(4, 3), (6, 3)]);
        assert_eq!(ids(&kept.followed_by(running.into_iter(), TurnId(3))), [1, 2, 3, 5, 4, 6].map(MessageId));
        let next = rows(&[(4, 3), (6, 3), (7, 4)]);
        assert_eq!(ids(&kept.followed_by(next.into_iter(), TurnId(4))), [3, 5, 4, 6, 7].map(MessageId));
    }

    #[test]
    fn neither_long_conversations_nor_many_are_kept() {
        let known = KnownByConversation::default();
        let long = json!({"turn_id": 1, "message_id": 1, "state": "completed", "role": "user", "content": "x".repeat(MOST_BYTES + 1),
                          "created_at": "2026-11-26T00:00:00Z"});
        let here = ConversationId(0);
        known.keep(here, TurnId(2), 1, 3, &rows(&[(1, 1)]));
        known.keep(here, TurnId(2), 2, 3, &[Arc::new(serde_json::from_value(long).unwrap())]);
        assert!(known.of(here).is_none(), "neither the long one nor what was there before it");
        for id in 0..200 {
            known.keep(ConversationId(id), TurnId(2), 1, 3, &rows(&[(1, 1)]));
            assert!(known.of(ConversationId(id)).is_some());
        }
        assert!(known.with(|known| known.len()) <= MOST_CONVERSATIONS);
    }
}
