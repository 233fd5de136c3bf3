//! A transition that is one statement, and so one round trip: the statement is its own transaction,
//! and gives back the facts that it recorded.

use chrono::{DateTime, Utc};
use serde_json::Value;
use tracing::Instrument;

use super::{Signals, Store, StoreError, value};
use crate::domain::ConversationId;
use crate::facts::{Event, EventRecord};
use crate::failpoint::{self, Point};

/// The number of the catalogue, as a statement has just read it. A decision long after that
/// needs another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogueVersion(pub(in crate::store) i64);

/// An event as a statement gives it back.
pub(super) struct EventRow {
    pub(super) sequence: i64,
    pub(super) event: Value,
}

/// The result of a transition: the caller's part, and the facts that are announced.
pub(super) struct Done<T> {
    pub(super) given: T,
    pub(super) records: Vec<EventRecord>,
    /// False if no turn can be taken up because of it: one that ended lets no other begin, one that
    /// came was taken up at once.
    pub(super) wakes: bool,
    /// Done when the facts are announced: work that goes on from them tells of nothing before they
    /// were told of.
    pub(super) then: Option<Box<dyn FnOnce() + Send>>,
}

impl<T> Done<T> {
    pub(super) fn new(given: T, records: Vec<EventRecord>) -> Self {
        Self { given, records, wakes: true, then: None }
    }
}

impl EventRow {
    /// The event in its stream.
    pub(super) fn of(self, conversation: ConversationId, at: DateTime<Utc>) -> Result<EventRecord, StoreError> {
        Ok(EventRecord { conversation, sequence: self.sequence, at, event: value(self.event)? })
    }
}

/// The same for several.
pub(super) fn records(
    rows: Vec<EventRow>,
    conversation: ConversationId,
    at: DateTime<Utc>,
) -> Result<Vec<EventRecord>, StoreError> {
    rows.into_iter().map(|row| row.of(conversation, at)).collect()
}

impl Store {
    /// Runs a statement that commits, and announces what it recorded.
    ///
    /// # Errors
    /// The statement's; then nothing happened, unless the connection broke in the very moment of
    /// the commit.
    pub(super) async fn transition<T: Send + 'static>(
        &self,
        statement: impl Future<Output = Result<Done<T>, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let signals = self.signals.clone();
        to_its_end(async move {
            let doubt = Doubt::of(&signals);
            match statement.await {
                Ok(Done { given, records, wakes, then }) => {
                    die_after(&records)?;
                    signals.announce_all(records, wakes);
                    if let Some(then) = then {
                        then();
                    }
                    doubt.dispelled();
                    Ok(given)
                }
                Err(error) => {
                    match &error {
                        // It may have happened.
                        StoreError::Unreadable(_) => {}
                        StoreError::Database(error) if !is_refused(error) => {}
                        _ => doubt.dispelled(),
                    }
                    Err(error)
                }
            }
        })
        .await
    }
}

/// A test stops the process between a commit and its announcement: whoever waits for the fact may
/// let go of the work that made it as soon as it is announced.
pub(super) fn die_after(committed: &[EventRecord]) -> Result<(), StoreError> {
    if committed.iter().any(|record| matches!(record.event, Event::StepAnswered(_))) {
        failpoint::hit(Point::AfterStep).map_err(sqlx::Error::Io)?;
    }
    if committed.iter().any(|record| matches!(record.event, Event::ToolCallEnded(_))) {
        failpoint::hit(Point::AfterDone).map_err(sqlx::Error::Io)?;
    }
    Ok(())
}

/// True if the database said itself that it did not commit. A server that goes down may say its
/// good-bye after the commit.
pub(super) fn is_refused(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| !code.starts_with("57P"))
}

/// Does work that commits, to its end. The caller may be dropped in the moment of the commit: the
/// runner lets go of a turn that this very commit ends, and a request ends with its client. The
/// commit goes on at the server, so its announcement must go on here.
pub(super) async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::spawn(work.in_current_span()).await;
    done.unwrap_or_else(|broken| match broken.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => Err(StoreError::Database(sqlx::Error::WorkerCrashed)), // the runtime ends
    })
}

/// Held while a commit is under way. If it is dropped before it is dispelled, others may have to
/// look for the commit: the database may have done it and the answer was lost, or nobody is left to
/// announce it.
pub(super) struct Doubt(Option<Signals>);

impl Doubt {
    pub(super) fn of(signals: &Signals) -> Self {
        Self(Some(signals.clone()))
    }

    pub(super) fn dispelled(mut self) {
        self.0 = None;
    }
}

impl Drop for Doubt {
    fn drop(&mut self) {
        if let Some(signals) = self.0.take() {
            signals.doubt();
        }
    }
}
