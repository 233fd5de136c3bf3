//! The orders of a person about campaigns. Each is the person's own request; none needs an
//! approval.

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::types::Json;
use sqlx::{query, query_as, query_scalar};

use super::CampaignError;
use super::writing::NewArtifact;
use crate::domain::campaign::artifact::{check_content, check_key};
use crate::domain::campaign::conditions::{number_tasks, waits_for_good};
use crate::domain::campaign::judge::{check_description, is_met};
use crate::domain::campaign::lead::{ImportedLead, LeadImport, imports, read_csv};
use crate::domain::campaign::scoring::ConfigVersion;
use crate::domain::campaign::script::BoundArtifact;
use crate::domain::campaign::{
    ApprovalContext, ArtifactSource, ArtifactType, CAMPAIGN_PROFILE, Campaign, CampaignInput, CampaignState, CampaignStatus,
    CampaignTask, CampaignTaskStatus, ContextKind, Lead, LeadStatus, MOST_TASKS, TaskMetadata,
};
use crate::domain::{CampaignId, CampaignTaskId, ConversationId, Image, LeadId, Machine, ToolCallId, UserId, seen_name};
use crate::facts::{CampaignChanged, CampaignConversation, ChatForgotten, ContextChanged, FileRead, LeadsKept};
use crate::store::{Store, StoreError, Unit};

/// The most characters of a campaign's name.
const MOST_NAME: usize = 200;
/// The most uses, and hours, of an approval context.
const MOST_USES: i32 = 50;
const MOST_HOURS: i64 = 24;

/// A task that a person makes.
#[derive(Clone, Debug, Default)]
pub struct NewCampaignTask {
    /// The thing to do.
    pub description: String,
    /// Preconditions, required effects, needs.
    pub metadata: TaskMetadata,
}

/// A campaign that a person makes.
#[derive(Clone, Debug, Default)]
pub struct NewCampaign {
    /// Its name.
    pub name: String,
    /// Its tasks, in their order. None has a number yet: `task_done` names one by its place among
    /// them, from 1.
    pub tasks: Vec<NewCampaignTask>,
}

/// An order about something of a campaign.
#[derive(Clone, Debug)]
pub enum CampaignOrder {
    /// Makes a task.
    AddTask(NewCampaignTask),
    /// Finishes a task that has no required effects, once its preconditions hold.
    Finish(i64),
    /// Sets a task aside, for a reason.
    Block(i64, String),
    /// Takes a task up again.
    Unblock(i64),
    /// Answers a question of a task.
    Answer(i64, String, String),
    /// Keeps a version of an artifact.
    Keep(ArtifactType, String, String),
    /// Imports leads.
    Import(String),
    /// Gives a lead a status.
    SetLead(LeadId, LeadStatus),
    /// Allows the next things of a kind.
    Allow(ContextKind, Option<ArtifactType>, i32, DateTime<Utc>),
    /// Takes an approval context back.
    Revoke(i64),
}

impl Store {
    /// Makes a campaign, with a conversation of its own.
    ///
    /// # Errors
    /// [`CampaignError::Wrong`] names what does not fit; then nothing was made.
    pub async fn make_campaign(&self, new: NewCampaign, now: DateTime<Utc>) -> Result<CampaignId, CampaignError> {
        self.has_room()?;
        let name = seen_name(&new.name).to_owned();
        if name.is_empty() || name.chars().count() > MOST_NAME {
            return Err(CampaignError::Wrong(format!("name: has to have 1 to {MOST_NAME} characters")));
        }
        if new.tasks.len() > MOST_TASKS {
            return Err(CampaignError::Wrong(format!("tasks: has {}; a campaign has at most {MOST_TASKS}", new.tasks.len())));
        }
        let conditions: Vec<_> = new.tasks.iter().map(|task| &task.metadata).collect();
        if let Some(n) = waits_for_good(&conditions) {
            let why = "waits for good, since the tasks that are named by `nth` wait for each other in a circle";
            return Err(CampaignError::Wrong(format!("tasks[{n}]: {why}")));
        }
        let mut unit = self.begin(now).await?;
        let campaign = unit.insert_campaign(&name, None).await?;
        let numbers = unit.numbers_of("campaign_tasks", new.tasks.len()).await?;
        let numbers: Vec<_> = numbers.into_iter().map(CampaignTaskId).collect();
        for (n, (mut task, id)) in new.tasks.into_iter().zip(numbers.iter().copied()).enumerate() {
            let at = |why: String| CampaignError::Wrong(format!("tasks[{n}].{why}"));
            number_tasks(&mut task.metadata, &numbers).map_err(at)?;
            unit.add_task(&campaign, id, task).await.map_err(|error| match error {
                CampaignError::Wrong(why) => at(why),
                other => other,
            })?;
        }
        unit.commit().await?;
        Ok(campaign.id)
    }

