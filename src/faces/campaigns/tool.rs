//! The eight proposals as tools: each is read exactly, judged by the state as it is, and carried
//! out in the transaction of its outcome.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use super::browser::ReadPage;
use super::capability::ReadCapability;
use super::request::spec_of;
use super::script::{PresenceOf, ReadScript};
use crate::browser::Browser;
use crate::domain::campaign::judge::{capabilities_of, leads_named, read_task, validate};
use crate::domain::campaign::page::{PageHosts, READ, SCREENSHOT, is_browser_tool};
use crate::domain::campaign::proposal::{AnalyzeLeads, ExecuteTool, GenerateMessage, PersistArtifact, RequestUserInput};
use crate::domain::campaign::script::{ScriptPlan, asks_for_hosts};
use crate::domain::campaign::shown::{LeadChanges, bound};
use crate::domain::campaign::visit::PagePlan;
use crate::domain::campaign::{
    ArtifactType, CampaignProposal, CampaignState, ContextKind, ProposalKind, Requirement, TaskMetadata,
};
use crate::domain::{CampaignId, Effect, Outcome, RUN_SCRIPT, Refusal, RefusalCode, SCORE_LEADS, ToolSpec};
use crate::store::{CampaignError, HandedCycle, HeldCycle, PlannedDeed, StoreError};
use crate::tools::{Act, CallCard, Doing, Executed, Kit, Prepared, Preparing, Tool, ToolError};

/// The eight, for campaigns alone.
pub fn tools(browser: &Browser) -> Vec<Arc<dyn Tool>> {
    let tool = |kind: &ProposalKind| -> Arc<dyn Tool> { Arc::new(ProposalTool { kind: *kind, browser: browser.clone() }) };
    ProposalKind::ALL.iter().map(tool).collect()
}

struct ProposalTool {
    kind: ProposalKind,
    browser: Browser,
}

/// A proposal that may be carried out.
struct ReadProposal {
    proposal: CampaignProposal,
    card: Vec<String>,
    /// The changes to leads that a person is shown.
    changes: Option<LeadChanges>,
    /// The state that it was judged by.
    state: CampaignState,
    /// The cycle that has handed it on, if it has.
    held: Option<HeldCycle>,
}

/// Changes to leads in lines for a person, by the leads as they are now.
async fn in_lines(changes: LeadChanges, campaign: CampaignId, kit: &Kit) -> Result<Vec<String>, StoreError> {
    let leads = kit.store.leads_of(campaign, i64::MAX).await?;
    // Thousands of leads by hundreds of rules would hold up the other turns.
    let lines = tokio::task::spawn_blocking(move || changes.lines(leads)).await;
    lines.map_err(|_| StoreError::broken(std::io::Error::other("the question was cut off")))
}

