//! The capabilities that the agent wrote, as tools.

mod reach;

pub use reach::ScriptReach;

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use super::arguments;
use super::kit::Kit;
use super::tool::{Act, CallCard, Doing, Executed, FoundTool, Inside, Prepared, Preparing, Source, Tool, ToolError, at_once};
use crate::domain::{CallAccount, CapabilityVersion, Effect, Outcome, SharedSpec, ToolSpec};
use crate::store::{CapabilitySummary, Catalogue, Crash, StoreError};

/// All live capabilities.
pub(super) struct CapabilitySource;

/// One of them.
struct CapabilityTool(Arc<CapabilityVersion>);

/// Calls a version with these arguments, which the law has judged.
pub(super) async fn run(doing: Doing<'_>, live: &CapabilityVersion, arguments: &Value) -> Result<Executed, StoreError> {
    call_capability(doing, live, arguments).await.map(Executed::Outcome)
}

/// The same for one who records the outcome together with something else.
///
/// # Errors
/// If the ledger could not be written: then the call is run again.
pub async fn call_capability(doing: Doing<'_>, live: &CapabilityVersion, arguments: &Value) -> Result<Outcome, StoreError> {
    let kit = doing.kit();
    let under_way = Crash { call: doing.permit.call(), fence: doing.lease.fence, name: live.name.clone(), version: live.version };
    let _mark = kit.hands.marks.set(&under_way);
    let outcome = reach::call(doing, live, arguments).await?;
    kit.metrics.capability_call(outcome.ok);
    // By this a crash finds the calls that went well, whatever the tool is called.
    let capability = (doing.proposal.tool != live.name).then(|| live.name.clone());
    Ok(Outcome { account: CallAccount { capability, ..outcome.account }, ..outcome })
}

/// A capability as a model is offered it.
pub fn offer(summary: &CapabilitySummary) -> ToolSpec {
    let mut parameters = summary.parameters.clone();
    arguments::spelled_out(&mut parameters);
    ToolSpec { name: summary.name.clone(), description: summary.description.clone(), parameters }
}

impl Source for CapabilitySource {
    fn list(&self, catalogue: &Catalogue) -> Vec<SharedSpec> {
        catalogue.capabilities().map(|listed| listed.offer.get_or_init(|| offer(&listed.summary).into()).clone()).collect()
    }

    fn find<'a>(&'a self, kit: &'a Kit, catalogue: &'a Catalogue, name: &'a str) -> BoxFuture<'a, FoundTool> {
        async move {
            let live = catalogue.live(&kit.store, name).await?;
            Ok(live.map(|live| Arc::new(CapabilityTool(live)) as Arc<dyn Tool>))
        }
        .boxed()
    }
}

impl Tool for CapabilityTool {
    fn spec(&self) -> ToolSpec {
        let CapabilityVersion { name, description, parameters, version, .. } = CapabilityVersion::clone(&self.0);
        offer(&CapabilitySummary { name, version, description, parameters })
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        let live = &self.0;
        at_once(match asked.kit().hands.sandbox.validate_params(live, &asked.arguments) {
            Ok(()) => Ok(Prepared { version: Some(live.version), ..Prepared::new(Self(Arc::clone(live)), Effect::Call) }),
            Err(error) => Err(error.refusal().into()),
        })
    }

    fn may_send(&self) -> bool {
        true
    }

    fn for_capabilities(&self) -> bool {
        true
    }
}

impl Act for CapabilityTool {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        let CapabilityVersion { name, version, grants, .. } = &*self.0;
        let powers = grants.in_words();
        let what = if powers.is_empty() {
            vec![format!("Calls the capability `{name}`, version {version}. It reaches nothing outside its sandbox.")]
        } else {
            let first = format!("Calls the capability `{name}`, version {version}, with the arguments below. It may:");
            [first].into_iter().chain(powers).collect()
        };
        at_once(Ok(CallCard { can_always: true, ..CallCard::of(what) }))
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move { run(doing, &self.0, &doing.proposal.arguments).await }.boxed()
    }

    fn inside(&self) -> Inside<'_> {
        Inside::Capability(&self.0)
    }
}
