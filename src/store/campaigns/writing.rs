//! Writes the changes of a campaign: events, and the rows that follow from them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, query_as, query_scalar};

use super::CampaignError;
use crate::domain::campaign::judge::{unmet, verify};
use crate::domain::campaign::scoring::ScoringConfig;
use crate::domain::campaign::{
    ApprovalContext, Artifact, ArtifactSource, ArtifactType, Campaign, CampaignAction, CampaignInput, CampaignState,
    CampaignTask, CampaignTaskStatus, Lead, sha256,
};
use crate::domain::{ApprovalId, ArtifactId, CampaignId, ConversationId, Image, Machine, StepId};
use crate::facts::{ArtifactKept, CampaignChanged, CampaignTaskChanged, ContextChanged, Event, EventRecord, LeadsKept};
use crate::store::transition::EventRow;
use crate::store::{StoreError, Unit, value};

/// The most leads of one event.
const LEADS_OF_EVENT: usize = 500;

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
        let tables = rows_of(conversation, &all, self.now);
        let statement = statement(tables.keys().copied());
        let payloads: Vec<_> = all.iter().map(|event| json!(event)).collect();
        let told = query_as::<_, (i64, Value)>(AssertSqlSafe(statement));
        let mut told = told.bind(conversation.0).bind(payloads).bind(self.now);
        for rows in tables.into_values() {
            told = told.bind(Value::Array(rows.into_values().collect()));
        }
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
        let changed = CampaignChanged { campaign: campaign.clone(), input, what: what.into() };
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
                    for context in state.contexts.iter().filter(|context| !context.void) {
                        let context = ApprovalContext { void: true, ..context.clone() };
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
        let numbered = numbered.fetch_one(&mut *self.tx).await?;
        self.keep_as(campaign, new, image, numbered).await
    }

    /// The same of an artifact whose number was drawn before; a state that is held has the version
    /// before it.
    pub(super) async fn keep_next(
        &mut self,
        state: &CampaignState,
        new: NewArtifact<'_>,
        number: Option<i64>,
    ) -> Result<Artifact, CampaignError> {
        let Some(number) = number else { return self.keep_artifact(&state.campaign, new).await };
        let version = state.artifact(new.kind, new.key).map_or(1, |kept| kept.version + 1);
        self.keep_as(&state.campaign, new, None, (number, version)).await
    }

    /// Keeps an artifact under this number and version.
    async fn keep_as(
        &mut self,
        campaign: &Campaign,
        new: NewArtifact<'_>,
        image: Option<Image>,
        (id, version): (i64, i32),
    ) -> Result<Artifact, CampaignError> {
        let NewArtifact { kind, key, content, source, step, approval } = new;
        let content = self.clean(content).into_owned();
        let artifact = Artifact {
            id: ArtifactId(id),
            campaign_id: campaign.id,
            artifact_type: kind,
            artifact_key: key.to_owned(),
            version,
            source,
            sha256: sha256(content.as_bytes()),
            content,
            step_id: step,
            approval_id: approval,
            sequence: 0,
            created_at: self.now,
        };
        self.record(campaign.conversation_id, &[ArtifactKept { artifact: artifact.clone(), image }.into()]).await?;
        if kind == ArtifactType::LeadScoringConfig {
            self.score_leads(campaign, artifact.version, &artifact.content).await?;
        }
        Ok(artifact)
    }

    /// Scores all leads by a config; records those whose score changes.
    pub(super) async fn score_leads(&mut self, campaign: &Campaign, version: i32, config: &str) -> Result<usize, CampaignError> {
        let config = ScoringConfig::read(config).map_err(CampaignError::Wrong)?;
        let leads = self.all_leads(campaign.id).await?;
        let now = self.now;
        let scored = leads.into_iter().filter_map(|lead| {
            let (score, breakdown) = config.score(version, &lead);
            let changed = lead.weight_score != score || lead.scored.as_ref() != Some(&breakdown);
            changed.then_some(Lead { weight_score: score, scored: Some(breakdown), updated_at: now, ..lead })
        });
        let scored: Vec<_> = scored.collect();
        self.record_leads(campaign.conversation_id, &scored, &format!("scored by version {version} of the config")).await?;
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
        loop {
            let open = |task: &&CampaignTask| {
                matches!(task.status, CampaignTaskStatus::Pending | CampaignTaskStatus::InProgress)
                    && unmet(state, task, self.now).is_none()
            };
            let proven = state.tasks.iter().filter(open).find_map(|task| Some((task, verify(state, task, self.now).ok()?)));
            let Some((task, evidence)) = proven else { return Ok(done) };
            let mut task = CampaignTask { status: CampaignTaskStatus::Done, ..task.clone() };
            task.metadata.evidence = evidence;
            done.push(task.id.0);
            let task = self.record_task(state.campaign.conversation_id, task, "is done, as its evidence shows").await?;
            state.sequence = task.sequence;
            state.put(task);
        }
    }
}

