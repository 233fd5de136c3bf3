//! The leads that orders and proposals name have to be the campaign's own.

use sqlx::{PgExecutor, query_scalar};

use super::CampaignError;
use crate::domain::campaign::conditions::{check_tasks, leads_in};
use crate::domain::campaign::{CampaignState, TaskMetadata};
use crate::domain::{CampaignId, LeadId};
use crate::store::{Store, StoreError, Unit};

/// A lead that somebody named, with its place.
type NamedLead = (String, LeadId);

/// The sentence about the first of these leads that the campaign does not have; `None` if it has
/// all.
async fn unknown(database: impl PgExecutor<'_>, id: CampaignId, named: &[NamedLead]) -> Result<Option<String>, sqlx::Error> {
    if named.is_empty() {
        return Ok(None);
    }
    let leads: Vec<_> = named.iter().map(|(_, lead)| lead.0).collect();
    let known = query_scalar::<_, i64>("SELECT id FROM leads WHERE campaign_id = $1 AND id = ANY($2)");
    let known = known.bind(id.0).bind(leads).fetch_all(database).await?;
    let unknown = named.iter().find(|(_, lead)| !known.contains(&lead.0));
    Ok(unknown.map(|(at, lead)| format!("{at}: there is no lead {lead} in this campaign")))
}

impl Store {
    /// The sentence about the first of these leads, each with its place, that a campaign does not
    /// have; `None` if it has all.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn unknown_lead(&self, id: CampaignId, named: &[(String, LeadId)]) -> Result<Option<String>, StoreError> {
        Ok(unknown(&self.pool, id, named).await?)
    }
}

impl Unit {
    /// Checks that the conditions of a new task name tasks and leads of the campaign.
    pub(super) async fn check_conditions(&mut self, state: &CampaignState, task: &TaskMetadata) -> Result<(), CampaignError> {
        let TaskMetadata { preconditions, requires, .. } = task;
        check_tasks(state, preconditions, requires).map_err(CampaignError::Wrong)?;
        let unknown = unknown(&mut *self.tx, state.campaign.id, &leads_in(preconditions, requires)).await?;
        unknown.map_or(Ok(()), |why| Err(CampaignError::Wrong(why)))
    }
}
