//! The form of a tool: a value that says what it takes, reads a call without doing anything, and
//! carries it out with a permit. The set that holds all tools stands beside it, since each call is
//! given it.

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
use super::recorder::Recording;
use crate::domain::{
    CallAccount, CapabilityVersion, Effect, Finding, Outcome, Refusal, RowLoss, SharedSpec, ShownCapability, ToolSpec, Toolset,
};
use crate::governor::{Permit, Policy, Proposal};
use crate::store::{Catalogue, Lease, PlannedDeed, StoreError, TodoChanges, Unit};

/// Something that a model may call.
pub trait Tool: Send + Sync {
    /// The tool as a model is offered it.
    fn spec(&self) -> ToolSpec;

    /// Reads a call, and gives its effects. Nothing has happened yet. No person is ever asked about
    /// a call that cannot be carried out.
    ///
    /// # Errors
    /// [`ToolError::Refused`] if it cannot be carried out.
    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>>;

    /// True if a call may have changed something, as far as its arguments say.
    fn changes(&self, _arguments: &Value) -> bool {
        true
    }

    /// True if a call may have sent something to somebody.
    fn may_send(&self) -> bool {
        false
    }

    /// True if a capability may be granted to call it.
    fn for_capabilities(&self) -> bool {
        false
    }

    /// The tool as a person is offered it: a few words behind “I can”. A tool that is only a means
    /// to another has none, and so has one that could do nothing now.
    fn for_person(&self, _kit: &Kit, _catalogue: &Catalogue) -> Option<String> {
        None
    }
}

/// Tools that come and go while the program runs.
pub trait Source: Send + Sync {
    /// All of them, as a model is offered them.
    fn list(&self, catalogue: &Catalogue) -> Vec<SharedSpec>;

    /// The one of this name.
    ///
    /// # Errors
    /// If the database does not answer.
    fn find<'a>(&'a self, kit: &'a Kit, catalogue: &'a Catalogue, name: &'a str) -> BoxFuture<'a, FoundTool>;
}

/// A tool, if there is one of the name.
pub type FoundTool = Result<Option<Arc<dyn Tool>>, StoreError>;

/// A tool that the program brings.
#[derive(Clone)]
pub(super) struct Fixed {
    pub(super) spec: SharedSpec,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) exists: Exists,
}

/// The builders for which a tool of the program exists. For any other set it exists if that names
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exists {
    /// All of them.
    ForAll,
    /// Those that have a rule which allows it.
    ByRule,
    /// None of them.
    ForNone,
}

/// The tools of one profile: a set of it, and its name, since some exist only by a rule of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolsOf<'a> {
    pub(super) toolset: Toolset,
    pub(super) profile: &'a str,
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
pub struct Preparing<'a> {
    /// The tools that exist.
    pub tools: &'a Registry,
    /// The catalogue by which it was found.
    pub catalogue: &'a Catalogue,
    /// The turn that the call belongs to, and by its conversation the user whose things the call is
    /// about.
    pub lease: &'a Lease,
    /// The arguments, a JSON object.
    pub arguments: Value,
}

impl Preparing<'_> {
    /// The things that tools work with.
    pub fn kit(&self) -> &Kit {
        &self.tools.kit
    }
}

/// A call that could be carried out.
pub struct Prepared {
    /// The part that carries it out.
    pub act: Box<dyn Act>,
    /// Its effects.
    pub effects: BTreeSet<Effect>,
    /// The capability's version that it is about, or the number of an external tool's definition.
    pub version: Option<i32>,
    /// The proposed arguments, if the tool completed them.
    pub arguments: Option<Value>,
    /// The approval context of a campaign that allows it without a question.
    pub context: Option<i64>,
}

impl Prepared {
    /// A call with one effect.
    pub fn new(act: impl Act + 'static, effect: Effect) -> Self {
        Self { act: Box::new(act), effects: [effect].into(), version: None, arguments: None, context: None }
    }
}

/// A prepared call.
pub trait Act: Send + Sync {
    /// The words for the person who decides about it.
    ///
    /// # Errors
    /// If the database does not answer.
    fn card<'a>(&'a self, kit: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>>;

    /// Carries the call out.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or an error if the database does not answer: then the call has no
    /// outcome yet and may be run again.
    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>>;

    /// The losses that the tool could count beforehand, for the first question about the call.
    fn foreseen(&self) -> Finding {
        Finding::default()
    }

    /// The way in which it is carried out if a capability calls it.
    fn inside(&self) -> Inside<'_> {
        Inside::Same
    }
}

