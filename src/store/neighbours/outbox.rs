//! The words for the other servers, in order, until they are sent. If nobody listens, nothing is
//! kept.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::domain::{CampaignId, ConversationId, TurnId};
use crate::facts::{Event, EventRecord};
use crate::wire::{PLACED, ServerFrame};

/// The most bytes of text in one notification. Postgres takes 8,000, and JSON may write a byte with
/// six.
const MOST_TEXT: usize = 1280;
/// With so many words unsent, text is dropped: the record replaces it.
const MOST_BEFORE_TEXT: usize = 256;
/// With so many, one [`Word::Missed`] replaces all: a server that needs them reads the database.
const MOST_WORDS: usize = 1024;
/// How many answers are followed at once; text of others is dropped.
const MOST_ANSWERS: usize = 256;

/// A word of one server to the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    /// The sender has begun to listen, and knows nothing of before.
    Hello,
    /// Something happened of which no word tells.
    Missed,
    /// An event was committed.
    Event(Hint),
    /// A model has written.
    Text(AnswerPiece),
    /// Somebody watches over this campaign.
    Watched(CampaignId),
}

/// An event that another server committed. It is a hint: only the database has the event itself. A
/// change of which no event tells is heard as one, too, also if this server made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// The conversation of its stream.
    pub conversation: ConversationId,
    /// Its place there; 0 if it is no event.
    pub sequence: i64,
    /// The kind of event, or the word for what else it is.
    pub kind: String,
    /// The turn that it is about, if it is about one.
    pub turn: Option<TurnId>,
    /// False if no server can take a turn up because of it: a turn that came was taken up at once,
    /// and one that ended lets no other begin. A server of before this field does not say.
    #[serde(default = "unsaid")]
    pub wakes: bool,
}

fn unsaid() -> bool {
    true
}

impl Hint {
    /// A conversation has another title or place in the list.
    pub(in crate::store) fn placed(conversation: ConversationId) -> Self {
        Self { conversation, sequence: 0, kind: PLACED.to_owned(), turn: None, wakes: false }
    }

    /// True if the stream of the conversation has it.
    pub fn is_event(&self) -> bool {
        self.sequence > 0
    }
}

/// A piece of an answer, and the place in the answer at which it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AnswerPiece {
    pub(super) conversation: ConversationId,
    pub(super) turn: TurnId,
    pub(super) step: i32,
    pub(super) attempt: i64,
    pub(super) at: usize,
    pub(super) content: String,
}

impl AnswerPiece {
    /// True if the other piece follows, and a letter of it, of four bytes at most, still fits in.
    fn takes(&self, next: &AnswerPiece) -> bool {
        (self.turn, self.step, self.attempt, self.at + self.content.len()) == (next.turn, next.step, next.attempt, next.at)
            && self.content.len() + 4 <= MOST_TEXT
    }
}

/// How much of each answer came by. Text after a hole is not shown: a client may have no way to
/// take text back.
#[derive(Debug, Default)]
pub(super) struct Answers(HashMap<TurnId, (i32, i64, usize)>);

impl Answers {
    /// The place at which a piece of this length begins that is written now.
    pub(super) fn write(&mut self, turn: TurnId, step: i32, attempt: i64, bytes: usize) -> usize {
        let begun = self.begun(turn, step, attempt);
        self.0.insert(turn, (step, attempt, begun + bytes));
        begun
    }

    /// True if the piece begins at the end of the last one.
    pub(super) fn read(&mut self, piece: &AnswerPiece) -> bool {
        let whole = self.begun(piece.turn, piece.step, piece.attempt) == piece.at;
        if whole {
            self.write(piece.turn, piece.step, piece.attempt, piece.content.len());
        }
        whole
    }

    pub(super) fn forget(&mut self, turn: TurnId) {
        self.0.remove(&turn);
    }

