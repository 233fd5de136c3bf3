//! All that a cycle reads, as one value. It is made of rows, which stand in tables or follow from
//! events: both ways give the same.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::artifact::{Artifact, ArtifactSource, ArtifactType, Environment};
use super::audit::AuditLine;
use super::page::Pages;
use super::proposal::{ExecuteTool, ProposalKind};
use super::sought::{is_run_of, sought_runs};
use super::{ApprovalContext, Campaign, CampaignTask, CampaignTaskStatus, Lead, LeadStatus, Requirement, TaskMetadata, sha256};
use crate::domain::{CallRequest, CallState, LeadId, Machine, StepId, ToolCallId};

/// The best leads that are shown.
pub const MOST_LEADS_SHOWN: usize = 20;
/// The newest calls, which are read in any case.
pub const MOST_CALLS_READ: usize = 200;

/// A call of the campaign that has its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeCall {
    /// Its number.
    pub tool_call_id: ToolCallId,
    /// The step that asked for it.
    pub step_id: StepId,
    /// The kind of proposal.
    pub name: String,
    /// Its arguments as the model wrote them.
    pub arguments: String,
    /// Its state.
    pub state: CallState,
    /// The kind of refusal, if it was refused.
    pub refusal: Option<String>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    #[serde(skip)]
    run: ReadRun,
}

/// The run that a call proposed, read at most once: each condition of each task looks at all calls,
/// several times in a cycle.
#[derive(Clone, Debug, Default)]
struct ReadRun(OnceLock<Option<ExecuteTool>>);

/// It follows from the arguments, so no two calls differ by it.
impl PartialEq for ReadRun {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for ReadRun {}

impl MadeCall {
    /// A call that a step has just asked for.
    pub fn proposed(tool_call_id: ToolCallId, step_id: StepId, asked: &CallRequest) -> Self {
        let (name, arguments) = (asked.name.clone(), asked.arguments.clone());
        let (state, run) = (CallState::FIRST, ReadRun::default());
        Self { tool_call_id, step_id, name, arguments, state, refusal: None, ended_at: None, run }
    }

    /// The run of a tool that it proposed; `None` if it proposed something else.
    pub fn run(&self) -> Option<&ExecuteTool> {
        let read = || match self.name == ProposalKind::ExecuteTool.as_str() {
            true => serde_json::from_str(&self.arguments).ok(),
            false => None,
        };
        self.run.0.get_or_init(read).as_ref()
    }
}

/// The newest version of an artifact, with its content only if a task needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactHead {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ArtifactType,
    /// Its key.
    pub key: String,
    /// Its version.
    pub version: i32,
    /// sha256 of its content.
    pub sha256: String,
    /// The one whose request it was.
    pub source: ArtifactSource,
    /// The number of the event that kept it.
    #[serde(skip)]
    pub sequence: i64,
    /// When it was kept.
    #[serde(skip)]
    pub created_at: DateTime<Utc>,
    /// Its content.
    #[serde(skip)]
    pub content: String,
}

impl ArtifactHead {
    fn of(artifact: Artifact) -> Self {
        let Artifact { artifact_type: kind, artifact_key: key, version, source, content, sha256, sequence, created_at, .. } =
            artifact;
        Self { kind, key, version, sha256, source, sequence, created_at, content }
    }
}

/// The leads in brief.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeadsInBrief {
    /// How many there are of each status.
    pub counts: BTreeMap<LeadStatus, i64>,
    /// The newest event about a lead of each status.
    #[serde(skip)]
    pub newest: BTreeMap<LeadStatus, i64>,
    /// The best, the highest score first.
    pub best: Vec<Lead>,
    /// Those that tasks name.
    pub named: Vec<Lead>,
    /// sha256 of all of them.
    pub sha256: String,
}

/// A campaign as a cycle sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct CampaignState {
    /// The campaign.
    pub campaign: Campaign,
    /// All its tasks, in their order.
    pub tasks: Vec<CampaignTask>,
    /// Its leads in brief.
    pub leads: LeadsInBrief,
    /// The newest versions of its artifacts, by type and key.
    pub artifacts: Vec<ArtifactHead>,
    /// Its approval contexts.
    pub contexts: Vec<ApprovalContext>,
    /// Its newest calls that have their outcome, and older ones that conditions look for, the
    /// oldest first.
    pub calls: Vec<MadeCall>,
    /// The newest lines of its audit, the oldest first. Requests alone show them, and a request is
    /// always made of a state that was read: one that follows from it has its lines.
    pub audit: Vec<AuditLine>,
    /// Its pages.
    pub pages: Pages,
    /// The fingerprint of the program's words that its last request had; `None` if they were not
    /// recorded.
    pub words: Option<String>,
    /// The last number of its stream.
    pub sequence: i64,
}

