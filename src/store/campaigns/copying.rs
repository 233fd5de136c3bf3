//! Copies a campaign: the copy names its own tasks, leads and versions, so it can be carried to its
//! end.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::CampaignError;
use super::broken::{fits, fitting, unfit_artifacts};
use super::rows::{Of, rows};
use super::writing::NewArtifact;
use crate::domain::campaign::judge::is_met;
use crate::domain::campaign::{
    Artifact, ArtifactType, CampaignState, CampaignTask, CampaignTaskStatus, Requirement, TaskMetadata,
};
use crate::domain::{CampaignId, CampaignTaskId, LeadId};
use crate::store::{Store, value};

impl Store {
    /// A new campaign in `initializing`, from the artifacts, leads and open tasks of another. Its
    /// config scores the leads anew.
    ///
    /// # Errors
    /// [`CampaignError`] if there is none.
    pub async fn copy_campaign(&self, id: CampaignId, now: DateTime<Utc>) -> Result<CampaignId, CampaignError> {
        self.has_room()?;
        let mut unit = self.begin(now).await?;
        let rows = rows(&mut *unit.tx, Of::Campaign(id)).await?.ok_or(CampaignError::Unknown(id))?;
        let unfit = unfit_artifacts(&mut *unit.tx, id).await?;
        let from = CampaignState::of(fitting(rows.clone(), &unfit)).map_err(CampaignError::broken(id))?;
        let tasks = rows.tasks.into_iter().map(value::<CampaignTask>).collect::<Result<Vec<_>, _>>()?;
        let artifacts = rows.artifacts.into_iter().map(value::<Artifact>).collect::<Result<Vec<_>, _>>()?;
        let mut leads = unit.all_leads(id).await?;
        let campaign = unit.insert_campaign(&from.campaign.name, Some(id)).await?;
        let mut parts = CopiedParts::of(&from, now);
        for task in &tasks {
            let done = task.status == CampaignTaskStatus::Done;
            let number = if done { None } else { Some(CampaignTaskId(unit.number_of("campaign_tasks").await?)) };
            parts.tasks.insert(task.id, number);
        }
        let numbers = unit.numbers_of("leads", leads.len()).await?;
        for (lead, number) in leads.iter_mut().zip(numbers) {
            parts.leads.insert(lead.id, LeadId(number));
            // The version of the config that has scored it has another number in the copy.
            (lead.id, lead.campaign_id, lead.weight_score, lead.scored) = (LeadId(number), campaign.id, 0, None);
        }
        let behind = artifacts.iter().map(|kept| ((kept.artifact_type, kept.artifact_key.clone()), kept.version - 1));
        parts.behind.extend(behind);
        for task in &tasks {
            if let Some(copy) = parts.task(task, campaign.id) {
                unit.record_task(campaign.conversation_id, copy, "is copied").await?;
            }
        }
        unit.record_leads(campaign.conversation_id, &leads, "copied").await?;
        for kept in &artifacts {
            // One that was changed is what broke the campaign, and is left behind.
            if !fits(kept, &unfit) {
                continue;
            }
            let Artifact { artifact_type: kind, artifact_key: key, content, source, .. } = kept;
            let new = NewArtifact { kind: *kind, key, content, source: *source, step: None, approval: None };
            unit.keep_artifact(&campaign, new).await?;
        }
        unit.commit().await?;
        Ok(campaign.id)
    }
}

/// The numbers that the parts of a campaign have in its copy.
struct CopiedParts<'a> {
    /// The campaign that is copied.
    from: &'a CampaignState,
    /// The time of the copy.
    now: DateTime<Utc>,
    /// Those of its tasks. One that is done is not copied, and has none.
    tasks: BTreeMap<CampaignTaskId, Option<CampaignTaskId>>,
    /// Those of its leads.
    leads: BTreeMap<LeadId, LeadId>,
    /// So many versions of an artifact stay behind: its newest becomes the first.
    behind: BTreeMap<(ArtifactType, String), i32>,
}

impl<'a> CopiedParts<'a> {
    fn of(from: &'a CampaignState, now: DateTime<Utc>) -> Self {
        Self { from, now, tasks: BTreeMap::new(), leads: BTreeMap::new(), behind: BTreeMap::new() }
    }

    /// A task for the copy; `None` if it is done. If its required effects were other tasks that are
    /// all done, it requires that the time of the copy has come, which holds: so it is done as soon
    /// as its preconditions hold, as in the original.
    fn task(&self, task: &CampaignTask, campaign_id: CampaignId) -> Option<CampaignTask> {
        let (id, now) = (self.tasks.get(&task.id).copied().flatten()?, self.now);
        let copied = |all: &[Requirement]| all.iter().filter_map(|wanted| self.condition(wanted)).collect::<Vec<_>>();
        let TaskMetadata { preconditions, requires, .. } = &task.metadata;
        let begins = preconditions.iter().filter(|wanted| !self.stays_behind(wanted)).cloned().collect::<Vec<_>>();
        let (preconditions, mut left) = (copied(&begins), copied(requires));
        if left.is_empty() && !requires.is_empty() {
            left.push(Requirement::After { time: now });
        }
        let metadata = TaskMetadata { preconditions, requires: left, begun_at: None, ..task.metadata.clone() };
        let status = if task.status == CampaignTaskStatus::Blocked { task.status } else { CampaignTaskStatus::Pending };
        Some(CampaignTask { id, campaign_id, status, metadata, sequence: 0, created_at: now, updated_at: now, ..task.clone() })
    }

    /// True if a precondition was met by a call, a reading or an answer of the original: these are
    /// not copied, and what was done counts as done, as a task that is done does. Else nothing in
    /// the copy might ever meet it.
    fn stays_behind(&self, wanted: &Requirement) -> bool {
        match wanted {
            Requirement::ToolSucceeded { .. }
            | Requirement::ScriptSucceeded { .. }
            | Requirement::PageRead { .. }
            | Requirement::UserAnswered { .. } => is_met(self.from, wanted, self.now),
            Requirement::TaskDone { .. }
            | Requirement::ArtifactExists { .. }
            | Requirement::LeadsAtLeast { .. }
            | Requirement::LeadStatus { .. }
            | Requirement::After { .. } => false,
        }
    }

    /// A condition for the copy; `None` if it is a task that is done. A number that is none of the
    /// campaign stays as it is.
    fn condition(&self, wanted: &Requirement) -> Option<Requirement> {
        Some(match wanted {
            Requirement::TaskDone { task } => {
                Requirement::TaskDone { task: self.tasks.get(task).copied().unwrap_or(Some(*task))? }
            }
            Requirement::LeadStatus { lead, status } => {
                Requirement::LeadStatus { lead: self.leads.get(lead).copied().unwrap_or(*lead), status: *status }
            }
            Requirement::ArtifactExists { kind_of, key, min_version } => {
                let behind = self.behind.get(&(*kind_of, key.clone())).copied().unwrap_or_default();
                Requirement::ArtifactExists { kind_of: *kind_of, key: key.clone(), min_version: (min_version - behind).max(1) }
            }
            other => other.clone(),
        })
    }
}