    fn begun(&mut self, turn: TurnId, step: i32, attempt: i64) -> usize {
        if self.0.len() >= MOST_ANSWERS && !self.0.contains_key(&turn) {
            self.0.clear();
        }
        self.0.get(&turn).filter(|(s, a, _)| (*s, *a) == (step, attempt)).map_or(0, |(_, _, bytes)| *bytes)
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(in crate::store) struct Outbox {
    kept: Mutex<OutboxState>,
    ready: Notify,
}

#[derive(Debug, Default)]
struct OutboxState {
    /// True once it is known whether another server listens.
    looked: bool,
    company: bool,
    words: VecDeque<Word>,
    written: Answers,
}

impl Outbox {
    /// Sets whether another server listens. Alone, a server tells nothing. True if it was alone
    /// until now.
    pub(in crate::store) fn set_company(&self, company: bool) -> bool {
        let mut kept = self.lock();
        let was = std::mem::replace(&mut kept.company, company);
        kept.looked = true;
        if !company {
            kept.words.clear();
        }
        company && !was
    }

    /// True if another server listens.
    pub(in crate::store) fn in_company(&self) -> bool {
        self.lock().company
    }

    /// True if this server listens, and no other one does. Before it listens, and while it cannot,
    /// that is not known.
    pub(in crate::store) fn is_alone(&self) -> bool {
        let kept = self.lock();
        kept.looked && !kept.company
    }

    /// Makes the other servers read on.
    pub(in crate::store) fn say_missed(&self) {
        self.say(Word::Missed);
    }

    pub(super) fn say(&self, word: Word) {
        let mut kept = self.lock();
        if !kept.company {
            return;
        }
        if kept.words.len() >= MOST_WORDS {
            kept.words.clear();
            kept.words.push_back(Word::Missed);
        } else {
            kept.words.push_back(word);
        }
        drop(kept);
        self.ready.notify_one();
    }

    /// Something changed at this server of which no event tells.
    pub(in crate::store) fn tell_hint(&self, hint: Hint) {
        self.say(Word::Event(hint));
    }

    /// Somebody watches over a campaign at this server.
    pub(in crate::store) fn tell_watched(&self, campaign: CampaignId) {
        self.say(Word::Watched(campaign));
    }

    /// This server committed an event. `wakes`: a turn may be taken up because of it.
    pub(in crate::store) fn tell(&self, record: &EventRecord, wakes: bool) {
        if let Event::TurnEnded(ended) = &record.event {
            self.lock().written.forget(ended.turn);
        }
        let (conversation, sequence, turn) = (record.conversation, record.sequence, record.event.about().turn);
        let kind = record.event.kind().to_owned();
        self.say(Word::Event(Hint { conversation, sequence, kind, turn, wakes }));
    }

    /// A model writes at this server.
    pub(in crate::store) fn tell_text(&self, delta: &ServerFrame) {
        let ServerFrame::Delta { conversation, turn, step, attempt, content } = delta else { return };
        let mut kept = self.lock();
        // It counts although nobody listens: a server that comes in the middle is told from the
        // beginning of the next answer on.
        let mut at = kept.written.write(*turn, *step, *attempt, content.len());
        if !kept.company {
            return;
        }
        let mut rest = content.as_str();
        while !rest.is_empty() {
            let (conversation, turn, step, attempt) = (*conversation, *turn, *step, *attempt);
            let piece = AnswerPiece { conversation, turn, step, attempt, at, content: String::new() };
            if !matches!(kept.words.back(), Some(Word::Text(last)) if last.takes(&piece)) {
                if kept.words.len() >= MOST_BEFORE_TEXT {
                    return;
                }
                kept.words.push_back(Word::Text(piece));
            }
            let Some(Word::Text(last)) = kept.words.back_mut() else { return };
            let (now, later) = rest.split_at(rest.floor_char_boundary(MOST_TEXT - last.content.len()));
            last.content.push_str(now);
            (at, rest) = (at + now.len(), later);
        }
        drop(kept);
        self.ready.notify_one();
    }

    /// Completes once there is something to send.
    pub(super) async fn ready(&self) {
        self.ready.notified().await;
    }

    /// All waiting words, as texts that Postgres takes.
    pub(super) fn take(&self) -> Vec<String> {
        let words = std::mem::take(&mut self.lock().words);
        words.iter().map(|word| serde_json::to_string(word).expect("words are plain data")).collect()
    }

    fn lock(&self) -> MutexGuard<'_, OutboxState> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