/// The words for the person who decides about a call.
#[derive(Default)]
pub struct CallCard {
    /// Its effects, a sentence each.
    pub what: Vec<String>,
    /// The question, if it is put in the words of who asks.
    pub question: Option<String>,
    /// The capability that it writes or replaces.
    pub capability: Option<ShownCapability>,
    /// True if “always” means something here: it does for calls of one capability, or of one
    /// definition of an external tool. Rules for other tools are set in the policy.
    pub can_always: bool,
}

impl CallCard {
    /// Sentences and no more.
    pub fn of(what: Vec<String>) -> Self {
        Self { what, ..Self::default() }
    }
}

/// The means to carry a call out.
#[derive(Clone, Copy)]
pub struct Doing<'a> {
    /// The tools that exist.
    pub tools: &'a Registry,
    /// The law of the profile.
    pub policy: &'a Arc<Policy>,
    /// The turn that the call belongs to.
    pub lease: &'a Lease,
    /// The permit that allows it.
    pub permit: &'a Arc<Permit>,
    /// The proposal that the law judged.
    pub proposal: &'a Proposal,
    /// True if a person was told that all lost rows can be put back.
    pub promised: bool,
    /// The lost rows that a person was shown, if any: it may lose no more.
    pub shown: &'a [RowLoss],
    /// The recording of the call, if its risk is high.
    pub recording: Option<&'a Recording>,
    /// The time at which it began.
    pub now: DateTime<Utc>,
}

impl<'a> Doing<'a> {
    /// The things that tools work with.
    pub fn kit(&self) -> &'a Kit {
        &self.tools.kit
    }
}

/// The end of carrying a call out.
pub enum Executed {
    /// An outcome that is not recorded yet.
    Outcome(Outcome),
    /// The same, with changes of the person's to-dos that are not written yet: both are one
    /// statement.
    Changing {
        /// The changes.
        todos: TodoChanges,
        /// The outcome.
        outcome: Outcome,
        /// The outcome if the database refuses the changes; if there is none, the call may be run
        /// again.
        refused: Option<Outcome>,
    },
    /// The same, with the transaction that holds the effect: both commit together.
    Within(Unit, Outcome),
    /// The same, with a deed in a campaign that is not written yet: both are one statement.
    Deed(Box<PlannedDeed>, Outcome),
    /// The outcome is recorded already, together with the effect.
    Recorded,
    /// The call would do more than it was allowed to, so nothing of it was kept.
    Found(Finding),
    /// Somebody else changed in this moment what a person was shown, or what it was decided by, so
    /// nothing of it was kept.
    Overtaken,
    /// An outcome, after which the process restarts.
    Restart(Outcome),
}

impl Executed {
    /// The same of a call whose beginning is an event of its own.
    #[must_use]
    pub fn begun(self) -> Self {
        let begun = |outcome: Outcome| {
            let account = CallAccount { begun: true, ..outcome.account };
            Outcome { account, ..outcome }
        };
        match self {
            Self::Outcome(outcome) => Self::Outcome(begun(outcome)),
            Self::Within(unit, outcome) => Self::Within(unit, begun(outcome)),
            other => other,
        }
    }
}

/// The way in which a call is carried out for a capability.
pub enum Inside<'a> {
    /// As for the agent.
    Same,
    /// As a statement of the capability, on the login that it needs.
    Sql(&'a str, &'a [Value]),
    /// As a call within the call.
    Capability(&'a Arc<CapabilityVersion>),
}

/// The reason why nothing can be carried out.
#[derive(Debug)]
pub enum ToolError {
    /// The refusal, for the model.
    Refused(Refusal),
    /// An error of the database.
    Store(StoreError),
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Refusal> for ToolError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Reads arguments into a tool's parameters.
///
/// # Errors
/// If they do not fit.
pub fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    arguments::read(arguments).map_err(ToolError::Refused)
}

/// The same for a tool that takes these and no others; `hidden` is one of which no model is told.
///
/// # Errors
/// If they do not fit, or if one is another.
pub fn read_known<T: DeserializeOwned>(known: &[&str], hidden: &str, arguments: &Value) -> Result<T, ToolError> {
    arguments::only(known, hidden, arguments)?;
    read(arguments.clone())
}

/// A tool that takes `T`.
pub fn spec<T: JsonSchema>(name: &str, description: &str) -> ToolSpec {
    ToolSpec { name: name.to_owned(), description: description.to_owned(), parameters: arguments::schema::<T>() }
}

/// A future that is ready at once.
pub fn at_once<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    std::future::ready(value).boxed()
}

/// True if the effects are more than reading.
pub fn more_than_reading(effects: &BTreeSet<Effect>) -> bool {
    effects.iter().any(|effect| *effect != Effect::Read)
}
