//! The check before a campaign starts: tables, secrets, model, and what its tasks need. Its events
//! and artifacts were checked before.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::Campaigns;
use crate::domain::campaign::artifact::{Environment, read_script_name};
use crate::domain::campaign::conditions::needed;
use crate::domain::campaign::page::{PageHost, PageHosts, is_browser_tool};
use crate::domain::campaign::script::{ScriptLanguage, script_named};
use crate::domain::campaign::{ArtifactType, CAMPAIGN_PROFILE, CampaignState, Requirement};
use crate::domain::{CampaignId, RUN_SCRIPT};
use crate::model::{Entry, Request};
use crate::store::CampaignError;
use crate::telemetry::chain;

/// The key of the environment that advice is about.
const ENVIRONMENT: &str = "environment";

/// All that is missing, each with what to do. None: it may start.
pub(super) async fn faults(campaigns: &Campaigns, id: CampaignId) -> Result<Vec<String>, CampaignError> {
    if let Some(version) = campaigns.store().foreign_migration().await? {
        // The rest would be read from tables of which nothing is known.
        return Ok(vec![format!(
            "the tables of the database are not those of this program: they differ in the migration {version}; let one version of level3 \
             use the database, and start the server anew"
        )]);
    }
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

/// The faults of the browser, where a task needs one. A task that a person has set aside needs
/// none.
async fn browser_faults(campaigns: &Campaigns, state: &CampaignState) -> Vec<String> {
    let hosts = PageHosts::of(state.environment().hosts);
    let (mut faults, mut reads, mut missing) = (Vec::new(), None, BTreeMap::new());
    for (task, wanted) in needed(state) {
        match wanted {
            Requirement::ToolSucceeded { tool, .. } if is_browser_tool(tool) => reads = Some(task),
            Requirement::PageRead { host, .. } => {
                reads = Some(task);
                match PageHost::alone(host) {
                    Ok(name) if hosts.names(&name) => {}
                    Ok(name) => drop(missing.insert(name, task)),
                    Err(why) => faults.push(format!("task {task} reads a page of no host: {why}; block it, and add another")),
                }
            }
            _ => {}
        }
    }
    let advice = naming(state, missing.keys().cloned());
    faults.extend(missing.iter().map(|(name, task)| {
        format!(
            "task {task} reads a page of {name}, which is no host of this campaign; name it in the artifact environment: \
             {advice}"
        )
    }));
    if let Some(task) = reads
        && hosts.is_empty()
        && faults.is_empty()
    {
        faults.push(format!(
            "task {task} needs a page, and no host is named whose pages may be opened; name one in the artifact environment: {}",
            naming(state, ["example.com".to_owned()])
        ));
    }
    if reads.is_some()
        && let Err(error) = campaigns.0.browser.look().await
    {
        faults.push(error.to_string());
    }
    faults
}

/// The command that names these hosts, with the whole content to keep: a new version takes the
/// place of the one before it.
fn naming(state: &CampaignState, hosts: impl IntoIterator<Item = String>) -> String {
    let kept = state.artifact(ArtifactType::Environment, ENVIRONMENT);
    let mut environment: Environment = kept.and_then(|kept| serde_json::from_str(&kept.content).ok()).unwrap_or_default();
    environment.hosts.retain(|host| host.parse::<PageHost>().is_ok());
    environment.hosts.extend(hosts);
    format!("level3 campaign artifact {} environment {ENVIRONMENT} FILE with {}", state.campaign.id, json!(environment))
}

/// The fault of the languages of scripts, if a task needs one that is not there.
async fn script_fault(campaigns: &Campaigns, state: &CampaignState) -> Option<String> {
    // One that is not kept yet is in Python if its name says so.
    let python = |name: &str| match script_named(state, name) {
        Some(script) => script.kind == ArtifactType::PythonScript,
        None => read_script_name(name).is_ok_and(|(kinds, _)| kinds == [ArtifactType::PythonScript]),
    };
    let needs = |wanted: &Requirement| match wanted {
        Requirement::ToolSucceeded { tool, arguments } if tool == RUN_SCRIPT => arguments["script"].as_str().is_some_and(python),
        Requirement::ScriptSucceeded { artifact } => python(artifact),
        _ => false,
    };
    let (task, _) = needed(state).find(|(_, wanted)| needs(wanted))?;
    let error = campaigns.0.hands.sandbox.ready_for(ScriptLanguage::Python, &BTreeSet::new()).await.err()?;
    Some(format!("task {task} needs a Python script, and {}", chain(&error)))
}
