//! Campaigns: a person makes, steers and watches them here. All of it is the person's own request.

use axum::Json;
use axum::Router;
use axum::routing::{delete, get, post};
use serde::Deserialize;
use serde_json::Value;

use super::reply::{ApiRefusal, At, Body, QueryString, Reply, limit};
use crate::domain::campaign::artifact::check_key;
use crate::domain::campaign::judge::{hindrance, is_met};
use crate::domain::campaign::snapshot::{snapshot, unproven};
use crate::domain::campaign::{ArtifactType, CampaignInput, CampaignState, Need, Requirement, TaskMetadata};
use crate::domain::{CampaignId, exact, misfit};
use crate::faces::campaigns::{Campaigns, SeenCampaign};
use crate::http::Doors;
use crate::http::visitor::{Closed, Owner};
use crate::store::{CampaignError, CampaignLog, CampaignOrder, NewCampaign, NewCampaignTask, WholeCampaign};
use crate::wire::api::{
    AllowNext, AnswerQuestion, ArtifactVersions, CampaignExport, CampaignInfo, CampaignLeads, CampaignList, CampaignLogKinds,
    CampaignLogLine, CampaignMade, CampaignOrderForm, CampaignStateInfo, CampaignTaskDeed, CampaignTaskOrder, CampaignTold,
    CampaignVerified, CampaignVocabulary, ChangeCampaignTask, ExportedCampaign, ImportLeads, KeepArtifact, SetLead,
    ShownCampaignTask, ShownCondition, SteeredCampaign,
};

/// The most lines and leads of an answer.
const MOST: i64 = 10_000;

/// Every route of campaigns.
pub(super) fn routes() -> Router<Closed> {
    Router::new()
        .route("/vocabulary", get(vocabulary))
        .route("/{id}", get(show))
        .route("/{id}/state", get(state))
        .route("/{id}/export", get(export))
        .route("/{id}/start", post(start))
        .route("/{id}/pause", post(pause))
        .route("/{id}/resume", post(resume))
        .route("/{id}/cycle", post(cycle))
        .route("/{id}/copy", post(copy))
        .route("/{id}/present", post(present))
        .route("/{id}/verify", post(verify))
        .route("/{id}/forget-chat", post(forget_chat))
        .route("/{id}/tasks", post(add_task))
        .route("/{id}/tasks/{task}", post(change_task))
        .route("/{id}/answer", post(answer))
        .route("/{id}/artifacts", post(keep))
        .route("/{id}/artifacts/{kind}/{key}", get(versions))
        .route("/{id}/leads", get(leads).post(import))
        .route("/{id}/leads/status", post(set_lead))
        .route("/{id}/contexts", post(allow))
        .route("/{id}/contexts/{context}", delete(revoke))
        .route("/{id}/log", get(log))
        .route("/{id}/log/kinds", get(log_kinds))
}

impl From<CampaignError> for ApiRefusal {
    fn from(error: CampaignError) -> Self {
        match error {
            CampaignError::Unknown(_) | CampaignError::Missing(_) => Self::unknown(error.to_string()),
            CampaignError::Refused(_) | CampaignError::Broken(..) => Self::conflict(error.to_string()),
            CampaignError::Wrong(why) => placed(why),
            CampaignError::Store(error) => error.into(),
        }
    }
}

/// The source of a state.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedState {
    from: Option<String>,
}

/// The one who orders a cycle.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedCycle {
    /// True if they are there for it.
    #[serde(default)]
    present: bool,
}

/// The part of a log that is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedLog {
    log: Option<String>,
    kind: Option<String>,
    limit: Option<i64>,
}

pub(super) async fn list(Owner(doors): Owner) -> Reply<CampaignList> {
    Ok(Json(CampaignList { campaigns: doors.store.campaigns().await? }))
}

async fn vocabulary(Owner(_): Owner) -> Reply<CampaignVocabulary> {
    Ok(Json(CampaignVocabulary { proposals: Campaigns::vocabulary() }))
}

