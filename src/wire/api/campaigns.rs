//! Campaigns: made, steered, watched, and told of.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::keys::by_name;
use crate::domain::campaign::state::ArtifactHead;
use crate::domain::campaign::{
    ApprovalContext, Artifact, ArtifactType, Campaign, CampaignTask, ContextKind, Lead, LeadStatus, time_named,
};
use crate::domain::{CampaignId, LeadId, ToolSpec, TurnId, exact, misfit};

/// A task that a person makes. Conditions are read by their own rules, so that a fault is named by
/// its place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignTaskOrder {
    /// The thing to do.
    pub description: String,
    /// The conditions that have to hold before it begins.
    #[serde(default)]
    pub preconditions: Vec<Value>,
    /// The conditions that have to hold for it to be done.
    #[serde(default)]
    pub requires: Vec<Value>,
    /// The artifacts that a model is shown for it.
    #[serde(default)]
    pub needs: Vec<Value>,
}

/// A campaign that is made.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignOrderForm {
    /// Its name.
    pub name: String,
    /// Its tasks.
    #[serde(default, deserialize_with = "tasks")]
    pub tasks: Vec<CampaignTaskOrder>,
}

fn tasks<'de, D: Deserializer<'de>>(written: D) -> Result<Vec<CampaignTaskOrder>, D::Error> {
    let each = Vec::<Value>::deserialize(written)?.into_iter().enumerate();
    let read = |(n, one): (usize, Value)| exact(&one).map_err(|why| format!("task {}: {}", n + 1, misfit(&why)));
    each.map(read).collect::<Result<_, _>>().map_err(D::Error::custom)
}

/// All campaigns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CampaignList {
    /// The newest first.
    pub campaigns: Vec<Campaign>,
}

/// A task with what is still unproven.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShownCampaignTask {
    /// The task.
    #[serde(flatten)]
    pub task: CampaignTask,
    /// The required effects that do not hold, in words.
    pub unproven: Vec<String>,
    /// Why it cannot be worked on, if it cannot.
    pub hindrance: Option<String>,
    /// Its preconditions.
    #[serde(default)]
    pub begins_when: Vec<ShownCondition>,
}

/// A condition as a person reads it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShownCondition {
    /// The condition, in words.
    pub words: String,
    /// True if it holds.
    pub holds: bool,
}

/// One campaign.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CampaignInfo {
    /// The campaign.
    pub campaign: Campaign,
    /// True if somebody watches over it.
    pub watched: bool,
    /// True if a browser was there when it was last looked for.
    pub browser: bool,
    /// Its tasks.
    pub tasks: Vec<ShownCampaignTask>,
    /// How many leads there are of each status.
    #[serde(serialize_with = "by_name")]
    pub leads: BTreeMap<LeadStatus, i64>,
    /// The newest versions of its artifacts, without their content.
    #[serde(serialize_with = "by_name")]
    pub artifacts: Vec<ArtifactHead>,
    /// Its approval contexts.
    pub contexts: Vec<ApprovalContext>,
    /// Its files that could not be written, each with why.
    #[serde(default)]
    pub unwritten: Vec<String>,
}

/// A state as the model is shown it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CampaignStateInfo {
    /// The state.
    pub state: Value,
    /// Its sha256.
    pub state_sha256: String,
    /// The snapshot in words.
    pub snapshot: String,
}

/// The result of an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CampaignTold {
    /// In words.
    pub told: String,
}

/// The kinds of lines that the logs of a campaign have, by the alphabet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CampaignLogKinds {
    /// Of the audit.
    pub audit: Vec<String>,
    /// Of the events.
    pub events: Vec<String>,
}

/// A line of a log of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CampaignLogLine {
    /// Its name within the log.
    pub id: String,
    /// The time.
    pub timestamp: DateTime<Utc>,
    /// The kind of thing.
    pub kind: String,
    /// The rest.
    pub payload: Value,
}

/// A number of a campaign.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CampaignMade {
    /// The campaign.
    pub id: CampaignId,
}

/// A deed of a person with a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CampaignTaskDeed {
    /// Finishes one without required effects.
    Finish,
    /// Sets it aside.
    Block,
    /// Takes it up again.
    Unblock,
}

/// The same with its reason.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeCampaignTask {
    /// The deed.
    pub deed: CampaignTaskDeed,
    /// The reason, to block it.
    #[serde(default)]
    pub reason: String,
}

/// An answer to a question of a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerQuestion {
    /// The task.
    pub task: i64,
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: String,
}

/// An artifact to keep.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeepArtifact {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ArtifactType,
    /// Its key.
    pub key: String,
    /// Its content.
    pub content: String,
}

/// The versions of an artifact.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ArtifactVersions {
    /// The oldest first.
    pub versions: Vec<Artifact>,
}

/// Leads as a CSV file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportLeads {
    /// The file.
    pub csv: String,
}

/// Leads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CampaignLeads {
    /// The best first.
    pub leads: Vec<Lead>,
}

/// A status for a lead.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetLead {
    /// The lead.
    pub lead: LeadId,
    /// Its status from now on.
    pub status: LeadStatus,
}

/// A word for the next things of a kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowNext {
    /// The kind.
    pub kind: ContextKind,
    /// The type of artifact; none: any.
    #[serde(default, rename = "type")]
    pub artifact_type: Option<ArtifactType>,
    /// How many.
    pub count: i32,
    /// Until then.
    #[serde(deserialize_with = "until")]
    pub until: DateTime<Utc>,
}

fn until<'de, D: Deserializer<'de>>(written: D) -> Result<DateTime<Utc>, D::Error> {
    time_named("until", written)
}

/// The eight kinds of proposals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CampaignVocabulary {
    /// Name, description and schema of each.
    pub proposals: Vec<ToolSpec>,
}

/// All cycles made again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CampaignVerified {
    /// The requests that were compared.
    pub requests: usize,
    /// Places at which the chain of events is broken.
    pub broken: Vec<String>,
    /// The first turn that differs.
    pub turn: Option<TurnId>,
    /// How it differs.
    pub differs: Option<String>,
    /// True if nothing is broken and nothing differs.
    pub clean: bool,
}

/// A campaign after an order that moved it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SteeredCampaign {
    /// The campaign.
    pub campaign: Campaign,
}
