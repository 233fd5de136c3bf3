//! Reads the state of a campaign: from its tables in one moment, or from its events alone.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{query, query_as, query_scalar};

use super::CampaignError;
use super::pages::pages_of;
use super::rows::{Of, rows};
use crate::domain::campaign::state::{CampaignRows, LeadsInBrief, named_leads};
use crate::domain::campaign::{CampaignState, Lead};
use crate::domain::{CampaignId, ConversationId, Machine, StepId, TurnInput, TurnState};
use crate::facts::{Event, EventRecord};
use crate::store::{Lease, Store, StoreError, Unit, value};

/// So many events are read at once.
const BATCH: i64 = 2_000;

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
        let words = records.iter().rev().find_map(|record| match &record.event {
            Event::CycleWords(told) => Some(told.sha256.clone()),
            _ => None,
        });
        CampaignState::of(CampaignRows { campaign, tasks, leads, artifacts, contexts, calls, pages, words, sequence })
            .map_err(CampaignError::broken(id))
    }
}

impl Store {
    /// The state of a campaign, as it is in one moment.
    ///
    /// # Errors
    /// [`CampaignError`] if there is none, or it is broken.
    pub async fn campaign_state(&self, id: CampaignId) -> Result<CampaignState, CampaignError> {
        let rows = rows(&self.pool, Of::Campaign(id)).await?.ok_or(CampaignError::Unknown(id))?;
        CampaignState::of(rows).map_err(CampaignError::broken(id))
    }

    /// The same of the campaign that a conversation belongs to.
    ///
    /// # Errors
    /// As [`Store::campaign_state`].
    pub async fn campaign_state_in(&self, conversation: ConversationId) -> Result<CampaignState, CampaignError> {
        let rows = rows(&self.pool, Of::Conversation(conversation)).await?;
        let rows = rows.ok_or_else(|| CampaignError::Missing(format!("conversation {conversation} has no campaign")))?;
        let id = CampaignId(rows.campaign["id"].as_i64().unwrap_or_default());
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
        let rows = rows(&mut *self.tx, Of::Campaign(id)).await?.ok_or(CampaignError::Unknown(id))?;
        CampaignState::of(rows).map_err(CampaignError::broken(id))
    }

    /// Holds the turn of a cycle, and then its campaign, until the transaction ends.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] if this lease does not hold the turn.
    pub(super) async fn hold_cycle(&mut self, lease: &Lease) -> Result<HeldCycle, StoreError> {
        // The turn is locked as the first part is made, so before the campaign.
        let held = query_as::<_, (i64, Option<i64>, i64)>(
            "WITH turn AS MATERIALIZED (SELECT turn_id, conversation_id FROM turns
                 WHERE turn_id = $1 AND fence = $2 AND state = ANY($3) FOR UPDATE)
             SELECT c.id, s.step_id, (SELECT count(*) FROM tool_calls k WHERE k.step_id = s.step_id)
             FROM turn JOIN campaigns c USING (conversation_id)
             LEFT JOIN LATERAL (SELECT step_id FROM steps s WHERE s.turn_id = turn.turn_id ORDER BY number DESC LIMIT 1) s ON TRUE
             FOR UPDATE OF c",
        );
        let held = held.bind(lease.turn.0).bind(lease.fence).bind(TurnState::before(TurnInput::Write));
        let (campaign, step, proposals) = held.fetch_optional(&mut *self.tx).await?.ok_or(StoreError::LostLease)?;
        let proposals = usize::try_from(proposals).unwrap_or_default();
        Ok(HeldCycle { campaign: CampaignId(campaign), step: step.map(StepId), proposals })
    }
}

/// A cycle whose turn and campaign are held.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldCycle {
    pub(super) campaign: CampaignId,
    /// The last step of its turn.
    pub(super) step: Option<StepId>,
    /// The proposals of that step.
    pub(super) proposals: usize,
}
