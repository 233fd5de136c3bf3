//! Campaigns: a goal of a person as tasks, leads and artifacts, towards which a model proposes one
//! step at a time. The controller owns all of it. No I/O: [`state`] is what a cycle reads,
//! [`judge`] all that is decided by it.

pub mod artifact;
pub mod audit;
mod carried;
pub mod conditions;
pub mod files;
pub mod judge;
pub mod lead;
mod lifecycle;
pub mod page;
pub mod proposal;
mod requirement;
pub mod scoring;
pub mod script;
pub mod shown;
pub mod snapshot;
mod sought;
pub mod state;
pub mod visit;
pub mod words;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::turn::text_enum;
use super::{ConversationId, StepId};

pub use artifact::{Artifact, ArtifactSource, ArtifactType};
pub use carried::{Carried, JudgedProposal, MOST_REFUSED};
pub use lead::{Lead, LeadStatus};
pub use lifecycle::{CampaignAction, CampaignInput, CampaignStatus};
pub use proposal::{CampaignProposal, ProposalKind};
pub use requirement::{Need, Requirement, time_named};
pub use state::CampaignState;

/// The name of the profile of campaigns.
pub const CAMPAIGN_PROFILE: &str = "campaign";
/// The most tasks of a campaign.
pub const MOST_TASKS: usize = 200;
/// The most bytes of a task's line in a snapshot.
pub const MOST_TASK_LINE: usize = 160;
/// So many bad answers end a cycle.
pub const MOST_BAD_ANSWERS: i32 = 3;
/// The longest wait between cycles, in seconds.
pub const LONGEST_WAIT: i64 = 300;

text_enum! {
    /// The state of a campaign's task.
    CampaignTaskStatus {
        /// Not begun.
        Pending = "pending",
        /// Under way.
        InProgress = "in_progress",
        /// Done, and proven.
        Done = "done",
        /// Set aside by the controller or a person, with a reason.
        Blocked = "blocked",
    }
}

text_enum! {
    /// The kind of thing that an approval context lets be done without asking each time.
    ContextKind {
        /// Artifacts and leads are kept.
        Persist = "persist",
        /// Tasks are made.
        Task = "task",
        /// Pages are touched.
        Interact = "interact",
        /// Scripts are run.
        Script = "script",
    }
}

/// A campaign, with how far it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Campaign {
    /// Its number, under which everything of it stands.
    pub id: super::CampaignId,
    /// Its conversation, in which its cycles run.
    pub conversation_id: ConversationId,
    /// Its name.
    pub name: String,
    /// Its state.
    pub status: CampaignStatus,
    /// Why it is paused or broken.
    pub reason: Option<String>,
    /// The thing it waits for while it is active, in words.
    pub waits_for: Option<String>,
    /// No cycle begins before this time.
    pub next_at: Option<DateTime<Utc>>,
    /// The cycles that have ended and were not set aside.
    pub cycles: i64,
    /// Cycles in a row that brought nothing.
    pub idle_cycles: i32,
    /// The reason why the last proposal brought nothing.
    pub fault: Option<String>,
    /// Why the last cycle got no answer of a model, in words for a person; `None` if it got one, or
    /// asked for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_answer: Option<String>,
    /// Bad answers in the running cycle.
    pub bad_answers: i32,
    /// The last step that was judged.
    pub judged_step: Option<StepId>,
    /// Proposals that were carried out against the state as it is, and those that a person refused.
    pub carried: Vec<Carried>,
    /// So many cycles more, and then it is paused again; `None`: without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles_left: Option<i32>,
    /// The campaign that it is a copy of.
    pub copy_of: Option<super::CampaignId>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// A question to the person, and the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Its name within the task.
    pub question: String,
    /// The words.
    pub text: String,
    /// The answer, once there is one.
    pub answer: Option<String>,
}

/// ProvenEffect that a required effect is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenEffect {
    /// The required effect.
    pub effect: Requirement,
    /// The numbers of the events in the campaign's stream that show it.
    pub events: Vec<i64>,
    /// The calls that show it.
    pub calls: Vec<i64>,
}

/// The part of a task beside its description.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskMetadata {
    /// It is not begun before all of these hold.
    pub preconditions: Vec<Requirement>,
    /// It is done when all of these hold.
    pub requires: Vec<Requirement>,
    /// The artifacts that a model is shown for it.
    pub needs: Vec<Need>,
    /// Why it was made, if the model proposed it.
    pub why: Option<String>,
    /// Why it is blocked.
    pub reason: Option<String>,
    /// The questions asked for it.
    pub questions: Vec<Asked>,
    /// When it was begun.
    pub begun_at: Option<DateTime<Utc>>,
    /// The evidence by which it is done; empty if a person finished it.
    pub evidence: Vec<ProvenEffect>,
    /// The one who made it.
    pub source: Option<ArtifactSource>,
}

/// A task of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignTask {
    /// Its number.
    pub id: super::CampaignTaskId,
    /// Its campaign.
    pub campaign_id: super::CampaignId,
    /// The thing to do.
    pub description: String,
    /// Its state, which only the controller changes.
    pub status: CampaignTaskStatus,
    /// The rest.
    pub metadata: TaskMetadata,
    /// The number of the event that last changed it.
    #[serde(default)]
    pub sequence: i64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// A person's word for the next things of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalContext {
    /// Its number.
    pub id: i64,
    /// Its campaign.
    pub campaign_id: super::CampaignId,
    /// The kind of thing.
    pub kind: ContextKind,
    /// The type of artifact that it holds for; `None`: any.
    pub artifact_type: Option<ArtifactType>,
    /// So many more.
    pub uses_left: i32,
    /// Until then.
    pub until: DateTime<Utc>,
    /// True if it was taken back, or the campaign paused.
    pub void: bool,
    /// When it was given.
    pub created_at: DateTime<Utc>,
}

impl ApprovalContext {
    /// True if it allows something of this kind and type now.
    pub fn allows(&self, kind: ContextKind, of: Option<ArtifactType>, now: DateTime<Utc>) -> bool {
        let fits = self.kind == kind && self.artifact_type.is_none_or(|wanted| Some(wanted) == of);
        fits && !self.void && self.uses_left > 0 && now < self.until
    }
}

impl Campaign {
    /// The seconds to wait after so many cycles in a row that brought nothing: 1, 2, 4 … 300.
    pub fn wait_after(idle: i32) -> i64 {
        let doublings = u32::try_from(idle.saturating_sub(1)).unwrap_or_default().min(20);
        (1_i64 << doublings).min(LONGEST_WAIT)
    }
}

/// sha256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
