//! Reads the state of a campaign: from its tables in one moment, or from its events alone.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{query, query_as, query_scalar};

use super::CampaignError;
use super::audited::audit_of;
use super::pages::pages_of;
use super::rows::{Of, rows, rows_for_cycle};
use crate::domain::campaign::state::{CampaignRows, LeadsInBrief, MadeCall, named_leads};
use crate::domain::campaign::{CampaignState, Lead};
use crate::domain::{CallState, CampaignId, ConversationId, Machine, OperationState, StepId, ToolCallId, TurnInput, TurnState};
use crate::facts::{Event, EventRecord};
use crate::store::{Lease, OpenCall, Standing, Store, StoreError, StoredStep, Unit, Wanted, value};

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
        let audit = audit_of(records, &self.unknown_calls());
        let words = records.iter().rev().find_map(|record| match &record.event {
            Event::CycleWords(told) => Some(told.sha256.clone()),
            _ => None,
        });
        CampaignState::of(CampaignRows { campaign, tasks, leads, artifacts, contexts, calls, audit, pages, words, sequence })
            .map_err(CampaignError::broken(id))
    }

    /// The calls with an operation of which nobody knows whether it happened.
    fn unknown_calls(&self) -> BTreeSet<ToolCallId> {
        let operations = self.tables.get("operations").into_iter().flat_map(BTreeMap::values);
        let unknown = operations
            .filter(|row| row.get("state").and_then(Value::as_str) == Some(OperationState::Unknown.as_str()))
            .filter_map(|row| row.get("tool_call_id").and_then(Value::as_i64));
        unknown.map(ToolCallId).collect()
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

    /// The same of the campaign that a conversation belongs to, as a cycle needs it: if no
    /// condition looks for a call, it has those alone that its audit names.
    ///
    /// # Errors
    /// As [`Store::campaign_state`].
    pub async fn campaign_state_in(&self, conversation: ConversationId) -> Result<CampaignState, CampaignError> {
        let read = rows_for_cycle(&self.pool, conversation, None).await?;
        let (rows, _) = read.ok_or_else(|| CampaignError::Missing(format!("conversation {conversation} has no campaign")))?;
        let id = CampaignId(rows.campaign["id"].as_i64().unwrap_or_default());
        CampaignState::of(rows).map_err(CampaignError::broken(id))
    }

    /// The same of a cycle that was just taken up, with the place where its turn stands, by one
    /// statement. `None` if the conversation has no campaign.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn cycle_taken_up(&self, lease: &Lease, wanted: Wanted) -> Result<Option<(Standing, ReadState)>, StoreError> {
        let asked = self.asked(lease.conversation, wanted);
        let read = rows_for_cycle(&self.pool, lease.conversation, Some(asked.of(lease))).await?;
        let Some((rows, Some(standing))) = read else { return Ok(None) };
        let id = CampaignId(rows.campaign["id"].as_i64().unwrap_or_default());
        let state = CampaignState::of(rows).map_err(CampaignError::broken(id));
        Ok(Some((self.stands(lease, &asked, standing)?, state)))
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

    /// A transaction that holds a campaign, and before it the open turns of its conversation. A
    /// cycle that was queued while this waited for the campaign is met by another try: to take its
    /// turn after the campaign could be a deadlock.
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

    /// True if a turn of a conversation waits or runs.
    pub(super) async fn has_open_turn(&mut self, conversation: ConversationId) -> Result<bool, StoreError> {
        let open = query_scalar::<_, bool>("SELECT EXISTS (SELECT FROM turns WHERE conversation_id = $1 AND ended_at IS NULL)");
        Ok(open.bind(conversation.0).fetch_one(&mut *self.tx).await?)
    }

    /// Reads the state of a campaign that is held.
    pub(super) async fn read_campaign(&mut self, id: CampaignId) -> Result<CampaignState, CampaignError> {
        let rows = rows(&mut *self.tx, Of::Campaign(id)).await?.ok_or(CampaignError::Unknown(id))?;
        CampaignState::of(rows).map_err(CampaignError::broken(id))
    }

    /// The state of a cycle that is held: the one that was read before, if nothing has come into
    /// the stream since but the end of the calls that were looked at with it. Else it is read.
    pub(super) async fn state_of(
        &mut self,
        held: &HeldCycle,
        read: Option<CampaignState>,
    ) -> Result<CampaignState, CampaignError> {
        match read.filter(|state| state.sequence == held.sequence) {
            Some(mut state) => {
                held.calls.iter().for_each(|call| state.end_call(&call.made));
                Ok(state)
            }
            None => self.read_campaign(held.campaign).await,
        }
    }

    /// Holds a cycle to judge its last step, and looks at the calls of that. No message is read:
    /// they may be gone.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] if this lease does not hold the turn.
    pub async fn look_at_cycle(&mut self, lease: &Lease) -> Result<HeldCycle, StoreError> {
        let held = self.hold_cycle(lease, None, true).await?;
        // A deed that had begun before a crash may have been refused after it.
        let failed = held.calls.iter().any(|call| call.made.state == CallState::Failed);
        let lost = match lease.fence > 1 && failed {
            true => self.record_lost_deeds(lease.conversation, lease.turn).await?,
            false => None,
        };
        Ok(HeldCycle { sequence: lost.unwrap_or(held.sequence), ..held })
    }

    /// Holds the turn of a cycle, then its campaign, then its conversation, until the transaction
    /// ends. It may draw a number of a table, and look at the calls of the last step.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] if this lease does not hold the turn.
    pub(super) async fn hold_cycle(
        &mut self,
        lease: &Lease,
        numbered: Option<&'static str>,
        looks: bool,
    ) -> Result<HeldCycle, StoreError> {
        // The turn is locked as the first part is made, so before the campaign. The number of the
        // last event is that of the locked row: one that waits for the lock sees what came
        // meanwhile.
        let held = query_as::<_, Held>(
            "WITH turn AS MATERIALIZED (SELECT turn_id, conversation_id FROM turns
                 WHERE turn_id = $1 AND fence = $2 AND state = ANY($3) FOR UPDATE)
             SELECT c.id, o.last_sequence, s.step_id, coalesce(s.number, 0) AS steps, coalesce(s.step_id > coalesce(c.judged_step, 0), FALSE) AS unjudged,
                    (SELECT count(*) FROM tool_calls k WHERE k.step_id = s.step_id) AS proposals,
                    CASE WHEN $4::text IS NOT NULL THEN nextval(pg_get_serial_sequence($4::text, 'id')) END AS number,
                    CASE WHEN $5 THEN (
                        SELECT json_agg(json_build_object('tool_call_id', k.tool_call_id, 'step_id', k.step_id, 'name', k.name, 'arguments', k.arguments,
                            'state', k.state, 'refusal', k.refusal, 'ended_at', k.ended_at,
                            'result', CASE WHEN k.ended_at IS NULL THEN '' ELSE coalesce((
                                SELECT e.payload #>> '{outcome,result}' FROM events e
                                WHERE e.conversation_id = c.conversation_id AND e.kind = 'tool_call_ended'
                                  AND e.payload -> 'call' = to_jsonb(k.tool_call_id) ORDER BY e.sequence DESC LIMIT 1), '') END)
                            ORDER BY k.position) FROM tool_calls k WHERE k.step_id = s.step_id) END AS calls
             FROM turn JOIN campaigns c USING (conversation_id) JOIN conversations o USING (conversation_id)
             LEFT JOIN LATERAL (SELECT step_id, number FROM steps WHERE steps.turn_id = turn.turn_id ORDER BY number DESC LIMIT 1) s ON TRUE
             FOR UPDATE OF c FOR NO KEY UPDATE OF o",
        );
        let held = held.bind(lease.turn.0).bind(lease.fence).bind(TurnState::before(TurnInput::Write)).bind(numbered).bind(looks);
        let held = held.fetch_optional(&mut *self.tx).await?.ok_or(StoreError::LostLease)?;
        let (campaign, sequence, step, steps, unjudged, proposals, number, calls) = held;
        let step = step.map(StepId);
        Ok(HeldCycle {
            campaign: CampaignId(campaign),
            steps,
            unjudged: step.filter(|_| unjudged),
            calls: calls.map(|Json(calls)| calls).unwrap_or_default(),
            step,
            proposals: usize::try_from(proposals).unwrap_or_default(),
            sequence,
            number,
        })
    }
}