pub(super) async fn create(
    Owner(doors): Owner,
    Body(CampaignOrderForm { name, tasks }): Body<CampaignOrderForm>,
) -> Reply<CampaignMade> {
    let read = tasks.into_iter().enumerate().map(|(n, task)| new_task(task, &format!("tasks[{n}]."), Requirement::read_in_file));
    let tasks = read.collect::<Result<_, _>>()?;
    Ok(Json(CampaignMade { id: doors.store.make_campaign(NewCampaign { name, tasks }, doors.clock.now()).await? }))
}

/// Reads a condition at a place.
type ReadCondition = fn(Value, &str) -> Result<Requirement, String>;

/// A task as a person wrote it.
fn new_task(order: CampaignTaskOrder, at: &str, read: ReadCondition) -> Result<NewCampaignTask, ApiRefusal> {
    let CampaignTaskOrder { description, preconditions, requires, needs } = order;
    let conditions = |name: &str, written: Vec<Value>| {
        let read = written.into_iter().enumerate().map(|(n, one)| read(one, &format!("{at}{name}[{n}]")));
        read.collect::<Result<Vec<_>, _>>().map_err(placed)
    };
    let need = |(n, one): (usize, Value)| {
        let expected = r#"expected like {"type": "context", "key": "campaign_context"}"#;
        let read: Need = exact(&one).map_err(|error| placed(format!("{at}needs[{n}]: {error}; {expected}")))?;
        let wrong = read.key.as_deref().and_then(|key| check_key(key).err());
        wrong.map_or(Ok(read), |why| Err(placed(format!("{at}needs[{n}].key: {why}"))))
    };
    let metadata = TaskMetadata {
        preconditions: conditions("preconditions", preconditions)?,
        requires: conditions("requires", requires)?,
        needs: needs.into_iter().enumerate().map(need).collect::<Result<_, _>>()?,
        ..TaskMetadata::default()
    };
    Ok(NewCampaignTask { description, metadata })
}

/// A refusal whose words begin with the place of the fault.
fn placed(why: String) -> ApiRefusal {
    let Some((place, wrong)) = why.split_once(": ").filter(|(place, _)| !place.contains(' ')) else {
        return ApiRefusal::bad(why);
    };
    let (field, wrong) = (place.split(['[', '.']).next().unwrap_or(place), misfit(wrong));
    let told = format!("{place}: {wrong}");
    ApiRefusal::bad(told.as_str()).at(field, if field == place { &wrong } else { &told })
}

async fn show(Owner(doors): Owner, At(id): At<CampaignId>) -> Reply<CampaignInfo> {
    Ok(Json(info(&doors, doors.campaigns.look(id).await?)))
}

fn info(doors: &Doors, SeenCampaign { state, unwritten }: SeenCampaign) -> CampaignInfo {
    let now = doors.clock.now();
    let shown = |wanted: &Requirement| ShownCondition { words: wanted.to_string(), holds: is_met(&state, wanted, now) };
    let tasks = state.tasks.iter().map(|task| ShownCampaignTask {
        unproven: unproven(&state, task, now),
        hindrance: hindrance(&state, task, now),
        begins_when: task.metadata.preconditions.iter().map(shown).collect(),
        task: task.clone(),
    });
    CampaignInfo {
        tasks: tasks.collect(),
        watched: doors.campaigns.is_watched(state.campaign.id),
        browser: doors.campaigns.has_browser(),
        leads: state.leads.counts,
        artifacts: state.artifacts,
        contexts: state.contexts,
        campaign: state.campaign,
        unwritten,
    }
}

async fn read_state(doors: &Doors, id: CampaignId, asked: &AskedState) -> Result<CampaignState, ApiRefusal> {
    Ok(match from_events(asked)? {
        true => doors.store.campaign_from_events(id, None).await?,
        false => doors.campaigns.ended_if_broken(doors.store.campaign_state(id).await).await?,
    })
}

/// True if the events are asked for, and not the tables.
fn from_events(asked: &AskedState) -> Result<bool, ApiRefusal> {
    match asked.from.as_deref() {
        None | Some("tables") => Ok(false),
        Some("events") => Ok(true),
        Some(other) => Err(ApiRefusal::bad(format!("`from` is `{other}`; it is tables or events"))),
    }
}

