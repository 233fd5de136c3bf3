//! Memory: the only SQL of the program itself. A function here announces its commit to [`Signals`]
//! after the commit, never before.

mod agent_sql;
mod announced;
mod campaigns;
mod connections;
mod events;
mod inside;
mod lease;
mod neighbours;
mod open;
mod operator;
mod places;
mod queue;
mod rebuild;
mod relay;
mod room;
mod signals;
mod theirs;
mod things;
mod transition;
mod undo;
mod unit;
mod users;
mod voice;

use std::borrow::Cow;
use std::sync::Arc;

use sqlx::PgPool;

use crate::domain::relay::RelaySettings;
use crate::lasting::Lasting;
use crate::postgres::logins::LoginError;
use crate::postgres::{Relay, Repair};
use crate::telemetry::Scrubber;
use connections::Connections;

pub use agent_sql::{AgentLogin, AgentSql, Gate, RowLimits, SqlEnd};
pub use announced::Announced;
pub use campaigns::{
    CampaignDeed, CampaignError, CampaignFold, CampaignLog, CampaignOrder, CycleCame, CycleInHand, CycleWithState, DoneOutside,
    HandedCycle, HeldCycle, LastCall, NewCampaign, NewCampaignTask, PlannedDeed, Presences, ReadState, WholeCampaign,
};
pub use lease::Lease;
pub use neighbours::{Hint, Neighbours};
pub use operator::{LastWords, OperatorTask, OperatorWords, RecordedAction, Unsaid};
pub use places::{Places, ReadByProfile, TakenUp};
pub use queue::accepting::{Accepted, NewMessage};
pub use queue::answers::{Question, QuestionWay};
pub use queue::approvals::{DecideError, NewApproval};
pub use queue::calls::{Along, SeenAtEnd};
pub use queue::crashes::Crash;
pub use queue::due_tasks::{Fired, FiredTasks};
pub use queue::mcp::{MCP_WAITING, McpCall, McpTurn};
pub use queue::meter::{Attempt, BrokenAnswer, Meter, Metered, Meters, estimated};
pub use queue::signs::Look;
pub use queue::standing::{Beginning, Standing, Wanted};
pub use queue::steps::{NewStep, OpenCall, StoredStep};
pub use queue::v1::{Fingerprint, ShownAccepted, ShownError, ShownRequest};
pub use queue::writing::{Pen, Writing};
pub use rebuild::{Break, DifferingRow, Rebuild};
pub use relay::{
    Came, ClaimedMessage, CountedInstance, DeedResult, DueWebhook, FollowedUp, InstanceFilter, LoopbackMessage, NewIncoming,
    NewInstance, OutboxLook, RelayError, SendEnd, Webhook, WebhookEnd,
};
pub use room::Room;
pub use signals::{Elsewhere, Signals};
pub use theirs::{AboutConversation, TheirSignals, Theirs};
pub use things::activity::EventFilter;
pub use things::attachments::NewImage;
pub use things::breakdowns::NewBreakdown;
pub use things::capabilities::{CapabilitySummary, CheckedComponent, RecordedCall};
pub use things::capability_life::{KeptVersion, LifeError};
pub use things::catalogue::{Catalogue, Listed, ListedExternal};
pub use things::finding::{DeleteError, ListPlace};
pub use things::kv::KvOp;
pub use things::mcp_servers::{McpServer, McpTool};
pub use things::operations::{Earlier, NewOperation};
pub use things::reviews::{NewReview, RequestCost};
pub use things::secrets::SealedSecret;
pub use things::summaries::{NewSummary, Summaries, Summary};
pub use things::tasks::{SeenTask, TasksFound};
pub use things::todo_changes::TodoChanges;
pub use things::todos::KeptTodos;
pub use transition::CatalogueVersion;
pub use undo::UndoError;
pub use unit::{CallEnd, InterruptedCall, Judgement, Unit};
pub use users::{DoorSecret, Passwordless, Recognized, UserError, WhoIs};
pub use voice::{NewCall, VapiCall, VoiceError};

/// The database for the rest of the program. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    pool: Connections,
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
    relay: RelaySettings,
    writing: Writing,
    meters: Meters,
    handed: campaigns::HandedOn,
    catalogue: things::catalogue::Kept,
    known: things::known_messages::KnownByConversation,
    places: Places,
    users_of: theirs::KnownUsers,
}