/// The rows of which a state is made.
#[derive(Clone, Debug, Default)]
pub struct CampaignRows {
    /// The row of `campaigns`.
    pub campaign: Value,
    /// Those of `campaign_tasks`.
    pub tasks: Vec<Value>,
    /// Those of `leads`, in brief.
    pub leads: LeadsInBrief,
    /// Those of `artifacts`, all versions.
    pub artifacts: Vec<Value>,
    /// Those of `campaign_contexts`.
    pub contexts: Vec<Value>,
    /// Those of `tool_calls`.
    pub calls: Vec<Value>,
    /// The newest lines of the audit, the oldest first.
    pub audit: Vec<AuditLine>,
    /// The pages, as its events tell of them.
    pub pages: Pages,
    /// The fingerprint of the program's words, as its events tell of them.
    pub words: Option<String>,
    /// The last number of the stream.
    pub sequence: i64,
}

/// The rows do not make a state: what is kept is broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BrokenState(pub String);

impl CampaignState {
    /// The state that rows make. Each artifact is checked against its sha256.
    ///
    /// # Errors
    /// [`BrokenState`] if a row cannot be read, or an artifact was changed.
    pub fn of(rows: CampaignRows) -> Result<Self, BrokenState> {
        let CampaignRows { campaign, tasks, leads, artifacts, contexts, calls, audit, pages, words, sequence } = rows;
        let campaign: Campaign = read(campaign, "campaigns")?;
        let mut tasks: Vec<CampaignTask> = all(tasks, "campaign_tasks")?;
        tasks.sort_by_key(|task| task.id);
        let mut kept: Vec<Artifact> = all(artifacts, "artifacts")?;
        kept.sort_by(|a, b| {
            let key = |artifact: &Artifact| (artifact.artifact_type, artifact.artifact_key.clone(), artifact.version);
            key(a).cmp(&key(b))
        });
        let mut heads: BTreeMap<(ArtifactType, String), ArtifactHead> = BTreeMap::new();
        for artifact in kept {
            artifact.checked().map_err(BrokenState)?;
            let head = ArtifactHead::of(artifact);
            heads.insert((head.kind, head.key.clone()), head);
        }
        let mut calls: Vec<MadeCall> = all(calls, "tool_calls")?;
        calls.retain(|call| call.ended_at.is_some());
        leave_needed(&mut calls, &tasks);
        let mut contexts: Vec<ApprovalContext> = all(contexts, "campaign_contexts")?;
        contexts.sort_by_key(|context| context.id);
        let artifacts = heads.into_values().collect();
        Ok(Self { campaign, tasks, leads, artifacts, contexts, calls, audit, pages, words, sequence })
    }

    /// A campaign of which nothing else can be read.
    pub fn alone(campaign: Campaign) -> Self {
        let (leads, pages) = (LeadsInBrief::default(), Pages::default());
        let (tasks, artifacts, contexts, calls, audit) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { campaign, tasks, leads, artifacts, contexts, calls, audit, pages, words: None, sequence: 0 }
    }

    /// A task of the campaign.
    pub fn task(&self, id: i64) -> Option<&CampaignTask> {
        self.tasks.iter().find(|task| task.id.0 == id)
    }

    /// Takes a task as it is now in the place of what it was.
    pub fn put(&mut self, task: CampaignTask) {
        if let Some(kept) = self.tasks.iter_mut().find(|kept| kept.id == task.id) {
            *kept = task;
        }
    }

    /// Takes the newest version of an artifact in the place of the one before it.
    pub fn keep(&mut self, artifact: Artifact) {
        let head = ArtifactHead::of(artifact);
        let place = self.artifacts.binary_search_by(|kept| (kept.kind, &kept.key).cmp(&(head.kind, &head.key)));
        match place {
            Ok(place) => self.artifacts[place] = head,
            Err(place) => self.artifacts.insert(place, head),
        }
    }

    /// Takes a call in that has its outcome by now, unless it is there already.
    pub fn end_call(&mut self, call: &MadeCall) {
        if call.ended_at.is_none() || self.calls.iter().any(|there| there.tool_call_id == call.tool_call_id) {
            return;
        }
        self.calls.push(call.clone());
        leave_needed(&mut self.calls, &self.tasks);
    }

    /// The newest version of an artifact.
    pub fn artifact(&self, kind: ArtifactType, key: &str) -> Option<&ArtifactHead> {
        self.artifacts.iter().find(|artifact| artifact.kind == kind && artifact.key == key)
    }

    /// Its environment; empty if there is none.
    pub fn environment(&self) -> Environment {
        let kept = self.artifacts.iter().filter(|artifact| artifact.kind == ArtifactType::Environment);
        let read = kept.filter_map(|artifact| serde_json::from_str::<Environment>(&artifact.content).ok());
        read.fold(Environment::default(), |mut all, more| {
            all.secrets.extend(more.secrets);
            all.settings.extend(more.settings);
            all.hosts.extend(more.hosts);
            all.capabilities.extend(more.capabilities);
            all
        })
    }

