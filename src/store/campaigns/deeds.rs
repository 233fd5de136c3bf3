//! Carries a proposal out, with a permit. Effect, outcome, audit entry, events and the change of
//! its task are one transaction.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::CampaignError;
use super::applied::after;
use super::loading::{CycleWithState, HeldCycle};
use super::writing::{ArtifactNumber, NewArtifact};
use crate::domain::campaign::judge::{read_task, validate};
use crate::domain::campaign::proposal::{
    AnalyzeLeads, ExecuteTool, GenerateMessage, PersistArtifact, ProposeTask, RequestUserInput,
};
use crate::domain::campaign::scoring::ConfigVersion;
use crate::domain::campaign::shown::bound;
use crate::domain::campaign::{
    ApprovalContext, ArtifactSource, ArtifactType, Asked, CampaignProposal, CampaignState, CampaignTask, CampaignTaskStatus,
    Lead, TaskMetadata,
};
use crate::domain::{ApprovalId, CampaignTaskId, IMPORT_LEADS, SCORE_LEADS, StepId, shortened};
use crate::facts::{ArtifactKept, CampaignTaskChanged, ContextChanged, Event, PageRead, PageTouched, ScriptRan};
use crate::failpoint::{self, Point};
use crate::governor::Permit;
use crate::store::{Lease, NewImage, StoreError, Unit, clean};
use crate::telemetry::Scrubber;

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

/// True if the deed of a proposal follows from the state alone.
pub(super) fn is_plain(proposal: &CampaignProposal) -> bool {
    use CampaignProposal as P;
    match proposal {
        P::SelectNextTask(_) | P::GenerateMessage(_) | P::RequestUserInput(_) | P::NoOp(_) => true,
        P::AnalyzeLeads(analysis) => analysis.lead_status.is_none(),
        // A scoring config scores all leads.
        P::PersistArtifact(artifact) => artifact.kind != ArtifactType::LeadScoringConfig.as_str(),
        P::CreateTask(_) | P::ExecuteTool(_) => false,
    }
}

/// An approval context that allows this, counted down; `None` if none is needed, or the reason why
/// it allows nothing any more.
pub(super) fn used_context(permit: &Permit, state: &CampaignState, now: DateTime<Utc>) -> Result<Option<Event>, String> {
    let Some(id) = permit.context() else { return Ok(None) };
    let left = state.contexts.iter().find(|context| context.id == id && !context.void && context.uses_left > 0);
    let Some(context) = left.filter(|context| now < context.until) else {
        return Err("the approval context that allowed this is used up or void; it will be asked about".to_owned());
    };
    let context = ApprovalContext { uses_left: context.uses_left - 1, ..context.clone() };
    Ok(Some(ContextChanged { context }.into()))
}

/// Begins the task of a proposal that is carried out, if it was not begun.
pub(super) fn begun_task(state: &mut CampaignState, proposal: &CampaignProposal, now: DateTime<Utc>) -> Option<Event> {
    let task = proposal.task().and_then(|task| state.task(task))?;
    if task.status != CampaignTaskStatus::Pending || matches!(proposal, CampaignProposal::NoOp(_)) {
        return None;
    }
    let mut task = CampaignTask { status: CampaignTaskStatus::InProgress, updated_at: now, ..task.clone() };
    task.metadata.begun_at = Some(now);
    state.put(task.clone());
    Some(CampaignTaskChanged { task, what: "is begun".to_owned() }.into())
}

/// The part of a deed's record that its proposal does not say.
pub(super) struct Attribution<'a> {
    pub(super) step: Option<StepId>,
    pub(super) approval: Option<ApprovalId>,
    pub(super) scrubber: &'a Scrubber,
    pub(super) now: DateTime<Utc>,
}