impl Tool for ProposalTool {
    fn spec(&self) -> ToolSpec {
        spec_of(self.kind)
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        async move {
            let refused = |why: String| ToolError::Refused(Refusal::arguments(why));
            let proposal = CampaignProposal::read(self.kind.as_str(), &asked.arguments).map_err(refused)?;
            let (store, now) = (&asked.kit().store, asked.kit().clock.now());
            // That by which the model was asked, if nothing else has happened since.
            let (state, held) = match store.handed_on(asked.lease) {
                Some(HandedCycle { state, held }) => (Ok(state), held),
                None => (store.campaign_state_in(asked.lease.conversation).await, None),
            };
            let state = match state {
                Ok(state) => state,
                Err(CampaignError::Store(error)) => return Err(error.into()),
                Err(other) => return Err(ToolError::Refused(Refusal::new(RefusalCode::Forbidden, other.to_string()))),
            };
            // The number of proposals is judged by the worker, and once more where it is carried
            // out.
            validate(&state, &proposal, 1, now).map_err(refused)?;
            if let Some(why) = store.unknown_lead(state.campaign.id, &leads_named(&proposal)).await? {
                return Err(refused(why));
            }
            let (effect, kind, of) = effect(&proposal);
            // After a touch whose end nobody knows, a person looks at each next one; and at a
            // proposal that they refused, each time that it comes.
            let again = state.campaign.has_refused(&proposal.fingerprint());
            let kind = kind.filter(|kind| !again && (*kind != ContextKind::Interact || !state.pages.uncertain()));
            let allowed = state.contexts.iter().find(|context| kind.is_some_and(|kind| context.allows(kind, of, now)));
            let context = allowed.map(|context| context.id);
            let card = card(&state, &proposal, again);
            if let CampaignProposal::ExecuteTool(run) = &proposal
                && run.tool == RUN_SCRIPT
            {
                let plan = ScriptPlan::of(&state, &run.arguments).map_err(refused)?;
                let watch = PresenceOf { campaign: state.campaign.id };
                let (script, arguments) = ReadScript::of(proposal.clone(), plan, card, watch, asked.kit(), asked.lease).await?;
                return Ok(Prepared { context, arguments: Some(arguments), ..Prepared::new(script, effect) });
            }
            if let CampaignProposal::ExecuteTool(run) = &proposal
                && is_browser_tool(&run.tool)
            {
                let page = ReadPage {
                    plan: PagePlan::of(&state, run).map_err(refused)?,
                    tool: run.tool.clone(),
                    hosts: PageHosts::of(state.environment().hosts),
                    tab: state.pages.tab().map(str::to_owned),
                    presence: PresenceOf { campaign: state.campaign.id },
                    browser: self.browser.clone(),
                    proposal,
                    card,
                };
                let arguments = Some(page.bound());
                return Ok(Prepared { context, arguments, ..Prepared::new(page, effect) });
            }
            if let CampaignProposal::ExecuteTool(run) = &proposal
                && capabilities_of(&state).contains(&run.tool)
            {
                let presence = PresenceOf { campaign: state.campaign.id };
                return ReadCapability::of(run, card, presence, &asked).await;
            }
            let changes = LeadChanges::of(&state, &proposal);
            // The law asks anew if this is another than a person was shown.
            let arguments = bound(&state, &proposal).map(|bound| {
                let mut whole = asked.arguments.clone();
                whole["bound"] = bound;
                whole
            });
            Ok(Prepared { context, arguments, ..Prepared::new(ReadProposal { proposal, card, changes, state, held }, effect) })
        }
        .boxed()
    }

    fn changes(&self, _: &Value) -> bool {
        self.kind != ProposalKind::NoOp
    }
}

/// The effect of a proposal, and the approval context that would allow it.
fn effect(proposal: &CampaignProposal) -> (Effect, Option<ContextKind>, Option<ArtifactType>) {
    use CampaignProposal as P;
    let persist = |kind| (Effect::Persist, Some(ContextKind::Persist), Some(kind));
    match proposal {
        P::NoOp(_) => (Effect::Read, None, None),
        P::SelectNextTask(_) | P::RequestUserInput(_) => (Effect::Write, None, None),
        P::CreateTask(_) => (Effect::Persist, Some(ContextKind::Task), None),
        P::GenerateMessage(_) => persist(ArtifactType::Message),
        // A word for analyses is none for what becomes of leads.
        P::AnalyzeLeads(AnalyzeLeads { lead_status: Some(_), .. }) => (Effect::Persist, Some(ContextKind::Persist), None),
        P::AnalyzeLeads(_) => persist(ArtifactType::Analysis),
        P::PersistArtifact(artifact) => match artifact.kind.parse() {
            Ok(kind) => persist(kind),
            Err(_) => (Effect::Persist, None, None),
        },
        P::ExecuteTool(tool) => match tool.tool.as_str() {
            // The config that it applies was approved.
            SCORE_LEADS => (Effect::Write, None, None),
            // Hosts are granted for one run, which a person has seen.
            RUN_SCRIPT if asks_for_hosts(&tool.arguments) => (Effect::Script, None, None),
            RUN_SCRIPT => (Effect::Script, Some(ContextKind::Script), None),
            READ => (Effect::Read, None, None),
            SCREENSHOT => persist(ArtifactType::Picture),
            page if is_browser_tool(page) => (Effect::Interact, Some(ContextKind::Interact), None),
            _ => (Effect::Persist, Some(ContextKind::Persist), None),
        },
    }
}