    /// Does what a person orders. Gives a sentence on it.
    ///
    /// # Errors
    /// [`CampaignError`] says why not; then nothing was done.
    pub async fn order_campaign(
        &self,
        id: CampaignId,
        order: CampaignOrder,
        now: DateTime<Utc>,
    ) -> Result<String, CampaignError> {
        self.has_room()?;
        let mut unit = self.begin(now).await?;
        let state = unit.hold_campaign(id).await?;
        let status = state.campaign.status;
        if matches!(status, CampaignStatus::Completed | CampaignStatus::Error) {
            return Err(CampaignError::Refused(format!(
                "campaign {id} is {status}, and nothing changes in it any more; copy it to go on: level3 campaign copy {id}"
            )));
        }
        let told = unit.obey(&state, order).await?;
        if status == CampaignStatus::Active && (state.campaign.idle_cycles > 0 || state.campaign.next_at.is_some()) {
            // Something is new, so the next cycle need not wait.
            let campaign = Campaign { idle_cycles: 0, next_at: None, ..state.campaign };
            unit.record_campaign(campaign, None, "has something new").await?;
        }
        unit.commit().await?;
        Ok(told)
    }

    /// Starts, pauses or resumes a campaign. The caller makes the check before a start.
    ///
    /// # Errors
    /// [`CampaignError::Refused`] if its state does not take that.
    pub async fn steer_campaign(
        &self,
        id: CampaignId,
        input: CampaignInput,
        now: DateTime<Utc>,
    ) -> Result<Campaign, CampaignError> {
        let conversation = self.conversation_of_campaign(id).await?;
        let mut unit = self.hold_with_turns(conversation, now).await?;
        let state = unit.read_campaign(id).await?;
        if state.campaign.status.next(input).is_err() {
            let from: Vec<_> = CampaignStatus::before(input);
            unit.let_go().await?;
            return Err(CampaignError::Refused(format!(
                "campaign {id} is {}; `{input}` is for one that is {}",
                state.campaign.status,
                from.join(" or ")
            )));
        }
        let mut state = state;
        (state.campaign.idle_cycles, state.campaign.bad_answers) = (0, 0);
        let reason = match input {
            CampaignInput::Pause if unit.has_open_turn(conversation).await? => {
                Some("paused by a person; the cycle that was under way was dropped, and does not count")
            }
            CampaignInput::Pause => Some("paused by a person"),
            _ => None,
        };
        let campaign = unit.move_campaign(&state, input, reason).await?;
        unit.commit().await?;
        Ok(campaign)
    }

    /// Removes the messages of a campaign's conversation, its summaries, and the images that
    /// nothing else names, by an event that replay knows. Gives how many messages.
    ///
    /// # Errors
    /// [`CampaignError`] if there is no such campaign.
    pub async fn forget_chat(&self, id: CampaignId, now: DateTime<Utc>) -> Result<usize, CampaignError> {
        let mut unit = self.begin(now).await?;
        let state = unit.hold_campaign(id).await?;
        let conversation = state.campaign.conversation_id;
        let gone = query_as::<_, (String, Json<Vec<Image>>)>(
            "DELETE FROM messages WHERE conversation_id = $1 AND NOT EXISTS (SELECT FROM turns t WHERE t.turn_id = messages.turn_id
               AND t.ended_at IS NULL)
             RETURNING CASE WHEN steered THEN 'steered/' || message_id ELSE concat_ws('/', role, coalesce(tool_call_id, step_id, turn_id)) END,
                       images",
        );
        let gone = gone.bind(conversation.0).fetch_all(&mut *unit.tx).await?;
        query("DELETE FROM summaries WHERE conversation_id = $1").bind(conversation.0).execute(&mut *unit.tx).await?;
        let (mut messages, images): (Vec<_>, Vec<_>) = gone.into_iter().map(|(message, Json(images))| (message, images)).unzip();
        messages.sort_unstable();
        let count = messages.len();
        if count > 0 {
            let named = images.into_iter().flatten().map(|image| image.sha256).collect();
            let images = unit.forget_images(conversation, named).await?;
            unit.append(conversation, ChatForgotten { messages, images }.into()).await?;
        }
        unit.commit().await?;
        Ok(count)
    }
}

