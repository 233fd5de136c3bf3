//! Installed capabilities that a person named in a campaign's environment: offered in the words of
//! the catalogue, and called through the same door as all else, each call approved with its version
//! and its powers.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use super::Campaigns;
use super::request::{self, FingerprintedWords};
use super::script::{PresenceOf, not_run};
use crate::domain::campaign::conditions::needed;
use crate::domain::campaign::judge::{capabilities_of, is_own_tool};
use crate::domain::campaign::proposal::ExecuteTool;
use crate::domain::campaign::words::{ProgramWords, tool_lines};
use crate::domain::campaign::{CampaignProposal, CampaignState, Requirement};
use crate::domain::{
    CallAccount, CampaignTaskId, CapabilityVersion, Effect, Outcome, Refusal, ToolSpec, shortened, without_middle,
};
use crate::store::{DoneOutside, StoreError};
use crate::tools::{Act, CallCard, Doing, Executed, Kit, Prepared, Preparing, ToolError, call_capability, offer};

/// The most bytes of a capability's description that a model is shown.
const MOST_DESCRIPTION: usize = 300;
/// The most bytes of a result that are kept and told.
const MOST_RESULT: usize = 1_000;

impl Campaigns {
    /// The tools of `execute_tool` with a line for each; of capabilities those that the environment
    /// names and that are installed.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn tool_lines(&self, state: &CampaignState) -> Result<BTreeMap<String, String>, StoreError> {
        let (mut lines, named) = (tool_lines(), capabilities_of(state));
        if named.is_empty() {
            return Ok(lines);
        }
        let installed = self.0.executor.tools.capabilities().await?;
        lines.extend(installed.iter().filter(|one| named.contains(&one.name)).map(|one| {
            let ToolSpec { name, description, parameters } = offer(one);
            (name, format!("{}; its arguments have the schema {parameters}", shortened(&description, MOST_DESCRIPTION)))
        }));
        Ok(lines)
    }

    /// The words of this program in a request about a state. They are the same for all states that
    /// name no capability.
    pub(super) async fn words(&self, state: &CampaignState) -> Result<Arc<FingerprintedWords>, StoreError> {
        if capabilities_of(state).is_empty() {
            return Ok(request::shared_words());
        }
        Ok(FingerprintedWords::of(ProgramWords { tools: self.tool_lines(state).await?, ..request::words() }))
    }

    /// The faults of the capabilities that an environment names or a task needs, each with what to
    /// do.
    pub(super) async fn capability_faults(&self, state: &CampaignState) -> Result<Vec<String>, StoreError> {
        let (named, needed) = (capabilities_of(state), tools_needed(state));
        if named.is_empty() && needed.is_empty() {
            return Ok(Vec::new());
        }
        let installed = self.0.executor.tools.capabilities().await?;
        let is_missing = |name: &str| installed.iter().all(|one| one.name != name);
        let unknown = needed.into_iter().filter(|(tool, _)| is_missing(tool) && !named.contains(*tool));
        let mut faults: Vec<_> = unknown
            .map(|(tool, task)| {
                format!(
                    "task {task} needs that {tool} has succeeded, which is no tool of a campaign and no installed capability; block it and \
                     add another, or install the capability and name it in the environment: level3 capability list"
                )
            })
            .collect();
        let missing = named.iter().filter(|name| is_missing(name));
        let fault = |name: &String| {
            format!(
                "the environment names the capability {name}, which is not installed or is switched off; install it, or leave it out: \
                 level3 capability list"
            )
        };
        faults.extend(missing.map(fault));
        Ok(faults)
    }
}

/// The tools that open tasks need and that are none of the program's own, each with a task: they
/// can only be capabilities.
fn tools_needed(state: &CampaignState) -> BTreeMap<&str, CampaignTaskId> {
    let tools = needed(state).filter_map(|(task, wanted)| match wanted {
        Requirement::ToolSucceeded { tool, .. } if !is_own_tool(tool) => Some((tool.as_str(), task)),
        _ => None,
    });
    tools.collect()
}

