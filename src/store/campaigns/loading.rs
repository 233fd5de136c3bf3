//! Reads the state of a campaign: from its tables in one moment, or from its events alone.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{PgConnection, query, query_as, query_scalar};

use super::CampaignError;
use super::pages::{pages, pages_of};
use crate::domain::campaign::state::{CampaignRows, LeadsInBrief, MOST_CALLS_READ, MOST_LEADS_SHOWN, named_leads};
use crate::domain::campaign::{CampaignState, Lead, LeadStatus};
use crate::domain::{CampaignId, ConversationId, LeadId};
use crate::facts::EventRecord;
use crate::store::{Store, StoreError, Unit, value, word};

/// So many events are read at once.
const BATCH: i64 = 2_000;

/// The rows of a campaign as its tables have them.
pub(super) async fn rows(database: &mut PgConnection, id: CampaignId) -> Result<CampaignRows, CampaignError> {
    let campaign = query_scalar::<_, Value>("SELECT to_jsonb(c) FROM campaigns c WHERE id = $1").bind(id.0);
    let campaign = campaign.fetch_optional(&mut *database).await?.ok_or(CampaignError::Unknown(id))?;
    let conversation = campaign["conversation_id"].as_i64().unwrap_or_default();
    let mut all = Vec::new();
    for table in [
        "SELECT to_jsonb(t) FROM campaign_tasks t WHERE campaign_id = $1 ORDER BY id",
        "SELECT to_jsonb(t) FROM artifacts t WHERE campaign_id = $1
           AND version = (SELECT max(version) FROM artifacts n WHERE n.campaign_id = t.campaign_id AND n.artifact_type = t.artifact_type
                          AND n.artifact_key = t.artifact_key) ORDER BY id",
        "SELECT to_jsonb(t) FROM campaign_contexts t WHERE campaign_id = $1 ORDER BY id",
    ] {
        all.push(query_scalar::<_, Value>(table).bind(id.0).fetch_all(&mut *database).await?);
    }
    let [tasks, artifacts, contexts] = <[Vec<Value>; 3]>::try_from(all).unwrap_or_default();
    let most = i64::try_from(MOST_CALLS_READ).unwrap_or(i64::MAX);
    let calls = query_scalar::<_, Value>(
        "SELECT to_jsonb(k) FROM tool_calls k JOIN turns t USING (turn_id) WHERE conversation_id = $1 AND k.ended_at IS NOT NULL
         ORDER BY tool_call_id DESC LIMIT $2",
    );
    let calls = calls.bind(conversation).bind(most).fetch_all(&mut *database).await?;
    let sequence = query_scalar::<_, i64>("SELECT last_sequence FROM conversations WHERE conversation_id = $1");
    let sequence = sequence.bind(conversation).fetch_one(&mut *database).await?;
    let leads = leads(&mut *database, id, &named_leads(&tasks)).await?;
    let pages = pages(&mut *database, ConversationId(conversation), &tasks).await?;
    Ok(CampaignRows { campaign, tasks, leads, artifacts, contexts, calls, pages, sequence })
}

/// The leads in brief, counted by the database.
async fn leads(database: &mut PgConnection, id: CampaignId, named: &BTreeSet<LeadId>) -> Result<LeadsInBrief, CampaignError> {
    let counted = query_as::<_, (String, i64, i64)>(
        "SELECT status, count(*), max(sequence) FROM leads WHERE campaign_id = $1 GROUP BY status",
    );
    let (mut counts, mut newest) = (BTreeMap::new(), BTreeMap::new());
    for (status, count, last) in counted.bind(id.0).fetch_all(&mut *database).await? {
        let status: LeadStatus = word(&status)?;
        counts.insert(status, count);
        newest.insert(status, last);
    }
    let sha256 = query_scalar::<_, String>(
        "SELECT encode(sha256(convert_to(coalesce(string_agg(concat_ws(' ', id, status, weight_score, sequence), ',' ORDER BY id), ''), 'UTF8')),
                'hex') FROM leads WHERE campaign_id = $1",
    );
    let sha256 = sha256.bind(id.0).fetch_one(&mut *database).await?;
    let best = query_scalar::<_, Value>(
        "SELECT to_jsonb(l) FROM leads l WHERE campaign_id = $1 ORDER BY weight_score DESC, id LIMIT $2",
    );
    let best = best.bind(id.0).bind(i64::try_from(MOST_LEADS_SHOWN).unwrap_or(i64::MAX)).fetch_all(&mut *database).await?;
    let wanted: Vec<_> = named.iter().map(|lead| lead.0).collect();
    let named = query_scalar::<_, Value>("SELECT to_jsonb(l) FROM leads l WHERE campaign_id = $1 AND id = ANY($2) ORDER BY id");
    let named = named.bind(id.0).bind(wanted).fetch_all(&mut *database).await?;
    let read = |rows: Vec<Value>| rows.into_iter().map(value::<Lead>).collect::<Result<Vec<_>, _>>();
    Ok(LeadsInBrief { counts, newest, best: read(best)?, named: read(named)?, sha256 })
}