async fn state(
    Owner(doors): Owner,
    At(id): At<CampaignId>,
    QueryString(asked): QueryString<AskedState>,
) -> Reply<CampaignStateInfo> {
    let state = read_state(&doors, id, &asked).await?;
    let tools = doors.campaigns.tool_lines(&state).await?;
    let snapshot = snapshot(&state, doors.clock.now(), &tools);
    Ok(Json(CampaignStateInfo { state: state.shown(), state_sha256: state.sha256(), snapshot }))
}

async fn export(
    Owner(doors): Owner,
    At(id): At<CampaignId>,
    QueryString(asked): QueryString<AskedState>,
) -> Reply<CampaignExport> {
    let whole = match from_events(&asked)? {
        true => doors.store.whole_campaign_from_events(id).await?,
        false => doors.campaigns.ended_if_broken(doors.store.whole_campaign(id).await).await?,
    };
    let (leads_sha256, artifacts_sha256) = (whole.leads_sha256(), whole.artifacts_sha256());
    let WholeCampaign { state, leads, artifacts } = whole;
    let state_sha256 = state.sha256();
    let state = ExportedCampaign {
        shown: state.shown(),
        campaign: state.campaign,
        contexts: state.contexts,
        calls: state.calls,
        tasks: state.tasks,
        leads,
        leads_sha256,
        artifacts,
        artifacts_sha256,
        sequence: state.sequence,
    };
    Ok(Json(CampaignExport { state, state_sha256 }))
}

async fn start(Owner(doors): Owner, At(id): At<CampaignId>) -> Reply<SteeredCampaign> {
    Ok(Json(SteeredCampaign { campaign: doors.campaigns.start(id).await? }))
}

async fn pause(Owner(doors): Owner, At(id): At<CampaignId>) -> Reply<SteeredCampaign> {
    Ok(Json(SteeredCampaign { campaign: doors.campaigns.steer(id, CampaignInput::Pause).await? }))
}

async fn resume(Owner(doors): Owner, At(id): At<CampaignId>) -> Reply<SteeredCampaign> {
    Ok(Json(SteeredCampaign { campaign: doors.campaigns.steer(id, CampaignInput::Resume).await? }))
}

async fn cycle(
    Owner(doors): Owner,
    At(id): At<CampaignId>,
    QueryString(asked): QueryString<AskedCycle>,
) -> Reply<SteeredCampaign> {
    Ok(Json(SteeredCampaign { campaign: doors.campaigns.one_cycle(id, asked.present).await? }))
}

async fn copy(Owner(doors): Owner, At(id): At<CampaignId>) -> Reply<CampaignMade> {
    Ok(Json(CampaignMade { id: doors.store.copy_campaign(id, doors.clock.now()).await? }))
}

async fn present(Owner(doors): Owner, At(id): At<CampaignId>) -> Reply<CampaignTold> {
    doors.campaigns.present(id).await?;
    Ok(sentence("Somebody is there for 40 seconds.".to_owned()))
}

async fn verify(Owner(doors): Owner, At(id): At<CampaignId>) -> Reply<CampaignVerified> {
    let broken = doors.store.unkept_of_campaign(id).await?;
    let verified = doors.campaigns.verify(id).await?;
    let clean = broken.is_empty() && verified.differs.is_none();
    let (turn, differs) = verified.differs.unzip();
    Ok(Json(CampaignVerified { requests: verified.requests, broken, turn, differs, clean }))
}

async fn forget_chat(Owner(doors): Owner, At(id): At<CampaignId>) -> Reply<CampaignTold> {
    let gone = doors.store.forget_chat(id, doors.clock.now()).await?;
    Ok(sentence(format!("{gone} messages are forgotten.")))
}

async fn add_task(Owner(doors): Owner, At(id): At<CampaignId>, Body(order): Body<CampaignTaskOrder>) -> Reply<CampaignTold> {
    ordered(&doors, id, CampaignOrder::AddTask(new_task(order, "", Requirement::read)?)).await
}

async fn change_task(
    Owner(doors): Owner,
    At((id, task)): At<(CampaignId, i64)>,
    Body(ChangeCampaignTask { deed, reason }): Body<ChangeCampaignTask>,
) -> Reply<CampaignTold> {
    let order = match deed {
        CampaignTaskDeed::Finish => CampaignOrder::Finish(task),
        CampaignTaskDeed::Block => CampaignOrder::Block(task, reason),
        CampaignTaskDeed::Unblock => CampaignOrder::Unblock(task),
    };
    ordered(&doors, id, order).await
}

