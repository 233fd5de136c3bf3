//! Campaigns that are not what was kept: the artifacts that were changed, and the part of a
//! campaign that can be read all the same.

use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::query_as;

use super::CampaignError;
use super::rows::{Of, rows};
use crate::domain::CampaignId;
use crate::domain::campaign::state::{CampaignRows, MadeCall};
use crate::domain::campaign::{ApprovalContext, Artifact, CampaignState, CampaignTask};
use crate::store::Store;

impl Store {
    /// The state of a campaign without the rows that cannot be read and the artifacts that were
    /// changed. It is for a person to look at: no cycle works with it.
    ///
    /// # Errors
    /// [`CampaignError`] if there is none, or its own row cannot be read.
    pub async fn remains_of_campaign(&self, id: CampaignId) -> Result<CampaignState, CampaignError> {
        let rows = rows(&self.pool, Of::Campaign(id)).await?.ok_or(CampaignError::Unknown(id))?;
        CampaignState::of(fitting(rows)).map_err(CampaignError::broken(id))
    }

    /// The artifacts of a campaign that do not fit their sha256, as sentences; of all versions,
    /// which a state does not read.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn changed_artifacts(&self, id: CampaignId) -> Result<Vec<String>, CampaignError> {
        let changed = query_as::<_, (String, String, i32)>(
            "SELECT artifact_type, artifact_key, version FROM artifacts
             WHERE campaign_id = $1 AND sha256 <> encode(sha256(convert_to(content, 'UTF8')), 'hex') ORDER BY id",
        );
        let changed = changed.bind(id.0).fetch_all(&self.pool).await?.into_iter();
        Ok(changed.map(|(kind, key, version)| format!("the {kind} {key} version {version} does not fit its sha256")).collect())
    }
}

/// The rows that can be read and fit.
pub(super) fn fitting(mut rows: CampaignRows) -> CampaignRows {
    keep(&mut rows.tasks, |_: &CampaignTask| true);
    keep(&mut rows.artifacts, |artifact: &Artifact| artifact.checked().is_ok());
    keep(&mut rows.contexts, |_: &ApprovalContext| true);
    keep(&mut rows.calls, |_: &MadeCall| true);
    rows
}

/// Leaves out the rows that cannot be read or do not fit.
fn keep<T: DeserializeOwned>(rows: &mut Vec<Value>, fits: impl Fn(&T) -> bool) {
    rows.retain(|row| serde_json::from_value(row.clone()).is_ok_and(|read| fits(&read)));
}