/// A state as it was read; a campaign that is broken has none.
pub type ReadState = Result<CampaignState, CampaignError>;

/// A call of a turn's last step.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LastCall {
    /// The call as a state has it.
    #[serde(flatten)]
    pub made: MadeCall,
    /// The text of its outcome.
    pub result: String,
}

impl LastCall {
    /// The sentence of its outcome: of a refusal, which is JSON for the model that made the call,
    /// its message. A person reads it, too.
    pub fn sentence(&self) -> String {
        let told = serde_json::from_str::<Value>(&self.result).ok();
        told.and_then(|told| told["message"].as_str().map(str::to_owned)).unwrap_or_else(|| self.result.clone())
    }
}

/// The answer of the statement that holds a cycle.
type Held = (i64, i64, Option<i64>, i32, bool, i64, Option<i64>, Option<Json<Vec<LastCall>>>);

/// A cycle whose turn, campaign and conversation a transaction holds.
#[derive(Clone, Debug)]
pub struct HeldCycle {
    /// The campaign.
    pub campaign: CampaignId,
    /// The steps stored so far.
    pub steps: i32,
    /// The last step, if nobody has judged it yet.
    pub unjudged: Option<StepId>,
    /// The calls of the last step, if they were looked at.
    pub calls: Vec<LastCall>,
    /// The last step of its turn.
    pub(super) step: Option<StepId>,
    /// The proposals of that step.
    pub(super) proposals: usize,
    /// The number of the last event.
    pub(super) sequence: i64,
    /// The number that was drawn.
    pub(super) number: Option<i64>,
}

/// A cycle that is held, and the state by which it is judged.
#[derive(Clone, Debug)]
pub struct CycleWithState {
    /// The cycle.
    pub held: HeldCycle,
    /// The state of its campaign.
    pub state: CampaignState,
}

impl HeldCycle {
    /// The same as a transaction would read it right after an answer was stored as the step of this
    /// number, which the state includes. `None` if the answer has not made exactly one proposal.
    pub(super) fn answered(state: &CampaignState, stored: &StoredStep, number: i32) -> Option<Self> {
        let (Some(step), [OpenCall { call, request }]) = (stored.step, stored.calls.as_slice()) else { return None };
        let made = MadeCall::proposed(*call, step, request);
        Some(Self {
            campaign: state.campaign.id,
            steps: number,
            unjudged: Some(step),
            calls: vec![LastCall { made, result: String::new() }],
            step: Some(step),
            proposals: 1,
            sequence: state.sequence,
            number: None,
        })
    }
}
