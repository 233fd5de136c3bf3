//! The form of a tool: a value that says what it takes, reads a call without doing anything, and carries
//! it out with a permit. The set that holds all tools stands beside it, since each call is given it.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::arguments;
use super::kit::Kit;
use crate::domain::{CapabilityVersion, Effect, Finding, Outcome, Refusal, ShownCapability, ToolSpec, Toolset};
use crate::governor::{Permit, Policy, Proposal};
use crate::store::{Lease, StoreError, Unit};

/// What a model may call.
pub trait Tool: Send + Sync {
    /// The tool as a model is offered it.
    fn spec(&self) -> ToolSpec;

    /// Reads a call, and says what it would do. Nothing has happened yet, and a person is never asked about what could not be done.
    ///
    /// # Errors
    /// [`Failed::Refused`] when it cannot be carried out.
    fn prepare<'a>(&'a self, asked: Asked<'a>) -> BoxFuture<'a, Result<Prepared, Failed>>;

    /// Whether a call that was made can have changed something, as far as its arguments say.
    fn changes(&self, _arguments: &Value) -> bool {
        true
    }

    /// Whether a call that was made can have sent something to somebody.
    fn may_send(&self) -> bool {
        false
    }

    /// Whether a capability may call it, if it was granted so.
    fn for_capabilities(&self) -> bool {
        false
    }
}

/// Tools that come and go while the program runs.
pub trait Source: Send + Sync {
    /// All of them, as a model is offered them.
    ///
    /// # Errors
    /// When the database is not there.
    fn list<'a>(&'a self, kit: &'a Kit) -> BoxFuture<'a, Result<Vec<ToolSpec>, StoreError>>;

    /// The one of this name.
    ///
    /// # Errors
    /// When the database is not there.
    fn find<'a>(&'a self, kit: &'a Kit, name: &'a str) -> BoxFuture<'a, Result<Option<Arc<dyn Tool>>, StoreError>>;
}

/// A tool that the program brings.
#[derive(Clone)]
pub(super) struct Fixed {
    pub(super) spec: ToolSpec,
    pub(super) tool: Arc<dyn Tool>,
    /// True when it exists only for profiles that name it.
    pub(super) named_only: bool,
}

/// The sources of tools that come and go.
#[derive(Clone)]
pub(super) struct Sources {
    /// Those that the agent wrote.
    pub(super) capabilities: Arc<dyn Source>,
    /// Those of other people's servers.
    pub(super) external: Arc<dyn Source>,
}

/// All tools there are; a call is given them. Cheap enough to clone for each.
#[derive(Clone)]
pub struct Registry {
    pub(super) kit: Kit,
    pub(super) fixed: Arc<[Fixed]>,
    pub(super) sources: Sources,
}

/// A call as a tool reads it.
pub struct Asked<'a> {
    /// The tools there are.
    pub tools: &'a Registry,
    /// Those of them that exist for the profile.
    pub toolset: Toolset,
    /// The arguments, a JSON object.
    pub arguments: Value,
}

impl Asked<'_> {
    /// What tools work with.
    pub fn kit(&self) -> &Kit {
        &self.tools.kit
    }
}

/// A call that could be carried out.
pub struct Prepared {
    /// What carries it out.
    pub act: Box<dyn Act>,
    /// What it would do.
    pub effects: BTreeSet<Effect>,
    /// What it meets: the capability's version, or the number of the definition of an external tool.
    pub version: Option<i32>,
    /// The arguments as they are proposed, if they were completed.
    pub arguments: Option<Value>,
}

impl Prepared {
    /// A call with one effect.
    pub fn new(act: impl Act + 'static, effect: Effect) -> Self {
        Self { act: Box::new(act), effects: [effect].into(), version: None, arguments: None }
    }
}

/// A call that was prepared.
pub trait Act: Send + Sync {
    /// What a person is told who decides about it.
    ///
    /// # Errors
    /// When the database is not there.
    fn told<'a>(&'a self, kit: &'a Kit) -> BoxFuture<'a, Result<Told, StoreError>>;

    /// Carries it out.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or when the database is not there: then the call has no outcome yet and may be run again.
    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Done, StoreError>>;

    /// How it is done for a capability that calls it.
    fn inside(&self) -> Inside<'_> {
        Inside::Same
    }
}

/// What a person is told of a call.
#[derive(Default)]
pub struct Told {
    /// What will happen, a sentence each.
    pub what: Vec<String>,
    /// The capability that is written or replaced.
    pub capability: Option<ShownCapability>,
    /// Whether “always” means something here: for calls of one capability, or of one definition of an external tool. Other tools are set in
    /// the policy.
    pub can_always: bool,
}

impl Told {
    /// Sentences and no more.
    pub fn of(what: Vec<String>) -> Self {
        Self { what, ..Self::default() }
    }
}

/// What a call is carried out with.
#[derive(Clone, Copy)]
pub struct Doing<'a> {
    /// The tools there are.
    pub tools: &'a Registry,
    /// The law of the profile.
    pub policy: &'a Arc<Policy>,
    /// The turn that the call belongs to.
    pub lease: &'a Lease,
    /// What allows it.
    pub permit: &'a Arc<Permit>,
    /// What was judged.
    pub proposal: &'a Proposal,
    /// A person was told that all that is lost can be put back.
    pub promised: bool,
    /// When it began.
    pub now: DateTime<Utc>,
}

impl<'a> Doing<'a> {
    /// What tools work with.
    pub fn kit(&self) -> &'a Kit {
        &self.tools.kit
    }
}

/// What came of carrying a call out.
pub enum Done {
    /// An outcome, yet to be recorded.
    Outcome(Outcome),
    /// The same, with the transaction that the effect is in: both commit together.
    Within(Unit, Outcome),
    /// The outcome was recorded together with the effect.
    Recorded,
    /// Nothing was kept: it would do more than it was let to.
    Found(Finding),
    /// An outcome, after which the process is to be restarted.
    Restart(Outcome),
}

/// How a call is done for a capability.
pub enum Inside<'a> {
    /// As for the agent.
    Same,
    /// As a statement of the capability, on the login that it needs.
    Sql(&'a str, &'a [Value]),
    /// As a call within the call.
    Capability(&'a CapabilityVersion),
}

/// Why there is nothing to carry out.
#[derive(Debug)]
pub enum Failed {
    /// What the model reads.
    Refused(Refusal),
    /// The database.
    Store(StoreError),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Reads arguments into a tool's parameters.
///
/// # Errors
/// When they do not fit.
pub fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Failed> {
    arguments::read(arguments).map_err(Failed::Refused)
}

/// A tool that takes `T`.
pub fn spec<T: JsonSchema>(name: &str, description: &str) -> ToolSpec {
    ToolSpec { name: name.to_owned(), description: description.to_owned(), parameters: arguments::schema::<T>() }
}

/// What is there at once.
pub fn at_once<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    std::future::ready(value).boxed()
}

/// Whether effects are more than reading.
pub fn more_than_reading(effects: &BTreeSet<Effect>) -> bool {
    effects.iter().any(|effect| *effect != Effect::Read)
}