impl Unit {
    /// Removes those of these images that no message has any more, and no artifact. Gives their
    /// names.
    async fn forget_images(&mut self, conversation: ConversationId, named: Vec<String>) -> Result<Vec<String>, StoreError> {
        if named.is_empty() {
            return Ok(named);
        }
        // A message that brings one of them right now comes before this or after it, and keeps its
        // image. It locks its conversation before the images, and so does this.
        let held = query("SELECT FROM conversations WHERE conversation_id = $1 FOR UPDATE").bind(conversation.0);
        held.execute(&mut *self.tx).await?;
        query("LOCK TABLE attachments IN SHARE ROW EXCLUSIVE MODE").execute(&mut *self.tx).await?;
        let gone = query_scalar::<_, String>(
            "DELETE FROM attachments a WHERE a.sha256 = ANY($1) AND NOT EXISTS (
                 SELECT FROM messages m WHERE m.images <> '[]' AND m.images @> jsonb_build_array(jsonb_build_object('sha256', a.sha256)))
             AND NOT EXISTS (SELECT FROM artifacts k WHERE k.artifact_type = 'picture' AND k.content = a.sha256) RETURNING a.sha256",
        );
        let mut gone = gone.bind(named).fetch_all(&mut *self.tx).await?;
        gone.sort_unstable();
        Ok(gone)
    }

    /// Makes a campaign and its conversation, without tasks.
    pub(super) async fn insert_campaign(&mut self, name: &str, copy_of: Option<CampaignId>) -> Result<Campaign, CampaignError> {
        let made = CampaignConversation { user_id: UserId::OWNER, profile: CAMPAIGN_PROFILE.to_owned(), created_at: self.now };
        let conversation = query_scalar::<_, i64>(
            "INSERT INTO conversations (user_id, profile, created_at) VALUES ($1, $2, $3) RETURNING conversation_id",
        );
        let conversation = conversation.bind(made.user_id.0).bind(&made.profile).bind(made.created_at);
        let conversation = conversation.fetch_one(&mut *self.tx).await?;
        let campaign = Campaign {
            id: CampaignId(self.number_of("campaigns").await?),
            conversation_id: ConversationId(conversation),
            name: self.clean(name).into_owned(),
            status: CampaignStatus::FIRST,
            reason: None,
            waits_for: None,
            next_at: None,
            cycles: 0,
            idle_cycles: 0,
            fault: None,
            no_answer: None,
            bad_answers: 0,
            judged_step: None,
            carried: Vec::new(),
            cycles_left: None,
            copy_of,
            created_at: self.now,
            updated_at: self.now,
        };
        let fact = CampaignChanged { campaign: campaign.clone(), input: None, what: "is made".to_owned(), made: Some(made) };
        self.record(campaign.conversation_id, &[fact.into()]).await?;
        Ok(campaign)
    }

    async fn add_task(&mut self, campaign: &Campaign, id: CampaignTaskId, new: NewCampaignTask) -> Result<(), CampaignError> {
        let NewCampaignTask { description, metadata } = new;
        check_description(&description).map_err(CampaignError::Wrong)?;
        let task = CampaignTask {
            id,
            campaign_id: campaign.id,
            description: self.clean(description.trim()).into_owned(),
            status: CampaignTaskStatus::Pending,
            metadata: TaskMetadata { source: Some(ArtifactSource::User), ..metadata },
            sequence: 0,
            created_at: self.now,
            updated_at: self.now,
        };
        self.record_task(campaign.conversation_id, task, "is made").await?;
        Ok(())
    }

    async fn obey(&mut self, state: &CampaignState, order: CampaignOrder) -> Result<String, CampaignError> {
        let campaign = &state.campaign;
        let task = |id: i64| {
            state.task(id).cloned().ok_or_else(|| CampaignError::Missing(format!("campaign {} has no task {id}", campaign.id)))
        };
        match order {
            CampaignOrder::AddTask(new) if state.tasks.len() < MOST_TASKS => {
                self.check_conditions(state, &new.metadata).await?;
                let id = CampaignTaskId(self.number_of("campaign_tasks").await?);
                self.add_task(campaign, id, new).await?;
                Ok(format!("Task {id} is made."))
            }
            CampaignOrder::AddTask(_) => Err(CampaignError::Refused(format!("a campaign has at most {MOST_TASKS} tasks"))),
            CampaignOrder::Finish(id) | CampaignOrder::Block(id, _) | CampaignOrder::Unblock(id) => {
                self.set_task(state, task(id)?, order).await
            }
            CampaignOrder::Answer(id, question, answer) => {
                let mut task = task(id)?;
                let Some(asked) = task.metadata.questions.iter_mut().find(|asked| asked.question == question) else {
                    return Err(CampaignError::Missing(format!("task {id} has no question {question}")));
                };
                if answer.trim().is_empty() {
                    return Err(CampaignError::Wrong("answer: is empty".to_owned()));
                }
                asked.answer = Some(self.clean(answer.trim()).into_owned());
                self.record_task(campaign.conversation_id, task, format!("has an answer to {question}")).await?;
                Ok(format!("Question {question} of task {id} is answered."))
            }
            CampaignOrder::Keep(kind, key, content) => {
                check_key(&key).map_err(|why| CampaignError::Wrong(format!("key: {why}")))?;
                check_content(kind, &content).map_err(CampaignError::Wrong)?;
                let new =
                    NewArtifact { kind, key: &key, content: &content, source: ArtifactSource::User, step: None, approval: None };
                let kept = self.keep_artifact(campaign, new).await?;
                Ok(format!("The {kind} {key} is kept as version {}.", kept.version))
            }
            CampaignOrder::Import(csv) => {
                let rows =
                    read_csv(&csv).map_err(|bad| CampaignError::Wrong(format!("nothing was imported. {}", bad.join("; "))))?;
                let (new, changed) = self.import_rows(state, rows).await?;
                Ok(format!("{new} leads are new, {changed} were changed."))
            }
            CampaignOrder::SetLead(id, status) => {
                let lead = self.all_leads(campaign.id).await?.into_iter().find(|lead| lead.id == id);
                let lead = lead.ok_or_else(|| CampaignError::Missing(format!("campaign {} has no lead {id}", campaign.id)))?;
                let lead = Lead { status, updated_at: self.now, ..lead };
                self.record_leads(campaign.conversation_id, &[lead], &format!("are {status}, by a person")).await?;
                Ok(format!("Lead {id} is {status}."))
            }
            CampaignOrder::Allow(kind, artifact_type, uses_left, until) => {
                check_allowed(kind, artifact_type, uses_left).map_err(CampaignError::Wrong)?;
                if until <= self.now || until > self.now + TimeDelta::hours(MOST_HOURS) {
                    return Err(CampaignError::Wrong(format!("until: has to be within the next {MOST_HOURS} hours")));
                }
                let id = self.number_of("campaign_contexts").await?;
                let (campaign_id, created_at) = (campaign.id, self.now);
                let context = ApprovalContext { id, campaign_id, kind, artifact_type, uses_left, until, void: false, created_at };
                self.record(campaign.conversation_id, &[ContextChanged { context }.into()]).await?;
                let typed = artifact_type.map(|kind| format!(" of type `{kind}`")).unwrap_or_default();
                Ok(format!("Approval context {id}: the next {uses_left} of `{kind}`{typed} are not asked about."))
            }
            CampaignOrder::Revoke(id) => {
                let there = state.contexts.iter().find(|context| context.id == id);
                let context = there
                    .ok_or_else(|| CampaignError::Missing(format!("campaign {} has no approval context {id}", campaign.id)))?;
                let context = ApprovalContext { void: true, ..context.clone() };
                self.record(campaign.conversation_id, &[ContextChanged { context }.into()]).await?;
                Ok(format!("Approval context {id} holds no more."))
            }
        }
    }

    async fn set_task(
        &mut self,
        state: &CampaignState,
        mut task: CampaignTask,
        order: CampaignOrder,
    ) -> Result<String, CampaignError> {
        let id = task.id;
        let unmet = task.metadata.preconditions.iter().filter(|wanted| !is_met(state, wanted, self.now));
        let unmet: Vec<_> = unmet.map(ToString::to_string).collect();
        let (status, what) = match (order, task.status) {
            (_, CampaignTaskStatus::Done) => return Err(CampaignError::Refused(format!("task {id} is done, and stays so"))),
            (CampaignOrder::Finish(_), _) if !task.metadata.requires.is_empty() => {
                return Err(CampaignError::Refused(format!(
                    "task {id} has required effects, and is done when they are proven; a person finishes only tasks without"
                )));
            }
            (CampaignOrder::Finish(_), _) if !unmet.is_empty() => {
                let missing = unmet.join(" and when ");
                return Err(CampaignError::Refused(format!("task {id} cannot be finished yet: it begins when {missing}")));
            }
            (CampaignOrder::Finish(_), _) => (CampaignTaskStatus::Done, "is done, by a person".to_owned()),
            (CampaignOrder::Block(_, why), _) if why.trim().is_empty() => {
                return Err(CampaignError::Wrong("reason: is empty; a blocked task needs one".to_owned()));
            }
            (CampaignOrder::Block(_, why), _) => {
                task.metadata.reason = Some(self.clean(why.trim()).into_owned());
                (CampaignTaskStatus::Blocked, "is blocked, by a person".to_owned())
            }
            (_, CampaignTaskStatus::Blocked) => {
                task.metadata.reason = None;
                (CampaignTaskStatus::Pending, "is taken up again".to_owned())
            }
            (_, other) => return Err(CampaignError::Refused(format!("task {id} is {other}, not blocked"))),
        };
        task.status = status;
        let told = format!("Task {id} {what}.");
        self.record_task(state.campaign.conversation_id, task, what).await?;
        Ok(told)
    }

    /// Imports the leads of a file, whose reading by a call is recorded. Gives a sentence on it.
    pub(super) async fn import_file(
        &mut self,
        call: ToolCallId,
        state: &CampaignState,
        key: &str,
    ) -> Result<String, CampaignError> {
        let Some(file) = state.artifact(ArtifactType::File, key) else {
            return Err(CampaignError::Missing(format!("there is no file {key}")));
        };
        let rows = read_csv(&file.content).map_err(|bad| CampaignError::Wrong(bad.join("; ")))?;
        let what = format!("are read from the file {key} version {}", file.version);
        let read = FileRead { call, file: BoundArtifact::of(file) };
        self.record(state.campaign.conversation_id, &[LeadsKept { leads: Vec::new(), what, read: Some(read) }.into()]).await?;
        let (new, changed) = self.import_rows(state, rows).await?;
        Ok(format!("{new} leads are new, {changed} were changed."))
    }

    /// Imports rows: those of a known `profile_url` are changed in the columns that they have.
    /// Gives how many are new, and how many were changed.
    pub(super) async fn import_rows(
        &mut self,
        state: &CampaignState,
        rows: Vec<ImportedLead>,
    ) -> Result<(usize, usize), CampaignError> {
        let campaign = &state.campaign;
        let changes = imports(self.all_leads(campaign.id).await?, rows);
        let new = changes.iter().filter(|change| change.lead.is_none()).count();
        let changed = changes.len() - new;
        let mut numbers = self.numbers_of("leads", new).await?.into_iter();
        let mut kept = Vec::new();
        for LeadImport { lead, row: ImportedLead { full_name, profile_url, attributes } } in changes {
            let lead = match lead {
                Some(lead) => Lead { full_name, attributes, updated_at: self.now, ..lead },
                None => {
                    let Some(id) = numbers.next().map(LeadId) else { continue };
                    let now = self.now;
                    let (weight_score, status, scored, sequence) = (0, LeadStatus::New, None, 0);
                    let (campaign_id, created_at, updated_at) = (campaign.id, now, now);
                    Lead {
                        id,
                        campaign_id,
                        full_name,
                        profile_url,
                        weight_score,
                        status,
                        attributes,
                        scored,
                        sequence,
                        created_at,
                        updated_at,
                    }
                }
            };
            kept.push(lead);
        }
        self.record_leads(campaign.conversation_id, &kept, "imported").await?;
        let config = state.artifacts.iter().filter(|artifact| artifact.kind == ArtifactType::LeadScoringConfig);
        if let Some(config) = config.max_by_key(|artifact| artifact.sequence).filter(|_| !kept.is_empty()) {
            let named = ConfigVersion { key: &config.key, version: config.version };
            self.score_leads(campaign, named, &config.content).await?;
        }
        Ok((new, changed))
    }
}

/// Checks that proposals can be allowed as an approval context says.
fn check_allowed(kind: ContextKind, artifact_type: Option<ArtifactType>, uses: i32) -> Result<(), String> {
    if !(1..=MOST_USES).contains(&uses) {
        return Err(format!("count: is {uses}; 1 to {MOST_USES} can be allowed at once"));
    }
    match artifact_type {
        Some(_) if kind != ContextKind::Persist => {
            Err(format!("type: `persist` alone has one, and `{kind}` has none; leave it out"))
        }
        Some(of) if !of.may_come_of_proposals() => Err(format!("type: no proposal keeps an `{of}`; a person keeps it")),
        _ => Ok(()),
    }
}
