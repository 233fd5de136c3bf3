//! The whole of a campaign, from its tables or its events: its state, all leads, and all versions
//! of its artifacts, as whole rows.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{query, query_as};

use super::rows::{Of, rows};
use super::{CampaignError, CampaignFold};
use crate::domain::CampaignId;
use crate::domain::campaign::{Artifact, CampaignState, Lead, sha256};
use crate::facts::{ArtifactKept, Event, LeadsKept};
use crate::store::{Store, value};

/// A campaign with all of its rows. A state has of the leads the best alone, and of the artifacts
/// the newest versions.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeCampaign {
    /// The state.
    pub state: CampaignState,
    /// All leads, the oldest first.
    pub leads: Vec<Lead>,
    /// All versions of all artifacts, the oldest first.
    pub artifacts: Vec<Artifact>,
}

impl WholeCampaign {
    /// sha256 of all leads with all their fields.
    pub fn leads_sha256(&self) -> String {
        of(&self.leads)
    }

    /// The same of all versions of all artifacts.
    pub fn artifacts_sha256(&self) -> String {
        of(&self.artifacts)
    }
}

fn of<T: Serialize>(rows: &[T]) -> String {
    sha256(serde_json::to_string(rows).unwrap_or_default().as_bytes())
}

impl Store {
    /// The whole of a campaign, as its tables have it in one moment.
    ///
    /// # Errors
    /// [`CampaignError`] if there is none, or it is broken.
    pub async fn whole_campaign(&self, id: CampaignId) -> Result<WholeCampaign, CampaignError> {
        let mut tx = self.pool.begin().await?;
        query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").execute(&mut *tx).await?;
        let found = rows(&mut *tx, Of::Campaign(id)).await?.ok_or(CampaignError::Unknown(id))?;
        let state = CampaignState::of(found).map_err(CampaignError::broken(id))?;
        let all = query_as::<_, (Json<Vec<Value>>, Json<Vec<Value>>)>(
            "SELECT (SELECT coalesce(json_agg(l ORDER BY id), '[]') FROM leads l WHERE campaign_id = $1),
                    (SELECT coalesce(json_agg(a ORDER BY id), '[]') FROM artifacts a WHERE campaign_id = $1)",
        );
        let (Json(leads), Json(artifacts)) = all.bind(id.0).fetch_one(&mut *tx).await?;
        tx.rollback().await?;
        let leads = leads.into_iter().map(value::<Lead>).collect::<Result<_, _>>()?;
        let artifacts: Vec<_> = artifacts.into_iter().map(value::<Artifact>).collect::<Result<_, _>>()?;
        for artifact in &artifacts {
            artifact.checked().map_err(|why| CampaignError::Broken(id, why))?;
        }
        Ok(WholeCampaign { state, leads, artifacts })
    }

    /// The same from its events alone.
    ///
    /// # Errors
    /// As [`Store::whole_campaign`].
    pub async fn whole_campaign_from_events(&self, id: CampaignId) -> Result<WholeCampaign, CampaignError> {
        let records = self.campaign_events(id).await?;
        let state = CampaignFold::new(id, &records).upto(i64::MAX)?;
        let (mut leads, mut artifacts) = (BTreeMap::new(), BTreeMap::new());
        for record in &records {
            let sequence = record.sequence;
            match &record.event {
                Event::LeadsKept(LeadsKept { leads: kept, .. }) => {
                    leads.extend(kept.iter().map(|lead| (lead.id, Lead { sequence, ..lead.clone() })));
                }
                Event::ArtifactKept(ArtifactKept { artifact, .. }) => {
                    artifacts.insert(artifact.id, Artifact { sequence, ..artifact.clone() });
                }
                _ => {}
            }
        }
        Ok(WholeCampaign { state, leads: leads.into_values().collect(), artifacts: artifacts.into_values().collect() })
    }
}