/// The rows that follow from events, the last of each, by table and key. Their events are counted
/// from 1.
fn rows_of(conversation: ConversationId, events: &[Event], at: DateTime<Utc>) -> BTreeMap<&'static str, BTreeMap<String, Value>> {
    let mut tables: BTreeMap<&'static str, BTreeMap<String, Value>> = BTreeMap::new();
    for (sequence, event) in (1..).zip(events) {
        let record = EventRecord { conversation, sequence, at, event: event.clone() };
        for change in record.changes() {
            if let (table, Some(row)) = (change.table.name, change.row)
                && on_conflict(table).is_some()
            {
                tables.entry(table).or_default().insert(change.key, Value::Object(row));
            }
        }
    }
    tables
}

/// The statement that records events, and writes rows of these tables: $1 is the stream, $2 the
/// events, $3 their time, and then come the rows of each table. The numbers of events in them are
/// counted on from the last event there is.
fn statement<'a>(tables: impl Iterator<Item = &'a str>) -> String {
    let mut text = "WITH told AS MATERIALIZED (SELECT sequence, event FROM append_events($1, $2, $3)),
         base AS MATERIALIZED (SELECT min(sequence) - 1 AS before FROM told)"
        .to_owned();
    for (place, table) in (4..).zip(tables) {
        let _ = write!(
            text,
            ", of_{table} AS (INSERT INTO {table} SELECT r.* FROM base, jsonb_array_elements(${place}::jsonb) AS one (fact),
                 jsonb_populate_record(NULL::{table}, fact || jsonb_build_object('sequence', (fact ->> 'sequence')::bigint + before)) r {})",
            on_conflict(table).unwrap_or_default()
        );
    }
    text + " SELECT sequence, event FROM told ORDER BY sequence"
}

/// The change of a row of a table that is there already; `None` if the table is written elsewhere.
fn on_conflict(table: &str) -> Option<&'static str> {
    Some(match table {
        "campaigns" => {
            "ON CONFLICT (id) DO UPDATE
             SET (name, status, reason, waits_for, next_at, cycles, idle_cycles, fault, no_answer, bad_answers, judged_step, carried, cycles_left,
                  updated_at) =
                 (EXCLUDED.name, EXCLUDED.status, EXCLUDED.reason, EXCLUDED.waits_for, EXCLUDED.next_at, EXCLUDED.cycles,
                  EXCLUDED.idle_cycles, EXCLUDED.fault, EXCLUDED.no_answer, EXCLUDED.bad_answers, EXCLUDED.judged_step, EXCLUDED.carried,
                  EXCLUDED.cycles_left, EXCLUDED.updated_at)"
        }
        "campaign_tasks" => {
            "ON CONFLICT (id) DO UPDATE
             SET (description, status, metadata, sequence, updated_at) =
                 (EXCLUDED.description, EXCLUDED.status, EXCLUDED.metadata, EXCLUDED.sequence, EXCLUDED.updated_at)"
        }
        "leads" => {
            "ON CONFLICT (id) DO UPDATE
             SET (full_name, profile_url, weight_score, status, attributes, scored, sequence, updated_at) =
                 (EXCLUDED.full_name, EXCLUDED.profile_url, EXCLUDED.weight_score, EXCLUDED.status, EXCLUDED.attributes, EXCLUDED.scored,
                  EXCLUDED.sequence, EXCLUDED.updated_at)"
        }
        // A version is never changed.
        "artifacts" => "",
        "campaign_contexts" => {
            "ON CONFLICT (id) DO UPDATE
             SET (uses_left, void) = (EXCLUDED.uses_left, EXCLUDED.void)"
        }
        _ => return None,
    })
}