/// A call of a capability that may be carried out.
pub(super) struct ReadCapability {
    proposal: CampaignProposal,
    live: Arc<CapabilityVersion>,
    arguments: Value,
    card: Vec<String>,
    presence: PresenceOf,
}

impl ReadCapability {
    /// The call of the live version, whose number its approval is bound to. Each call is asked
    /// about: no approval context stands for one.
    ///
    /// # Errors
    /// [`ToolError::Refused`] if it is not installed, or the arguments do not fit its schema.
    pub(super) async fn of(
        run: &ExecuteTool,
        card: Vec<String>,
        presence: PresenceOf,
        asked: &Preparing<'_>,
    ) -> Result<Prepared, ToolError> {
        let (kit, name) = (asked.kit(), &run.tool);
        // There is none in safe mode.
        let there = kit.capabilities().await?.iter().any(|one| one.name == *name);
        let live = if there { asked.catalogue.live(&kit.store, name).await? } else { None };
        let Some(live) = live else {
            let why = format!("the capability {name} is not installed or is switched off; the person sees to that");
            return Err(Refusal::arguments(why).into());
        };
        let arguments = Value::Object(run.arguments.clone());
        kit.hands.sandbox.validate_params(&live, &arguments).map_err(|error| error.refusal())?;
        let powers = live.grants.in_words();
        let mut card = card;
        card.push(format!("It is the capability `{name}`, version {}: {}", live.version, live.description));
        card.push(match powers.is_empty() {
            true => "It reaches nothing outside its sandbox.".to_owned(),
            false => format!("It may: {}", powers.join(" ")),
        });
        let version = Some(live.version);
        let proposal = CampaignProposal::ExecuteTool(run.clone());
        let effects = [Effect::Call, Effect::Script].into();
        Ok(Prepared { version, effects, ..Prepared::new(Self { proposal, live, arguments, card, presence }, Effect::Script) })
    }
}

impl Act for ReadCapability {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        std::future::ready(Ok(CallCard::of(self.card.clone()))).boxed()
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move {
            let kit = doing.kit();
            let Self { proposal, live, arguments, presence, .. } = *self;
            if presence.is_away(kit) {
                return not_run(doing, !live.grants.in_words().is_empty()).await;
            }
            kit.store.begin_deed(doing.lease, doing.permit, &doing.proposal.tool, None, kit.clock.now()).await?;
            let outcome = call_capability(doing, &live, &arguments).await?;
            let account = CallAccount { begun: true, ..outcome.account };
            let outcome = Outcome { account, ..outcome };
            let (name, version, size) = (&live.name, live.version, outcome.result.len());
            if !outcome.ok {
                let why = without_middle(reason(&outcome.result), MOST_RESULT);
                let result = format!("The capability {name} version {version} failed: {why}");
                return Ok(Executed::Outcome(Outcome { result, refusal: None, ..outcome }));
            }
            let result = without_middle(outcome.result.clone(), MOST_RESULT);
            let told = format!("The capability {name} version {version} did its work; its result has {size} bytes: {result}");
            let mut unit = kit.store.begin(kit.clock.now()).await?;
            let done = Some(DoneOutside::Called(&told));
            match unit.carry_out_proposal(doing.permit, doing.lease, &proposal, done).await? {
                Ok(result) => Ok(Executed::Within(unit, Outcome { result, ..outcome })),
                Err(why) => {
                    drop(unit);
                    // It happened all the same.
                    Ok(Executed::Outcome(Outcome { ok: false, result: format!("{told} But: {why}"), ..outcome }))
                }
            }
        }
        .boxed()
    }
}

/// The sentence of a failure, which is JSON for the one who writes capabilities.
fn reason(result: &str) -> String {
    let told = serde_json::from_str::<Value>(result).ok();
    told.and_then(|told| told["message"].as_str().map(str::to_owned)).unwrap_or_else(|| result.to_owned())
}
