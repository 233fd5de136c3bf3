//! Follows one turn: takes deltas and events as they come, and reads from the database what it
//! missed.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::telling::{Ending, StreamPiece, Telling};
use crate::facts::EventRecord;
use crate::http::Doors;
use crate::store::{Announced, Elsewhere, ShownAccepted, StoreError};
use crate::wire::ServerFrame;

/// Events read at a time.
const PAGE: i64 = 200;

/// The next thing for the client.
#[derive(Debug)]
pub(super) enum Next {
    /// More to say.
    Piece(StreamPiece),
    /// Nothing more comes.
    End(Ending),
    /// The server ends or restarts; the turn is kept.
    Away,
}

/// Ears for announcements, from a moment before the request is accepted.
pub(super) struct Ears {
    events: broadcast::Receiver<Announced<EventRecord>>,
    elsewhere: Elsewhere,
    deltas: broadcast::Receiver<Announced<ServerFrame>>,
}

impl Ears {
    pub(super) fn open(doors: &Doors) -> Self {
        let signals = doors.store.signals();
        Self { events: signals.events(), elsewhere: signals.elsewhere(), deltas: signals.deltas() }
    }
}

/// A client's view of one turn.
pub(super) struct Follow {
    doors: Doors,
    ears: Ears,
    shown: ShownAccepted,
    /// The newest event that was read.
    position: i64,
    telling: Telling,
    pieces: VecDeque<StreamPiece>,
}

impl Follow {
    pub(super) async fn begin(doors: Doors, ears: Ears, shown: ShownAccepted) -> Result<Self, StoreError> {
        // A turn that an earlier request began may be in the middle of a step.
        let telling = Telling::of(shown.turn, !shown.again);
        let position = shown.accepted;
        let mut follow = Self { doors, ears, shown, position, telling, pieces: VecDeque::new() };
        if let Some(approval) = follow.doors.store.approval_before(shown.turn).await? {
            follow.telling.stands_behind(approval);
        }
        follow.catch_up().await?;
        Ok(follow)
    }

    /// The request.
    pub(super) fn shown(&self) -> &ShownAccepted {
        &self.shown
    }

    /// The text so far.
    pub(super) fn telling(&mut self) -> &mut Telling {
        &mut self.telling
    }

    /// Waits for the next thing.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(super) async fn next(&mut self) -> Result<Next, StoreError> {
        let shutdown = self.doors.shutdown.clone();
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                return Ok(Next::Piece(piece));
            }
            if let Some(ending) = self.telling.ending() {
                return Ok(Next::End(ending));
            }
            if shutdown.is_cancelled() {
                return Ok(Next::Away);
            }
            tokio::select! {
                // The order matters: a piece of text is told before the record that contains it.
                biased;
                // The client still hears of what is committed already.
                () = shutdown.cancelled() => self.catch_up().await?,
                delta = self.ears.deltas.recv() => match delta {
                    Ok(delta) => {
                        if let ServerFrame::Delta { turn, step, attempt, content, .. } = &*delta
                            && *turn == self.shown.turn
                        {
                            self.pieces.extend(self.telling.delta(*step, *attempt, content));
                        }
                    }
                    Err(RecvError::Closed) => {}
                    Err(RecvError::Lagged(_)) => self.telling.missed(),
                },
                record = self.ears.events.recv() => match record {
                    Ok(record) if record.conversation != self.shown.conversation || record.sequence <= self.position => {}
                    Ok(record) if record.sequence == self.position + 1 => self.take(&record),
                    Ok(_) | Err(RecvError::Lagged(_)) => self.catch_up().await?,
                    Err(RecvError::Closed) => return Ok(Next::Away),
                },
                hint = self.ears.elsewhere.next() => match hint {
                    Some(hint) if hint.conversation != self.shown.conversation || hint.sequence <= self.position => {}
                    Some(_) | None => self.catch_up().await?,
                },
            }
        }
    }

    /// The same, but waits no longer than `time`.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(super) async fn next_within(&mut self, time: Duration) -> Result<Option<Next>, StoreError> {
        if let Ok(next) = tokio::time::timeout(time, self.next()).await {
            return next.map(Some);
        }
        // The cut may have lost an event that was in hand.
        self.catch_up().await?;
        Ok(None)
    }

    fn take(&mut self, record: &EventRecord) {
        self.position = record.sequence;
        self.pieces.extend(self.telling.record(record));
    }

    /// Reads everything after the position.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        loop {
            let records = self.doors.store.owners().events_after(self.shown.conversation, self.position, PAGE).await?;
            if records.is_empty() {
                return Ok(());
            }
            for record in &records {
                self.take(record);
            }
        }
    }
}
