//! Memory: the only SQL of the program itself. What a function here commits is announced to [`Signals`] after the commit, never before.

mod agent_sql;
mod answers;
mod approvals;
mod attachments;
mod capabilities;
mod capability_life;
mod commands;
mod conversations;
mod crashes;
mod due_tasks;
mod events;
mod gate;
mod history;
mod kv;
mod mcp;
mod mcp_servers;
mod measures;
mod meter;
mod neighbours;
mod open;
mod operations;
mod policies;
mod rebuild;
mod reviews;
mod room;
mod rows;
mod secrets;
mod signals;
mod signs;
mod steering;
mod steps;
mod summaries;
mod tasks;
mod turn_log;
mod turns;
mod undo;
mod unit;
mod usage;
mod v1;
mod wake_ups;
mod writing;

use std::borrow::Cow;
use std::sync::Arc;

use sqlx::PgPool;

use crate::lasting::Lasting;
use crate::postgres::logins::LoginError;
use crate::postgres::{Relay, Repair};
use crate::telemetry::Scrubber;

pub use agent_sql::{AgentLogin, AgentSql, SqlEnd};
pub use answers::Question;
pub use approvals::{Approval, DecideError, NewApproval};
pub use attachments::NewImage;
pub use capabilities::{Built, CapabilitySummary, RecordedCall};
pub use capability_life::{CapabilityEntry, KeptVersion, LifeError};
pub use crashes::Crash;
pub use due_tasks::Fired;
pub use gate::Gate;
pub use history::{Exchange, History, HistoryEntry};
pub use kv::KvOp;
pub use mcp::{MCP_WAITING, McpCall, McpTurn};
pub use mcp_servers::{McpServer, McpTool};
pub use meter::{Attempt, BrokenAnswer, Meter, Metered, Meters, estimated};
pub use neighbours::{Hint, Neighbours};
pub use operations::{Earlier, NewOperation};
pub use policies::ProfilePolicy;
pub use rebuild::{Break, Difference, Rebuild};
pub use reviews::{Asked, NewReview};
pub use room::Room;
pub use rows::RowLimits;
pub use secrets::SealedSecret;
pub use signals::{Elsewhere, Signals};
pub use signs::Look;
pub use steps::{NewStep, OpenCall, Progress, StoredStep};
pub use summaries::{NewSummary, Summaries, Summary};
pub use tasks::{NewTask, TaskChange};
pub use turns::{Accepted, Lease, NewMessage};
pub use undo::UndoError;
pub use unit::{CallEnd, Judged, Unit};
pub use v1::{Fingerprint, ShownAccepted, ShownError, ShownRequest};
pub use writing::{Pen, Writing};

pub use crate::wire::api::Rate;

/// The database, as the rest of the program knows it. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    pool: PgPool,
    agent: agent_sql::AgentPools,
    ears: PgPool,
    signals: Signals,
    sql_key: Arc<[u8]>,
    sql_deadline: std::time::Duration,
    gate: Gate,
    room: Arc<Room>,
    repair: Arc<Repair>,
    /// Held as long as the agent's connections are.
    _relay: Arc<Relay>,
    scrubber: Scrubber,
    writing: Writing,
    meters: Meters,
}

/// Why something could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The turn belongs to somebody else by now, or has ended; whoever gets this stops working on it.
    #[error("the turn is no longer ours to write")]
    LostLease,
    /// There is no such conversation.
    #[error("there is no conversation {0}")]
    NoConversation(crate::domain::ConversationId),
    /// A capability was replaced, rolled back or disabled in the very moment another version of it was installed.
    #[error("the capability {0} was changed by somebody else just now; this is tried again")]
    Changed(String),
    /// A state was given an input that it does not take; nothing was written.
    #[error(transparent)]
    Transition(#[from] crate::domain::InvalidTransition),
    /// A stored value is not what this version writes.
    #[error("the database holds a value this version cannot read: {0}")]
    Unreadable(String),
    /// The device of the database is full; what to do is in it.
    #[error("{0}")]
    Full(String),
    /// The agent's login does not let us in, and could not be made anew.
    #[error("the agent's login to the database cannot be used")]
    AgentLogin(#[source] Box<LoginError>),
    /// The database refused or was not there.
    #[error("the database did not do what was asked")]
    Database(#[source] sqlx::Error),
}

impl StoreError {
    /// What to tell whoever asked for something that could not be done; the rest is for the log.
    pub fn told(&self) -> String {
        match self {
            Self::Full(told) => told.clone(),
            _ => "the database does not answer; try again".to_owned(),
        }
    }

    /// The database was not there.
    pub(crate) fn broken(error: std::io::Error) -> Self {
        Self::Database(sqlx::Error::Io(error))
    }
}

impl Lasting for StoreError {
    fn lasts(&self) -> bool {
        match self {
            Self::Database(source) => source.lasts(),
            Self::AgentLogin(source) => source.lasts(),
            Self::LostLease | Self::Changed(_) => false,
            _ => true,
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        // The codes that the recording functions raise, see the migrations.
        match error.as_database_error().and_then(|error| error.code()).as_deref() {
            Some("L3001" | "L3002" | "L3004") => Self::LostLease,
            Some("53100") => Self::Full(
                "no space left on the device of the database; make room there, or give it more. Nothing that was said before is lost"
                    .to_owned(),
            ),
            _ => Self::Database(error),
        }
    }
}

impl Store {
    /// The same database, which from now on keeps no value that `scrubber` hides.
    pub fn hiding(mut self, scrubber: Scrubber) -> Self {
        self.scrubber = scrubber;
        self
    }

    /// Text as it may be kept and shown: see [`clean`].
    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        clean(&self.scrubber, text)
    }

    /// What models are writing in this process.
    pub fn writing(&self) -> &Writing {
        &self.writing
    }

    /// Who waits for the agent's SQL, and who is at work in it.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Where commits are announced.
    pub fn signals(&self) -> &Signals {
        &self.signals
    }

    /// A key for one purpose, the same after a restart, that nobody can compute who does not know the server's own.
    pub fn derived_key(&self, purpose: &str) -> [u8; 32] {
        use sha2::{Digest, Sha256};
        let mut hash = Sha256::new();
        hash.update(&self.sql_key);
        hash.update(b"derived\0");
        hash.update(purpose);
        hash.update(&self.sql_key);
        hash.finalize().into()
    }

    /// Completes when the database answers.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query!("SELECT 1 AS one").fetch_one(&self.pool).await?;
        Ok(())
    }

    /// Ends all connections; further calls fail.
    pub async fn close(&self) {
        self.ears.close().await;
        self.agent.close().await;
        self.pool.close().await;
    }
}

/// Text as Postgres can hold it: zero characters are replaced.
fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{FFFD}").into() } else { text.into() }
}

/// Text as it may be kept: without zero characters, which Postgres cannot hold, and without the values of secrets, whatever way they
/// came in.
fn clean<'t>(scrubber: &Scrubber, text: &'t str) -> Cow<'t, str> {
    match storable(text) {
        Cow::Borrowed(text) => scrubber.clean(text),
        Cow::Owned(text) => Cow::Owned(scrubber.clean(&text).into_owned()),
    }
}

/// Reads a stored word back into its type.
fn word<T: std::str::FromStr<Err = String>>(text: &str) -> Result<T, StoreError> {
    text.parse().map_err(StoreError::Unreadable)
}

/// Reads a stored JSON value back into its type.
fn value<T: serde::de::DeserializeOwned>(json: serde_json::Value) -> Result<T, StoreError> {
    serde_json::from_value(json).map_err(|error| StoreError::Unreadable(error.to_string()))
}