/// The words that a person is shown before they decide; `refused`: a no to this is remembered.
fn card(state: &CampaignState, proposal: &CampaignProposal, refused: bool) -> Vec<String> {
    use CampaignProposal as P;
    let before = if refused { " You refused this very proposal before, or did not decide in time." } else { "" };
    let campaign = format!("Campaign {} ({}).{before}", state.campaign.id, state.campaign.name);
    let replaces = |kind, key: &str| match state.artifact(kind, key) {
        Some(kept) => format!("version {} after version {}, which stays", kept.version + 1, kept.version),
        None => "version 1".to_owned(),
    };
    let mut what = vec![campaign];
    what.extend(match proposal {
        P::CreateTask(task) => {
            let mut what = vec![format!("Makes the task: {}", task.description), format!("Because: {}", task.why)];
            let TaskMetadata { preconditions, requires, needs, .. } = read_task(task).unwrap_or_default();
            let all = |of: Vec<Requirement>| of.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and when ");
            if !preconditions.is_empty() {
                what.push(format!("It begins when {}.", all(preconditions)));
            }
            what.push(match requires.is_empty() {
                true => "It has no required effects: you alone can finish it.".to_owned(),
                false => format!("It counts as done when {}.", all(requires)),
            });
            if !needs.is_empty() {
                let needs: Vec<_> = needs.iter().map(ToString::to_string).collect();
                what.push(format!("While it is open, the model is shown {}.", needs.join(" and ")));
            }
            what
        }
        P::SelectNextTask(selected) => vec![format!("Takes up task {}.", selected.task)],
        P::GenerateMessage(GenerateMessage { key, text, .. }) => {
            vec![
                format!("Keeps the message {key} as a draft, {}; nothing is sent.", replaces(ArtifactType::Message, key)),
                text.clone(),
            ]
        }
        P::AnalyzeLeads(AnalyzeLeads { key, analysis, .. }) => {
            vec![format!("Keeps the analysis {key}, {}.", replaces(ArtifactType::Analysis, key)), analysis.clone()]
        }
        P::RequestUserInput(RequestUserInput { text, .. }) => vec![format!("Asks you: {text}")],
        P::PersistArtifact(PersistArtifact { kind, key, content, .. }) => {
            let version = kind.parse().map_or_else(|_| String::new(), |kind| replaces(kind, key));
            vec![format!("Keeps the {kind} {key}, {version}."), content.clone()]
        }
        P::ExecuteTool(ExecuteTool { tool, .. }) if tool == RUN_SCRIPT => Vec::new(),
        P::ExecuteTool(run) if is_browser_tool(&run.tool) => PagePlan::of(state, run).map(|plan| plan.card()).unwrap_or_default(),
        P::ExecuteTool(ExecuteTool { tool, arguments, .. }) => {
            vec![format!("Runs {tool} with {}.", Value::Object(arguments.clone()))]
        }
        P::NoOp(no_op) => vec![format!("Does nothing: {}", no_op.why)],
    });
    what
}

impl Act for ReadProposal {
    fn card<'a>(&'a self, kit: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        async move {
            let mut what = self.card.clone();
            if let Some(changes) = &self.changes {
                what.extend(in_lines(changes.clone(), self.state.campaign.id, kit).await?);
            }
            Ok(CallCard::of(what))
        }
        .boxed()
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move {
            let kit = doing.kit();
            let Self { proposal, state, held, .. } = *self;
            if let Some(held) = held.filter(|_| PlannedDeed::is_for(&proposal, doing.permit)) {
                let planned = kit.store.plan_deed(doing.permit, &proposal, held, state, kit.clock.now());
                // A deed that cannot be planned is judged by a state that is read anew.
                return Ok(planned.map_or(Executed::Overtaken, |(told, deed)| Executed::Deed(Box::new(deed), Outcome::ok(told))));
            }
            let mut unit = kit.store.begin(kit.clock.now()).await?;
            match unit.carry_out_judged(doing.permit, doing.lease, &proposal, state).await? {
                Some(Ok((told, state))) => {
                    unit.hand_on(&kit.store, doing.lease, state);
                    Ok(Executed::Within(unit, Outcome::ok(told)))
                }
                // Nothing of it is kept.
                Some(Err(why)) => {
                    drop(unit);
                    Ok(Executed::Outcome(Outcome::failed(why)))
                }
                None => {
                    drop(unit);
                    Ok(Executed::Overtaken)
                }
            }
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
