//! Builds all that works on turns, behind the doors: the hands, the tools with the executor, and
//! what gives them orders.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{DataFolder, FolderError, Opening, Outside, StartError};
use crate::browser::Browser;
use crate::channels::{Channels, ContactChannel, Loopback, LoopbackFaults, Orders, Program};
use crate::clock::Clock;
use crate::config::{Config, OperatorNumbers};
use crate::domain::relay::WHATSAPP;
use crate::egress::{self, Egress};
use crate::executor::Executor;
use crate::faces::campaigns::{self, Campaigns};
use crate::mcp::{self, Mcp};
use crate::model::choice::ModelSource;
use crate::operator::{Operator, OperatorSettings};
use crate::secrets::Vault;
use crate::store::Store;
use crate::telemetry::Metrics;
use crate::tools::{self, DesktopScreen, Hands, Marks, Tool, ToolSettings, Tools};

/// All that works on turns.
pub(super) struct Workshop {
    /// Carries out calls.
    pub(super) executor: Executor,
    /// Campaigns, which have a worker of their own.
    pub(super) campaigns: Campaigns,
    /// The operator, if anybody's messages are orders to it.
    pub(super) operator: Option<Operator>,
    /// The channels to contacts.
    pub(super) channels: Channels,
}

/// The ways by which tools reach the outside. Calls that a crash cut off are settled.
pub(super) async fn hands(
    config: &Config,
    folder: &DataFolder,
    opening: Opening,
    store: &Store,
    outside: &Outside,
) -> Result<Hands, StartError> {
    let scrubber = &outside.scrubber;
    let vault = Vault::open(folder.path(), store.clone(), Arc::clone(&outside.random), scrubber.clone()).await?;
    let limits = mcp::McpLimits { call: config.mcp_call.into(), ..mcp::McpLimits::default() };
    let mcp = Mcp::new(vault.clone(), scrubber.clone(), config.programs.clone(), limits);
    let (resolver, limits) = (Arc::clone(&outside.resolver), egress::EgressLimits::default());
    let egress = Egress::new(resolver, config.egress_allow.clone(), limits, scrubber.clone());
    let sandbox = opening.0.await.expect("opening the sandbox does not panic")?;
    let marks = Marks::open(&folder.calls()).map_err(|source| FolderError::Unusable { path: folder.calls(), source })?;
    marks.settle(store, config.capability_crashes, outside.clock.now()).await?;
    Ok(Hands { marks, sandbox, egress, mcp, vault })
}

/// The program's own tools that exist only for profiles that name them. The operator's pictures of
/// the screen are kept in the folder `media`.
pub fn named_tools(models: &Arc<ModelSource>, screen: DesktopScreen, browser: &Browser, media: PathBuf) -> Vec<Arc<dyn Tool>> {
    let of_operator = tools::operator::tools(screen, media);
    [tools::todo::tools(models), tools::contact::tools(), of_operator, campaigns::tools(browser)].concat()
}

impl Workshop {
    /// Builds it. Its tools may ask for a `restart`.
    pub(super) fn of(
        config: &Config,
        folder: &DataFolder,
        store: &Store,
        hands: &Hands,
        outside: &Outside,
        restart: &CancellationToken,
        metrics: &Metrics,
    ) -> Self {
        let Outside { clock, models, profiles, loopback, .. } = outside;
        let screen = DesktopScreen::of(&config.screen);
        let browser = Browser::new(config.browser.clone());
        let named = [named_tools(models, screen.clone(), &browser, folder.media()), outside.tools.clone()].concat();
        let recorder = tools::Recorder::new(screen, folder.recordings(), outside.scrubber.clone());
        let settings = ToolSettings { approval_expiry: config.approval_expiry.into(), safe_mode: config.safe_mode };
        let tools = Tools::new(store.clone(), hands.clone(), Arc::clone(clock), restart.clone(), settings, named)
            .counted(metrics.clone())
            .recording(config.operator.is_some().then_some(recorder));
        let executor = Executor {
            store: store.clone(),
            tools,
            profiles: profiles.clone(),
            models: Arc::clone(models),
            clock: Arc::clone(clock),
            limits: config.turn,
            metrics: metrics.clone(),
        };
        let campaigns = Campaigns::new(executor.clone(), hands.clone(), browser, folder.path().join("campaigns"));
        let operator = config.operator.clone().map(|OperatorNumbers { channel, numbers, account: _, limits: _ }| {
            let settings = OperatorSettings { numbers, channel, home: folder.path().to_owned() };
            Operator::new(store.clone(), Arc::clone(clock), profiles.clone(), settings)
        });
        let orders = operator.as_ref().map(|operator| operator.orders() as Arc<dyn Orders>);
        let channels = channels(config, folder, store, clock, loopback.clone()).ordered_by(orders);
        Self { executor, campaigns, operator, channels }
    }
}

/// The channels to contacts that are set up.
fn channels(config: &Config, folder: &DataFolder, store: &Store, clock: &Arc<dyn Clock>, faults: LoopbackFaults) -> Channels {
    let loopback: Arc<dyn ContactChannel> = Arc::new(Loopback::new(store.clone(), Arc::clone(clock), faults));
    let whatsapp = config.whatsapp.clone().map(|path| -> Arc<dyn ContactChannel> {
        let account = config.operator.as_ref().and_then(|operator| operator.account.as_ref()).map(ToString::to_string);
        let (own, kept) = (folder.channel(WHATSAPP), folder.media());
        Arc::new(Program::new(WHATSAPP, path, own, &config.programs, kept, Arc::clone(clock)).paired_with(account))
    });
    Channels::new(whatsapp.into_iter().chain([loopback]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Toolset;
    use crate::model::tour::Tour;
    use crate::profiles::Profiles;

    #[test]
    fn each_tool_that_a_profile_names_is_brought_by_the_program() {
        let models = Arc::new(ModelSource::fixed(Arc::new(Tour)));
        let named = named_tools(&models, DesktopScreen::default(), &Browser::new(None), PathBuf::new());
        let mut brought: Vec<String> = tools::first().iter().map(|spec| spec.name.clone()).collect();
        brought.extend(named.iter().map(|tool| tool.spec().name));
        let mut seen = 0;
        for profile in Profiles::default().all() {
            for toolset in [profile.tools, profile.by_hand] {
                let (Toolset::Only(names) | Toolset::Capabilities(names)) = toolset else { continue };
                for name in names {
                    assert!(brought.iter().any(|brought| brought == name), "{} names `{name}`", profile.name);
                }
                seen += names.len();
            }
        }
        assert!(seen > 60, "only {seen} names were seen, so hardly anything was checked");
    }
}
