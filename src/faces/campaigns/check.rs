//! The check before a campaign starts: secrets, model, and what its tasks need. Its events and artifacts were checked before.

use super::Campaigns;
use crate::domain::CampaignId;
use crate::domain::campaign::page::{PageHosts, is_browser_tool};
use crate::domain::campaign::script::{RUN_SCRIPT, ScriptLanguage, script_named};
use crate::domain::campaign::{ArtifactType, CAMPAIGN_PROFILE, CampaignState, Requirement};
use crate::model::{Entry, Request};
use crate::store::CampaignError;
use crate::telemetry::chain;

/// All that is missing, each with what to do. None: it may start.
pub(super) async fn faults(campaigns: &Campaigns, id: CampaignId) -> Result<Vec<String>, CampaignError> {
    let state = campaigns.store().campaign_state(id).await?;
    let mut faults = Vec::new();
    if state.tasks.is_empty() {
        faults.push(format!("it has no task; add one: level3 campaign task {id} add \"…\""));
    }
    let environment = state.environment();
    for name in &environment.secrets {
        match campaigns.0.hands.vault.get(name).await {
            Ok(Some(_)) => {}
            Ok(None) => faults.push(format!("the secret {name} is not there; set it: level3 secret set {name}")),
            Err(error) => faults.push(format!(
                "the secret {name} cannot be read: {}; put that right, or set it anew: level3 secret set {name}",
                chain(&error)
            )),
        }
    }
    faults.extend(campaigns.capability_faults(&state).await?);
    faults.extend(script_fault(campaigns, &state).await);
    faults.extend(browser_faults(campaigns, &state).await);
    faults.extend(model_fault(campaigns).await?);
    Ok(faults)
}

/// The fault of the models, if none answers of those that a cycle would ask.
async fn model_fault(campaigns: &Campaigns) -> Result<Option<String>, CampaignError> {
    let executor = &campaigns.0.executor;
    let models = campaigns.store().policy(CAMPAIGN_PROFILE).await?.models;
    let wanted = executor.profiles.get(CAMPAIGN_PROFILE).ok().and_then(|profile| profile.model);
    let model = executor.models.chosen(executor.models.preferred(wanted, &models), &models).await;
    let request = Request { entries: vec![Entry::User("Answer with the word: ready".to_owned())], ..Request::default() };
    let fault = model.answer(request, &|_| {}).await.err();
    Ok(fault.map(|error| format!("no model answers: {error}; see which one does, and what the others need: level3 models")))
}

/// The faults of the browser, where a task needs one.
async fn browser_faults(campaigns: &Campaigns, state: &CampaignState) -> Vec<String> {
    let mut faults = Vec::new();
    let hosts = PageHosts::of(state.environment().hosts);
    let mut needs = false;
    for task in &state.tasks {
        for wanted in task.metadata.preconditions.iter().chain(&task.metadata.requires) {
            match wanted {
                Requirement::ToolSucceeded { tool, .. } if is_browser_tool(tool) => needs = true,
                Requirement::PageRead { host, .. } => {
                    needs = true;
                    if !hosts.names(host) {
                        let id = state.campaign.id;
                        faults.push(format!(
                            "task {} reads a page of {host}, which is no host of this campaign; name it in the artifact environment: \
                             level3 campaign artifact {id} environment environment FILE with {{\"hosts\": [\"{host}\"]}}",
                            task.id
                        ));
                    }
                }
                _ => {}
            }
        }
    }
    if needs && let Err(error) = campaigns.0.browser.look().await {
        faults.push(error.to_string());
    }
    faults
}

/// The fault of the languages of scripts, if a task needs one that is not there.
async fn script_fault(campaigns: &Campaigns, state: &CampaignState) -> Option<String> {
    let python = |name: &str| script_named(state, name).is_some_and(|script| script.kind == ArtifactType::PythonScript);
    let needs = |wanted: &Requirement| match wanted {
        Requirement::ToolSucceeded { tool, arguments } if tool == RUN_SCRIPT => arguments["script"].as_str().is_some_and(python),
        Requirement::ScriptSucceeded { artifact } => python(artifact),
        _ => false,
    };
    let task = state.tasks.iter().find(|task| task.metadata.preconditions.iter().chain(&task.metadata.requires).any(needs))?;
    let error = campaigns.0.hands.sandbox.ready_for(ScriptLanguage::Python).await.err()?;
    Some(format!("task {} needs a Python script, and {}", task.id, chain(&error)))
}
