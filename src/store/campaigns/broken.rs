//! Campaigns that are not what was kept: the artifacts that were changed, and the part of a
//! campaign that can be read all the same.

use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::{PgExecutor, query_as};

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
        let unfit = unfit_artifacts(&self.pool, id).await?;
        CampaignState::of(fitting(rows, &unfit)).map_err(CampaignError::broken(id))
    }

    /// All of a campaign that is not what was kept, as sentences: its events, and its artifacts of
    /// all versions, which a state does not read.
    ///
    /// # Errors
    /// If there is none, or the database does not answer.
    pub async fn unkept_of_campaign(&self, id: CampaignId) -> Result<Vec<String>, CampaignError> {
        let mut told = self.campaign_chain(id).await?;
        told.extend(unfit_artifacts(&self.pool, id).await?.into_iter().map(|unfit| unfit.why));
        Ok(told)
    }
}

/// A version of an artifact that is not what was kept.
pub(super) struct UnfitArtifact {
    /// The number of its event.
    sequence: i64,
    /// The fault, in a sentence.
    why: String,
}

/// The versions of a campaign's artifacts that are not what was kept: each has an event that says
/// what it is.
pub(super) async fn unfit_artifacts(database: impl PgExecutor<'_>, id: CampaignId) -> Result<Vec<UnfitArtifact>, sqlx::Error> {
    let unfit = query_as::<_, (i64, String, String, i32, String)>(
        "WITH kept AS (
             SELECT e.sequence, k.* FROM campaigns c JOIN events e USING (conversation_id),
                 jsonb_to_record(e.payload -> 'artifact') AS k (artifact_type TEXT, artifact_key TEXT, version INTEGER, sha256 TEXT)
             WHERE c.id = $1 AND e.kind = 'artifact_kept'),
         there AS (SELECT sequence, artifact_type, artifact_key, version, sha256, content FROM artifacts WHERE campaign_id = $1),
         judged AS (
             SELECT sequence, coalesce(t.artifact_type, k.artifact_type) AS kind, coalesce(t.artifact_key, k.artifact_key) AS key,
                 coalesce(t.version, k.version) AS version,
                 CASE WHEN t.sha256 IS NULL THEN 'is gone'
                     WHEN t.sha256 <> encode(sha256(convert_to(t.content, 'UTF8')), 'hex') THEN 'does not fit its sha256'
                     WHEN (t.artifact_type, t.artifact_key, t.version, t.sha256)
                         IS DISTINCT FROM (k.artifact_type, k.artifact_key, k.version, k.sha256) THEN 'is not what its event says' END AS why
             FROM kept k FULL JOIN there t USING (sequence))
         SELECT sequence, kind, key, version, why FROM judged WHERE why IS NOT NULL ORDER BY sequence",
    );
    let unfit = unfit.bind(id.0).fetch_all(database).await?.into_iter();
    let told = |(sequence, kind, key, version, why)| UnfitArtifact {
        sequence,
        why: format!("the {kind} {key} version {version} {why}"),
    };
    Ok(unfit.map(told).collect())
}

/// True if an artifact is what was kept.
pub(super) fn fits(artifact: &Artifact, unfit: &[UnfitArtifact]) -> bool {
    artifact.checked().is_ok() && unfit.iter().all(|unfit| unfit.sequence != artifact.sequence)
}

/// The rows that can be read and fit.
pub(super) fn fitting(mut rows: CampaignRows, unfit: &[UnfitArtifact]) -> CampaignRows {
    keep(&mut rows.tasks, |_: &CampaignTask| true);
    keep(&mut rows.artifacts, |artifact: &Artifact| fits(artifact, unfit));
    keep(&mut rows.contexts, |_: &ApprovalContext| true);
    keep(&mut rows.calls, |_: &MadeCall| true);
    rows
}

/// Leaves out the rows that cannot be read or do not fit.
fn keep<T: DeserializeOwned>(rows: &mut Vec<Value>, fits: impl Fn(&T) -> bool) {
    rows.retain(|row| serde_json::from_value(row.clone()).is_ok_and(|read| fits(&read)));
}
