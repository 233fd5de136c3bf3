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
use crate::store::{CheckedComponent, StoreError};
use crate::tools::kit::Kit;
use crate::tools::tool::{Act, CallCard, Doing, Executed, Prepared, Preparing, Registry, Tool, ToolError, read, spec};

use draft::{DraftArguments, out_of_text};
use trial::Unfit;

const DESCRIPTION: &str = "Write a new tool for yourself, or a new version of one. The JavaScript is checked, built into a \
     sandboxed WASM component, kept, and callable in this same turn. It must define a function with the capability's name that takes \
     one params object and returns a string or JSON value.";

/// The tool.
pub(in crate::tools) struct WriteCapability;

/// The ways in which the tools differ that write capabilities.
#[derive(Clone, Copy)]
pub(in crate::tools) struct WritingManner {
    /// The words for a model on how one that was written is called, by its name.
    pub(in crate::tools) what_now: fn(&str) -> String,
    /// True if one that is disabled may be replaced, since a person confirms each call.
    pub(in crate::tools) revives: bool,
}

/// A checked capability that is not yet live.
struct CheckedCapability {
    manner: WritingManner,
    draft: Draft,
    checked: CheckedDraft,
    /// The live version that it would replace.
    live: Option<Arc<CapabilityVersion>>,
    /// True if it would replace one that is disabled.
    revives: bool,
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

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        fn called_by_name(name: &str) -> String {
            format!("`{name}` is live: call it with the arguments that were asked for.")
        }
        Self::prepare_in(asked, WritingManner { what_now: called_by_name, revives: false })
    }
}

impl WriteCapability {
    /// Reads a call of a tool that writes in this manner. If the author names no grants, the
    /// proposal is completed with those that the trial call needs. A person decides about them as
    /// about any grant.
    ///
    /// # Errors
    /// As for [`Tool::prepare`].
    pub(in crate::tools) fn prepare_in(
        asked: Preparing<'_>,
        manner: WritingManner,
    ) -> BoxFuture<'_, Result<Prepared, ToolError>> {
        async move {
            let mut given = out_of_text(asked.arguments.clone())?;
            let silent = given.get("grants").is_none_or(|grants| grants.is_null() || *grants == json!({}));
            loop {
                let unfit = match prepare_once(&asked, read(given.clone())?, manner).await? {
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
    Preparing { tools, catalogue, .. }: &Preparing<'_>,
    request: DraftArguments,
    manner: WritingManner,
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
    let revives = live.is_none() && catalogue.capability(&draft.name).is_some();
    if revives && !manner.revives {
        let message = format!("the user disabled the capability `{}`; ask them to enable it, or choose another name", draft.name);
        return Err(Refusal::new(RefusalCode::Disabled, message).into());
    }
    // Powers that a person approved for the live version need no second approval; wider ones do.
    let within = live.as_ref().is_some_and(|live| live.grants.cover(&draft.grants));
    let effect = if draft.grants.need_approval() && !within { Effect::Grant } else { Effect::Install };
    let version = live.as_ref().map(|live| live.version);
    let mut written = CheckedCapability { manner, draft, checked, live, revives, trial: None };
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
            let Self { manner, draft, checked, live, revives: _, trial } = *self;
            let mut unit = doing.kit().store.begin(doing.now).await?;
            let built = CheckedComponent { component: &checked.component, sha256: &checked.sha256, engine: &checked.engine };
            let version = unit.install_capability(doing.permit, doing.lease.conversation, &draft, built, live.as_deref()).await?;
            let mut told = json!({
                "installed": draft.name,
                "version": version,
                "tests_passed": draft.tests.len(),
                "what_now": (manner.what_now)(&draft.name),
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
