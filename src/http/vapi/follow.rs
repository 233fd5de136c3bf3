//! The words of a turn as they are written, for a call: deltas and events as they come, and from
//! the database what was missed.

use std::collections::VecDeque;

use tokio::sync::broadcast::error::RecvError;

use crate::domain::{ConversationId, TurnId};
use crate::facts::{Event, EventRecord};
use crate::http::v1::telling::{Ending, StreamPiece, Telling};
use crate::http::visitor::Visitor;
use crate::store::{Accepted, Announced, Hint, StoreError, TheirSignals, Theirs};
use crate::wire::ServerFrame;

/// Events read at a time.
const PAGE: i64 = 200;

/// Ears for a person's conversations, from a moment before their message is accepted.
pub(super) struct CallEars {
    events: TheirSignals<Announced<EventRecord>>,
    elsewhere: TheirSignals<Option<Hint>>,
    deltas: TheirSignals<Announced<ServerFrame>>,
}

impl CallEars {
    pub(super) fn open(visitor: &Visitor) -> Self {
        let theirs = visitor.theirs();
        Self { events: theirs.events(), elsewhere: theirs.elsewhere(), deltas: theirs.deltas() }
    }
}

/// The next thing to say.
#[derive(Debug)]
pub(super) enum NextWords {
    /// More text.
    Text(String),
    /// Nothing more comes.
    End(Ending),
    /// The server ends or restarts; the turn is kept.
    Away,
}

/// One turn, as a call hears it.
pub(super) struct HeardTurn {
    visitor: Visitor,
    theirs: Theirs,
    ears: CallEars,
    conversation: ConversationId,
    turn: TurnId,
    position: i64,
    telling: Telling,
    texts: VecDeque<String>,
    /// Something was missed. A wait that is given up forgets nothing of it.
    behind: bool,
}

impl HeardTurn {
    /// Follows the turn of a message from the event that accepted it under this id.
    pub(super) async fn begin(
        visitor: &Visitor,
        ears: CallEars,
        accepted: &Accepted,
        client_id: &str,
    ) -> Result<Self, StoreError> {
        let (theirs, Accepted { turn, conversation, again }) = (visitor.theirs(), *accepted);
        let accepting = theirs.accepting_event(conversation, turn, Some(client_id)).await?;
        // A request that is repeated, or said into a turn, may come in the middle of a step, of
        // which the record is told.
        let whole = !again && !matches!(accepting.event, Event::TurnSteered(_));
        let (position, telling) = (accepting.sequence, Telling::of(turn, whole).spoken());
        let (visitor, texts) = (visitor.clone(), VecDeque::new());
        Ok(Self { visitor, theirs, ears, conversation, turn, position, telling, texts, behind: true })
    }

    /// Waits for the next thing. A wait may be given up at any time.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(super) async fn next(&mut self) -> Result<NextWords, StoreError> {
        let shutdown = self.visitor.shutdown().clone();
        loop {
            if self.behind {
                self.catch_up().await?;
                self.behind = false;
            }
            if let Some(text) = self.texts.pop_front() {
                return Ok(NextWords::Text(text));
            }
            if let Some(ending) = self.telling.ending() {
                return Ok(NextWords::End(ending));
            }
            if shutdown.is_cancelled() {
                return Ok(NextWords::Away);
            }
            self.behind = tokio::select! {
                // The order matters: a piece of text is told before the record that contains it.
                biased;
                () = shutdown.cancelled() => true,
                delta = self.ears.deltas.recv() => match delta {
                    Ok(delta) => {
                        if let ServerFrame::Delta { turn, step, attempt, content, .. } = &*delta
                            && *turn == self.turn
                        {
                            let piece = self.telling.delta(*step, *attempt, content);
                            self.take_pieces(piece);
                        }
                        false
                    }
                    Err(RecvError::Closed) => false,
                    Err(RecvError::Lagged(_)) => {
                        self.telling.missed();
                        false
                    }
                },
                record = self.ears.events.recv() => match record {
                    Ok(record) if record.conversation != self.conversation || record.sequence <= self.position => false,
                    Ok(record) if record.sequence == self.position + 1 => {
                        self.take(&record);
                        false
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => true,
                    Err(RecvError::Closed) => return Ok(NextWords::Away),
                },
                _ = self.ears.elsewhere.recv() => true,
            };
        }
    }

    fn take(&mut self, record: &EventRecord) {
        self.position = record.sequence;
        let pieces = self.telling.record(record);
        self.take_pieces(pieces);
    }

    fn take_pieces(&mut self, pieces: impl IntoIterator<Item = StreamPiece>) {
        for piece in pieces {
            if let StreamPiece::Text(text) = piece {
                self.texts.push_back(text);
            }
        }
    }

    /// Reads everything after the position.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        loop {
            let records = self.theirs.events_after(self.conversation, self.position, PAGE).await?;
            if records.is_empty() {
                return Ok(());
            }
            for record in &records {
                self.take(record);
            }
        }
    }
}