impl Attribution<'_> {
    /// The fact that a model's proposal is kept as the next version of an artifact, under this
    /// number, and the version.
    fn kept(&self, state: &CampaignState, kind: ArtifactType, key: &str, content: &str, number: i64) -> (Option<Event>, i32) {
        let version = state.artifact(kind, key).map_or(1, |kept| kept.version + 1);
        let (step, approval) = (self.step, self.approval);
        let new = NewArtifact { kind, key, content, source: ArtifactSource::Agent, step, approval };
        let number = ArtifactNumber { id: number, version };
        let artifact = new.kept(state.campaign.id, number, self.scrubber, self.now);
        (Some(ArtifactKept { artifact, image: None }.into()), version)
    }

    /// The fact of a deed that follows from the state, and the words about it. An artifact is kept
    /// under this number.
    pub(super) fn fact(
        &self,
        state: &CampaignState,
        proposal: &CampaignProposal,
        number: i64,
    ) -> Result<(Option<Event>, String), CampaignError> {
        Ok(match proposal {
            CampaignProposal::SelectNextTask(selected) => (None, format!("Task {} is in progress.", selected.task)),
            CampaignProposal::GenerateMessage(GenerateMessage { key, text, .. }) => {
                let (kept, version) = self.kept(state, ArtifactType::Message, key, text, number);
                (kept, format!("The message {key} is kept as version {version}. Nobody was sent anything."))
            }
            CampaignProposal::AnalyzeLeads(AnalyzeLeads { key, analysis, .. }) => {
                let (kept, version) = self.kept(state, ArtifactType::Analysis, key, analysis, number);
                (kept, format!("The analysis {key} is kept as version {version}."))
            }
            CampaignProposal::RequestUserInput(RequestUserInput { task, question, text }) => {
                let Some(task) = state.task(*task) else {
                    return Err(CampaignError::Missing(format!("there is no task {task}")));
                };
                let mut task = CampaignTask { updated_at: self.now, ..task.clone() };
                let text = clean(self.scrubber, text).into_owned();
                task.metadata.questions.retain(|other| other.question != *question);
                task.metadata.questions.push(Asked { question: question.clone(), text, answer: None });
                let fact = CampaignTaskChanged { task, what: "has a question".to_owned() };
                (Some(fact.into()), format!("The person is asked: {question}."))
            }
            CampaignProposal::PersistArtifact(PersistArtifact { kind, key, content, .. }) => {
                let kind: ArtifactType = kind.parse().map_err(CampaignError::Wrong)?;
                let (kept, version) = self.kept(state, kind, key, content, number);
                (kept, format!("The {kind} {key} is kept as version {version}."))
            }
            CampaignProposal::NoOp(_) => (None, "Nothing was done.".to_owned()),
            CampaignProposal::CreateTask(_) | CampaignProposal::ExecuteTool(_) => {
                return Err(CampaignError::Wrong("this does not follow from the state alone".to_owned()));
            }
        })
    }
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
        let carried = self.carry_out_in(permit, lease, proposal, CycleWithState { held, state }, done).await?;
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
        self.carry_out_in(permit, lease, proposal, CycleWithState { held, state }, None).await.map(Some)
    }

    async fn carry_out_in(
        &mut self,
        permit: &Permit,
        lease: &Lease,
        proposal: &CampaignProposal,
        CycleWithState { held, mut state }: CycleWithState,
        done: Option<DoneOutside<'_>>,
    ) -> Result<CarriedOut, StoreError> {
        if let Err(why) = validate(&state, proposal, held.proposals, self.now) {
            return Ok(Err(why));
        }
        let before = self.records.len();
        match used_context(permit, &state, self.now) {
            Ok(used) => self.ahead.extend(used),
            Err(why) => return Ok(Err(why)),
        }
        let begun = begun_task(&mut state, proposal, self.now);
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
        let used: Vec<_> = used_context(permit, &state, self.now).ok().flatten().into_iter().collect();
        self.record(lease.conversation, &used).await.map(drop)
    }

    async fn do_it(
        &mut self,
        permit: &Permit,
        state: &CampaignState,
        proposal: &CampaignProposal,
        held: &HeldCycle,
    ) -> Result<String, CampaignError> {
        let campaign = &state.campaign;
        let moved = match proposal {
            CampaignProposal::CreateTask(new) => return self.make_task(state, new).await,
            CampaignProposal::ExecuteTool(run) => return self.run_in_database(permit, state, run).await,
            CampaignProposal::AnalyzeLeads(analysis) => self.move_leads(state, analysis).await?,
            _ => String::new(),
        };
        let number = match (held.number, numbered(proposal)) {
            (None, Some(table)) => self.number_of(table).await?,
            (number, _) => number.unwrap_or_default(),
        };
        let (step, approval) = (held.step, permit.approval());
        let attribution = Attribution { step, approval, scrubber: &self.scrubber, now: self.now };
        let (fact, told) = attribution.fact(state, proposal, number)?;
        if let Some(fact) = fact {
            self.record(campaign.conversation_id, std::slice::from_ref(&fact)).await?;
            if let Event::ArtifactKept(ArtifactKept { artifact, .. }) = &fact
                && artifact.artifact_type == ArtifactType::LeadScoringConfig
            {
                let named = ConfigVersion { key: &artifact.artifact_key, version: artifact.version };
                self.score_leads(campaign, named, &artifact.content).await?;
            }
        }
        Ok(told + &moved)
    }

    async fn make_task(&mut self, state: &CampaignState, new: &ProposeTask) -> Result<String, CampaignError> {
        let (why, source) = (Some(new.why.clone()), Some(ArtifactSource::Agent));
        let metadata = TaskMetadata { why, source, ..read_task(new).map_err(CampaignError::Wrong)? };
        let task = CampaignTask {
            id: CampaignTaskId(self.number_of("campaign_tasks").await?),
            campaign_id: state.campaign.id,
            description: new.description.trim().to_owned(),
            status: CampaignTaskStatus::Pending,
            metadata,
            sequence: 0,
            created_at: self.now,
            updated_at: self.now,
        };
        let told = format!("Task {} is made.", task.id);
        self.record_task(state.campaign.conversation_id, task, "is made").await?;
        Ok(told)
    }

    /// Runs a tool that works in the database alone.
    async fn run_in_database(
        &mut self,
        permit: &Permit,
        state: &CampaignState,
        run: &ExecuteTool,
    ) -> Result<String, CampaignError> {
        match run.tool.as_str() {
            SCORE_LEADS => {
                let config = state.artifacts.iter().filter(|artifact| artifact.kind == ArtifactType::LeadScoringConfig);
                let Some(config) = config.max_by_key(|artifact| artifact.sequence) else {
                    return Err(CampaignError::Wrong("there is no lead_scoring_config".to_owned()));
                };
                let named = ConfigVersion { key: &config.key, version: config.version };
                let scored = self.score_leads(&state.campaign, named, &config.content).await?;
                Ok(format!("{scored} leads have another score than before."))
            }
            IMPORT_LEADS => {
                let key = run.arguments.get("file").and_then(Value::as_str).unwrap_or_default();
                self.import_file(permit.call(), state, key).await
            }
            other => Err(CampaignError::Wrong(format!("{other} is not run here"))),
        }
    }

    /// Gives leads the status that an analysis gives them, and the words about it.
    async fn move_leads(&mut self, state: &CampaignState, analysis: &AnalyzeLeads) -> Result<String, CampaignError> {
        let AnalyzeLeads { leads, lead_status: Some(status), .. } = analysis else { return Ok(String::new()) };
        let all = self.all_leads(state.campaign.id).await?;
        if let Some(missing) = leads.iter().find(|wanted| !all.iter().any(|lead| lead.id.0 == **wanted)) {
            return Err(CampaignError::Wrong(format!("leads: there is no lead {missing} in this campaign")));
        }
        let now = self.now;
        let changed = all.into_iter().filter(|lead| leads.contains(&lead.id.0) && lead.status != *status);
        let changed: Vec<_> = changed.map(|lead| Lead { status: *status, updated_at: now, ..lead }).collect();
        self.record_leads(state.campaign.conversation_id, &changed, &format!("are {status}")).await?;
        Ok(format!(" {} leads are {status}.", changed.len()))
    }
}
