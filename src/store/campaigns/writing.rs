//! Writes the changes of a campaign: events, and the rows that follow from them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::{query_as, query_scalar};

use super::CampaignError;
use crate::domain::campaign::judge::{unmet, verify};
use crate::domain::campaign::scoring::{ConfigVersion, ScoringConfig};
use crate::domain::campaign::{
    ApprovalContext, Artifact, ArtifactSource, ArtifactType, Campaign, CampaignAction, CampaignInput, CampaignState,
    CampaignTask, CampaignTaskStatus, Lead, sha256,
};
use crate::domain::{ApprovalId, ArtifactId, CampaignId, ConversationId, Image, Machine, StepId};
use crate::facts::{ArtifactKept, CampaignChanged, CampaignTaskChanged, ContextChanged, Event, EventRecord, LeadsKept};
use crate::store::transition::EventRow;
use crate::store::{StoreError, Unit, clean, value};
use crate::telemetry::Scrubber;

/// The most leads of one event.
const LEADS_OF_EVENT: usize = 500;
/// The tables whose rows the function `record_campaign` of the database writes.
const TABLES: [&str; 5] = ["campaigns", "campaign_tasks", "leads", "artifacts", "campaign_contexts"];
/// The change of a task that is proven, in words.
const PROVEN: &str = "is done, as its evidence shows";

/// A version of an artifact that is to be kept.
#[derive(Clone, Debug)]
pub(super) struct NewArtifact<'a> {
    pub(super) kind: ArtifactType,
    pub(super) key: &'a str,
    pub(super) content: &'a str,
    pub(super) source: ArtifactSource,
    pub(super) step: Option<StepId>,
    pub(super) approval: Option<ApprovalId>,
}

/// The place of a version among the artifacts.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArtifactNumber {
    /// The number of its row.
    pub(super) id: i64,
    /// The version, counted from 1.
    pub(super) version: i32,
}

impl NewArtifact<'_> {
    /// The artifact as it is kept at a time, under this number.
    pub(super) fn kept(
        &self,
        campaign: CampaignId,
        ArtifactNumber { id, version }: ArtifactNumber,
        scrubber: &Scrubber,
        now: DateTime<Utc>,
    ) -> Artifact {
        let content = clean(scrubber, self.content).into_owned();
        Artifact {
            id: ArtifactId(id),
            campaign_id: campaign,
            artifact_type: self.kind,
            artifact_key: self.key.to_owned(),
            version,
            source: self.source,
            sha256: sha256(content.as_bytes()),
            content,
            step_id: self.step,
            approval_id: self.approval,
            sequence: 0,
            created_at: now,
        }
    }
}

impl Unit {
    /// A new number of a table.
    pub(super) async fn number_of(&mut self, table: &str) -> Result<i64, StoreError> {
        let number = query_scalar::<_, i64>("SELECT nextval(pg_get_serial_sequence($1, 'id'))").bind(table);
        Ok(number.fetch_one(&mut *self.tx).await?)
    }

    /// So many new numbers of a table.
    pub(super) async fn numbers_of(&mut self, table: &str, count: usize) -> Result<Vec<i64>, StoreError> {
        let numbers = query_scalar::<_, i64>("SELECT nextval(pg_get_serial_sequence($1, 'id')) FROM generate_series(1, $2)");
        let numbers = numbers.bind(table).bind(i64::try_from(count).unwrap_or(i64::MAX));
        Ok(if count == 0 { Vec::new() } else { numbers.fetch_all(&mut *self.tx).await? })
    }

    /// Records facts of a campaign, after those that were to go ahead of them, and makes the rows
    /// that follow from all of them, by one statement. Gives the number of the last; 0 if there is
    /// none.
    pub(super) async fn record(&mut self, conversation: ConversationId, events: &[Event]) -> Result<i64, StoreError> {
        let mut all = std::mem::take(&mut self.ahead);
        all.extend_from_slice(events);
        if all.is_empty() {
            return Ok(0);
        }
        let rows = rows_of(conversation, &all, self.now);
        let payloads: Vec<_> = all.iter().map(|event| json!(event)).collect();
        let told = query_as::<_, (i64, Value)>("SELECT sequence, event FROM record_campaign($1, $2, $3, $4)");
        let told = told.bind(conversation.0).bind(payloads).bind(rows).bind(self.now);
        let told = told.fetch_all(&mut *self.tx).await?;
        let told = told.into_iter().map(|(sequence, event)| EventRow { sequence, event }).collect();
        Ok(self.take(told, conversation)?.last().map_or(0, |record| record.sequence))
    }