/// The rows of a table, by their keys.
type RowsByKey = BTreeMap<String, serde_json::Map<String, Value>>;

/// The states that events make, in their order: each takes up where the one before it ended.
pub struct CampaignFold<'a> {
    id: CampaignId,
    records: &'a [EventRecord],
    /// So many of them are in the tables.
    read: usize,
    tables: BTreeMap<&'static str, RowsByKey>,
}

impl<'a> CampaignFold<'a> {
    /// Begins with no event.
    pub fn new(id: CampaignId, records: &'a [EventRecord]) -> Self {
        Self { id, records, read: 0, tables: BTreeMap::new() }
    }

    /// The state up to a place of the stream.
    ///
    /// # Errors
    /// [`CampaignError::Broken`] if the events make none.
    pub fn upto(&mut self, sequence: i64) -> Result<CampaignState, CampaignError> {
        if self.read > 0 && self.records[self.read - 1].sequence > sequence {
            *self = Self::new(self.id, self.records);
        }
        while let Some(record) = self.records.get(self.read).filter(|record| record.sequence <= sequence) {
            self.read += 1;
            self.add(record);
        }
        self.state()
    }

    fn add(&mut self, record: &EventRecord) {
        for change in record.changes() {
            let rows = self.tables.entry(change.table.name).or_default();
            match change.row {
                None => drop(rows.remove(&change.key)),
                Some(row) => {
                    let kept = rows.entry(change.key).or_default();
                    let created = kept.get("created_at").cloned();
                    kept.extend(row);
                    kept.extend(created.map(|created| ("created_at".to_owned(), created)));
                }
            }
        }
    }

    fn state(&self) -> Result<CampaignState, CampaignError> {
        let all = |table: &str| -> Vec<Value> {
            self.tables.get(table).into_iter().flat_map(BTreeMap::values).cloned().map(Value::Object).collect()
        };
        let id = self.id;
        let campaign = all("campaigns").into_iter().find(|row| row["id"] == id.0).ok_or(CampaignError::Unknown(id))?;
        let (tasks, artifacts, contexts) = (all("campaign_tasks"), all("artifacts"), all("campaign_contexts"));
        let calls = all("tool_calls").into_iter().filter(|row| row.get("ended_at").is_some_and(|at| !at.is_null())).collect();
        let leads = all("leads").into_iter().map(value::<Lead>).collect::<Result<Vec<_>, _>>()?;
        let leads = LeadsInBrief::of(&named_leads(&tasks), leads);
        let records = &self.records[..self.read];
        let sequence = records.last().map_or(0, |record| record.sequence);
        let pages = pages_of(records, &tasks);
        CampaignState::of(CampaignRows { campaign, tasks, leads, artifacts, contexts, calls, pages, sequence })
            .map_err(CampaignError::broken(id))
    }
}

impl Store {
    /// The state of a campaign, as it is in one moment.
    ///
    /// # Errors
    /// [`CampaignError`] if there is none, or it is broken.
    pub async fn campaign_state(&self, id: CampaignId) -> Result<CampaignState, CampaignError> {
        let mut tx = self.pool.begin().await?;
        query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY").execute(&mut *tx).await?;
        let rows = rows(&mut tx, id).await?;
        tx.rollback().await?;
        CampaignState::of(rows).map_err(CampaignError::broken(id))
    }