async fn answer(
    Owner(doors): Owner,
    At(id): At<CampaignId>,
    Body(AnswerQuestion { task, question, answer }): Body<AnswerQuestion>,
) -> Reply<CampaignTold> {
    ordered(&doors, id, CampaignOrder::Answer(task, question, answer)).await
}

async fn keep(
    Owner(doors): Owner,
    At(id): At<CampaignId>,
    Body(KeepArtifact { kind, key, content }): Body<KeepArtifact>,
) -> Reply<CampaignTold> {
    ordered(&doors, id, CampaignOrder::Keep(kind, key, content)).await
}

async fn versions(Owner(doors): Owner, At((id, kind, key)): At<(CampaignId, String, String)>) -> Reply<ArtifactVersions> {
    let kind: ArtifactType = kind.parse().map_err(|why| ApiRefusal::bad(format!("type: {why}")))?;
    doors.store.conversation_of_campaign(id).await?;
    let versions = doors.store.artifact_versions(id, kind, &key).await;
    let versions = doors.campaigns.ended_if_broken(versions).await?;
    if versions.is_empty() {
        return Err(ApiRefusal::unknown(format!("campaign {id} has no {kind} {key}")));
    }
    Ok(Json(ArtifactVersions { versions }))
}

async fn leads(Owner(doors): Owner, At(id): At<CampaignId>) -> Reply<CampaignLeads> {
    doors.store.conversation_of_campaign(id).await?;
    Ok(Json(CampaignLeads { leads: doors.store.leads_of(id, MOST).await? }))
}

async fn import(
    Owner(doors): Owner,
    At(id): At<CampaignId>,
    Body(ImportLeads { csv }): Body<ImportLeads>,
) -> Reply<CampaignTold> {
    ordered(&doors, id, CampaignOrder::Import(csv)).await
}

async fn set_lead(
    Owner(doors): Owner,
    At(id): At<CampaignId>,
    Body(SetLead { lead, status }): Body<SetLead>,
) -> Reply<CampaignTold> {
    ordered(&doors, id, CampaignOrder::SetLead(lead, status)).await
}

async fn allow(
    Owner(doors): Owner,
    At(id): At<CampaignId>,
    Body(AllowNext { kind, artifact_type, count, until }): Body<AllowNext>,
) -> Reply<CampaignTold> {
    ordered(&doors, id, CampaignOrder::Allow(kind, artifact_type, count, until)).await
}

async fn revoke(Owner(doors): Owner, At((id, context)): At<(CampaignId, i64)>) -> Reply<CampaignTold> {
    ordered(&doors, id, CampaignOrder::Revoke(context)).await
}

async fn log(
    Owner(doors): Owner,
    At(id): At<CampaignId>,
    QueryString(asked): QueryString<AskedLog>,
) -> Reply<Vec<CampaignLogLine>> {
    doors.store.conversation_of_campaign(id).await?;
    let log = match asked.log.as_deref() {
        None | Some("audit") => CampaignLog::Audit,
        Some("events") => CampaignLog::Events,
        Some(other) => return Err(ApiRefusal::bad(format!("`log` is `{other}`; it is audit or events"))),
    };
    let limit = limit(asked.limit, 200, MOST)?;
    Ok(Json(doors.store.campaign_log(id, log, asked.kind.as_deref(), limit).await?))
}

async fn log_kinds(Owner(doors): Owner, At(id): At<CampaignId>) -> Reply<CampaignLogKinds> {
    doors.store.conversation_of_campaign(id).await?;
    let audit = doors.store.campaign_log_kinds(id, CampaignLog::Audit).await?;
    Ok(Json(CampaignLogKinds { audit, events: doors.store.campaign_log_kinds(id, CampaignLog::Events).await? }))
}

async fn ordered(doors: &Doors, id: CampaignId, order: CampaignOrder) -> Reply<CampaignTold> {
    Ok(sentence(doors.campaigns.order(id, order).await?))
}

fn sentence(told: String) -> Json<CampaignTold> {
    Json(CampaignTold { told })
}