    /// Records a campaign as it is now.
    pub(super) async fn record_campaign(
        &mut self,
        mut campaign: Campaign,
        input: Option<CampaignInput>,
        what: impl Into<String>,
    ) -> Result<Campaign, StoreError> {
        campaign.updated_at = self.now;
        let changed = CampaignChanged { campaign: campaign.clone(), input, what: what.into(), made: None };
        self.record(campaign.conversation_id, &[changed.into()]).await?;
        Ok(campaign)
    }

    /// Gives a campaign that is held an input, with all that goes with it.
    pub(super) async fn move_campaign(
        &mut self,
        state: &CampaignState,
        input: CampaignInput,
        reason: Option<&str>,
    ) -> Result<Campaign, CampaignError> {
        let (status, actions) = state.campaign.status.next(input)?;
        for action in actions {
            match action {
                CampaignAction::StopTurns => self.stop_open_turns(state.campaign.conversation_id).await?,
                CampaignAction::VoidContexts => {
                    // The stop of a turn may have counted one down just now.
                    for context in self.live_contexts(state.campaign.id).await? {
                        let context = ApprovalContext { void: true, ..context };
                        self.record(state.campaign.conversation_id, &[ContextChanged { context }.into()]).await?;
                    }
                }
            }
        }
        let reason = reason.map(|reason| self.clean(reason).into_owned());
        let cycles_left = None;
        let campaign = Campaign { status, reason, waits_for: None, next_at: None, cycles_left, ..state.campaign.clone() };
        let what = format!("{input}: {} → {status}", state.campaign.status);
        Ok(self.record_campaign(campaign, Some(input), what).await?)
    }

    /// The approval contexts of a campaign that are not void. One that cannot be read allows
    /// nothing.
    async fn live_contexts(&mut self, id: CampaignId) -> Result<Vec<ApprovalContext>, StoreError> {
        let live = query_scalar::<_, Value>(
            "SELECT to_jsonb(x) FROM campaign_contexts x WHERE campaign_id = $1 AND NOT void ORDER BY id",
        );
        let live = live.bind(id.0).fetch_all(&mut *self.tx).await?;
        Ok(live.into_iter().filter_map(|row| serde_json::from_value(row).ok()).collect())
    }

    /// Records a task as it is now. Gives it with the number of its event.
    pub(super) async fn record_task(
        &mut self,
        conversation: ConversationId,
        mut task: CampaignTask,
        what: impl Into<String>,
    ) -> Result<CampaignTask, StoreError> {
        task.updated_at = self.now;
        let changed = CampaignTaskChanged { task: task.clone(), what: what.into() };
        let sequence = self.record(conversation, &[changed.into()]).await?;
        Ok(CampaignTask { sequence, ..task })
    }

    /// Records leads as they are now.
    pub(super) async fn record_leads(
        &mut self,
        conversation: ConversationId,
        leads: &[Lead],
        what: &str,
    ) -> Result<(), StoreError> {
        for leads in leads.chunks(LEADS_OF_EVENT) {
            self.record(conversation, &[LeadsKept { leads: leads.to_vec(), what: what.to_owned(), read: None }.into()]).await?;
        }
        Ok(())
    }

    /// Keeps a new version of an artifact. A new scoring config is applied to all leads.
    pub(super) async fn keep_artifact(&mut self, campaign: &Campaign, new: NewArtifact<'_>) -> Result<Artifact, CampaignError> {
        self.keep_with(campaign, new, None).await
    }