/// The reason why the database could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another server holds the turn by now, or it has ended; the caller stops working on it.
    #[error("the turn is no longer ours to write")]
    LostLease,
    /// There is no such conversation.
    #[error("there is no conversation {0}")]
    NoConversation(crate::domain::ConversationId),
    /// It is the conversation of an instance of Relay, in which nothing is said or ordered from
    /// here.
    #[error("conversation {0} is Relay's, with a contact; say something there with: relay send {1} TEXT")]
    OfContact(crate::domain::ConversationId, crate::domain::InstanceId),
    /// A word about a question of the operator that came from elsewhere than its order; nothing was
    /// decided.
    #[error(
        "the question that waits is about an order of a phone: a word decides it only if that phone sends it. Here its buttons \
         decide, or level3 approvals"
    )]
    AskedByChannel,
    /// Another change of the capability came in the very moment a version of it was installed.
    #[error("the capability {0} was changed by somebody else just now; this is tried again")]
    Changed(String),
    /// Somebody else changed to-dos that a call had read; nothing of the call was written.
    #[error("the to-dos were changed by somebody else just now; this is tried again")]
    TodosChanged,
    /// Something happened in a campaign since the program read its state; nothing was written.
    #[error("the campaign was changed by somebody else just now; this is tried again")]
    CampaignChanged,
    /// The state does not take this input; nothing was written.
    #[error(transparent)]
    Transition(#[from] crate::domain::InvalidTransition),
    /// A stored value that this version cannot have written.
    #[error("the database holds a value this version cannot read: {0}")]
    Unreadable(String),
    /// The person has sent all the messages of the day that the tier allows; nothing was accepted.
    #[error(transparent)]
    Quota(#[from] crate::domain::todo::QuotaReached),
    /// The person would have more open tasks than anybody may; nothing was written.
    #[error(transparent)]
    TooMany(#[from] crate::domain::todo::TooMany),
    /// The device of the database is full; the text says what to do.
    #[error("{0}")]
    Full(String),
    /// The agent's login does not let us in, and could not be made anew.
    #[error("the agent's login to the database cannot be used")]
    AgentLogin(#[source] Box<LoginError>),
    /// The database refused, or did not answer.
    #[error("the database did not do what was asked")]
    Database(#[source] sqlx::Error),
}

impl StoreError {
    /// The words for the caller of something that could not be done; the rest is for the log.
    pub fn for_caller(&self) -> String {
        match self {
            Self::Full(told) => told.clone(),
            Self::Quota(reached) => reached.to_string(),
            Self::TooMany(full) => full.to_string(),
            Self::OfContact(..) | Self::AskedByChannel => self.to_string(),
            _ => "the database does not answer; try again".to_owned(),
        }
    }

    /// The database did not answer.
    pub fn broken(error: std::io::Error) -> Self {
        Self::Database(sqlx::Error::Io(error))
    }
}

impl Lasting for StoreError {
    fn lasts(&self) -> bool {
        match self {
            Self::Database(source) => source.lasts(),
            Self::AgentLogin(source) => source.lasts(),
            Self::LostLease
            | Self::Changed(_)
            | Self::TodosChanged
            | Self::CampaignChanged
            | Self::Quota(_)
            | Self::TooMany(_)
            | Self::OfContact(..) => false,
            _ => true,
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        // The recording functions raise these codes, see the migrations.
        let raised = error.as_database_error();
        match raised.and_then(|raised| raised.code()).as_deref() {
            Some("L3001" | "L3002" | "L3004") => Self::LostLease,
            Some("L3009") => Self::TodosChanged,
            Some("L3014") => Self::CampaignChanged,
            Some("L3008") => Self::Quota(crate::domain::todo::QuotaReached::Messages),
            Some("L3013") => Self::Quota(crate::domain::todo::QuotaReached::MessagesOfTier),
            // The message begins with the number of them.
            Some("L3012") => Self::TooMany(crate::domain::todo::TooMany::Tasks(
                raised.and_then(|raised| raised.message().split(' ').next()?.parse().ok()).unwrap_or_default(),
            )),
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

    /// The same database, with these settings of Relay.
    pub fn relaying(mut self, settings: RelaySettings) -> Self {
        self.relay = settings;
        self
    }

    /// The settings of Relay.
    pub fn relay_settings(&self) -> &RelaySettings {
        &self.relay
    }

    /// Text in the form that may be kept and shown: see [`clean`].
    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        clean(&self.scrubber, text)
    }

    /// The texts that models are writing in this process.
    pub fn writing(&self) -> &Writing {
        &self.writing
    }

    /// The count of statements in the agent's SQL, and of those that wait for it.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The announcements of commits.
    pub fn signals(&self) -> &Signals {
        &self.signals
    }

    /// A key for one purpose. It is the same after a restart, and only a holder of the server's own
    /// key can compute it.
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
    /// If it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query!("SELECT 1 AS one").fetch_one(&self.pool).await?;
        Ok(())
    }

    /// The places of the runner of this server.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Lets connections go that were kept at hand for a busy moment.
    pub fn rest(&self) {
        self.pool.rest();
    }

    /// Ends all connections; further calls fail.
    pub async fn close(&self) {
        self.ears.close().await;
        self.agent.close().await;
        self.pool.close().await;
    }
}

/// Text in the form that Postgres can hold: zero characters are replaced.
fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{FFFD}").into() } else { text.into() }
}

/// JSON in that form.
pub(crate) fn storable_json(json: &serde_json::Value) -> serde_json::Value {
    things::operations::shown(json)
}

/// Text in the form that may be kept: without zero characters, which Postgres cannot hold, and
/// without the values of secrets, whatever way they came in.
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
