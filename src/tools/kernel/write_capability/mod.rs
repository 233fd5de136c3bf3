//! `write_capability`: checks a draft, keeps it, makes it live.

mod draft;
mod plain_schema;
mod trial;
mod words;

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::domain::{CapabilityVersion, Draft, Effect, Outcome, Refusal, RefusalCode, ToolSpec, WRITE_CAPABILITY};
use crate::failpoint::{self, Point};
use crate::sandbox::{CheckedDraft, teaching};
use crate::store::{Catalogue, CheckedComponent, StoreError};
use crate::tools::kit::Kit;
use crate::tools::tool::{Act, CallCard, Doing, Executed, Prepared, Preparing, Registry, Tool, ToolError, read, spec};

use draft::DraftArguments;
use trial::Unfit;

const DESCRIPTION: &str = "Write a new tool for yourself, or a new version of one. The JavaScript is checked, built into a \
     sandboxed WASM component, kept, and callable in this same turn. It must define a function with the capability's name that takes \
     one params object and returns a string or JSON value.";

/// The tool.
pub(in crate::tools) struct WriteCapability;

/// A checked capability that is not yet live.
struct CheckedCapability {
    draft: Draft,
    checked: CheckedDraft,
    /// The live version that it would replace.
    live: Option<Arc<CapabilityVersion>>,
    /// The words on a trial call, if the author gave no tests.
    trial: Option<String>,
}

impl Tool for WriteCapability {
    /// The WIT says how grants are written.
    fn spec(&self) -> ToolSpec {
        let mut spec = spec::<DraftArguments>(WRITE_CAPABILITY, DESCRIPTION);
        if let Some(Value::String(description)) = spec.parameters.pointer_mut("/properties/grants/description") {
            description.push(' ');
            description.push_str(teaching::grants());
        }
        spec
    }

    /// If the author names no grants, the proposal is completed with those that the trial call
    /// needs. A person decides about them as about any grant.
    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        async move {
            let mut given = asked.arguments.clone();
            let silent = given.get("grants").is_none_or(|grants| grants.is_null() || *grants == json!({}));
            loop {
                let unfit = match prepare_once(asked.tools, asked.catalogue, read(given.clone())?).await? {
                    Ok(prepared) => return Ok(Prepared { arguments: silent.then_some(given), ..prepared }),
                    Err(unfit) => unfit,
                };
                let source = given["code"].as_str().unwrap_or_default();
                let mut grants = given.get("grants").and_then(Value::as_object).cloned().unwrap_or_default();
                if let Some(Value::Object(more)) = unfit.grants_of(source).filter(|_| silent) {
                    grants.extend(more.clone());
                }
                let grants = Value::Object(grants);
                if grants == given["grants"] || grants == json!({}) {
                    return Err(unfit.refusal.into());
                }
                given["grants"] = grants;
            }
        }
        .boxed()
    }
}

/// The inner error: the draft cannot do its work as it is.
async fn prepare_once(
    tools: &Registry,
    catalogue: &Catalogue,
    request: DraftArguments,
) -> Result<Result<Prepared, Unfit>, ToolError> {
    let kit = &tools.kit;
    let mut draft = request.into_draft()?;
    if tools.taken(&draft.name).is_some() {
        let message = format!("`{}` is one of the tools you begin with; choose another name", draft.name);
        return Err(Refusal::new(RefusalCode::InvalidName, message).into());
    }
    let checked = kit.hands.sandbox.check(&draft).await.map_err(|error| error.refusal())?;
    draft.source.clone_from(&checked.source);
    may_call(tools, &draft)?;
    if let Some(tool) = catalogue.external_tool(&draft.name).filter(|_| !kit.safe_mode) {
        let message = format!("`{}` is a tool of the MCP server `{}`; choose another name", draft.name, tool.server);
        return Err(Refusal::new(RefusalCode::Taken, message).into());
    }
    let live = catalogue.live(&kit.store, &draft.name).await?;
    if live.is_none() && catalogue.capability(&draft.name).is_some() {
        let message = format!("the user disabled the capability `{}`; ask them to enable it, or choose another name", draft.name);
        return Err(Refusal::new(RefusalCode::Disabled, message).into());
    }
    // Powers that a person approved for the live version need no second approval; wider ones do.
    let within = live.as_ref().is_some_and(|live| live.grants.cover(&draft.grants));
    let effect = if draft.grants.need_approval() && !within { Effect::Grant } else { Effect::Install };
    let version = live.as_ref().map(|live| live.version);
    let mut written = CheckedCapability { draft, checked, live, trial: None };
    // If the author gave no tests, one call with made-up arguments still shows whether the code
    // does what its author meant. It reaches nothing.
    if written.draft.tests.is_empty() {
        let there = catalogue.capabilities().filter(|_| !kit.safe_mode);
        let names: Vec<_> = there.map(|listed| listed.summary.name.clone()).collect();
        match trial::try_once(&kit.hands.sandbox, &written.version(), &names).await {
            Ok(told) => written.trial = told,
            Err(unfit) => return Ok(Err(unfit)),
        }
    }
    Ok(Ok(Prepared { version, ..Prepared::new(written, effect) }))
}

/// Refuses a draft that asks to call tools that no capability may call.
fn may_call(tools: &Registry, draft: &Draft) -> Result<(), Refusal> {
    let own = |tool: &&String| tools.taken(tool).is_some_and(|tool| !tool.for_capabilities());
    match draft.grants.tools.iter().find(own) {
        None => Ok(()),
        Some(tool) => {
            let message = format!("`{tool}` is for the agent itself; no capability can be granted it");
            Err(Refusal::new(RefusalCode::UnknownGrant, message))
        }
    }
}

impl Act for CheckedCapability {
    fn card<'a>(&'a self, kit: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        async move { Ok(CallCard { capability: Some(self.shown(kit).await?), ..CallCard::of(self.in_words()) }) }.boxed()
    }

    /// Installs the version that was checked and allowed.
    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move {
            let differences = self.differences(doing.kit()).await?;
            let Self { draft, checked, live, trial } = *self;
            let mut unit = doing.kit().store.begin(doing.now).await?;
            let built = CheckedComponent { component: &checked.component, sha256: &checked.sha256, engine: &checked.engine };
            let version = unit.install_capability(doing.permit, doing.lease.conversation, &draft, built, live.as_deref()).await?;
            let mut told = json!({
                "installed": draft.name,
                "version": version,
                "tests_passed": draft.tests.len(),
                "what_now": format!("`{}` is live: call it with the arguments that were asked for.", draft.name),
            });
            if let Some(trial) = trial {
                told["trial"] = trial.into();
            }
            if !differences.is_empty() {
                told["earlier_calls_that_now_give_something_else"] = json!(differences);
            }
            failpoint::hit(Point::MidCapability).map_err(StoreError::broken)?;
            Ok(Executed::Within(unit, Outcome::ok(told.to_string())))
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