    /// The same from its events alone, up to a place of its stream.
    ///
    /// # Errors
    /// As [`Store::campaign_state`].
    pub async fn campaign_from_events(&self, id: CampaignId, upto: Option<i64>) -> Result<CampaignState, CampaignError> {
        let records = self.campaign_events(id).await?;
        CampaignFold::new(id, &records).upto(upto.unwrap_or(i64::MAX))
    }

    /// All events of a campaign.
    ///
    /// # Errors
    /// As [`Store::campaign_state`].
    pub async fn campaign_events(&self, id: CampaignId) -> Result<Vec<EventRecord>, CampaignError> {
        let conversation = self.conversation_of_campaign(id).await?;
        let mut records: Vec<EventRecord> = Vec::new();
        loop {
            let after = records.last().map_or(0, |record| record.sequence);
            let batch = self.stream_after(conversation, after, BATCH).await?;
            if batch.is_empty() {
                return Ok(records);
            }
            records.extend(batch);
        }
    }

    /// A transaction that holds a campaign, and before it the open turns of its conversation. A cycle that was queued while this waited for
    /// the campaign is met by another try: to take its turn after the campaign could be a deadlock.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(super) async fn hold_with_turns(&self, conversation: ConversationId, now: DateTime<Utc>) -> Result<Unit, StoreError> {
        loop {
            let mut unit = self.begin(now).await?;
            let held = query_scalar::<_, i64>(
                "SELECT turn_id FROM turns WHERE conversation_id = $1 AND ended_at IS NULL ORDER BY turn_id FOR UPDATE",
            );
            let held = held.bind(conversation.0).fetch_all(&mut *unit.tx).await?;
            query("SELECT FROM campaigns WHERE conversation_id = $1 FOR UPDATE")
                .bind(conversation.0)
                .execute(&mut *unit.tx)
                .await?;
            let late = query_scalar::<_, bool>(
                "SELECT EXISTS (SELECT FROM turns WHERE conversation_id = $1 AND ended_at IS NULL AND turn_id <> ALL ($2))",
            );
            if !late.bind(conversation.0).bind(held).fetch_one(&mut *unit.tx).await? {
                return Ok(unit);
            }
            unit.let_go().await?;
        }
    }

    /// The conversation of a campaign.
    ///
    /// # Errors
    /// [`CampaignError::Unknown`], or if the database does not answer.
    pub async fn conversation_of_campaign(&self, id: CampaignId) -> Result<ConversationId, CampaignError> {
        let found = query_scalar::<_, i64>("SELECT conversation_id FROM campaigns WHERE id = $1").bind(id.0);
        found.fetch_optional(&self.pool).await?.map(ConversationId).ok_or(CampaignError::Unknown(id))
    }

    /// The campaign of a conversation.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn campaign_of(&self, conversation: ConversationId) -> Result<Option<CampaignId>, StoreError> {
        let found = query_scalar::<_, i64>("SELECT id FROM campaigns WHERE conversation_id = $1").bind(conversation.0);
        Ok(found.fetch_optional(&self.pool).await?.map(CampaignId))
    }
}

impl Unit {
    /// Holds a campaign until the transaction ends, and reads its state.
    ///
    /// # Errors
    /// As [`Store::campaign_state`].
    pub(super) async fn hold_campaign(&mut self, id: CampaignId) -> Result<CampaignState, CampaignError> {
        let held = query_scalar::<_, i64>("SELECT id FROM campaigns WHERE id = $1 FOR UPDATE").bind(id.0);
        held.fetch_optional(&mut *self.tx).await?.ok_or(CampaignError::Unknown(id))?;
        self.read_campaign(id).await
    }

    /// Reads the state of a campaign that is held.
    pub(super) async fn read_campaign(&mut self, id: CampaignId) -> Result<CampaignState, CampaignError> {
        CampaignState::of(rows(&mut self.tx, id).await?).map_err(CampaignError::broken(id))
    }

    /// The campaign of a turn's conversation.
    pub(super) async fn campaign_of(&mut self, conversation: ConversationId) -> Result<CampaignId, StoreError> {
        let found = query_scalar::<_, i64>("SELECT id FROM campaigns WHERE conversation_id = $1").bind(conversation.0);
        let found = found.fetch_optional(&mut *self.tx).await?;
        found.map(CampaignId).ok_or_else(|| StoreError::Unreadable(format!("conversation {conversation} has no campaign")))
    }
}
