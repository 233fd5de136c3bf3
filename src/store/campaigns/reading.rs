//! Campaigns as a person looks at them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{query_as, query_scalar};

use super::CampaignError;
use crate::domain::CampaignId;
use crate::domain::campaign::{Artifact, ArtifactType, Campaign, Lead};
use crate::store::{Store, StoreError, value};
use crate::wire::api::CampaignLogLine;

/// One of the two logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CampaignLog {
    /// Every change.
    Events,
    /// Every call, script, file, interaction and refused answer.
    Audit,
}

impl Store {
    /// All campaigns, the newest first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn campaigns(&self) -> Result<Vec<Campaign>, StoreError> {
        let rows = query_scalar::<_, Value>("SELECT to_jsonb(c) FROM campaigns c ORDER BY id DESC LIMIT 1000");
        let rows = rows.fetch_all(&self.pool).await?.into_iter();
        let mut campaigns = rows.map(value).collect::<Result<Vec<Campaign>, _>>()?;
        self.name_approvals(&mut campaigns).await?;
        Ok(campaigns)
    }

    /// Says of campaigns that they wait for an approval, if one is pending. It is no row of the
    /// campaign: whichever way it ends, it is named no more.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn name_approvals(&self, campaigns: &mut [Campaign]) -> Result<(), StoreError> {
        let conversations: Vec<_> = campaigns.iter().map(|campaign| campaign.conversation_id.0).collect();
        let pending = query_as::<_, (i64, i64, Option<String>)>(
            "SELECT conversation_id, approval_id, shown ->> 'tool' FROM approvals
             WHERE state = 'pending' AND conversation_id = ANY($1) ORDER BY approval_id DESC",
        );
        let pending = pending.bind(conversations).fetch_all(&self.pool).await?.into_iter();
        let words = |id: i64, tool: Option<String>| {
            let tool = tool.unwrap_or_default();
            format!("approval {id} ({tool}) waits for your decision; see it: level3 approvals show {id}")
        };
        let mut waits: BTreeMap<_, _> = pending.map(|(conversation, id, tool)| (conversation, words(id, tool))).collect();
        for campaign in campaigns {
            campaign.waits_for = waits.remove(&campaign.conversation_id.0).or(campaign.waits_for.take());
        }
        Ok(())
    }

    /// The leads of a campaign, the best first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn leads_of(&self, id: CampaignId, limit: i64) -> Result<Vec<Lead>, StoreError> {
        let rows = query_scalar::<_, Value>(
            "SELECT to_jsonb(l) FROM leads l WHERE campaign_id = $1 ORDER BY weight_score DESC, id LIMIT $2",
        );
        rows.bind(id.0).bind(limit).fetch_all(&self.pool).await?.into_iter().map(value).collect()
    }

    /// The versions of an artifact, the oldest first; each is checked against its sha256.
    ///
    /// # Errors
    /// [`CampaignError::Broken`] if one was changed.
    pub async fn artifact_versions(&self, id: CampaignId, kind: ArtifactType, key: &str) -> Result<Vec<Artifact>, CampaignError> {
        let rows = query_scalar::<_, Value>(
            "SELECT to_jsonb(a) FROM artifacts a WHERE campaign_id = $1 AND artifact_type = $2 AND artifact_key = $3 ORDER BY version",
        );
        let rows = rows.bind(id.0).bind(kind.as_str()).bind(key).fetch_all(&self.pool).await?;
        let kept = rows.into_iter().map(value::<Artifact>).collect::<Result<Vec<_>, _>>()?;
        for artifact in &kept {
            artifact.checked().map_err(|why| CampaignError::Broken(id, why))?;
        }
        Ok(kept)
    }

    /// The newest lines of a log, the oldest first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn campaign_log(
        &self,
        id: CampaignId,
        log: CampaignLog,
        kind: Option<&str>,
        limit: i64,
    ) -> Result<Vec<CampaignLogLine>, StoreError> {
        let statement = match log {
            CampaignLog::Events => {
                "SELECT * FROM (SELECT id::text, timestamp, entity_type, change_payload FROM event_log
                 WHERE campaign_id = $1 AND ($2::text IS NULL OR entity_type = $2) ORDER BY event_log.id DESC LIMIT $3) l ORDER BY timestamp, l.id::bigint"
            }
            CampaignLog::Audit => {
                "SELECT * FROM (SELECT id, timestamp, action_type, payload FROM audit_log
                 WHERE campaign_id = $1 AND ($2::text IS NULL OR action_type = $2) ORDER BY timestamp DESC, id DESC LIMIT $3) l ORDER BY timestamp, id"
            }
        };
        let rows = query_as::<_, (String, DateTime<Utc>, String, Value)>(statement).bind(id.0).bind(kind).bind(limit);
        let rows = rows.fetch_all(&self.pool).await?.into_iter();
        Ok(rows.map(|(id, timestamp, kind, payload)| CampaignLogLine { id, timestamp, kind, payload }).collect())
    }

    /// The kinds of lines that a log has, by the alphabet: also those too old to stand among its
    /// newest lines.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn campaign_log_kinds(&self, id: CampaignId, log: CampaignLog) -> Result<Vec<String>, StoreError> {
        let statement = match log {
            CampaignLog::Events => "SELECT DISTINCT entity_type FROM event_log WHERE campaign_id = $1 ORDER BY 1",
            CampaignLog::Audit => "SELECT DISTINCT action_type FROM audit_log WHERE campaign_id = $1 ORDER BY 1",
        };
        Ok(query_scalar::<_, String>(statement).bind(id.0).fetch_all(&self.pool).await?)
    }

    /// The places at which the chain of a campaign's events is broken, as sentences.
    pub(super) async fn campaign_chain(&self, id: CampaignId) -> Result<Vec<String>, CampaignError> {
        let conversation = self.conversation_of_campaign(id).await?;
        let broken = query_scalar::<_, i64>(
            "SELECT sequence FROM (SELECT sequence, hash, coalesce(lag(sequence) OVER stream, 0) AS before,
                     event_hash(lag(hash) OVER stream, conversation_id, sequence, position, kind, payload, created_at) AS expected
                 FROM events WHERE conversation_id = $1 WINDOW stream AS (ORDER BY sequence)) links
             WHERE sequence <> before + 1 OR hash <> expected ORDER BY sequence",
        );
        let broken = broken.bind(conversation.0).fetch_all(&self.pool).await?;
        let mut told: Vec<_> =
            broken.into_iter().map(|at| format!("event {at} does not fit its hash, or the one before it is gone")).collect();
        let end = query_as::<_, (i64, i64)>(
            "SELECT last_sequence, coalesce((SELECT max(sequence) FROM events e WHERE e.conversation_id = c.conversation_id), 0)
             FROM conversations c WHERE conversation_id = $1",
        );
        let (expected, found) = end.bind(conversation.0).fetch_one(&self.pool).await?;
        if expected != found {
            told.push(format!("the stream ends with event {found}, and should end with {expected}"));
        }
        Ok(told)
    }
}
