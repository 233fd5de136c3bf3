//! Carries a proposal out, with a permit. Effect, outcome, audit entry, events and the change of
//! its task are one transaction.

use serde_json::Value;

use super::CampaignError;
use super::applied::after;
use super::loading::HeldCycle;
use super::writing::NewArtifact;
use crate::domain::campaign::judge::{bound, read_task, validate};
use crate::domain::campaign::proposal::{AnalyzeLeads, ExecuteTool, GenerateMessage, PersistArtifact, RequestUserInput};
use crate::domain::campaign::{
    ApprovalContext, ArtifactSource, ArtifactType, Asked, CampaignProposal, CampaignState, CampaignTask, CampaignTaskStatus,
    Lead, TaskMetadata,
};
use crate::domain::{CampaignTaskId, shortened};
use crate::facts::{CampaignTaskChanged, ContextChanged, Event, PageRead, PageTouched, ScriptRan};
use crate::failpoint::{self, Point};
use crate::governor::Permit;
use crate::store::{Lease, NewImage, StoreError, Unit};

/// The most bytes of a script's result that a model is told; all of it stands in the audit.
const MOST_TOLD: usize = 1_000;

/// A deed that was done outside the database, before the transaction that records it.
#[derive(Clone, Copy, Debug)]
pub enum DoneOutside<'a> {
    /// A script ran.
    Script(&'a ScriptRan),
    /// A capability was called, in words.
    Called(&'a str),
    /// A page was read.
    Read(&'a PageRead),
    /// A page was touched.
    Touched(&'a PageTouched),
    /// A picture of a page was taken.
    Pictured {
        /// The key under which it is kept.
        key: &'a str,
        /// The picture.
        image: &'a NewImage,
    },
}

/// The end of a deed: words for the model and the person, or why it was not done.
pub type CampaignDeed = Result<String, String>;

/// The same, with the state that it leaves.
pub type CarriedOut = Result<(String, CampaignState), String>;

/// The table of which a proposal needs a number, if its deed makes a row of one.
fn numbered(proposal: &CampaignProposal) -> Option<&'static str> {
    use CampaignProposal as P;
    matches!(proposal, P::GenerateMessage(_) | P::AnalyzeLeads(_) | P::PersistArtifact(_)).then_some("artifacts")
}

impl Unit {
    /// Carries a proposal out; if its deed was done outside before, what that was. It is judged
    /// once more, by the state as this transaction sees it.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn carry_out_proposal(
        &mut self,
        permit: &Permit,
        lease: &Lease,
        proposal: &CampaignProposal,
        done: Option<DoneOutside<'_>>,
    ) -> Result<CampaignDeed, StoreError> {
        let held = self.hold_cycle(lease, None, false).await?;
        let state = self.read_campaign(held.campaign).await?;
        let carried = self.carry_out_in(permit, lease, proposal, (held, state), done).await?;
        Ok(carried.map(|(told, _)| told))
    }

    /// The same for a proposal whose deed is in the database alone. It was judged by a state, which
    /// holds if nothing has come since. Gives the state that it leaves, too. `None` if a person
    /// approved it, and has been shown something else than would happen now.
    ///
    /// # Errors
    /// As [`Unit::carry_out_proposal`].
    pub async fn carry_out_judged(
        &mut self,
        permit: &Permit,
        lease: &Lease,
        proposal: &CampaignProposal,
        judged: CampaignState,
    ) -> Result<Option<CarriedOut>, StoreError> {
        let held = self.hold_cycle(lease, numbered(proposal), false).await?;
        let shown = bound(&judged, proposal);
        let state = self.state_of(&held, Some(judged)).await?;
        if permit.approval().is_some() && bound(&state, proposal) != shown {
            return Ok(None);
        }
        self.carry_out_in(permit, lease, proposal, (held, state), None).await.map(Some)
    }

    async fn carry_out_in(
        &mut self,
        permit: &Permit,
        lease: &Lease,
        proposal: &CampaignProposal,
        (held, mut state): (HeldCycle, CampaignState),
        done: Option<DoneOutside<'_>>,
    ) -> Result<CarriedOut, StoreError> {
        if let Err(why) = validate(&state, proposal, held.proposals, self.now) {
            return Ok(Err(why));
        }
        let before = self.records.len();
        match self.use_context(permit, &state) {
            Ok(used) => self.ahead.extend(used),
            Err(why) => return Ok(Err(why)),
        }
        let begun = self.begin_task(&mut state, proposal);
        self.ahead.extend(begun);
        let told = match done {
            Some(DoneOutside::Script(ran)) => Ok(self.record_run(lease, ran).await?),
            Some(DoneOutside::Called(told)) => Ok(told.to_owned()),
            Some(DoneOutside::Read(read)) => Ok(self.record_reading(lease, read).await?),
            Some(DoneOutside::Touched(touched)) => Ok(self.record_touch(lease, touched).await?),
            Some(DoneOutside::Pictured { key, image }) => {
                let new = NewArtifact {
                    kind: ArtifactType::Picture,
                    key,
                    content: &image.image.sha256,
                    source: ArtifactSource::Agent,
                    step: held.step,
                    approval: permit.approval(),
                };
                self.keep_picture(&state.campaign, new, image).await
            }
            None => self.do_it(permit, &state, proposal, &held).await,
        };
        let told = match told {
            Ok(told) => told,
            Err(CampaignError::Store(error)) => return Err(error),
            Err(other) => return Ok(Err(other.to_string())),
        };
        // Those that no other event took along.
        self.record(lease.conversation, &[]).await?;
        failpoint::hit(Point::MidProposal).map_err(StoreError::broken)?;
        // Its effects are proven by the state that has them; after a deed outside, it is always
        // read.
        let follows = if done.is_none() { after(state, &self.records[before..]) } else { None };
        let mut state = match follows {
            Some(state) => state,
            None => self.read_campaign(held.campaign).await?,
        };
        let proven = self.settle_tasks(&mut state).await?;
        let proven = proven.iter().map(|task| format!(" Task {task} is done.")).collect::<String>();
        Ok(Ok((told + &proven, state)))
    }

    /// Records a touch of a page that failed, or whose end nobody knows. No task changes; an
    /// approval context that allowed it is counted down.
    ///
    /// # Errors
    /// As [`Unit::carry_out_proposal`].
    pub async fn record_touch_alone(&mut self, permit: &Permit, lease: &Lease, touched: &PageTouched) -> Result<(), StoreError> {
        self.use_context_at_least(permit, lease).await?;
        self.record_touch(lease, touched).await.map(drop)
    }

    /// Records a script that failed. No task changes; an approval context that allowed the run is
    /// counted down.
    ///
    /// # Errors
    /// As [`Unit::carry_out_proposal`].
    pub async fn record_failed_script(&mut self, permit: &Permit, lease: &Lease, ran: &ScriptRan) -> Result<(), StoreError> {
        self.use_context_at_least(permit, lease).await?;
        self.record_run(lease, ran).await.map(drop)
    }

    /// Records a run, and gives the words for the model.
    async fn record_run(&mut self, lease: &Lease, ran: &ScriptRan) -> Result<String, StoreError> {
        let output = self.clean(&ran.output).into_owned();
        let logs = ran.logs.iter().map(|line| self.clean(line).into_owned()).collect();
        let told = format!(
            "The script {} version {} ran well; its result has {} bytes: {}",
            ran.script.key,
            ran.script.version,
            output.len(),
            shortened(&output, MOST_TOLD)
        );
        self.record(lease.conversation, &[ScriptRan { output, logs, ..ran.clone() }.into()]).await?;
        Ok(told)
    }

    /// Counts an approval context down for a deed that failed. It may be void meanwhile: the deed
    /// is recorded all the same.
    async fn use_context_at_least(&mut self, permit: &Permit, lease: &Lease) -> Result<(), StoreError> {
        let held = self.hold_cycle(lease, None, false).await?;
        let state = self.read_campaign(held.campaign).await?;
        let used: Vec<_> = self.use_context(permit, &state).ok().flatten().into_iter().collect();
        self.record(lease.conversation, &used).await.map(drop)
    }

    /// An approval context that allows this, counted down; `None` if none is needed, or the reason
    /// why it allows nothing any more.
    fn use_context(&self, permit: &Permit, state: &CampaignState) -> Result<Option<Event>, String> {
        let Some(id) = permit.context() else { return Ok(None) };
        let left = state.contexts.iter().find(|context| context.id == id && !context.void && context.uses_left > 0);
        let Some(context) = left.filter(|context| self.now < context.until) else {
            return Err("the approval context that allowed this is used up or void; it will be asked about".to_owned());
        };
        let context = ApprovalContext { uses_left: context.uses_left - 1, ..context.clone() };
        Ok(Some(ContextChanged { context }.into()))
    }

    /// Begins the task of a proposal that is carried out, if it was not begun.
    fn begin_task(&self, state: &mut CampaignState, proposal: &CampaignProposal) -> Option<Event> {
        let task = proposal.task().and_then(|task| state.task(task))?;
        if task.status != CampaignTaskStatus::Pending || matches!(proposal, CampaignProposal::NoOp(_)) {
            return None;
        }
        let mut task = CampaignTask { status: CampaignTaskStatus::InProgress, updated_at: self.now, ..task.clone() };
        task.metadata.begun_at = Some(self.now);
        state.put(task.clone());
        Some(CampaignTaskChanged { task, what: "is begun".to_owned() }.into())
    }

    async fn do_it(
        &mut self,
        permit: &Permit,
        state: &CampaignState,
        proposal: &CampaignProposal,
        held: &HeldCycle,
    ) -> Result<String, CampaignError> {
        let campaign = &state.campaign;
        let agents = |kind, key, content| NewArtifact {
            kind,
            key,
            content,
            source: ArtifactSource::Agent,
            step: held.step,
            approval: permit.approval(),
        };
        match proposal {
            CampaignProposal::CreateTask(new) => {
                let (preconditions, requires) = read_task(new).map_err(CampaignError::Wrong)?;
                let source = Some(ArtifactSource::Agent);
                let metadata =
                    TaskMetadata { preconditions, requires, why: Some(new.why.clone()), source, ..TaskMetadata::default() };
                let task = CampaignTask {
                    id: CampaignTaskId(self.number_of("campaign_tasks").await?),
                    campaign_id: campaign.id,
                    description: new.description.trim().to_owned(),
                    status: CampaignTaskStatus::Pending,
                    metadata,
                    sequence: 0,
                    created_at: self.now,
                    updated_at: self.now,
                };
                let told = format!("Task {} is made.", task.id);
                self.record_task(campaign.conversation_id, task, "is made").await?;
                Ok(told)
            }
            CampaignProposal::SelectNextTask(selected) => Ok(format!("Task {} is in progress.", selected.task)),
            CampaignProposal::GenerateMessage(GenerateMessage { key, text, .. }) => {
                let kept = self.keep_next(state, agents(ArtifactType::Message, key, text), held.number).await?;
                Ok(format!("The message {key} is kept as version {}. Nobody was sent anything.", kept.version))
            }
            CampaignProposal::AnalyzeLeads(analysis) => self.analyze(state, analysis, agents, held.number).await,
            CampaignProposal::RequestUserInput(asked) => self.ask_person(state, asked).await,
            CampaignProposal::PersistArtifact(PersistArtifact { kind, key, content, .. }) => {
                let kind: ArtifactType = kind.parse().map_err(CampaignError::Wrong)?;
                let kept = self.keep_next(state, agents(kind, key, content), held.number).await?;
                Ok(format!("The {kind} {key} is kept as version {}.", kept.version))
            }
            CampaignProposal::ExecuteTool(ExecuteTool { tool, arguments, .. }) => match tool.as_str() {
                "score_leads" => {
                    let config = state.artifacts.iter().filter(|artifact| artifact.kind == ArtifactType::LeadScoringConfig);
                    let Some(config) = config.max_by_key(|artifact| artifact.sequence) else {
                        return Err(CampaignError::Wrong("there is no lead_scoring_config".to_owned()));
                    };
                    let scored = self.score_leads(campaign, config.version, &config.content).await?;
                    Ok(format!("{scored} leads have another score than before."))
                }
                "import_leads" => {
                    let key = arguments.get("file").and_then(Value::as_str).unwrap_or_default();
                    self.import_file(permit.call(), state, key).await
                }
                other => Err(CampaignError::Wrong(format!("{other} is not run here"))),
            },
            CampaignProposal::NoOp(_) => Ok("Nothing was done.".to_owned()),
        }
    }

    async fn analyze<'a>(
        &mut self,
        state: &CampaignState,
        analysis: &'a AnalyzeLeads,
        agents: impl Fn(ArtifactType, &'a str, &'a str) -> NewArtifact<'a>,
        number: Option<i64>,
    ) -> Result<String, CampaignError> {
        let AnalyzeLeads { key, analysis, leads, lead_status, .. } = analysis;
        let mut told = String::new();
        if let Some(status) = lead_status {
            let all = self.all_leads(state.campaign.id).await?;
            if let Some(missing) = leads.iter().find(|wanted| !all.iter().any(|lead| lead.id.0 == **wanted)) {
                return Err(CampaignError::Wrong(format!("leads: there is no lead {missing} in this campaign")));
            }
            let now = self.now;
            let changed = all.into_iter().filter(|lead| leads.contains(&lead.id.0) && lead.status != *status);
            let changed: Vec<_> = changed.map(|lead| Lead { status: *status, updated_at: now, ..lead }).collect();
            self.record_leads(state.campaign.conversation_id, &changed, &format!("are {status}")).await?;
            told = format!(" {} leads are {status}.", changed.len());
        }
        let kept = self.keep_next(state, agents(ArtifactType::Analysis, key, analysis), number).await?;
        Ok(format!("The analysis {key} is kept as version {}.{told}", kept.version))
    }

    async fn ask_person(&mut self, state: &CampaignState, asked: &RequestUserInput) -> Result<String, CampaignError> {
        let RequestUserInput { task, question, text } = asked;
        let Some(task) = state.task(*task) else { return Err(CampaignError::Missing(format!("there is no task {task}"))) };
        let mut task = task.clone();
        let asked = Asked { question: question.clone(), text: self.clean(text).into_owned(), answer: None };
        task.metadata.questions.retain(|other| other.question != *question);
        task.metadata.questions.push(asked);
        self.record_task(state.campaign.conversation_id, task, "has a question").await?;
        Ok(format!("The person is asked: {question}."))
    }
}