    /// The same; if it is a picture, with the facts about its bytes.
    pub(super) async fn keep_with(
        &mut self,
        campaign: &Campaign,
        new: NewArtifact<'_>,
        image: Option<Image>,
    ) -> Result<Artifact, CampaignError> {
        let numbered = query_as::<_, (i64, i32)>(
            "SELECT nextval(pg_get_serial_sequence('artifacts', 'id')), (SELECT coalesce(max(version), 0) + 1 FROM artifacts
                 WHERE campaign_id = $1 AND artifact_type = $2 AND artifact_key = $3)",
        );
        let numbered = numbered.bind(campaign.id.0).bind(new.kind.as_str()).bind(new.key);
        let (id, version) = numbered.fetch_one(&mut *self.tx).await?;
        let artifact = new.kept(campaign.id, ArtifactNumber { id, version }, &self.scrubber, self.now);
        self.record(campaign.conversation_id, &[ArtifactKept { artifact: artifact.clone(), image }.into()]).await?;
        if artifact.artifact_type == ArtifactType::LeadScoringConfig {
            let named = ConfigVersion { key: &artifact.artifact_key, version: artifact.version };
            self.score_leads(campaign, named, &artifact.content).await?;
        }
        Ok(artifact)
    }

    /// Scores all leads by a config, whose name is this; records those whose score changes.
    pub(super) async fn score_leads(
        &mut self,
        campaign: &Campaign,
        named: ConfigVersion<'_>,
        config: &str,
    ) -> Result<usize, CampaignError> {
        let config = ScoringConfig::read(config).map_err(CampaignError::Wrong)?;
        let leads = self.all_leads(campaign.id).await?;
        let now = self.now;
        let scored = leads.into_iter().filter_map(|lead| {
            let (score, breakdown) = config.score(named, &lead);
            let same = lead.weight_score == score && lead.scored.as_ref().is_some_and(|scored| scored.is_like(&breakdown));
            (!same).then_some(Lead { weight_score: score, scored: Some(breakdown), updated_at: now, ..lead })
        });
        let scored: Vec<_> = scored.collect();
        let what = format!("scored by version {} of the config {}", named.version, named.key);
        self.record_leads(campaign.conversation_id, &scored, &what).await?;
        Ok(scored.len())
    }

    /// All leads of a campaign.
    pub(super) async fn all_leads(&mut self, id: CampaignId) -> Result<Vec<Lead>, StoreError> {
        let rows = query_scalar::<_, Value>("SELECT to_jsonb(l) FROM leads l WHERE campaign_id = $1 ORDER BY id").bind(id.0);
        rows.fetch_all(&mut *self.tx).await?.into_iter().map(value).collect()
    }

    /// Sets every task to `done` whose required effects are all proven by the state as it is in
    /// this transaction. The only way to `done` beside a person's word. Gives the tasks; the state
    /// has them as they are now.
    pub(super) async fn settle_tasks(&mut self, state: &mut CampaignState) -> Result<Vec<i64>, CampaignError> {
        let mut done = Vec::new();
        while let Some(task) = proven(state, self.now) {
            done.push(task.id.0);
            let task = self.record_task(state.campaign.conversation_id, task, PROVEN).await?;
            state.sequence = task.sequence;
            state.put(task);
        }
        Ok(done)
    }
}

/// The first open task that the state proves, as it is once it is done.
fn proven(state: &CampaignState, now: DateTime<Utc>) -> Option<CampaignTask> {
    let open = |task: &&CampaignTask| {
        matches!(task.status, CampaignTaskStatus::Pending | CampaignTaskStatus::InProgress) && unmet(state, task, now).is_none()
    };
    let (task, evidence) = state.tasks.iter().filter(open).find_map(|task| Some((task, verify(state, task, now).ok()?)))?;
    let mut task = CampaignTask { status: CampaignTaskStatus::Done, ..task.clone() };
    task.metadata.evidence = evidence;
    Some(task)
}

/// The facts that [`Unit::settle_tasks`] would record. The state has their tasks as they are then,
/// under the numbers that come right after its last event.
pub(super) fn settled(state: &mut CampaignState, now: DateTime<Utc>) -> Vec<CampaignTaskChanged> {
    let mut facts = Vec::new();
    while let Some(task) = proven(state, now) {
        let task = CampaignTask { updated_at: now, ..task };
        facts.push(CampaignTaskChanged { task: task.clone(), what: PROVEN.to_owned() });
        state.sequence += 1;
        state.put(CampaignTask { sequence: state.sequence, ..task });
    }
    facts
}

/// The rows that follow from events, the last of each, by table. Their events are counted from 1.
pub(super) fn rows_of(conversation: ConversationId, events: &[Event], at: DateTime<Utc>) -> Value {
    let mut tables: BTreeMap<&'static str, BTreeMap<String, Value>> = BTreeMap::new();
    for (sequence, event) in (1..).zip(events) {
        let record = EventRecord { conversation, sequence, at, event: event.clone() };
        for change in record.changes() {
            if let (table, Some(row)) = (change.table.name, change.row)
                && TABLES.contains(&table)
            {
                tables.entry(table).or_default().insert(change.key, Value::Object(row));
            }
        }
    }
    let tables = tables.into_iter().map(|(table, rows)| (table.to_owned(), Value::Array(rows.into_values().collect())));
    Value::Object(tables.collect())
}