    /// All that the model's proposals are about, without the logs: two states with one fingerprint
    /// are the same to it.
    pub fn shown(&self) -> Value {
        let Campaign { id, name, status, .. } = &self.campaign;
        let tasks = self.tasks.iter().map(
            |task| json!({ "id": task.id, "description": task.description, "status": task.status, "metadata": task.metadata }),
        );
        let LeadsInBrief { counts, newest: _, best, named, sha256 } = &self.leads;
        let mut shown = json!({
            "campaign": { "id": id, "name": name, "status": status },
            "tasks": tasks.collect::<Vec<_>>(),
            "leads": { "counts": counts, "best": best, "named": named, "sha256": sha256 },
            "artifacts": self.artifacts,
        });
        // A campaign that has seen no page keeps the fingerprint that it had before there was a
        // browser.
        if let Some(pages) = self.pages.shown() {
            shown["pages"] = pages;
        }
        shown
    }

    /// The fingerprint of [`CampaignState::shown`].
    pub fn sha256(&self) -> String {
        sha256(self.shown().to_string().as_bytes())
    }

    /// True if every task is done, and there is one.
    pub fn all_done(&self) -> bool {
        !self.tasks.is_empty() && self.tasks.iter().all(|task| task.status == CampaignTaskStatus::Done)
    }
}

/// Leaves the newest calls, and of the older ones those that are the newest of a run that an open
/// task's condition looks for: what came after a proof does not take it away.
fn leave_needed(calls: &mut Vec<MadeCall>, tasks: &[CampaignTask]) {
    calls.sort_by_key(|call| call.tool_call_id);
    // One of the newest may have been looked for as well.
    calls.dedup_by_key(|call| call.tool_call_id);
    let older = calls.len().saturating_sub(MOST_CALLS_READ);
    if older == 0 {
        return;
    }
    let newest_of = |(tool, arguments): (&str, Value)| {
        // To look at the text first saves the reading of most calls.
        let names_it = |call: &MadeCall| call.state == CallState::Done && call.arguments.contains(tool);
        let is_one = |call: &MadeCall| names_it(call) && call.run().is_some_and(|made| is_run_of(made, tool, &arguments));
        calls.iter().rfind(|call| is_one(call)).map(|call| call.tool_call_id)
    };
    let needed: Vec<_> = sought_runs(tasks).into_iter().filter_map(newest_of).collect();
    let newest = calls.split_off(older);
    calls.retain(|call| needed.contains(&call.tool_call_id));
    calls.extend(newest);
}

/// The leads that tasks name.
pub fn named_leads(tasks: &[Value]) -> BTreeSet<LeadId> {
    let named = tasks.iter().flat_map(conditions).filter_map(|wanted| match wanted {
        Requirement::LeadStatus { lead, .. } => Some(lead),
        _ => None,
    });
    named.collect()
}

/// The readings that tasks require: host and text.
pub fn named_pages(tasks: &[Value]) -> BTreeSet<(String, String)> {
    let named = tasks.iter().flat_map(conditions).filter_map(|wanted| match wanted {
        Requirement::PageRead { host, contains } => Some((host, contains)),
        _ => None,
    });
    named.collect()
}

/// The conditions of a task's row.
fn conditions(task: &Value) -> Vec<Requirement> {
    let metadata = task["metadata"].clone();
    let metadata: TaskMetadata = serde_json::from_value(metadata).unwrap_or_default();
    metadata.preconditions.into_iter().chain(metadata.requires).collect()
}

impl LeadsInBrief {
    /// Counts the leads, and picks the best and those that are `named`.
    pub fn of(named: &BTreeSet<LeadId>, mut leads: Vec<Lead>) -> Self {
        leads.sort_by_key(|lead| lead.id);
        let (mut counts, mut newest) = (BTreeMap::<_, i64>::new(), BTreeMap::<_, i64>::new());
        for lead in &leads {
            *counts.entry(lead.status).or_default() += 1;
            let newest = newest.entry(lead.status).or_default();
            *newest = lead.sequence.max(*newest);
        }
        let line = |lead: &Lead| format!("{} {} {} {}", lead.id, lead.status, lead.weight_score, lead.sequence);
        let sha256 = sha256(leads.iter().map(line).collect::<Vec<_>>().join(",").as_bytes());
        let mut best: Vec<&Lead> = leads.iter().collect();
        best.sort_by_key(|lead| (std::cmp::Reverse(lead.weight_score), lead.id));
        let best = best.into_iter().take(MOST_LEADS_SHOWN).cloned().collect();
        let named = leads.into_iter().filter(|lead| named.contains(&lead.id)).collect();
        Self { counts, newest, best, named, sha256 }
    }
}

fn read<T: serde::de::DeserializeOwned>(row: Value, table: &str) -> Result<T, BrokenState> {
    serde_json::from_value(row).map_err(|error| BrokenState(format!("a row of {table} cannot be read: {error}")))
}

fn all<T: serde::de::DeserializeOwned>(rows: Vec<Value>, table: &str) -> Result<Vec<T>, BrokenState> {
    rows.into_iter().map(|row| read(row, table)).collect()
}
