//! The tools that models may call: those that the program brings, the capabilities that the agent
//! wrote, and those of external servers. A tool is a value; [`door`] is the one way in which a call
//! is carried out.

mod arguments;
mod capability;
pub mod contact;
mod door;
mod external;
mod kernel;
mod kit;
mod marks;
pub mod operator;
mod recorder;
mod registry;
mod relay;
mod screen;
pub mod todo;
mod tool;

use std::sync::{Arc, LazyLock};

use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::domain::{CallRequest, Profile, SharedSpec};
use crate::store::{CapabilitySummary, Catalogue, Store, StoreError};
use crate::telemetry::Metrics;

pub use capability::{ScriptReach, call_capability, offer};
pub use door::AfterCall;
pub use kit::{Hands, Kit};
pub use marks::Marks;
pub use recorder::{Recorder, Recording};
pub use registry::Offered;
pub use screen::{DesktopScreen, MOST_PICTURE, ScreenError};
pub use tool::{
    Act, CallCard, Doing, Executed, FoundTool, Inside, Prepared, Preparing, Registry, Source, Tool, ToolError, at_once, read,
    spec,
};
use tool::{Sources, ToolsOf};

/// All tools that models may call, and the way to them. Cheap to clone.
#[derive(Clone)]
pub struct Tools {
    registry: Registry,
}

/// The settings of all tools of a server.
#[derive(Clone, Copy, Debug)]
pub struct ToolSettings {
    /// How long a person has to decide, if the profile says nothing else.
    pub approval_expiry: TimeDelta,
    /// True when no capability and no external tool is offered or called.
    pub safe_mode: bool,
}

impl Tools {
    /// `restart` is cancelled when the agent asks for a full restart. `named` are tools beside
    /// those of every builder: each exists only for profiles that name it.
    pub fn new(
        store: Store,
        hands: Hands,
        clock: Arc<dyn Clock>,
        restart: CancellationToken,
        settings: ToolSettings,
        named: Vec<Arc<dyn Tool>>,
    ) -> Self {
        let ToolSettings { approval_expiry, safe_mode } = settings;
        let kit = Kit { store, hands, clock, restart, approval_expiry, safe_mode, metrics: Metrics::default(), recorder: None };
        let sources = Sources { capabilities: Arc::new(capability::CapabilitySource), external: Arc::new(external::External) };
        Self { registry: Registry::new(kit, kernel::tools(), vec![Arc::new(relay::RelayTool)], named, sources) }
    }

    /// The same tools, whose risky actions for the operator are recorded with pictures of the
    /// screen.
    pub fn recording(mut self, recorder: Option<Recorder>) -> Self {
        self.registry.kit.recorder = recorder;
        self
    }

    /// The same tools, whose calls `metrics` counts from now on.
    pub fn counted(mut self, metrics: Metrics) -> Self {
        self.registry.kit.metrics = metrics;
        self
    }

    /// The offer to a model of this profile.
    pub fn offered(&self, profile: &Profile, catalogue: &Catalogue) -> Offered {
        self.registry.offered(catalogue, ToolsOf { toolset: profile.tools, profile: profile.name })
    }

    /// The offer to those who give orders in conversations of this profile, without a model.
    pub fn offered_by_hand(&self, profile: &Profile, catalogue: &Catalogue) -> Offered {
        self.registry.offered(catalogue, ToolsOf { toolset: profile.by_hand, profile: profile.name })
    }

    /// The offer to the person of this profile: the things that they can order, in a few words.
    pub fn for_person(&self, profile: &Profile, catalogue: &Catalogue) -> Vec<String> {
        self.registry.for_person(catalogue, ToolsOf { toolset: profile.tools, profile: profile.name })
    }

    /// The names of all tools that this profile has, or can have: once a rule allows one, or a
    /// person enables it.
    pub fn known<'a>(&'a self, profile: &Profile, catalogue: &'a Catalogue) -> Vec<&'a str> {
        self.registry.known(catalogue, profile.tools)
    }

    /// The names of all tools that the program brings, for whichever profile.
    pub fn names(&self) -> Vec<&str> {
        self.registry.fixed.iter().map(|fixed| fixed.spec.name.as_str()).collect()
    }

    /// The live capabilities; none in safe mode.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn capabilities(&self) -> Result<Vec<CapabilitySummary>, StoreError> {
        self.registry.kit.capabilities().await
    }

    /// True if a call in a conversation of this profile may have changed something, as far as the
    /// tool says. Of a capability nobody knows.
    pub fn changes(&self, profile: &Profile, request: &CallRequest) -> bool {
        match (self.brought(profile, &request.name), arguments::parse(&request.arguments)) {
            (Some(tool), Ok(given)) => tool.changes(&given),
            (Some(_), Err(_)) => false,
            (None, _) => true,
        }
    }

    /// True if a call may have sent something to somebody. Of a capability nobody knows.
    pub fn may_send(&self, profile: &Profile, request: &CallRequest) -> bool {
        self.brought(profile, &request.name).is_none_or(|tool| tool.may_send())
    }

    /// The tool of this name that the program brings for a profile's model, or for orders there.
    fn brought(&self, profile: &Profile, name: &str) -> Option<&dyn Tool> {
        [profile.tools, profile.by_hand].into_iter().find_map(|toolset| self.registry.brought(toolset, name))
    }
}

/// The tools that every builder begins with, in their order.
pub fn first() -> &'static [SharedSpec] {
    static FIRST: LazyLock<Vec<SharedSpec>> = LazyLock::new(|| kernel::tools().iter().map(|tool| tool.spec().into()).collect());
    &FIRST
}
