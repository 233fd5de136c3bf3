//! The operator: its tasks with their recordings, and what it remembers between them.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use chrono::TimeDelta;
use serde::Deserialize;

use super::reply::{ApiRefusal, At, Body, QueryString, Reply, limit};
use crate::channels::kept_at;
use crate::domain::operator::{ContextRefused, GlobalContext, MOST_CONTEXT};
use crate::domain::relay::{ContactAddress, MediaNote};
use crate::domain::{ConversationId, ImageType, ToolCallId, TurnId};
use crate::http::Doors;
use crate::http::visitor::Owner;
use crate::profiles::OPERATOR;
use crate::store::{OperatorTask, RecordedAction};
use crate::wire::api::{
    OperatorContextInfo, OperatorInfo, OperatorRecordings, OperatorStranger, OperatorTaskInfo, OperatorTasks, RecordingInfo,
    SetOperatorContext,
};

/// The most tasks of one answer.
const MOST: i64 = 200;
/// So long a stranger is shown.
const STRANGERS_SHOWN: TimeDelta = TimeDelta::days(30);
/// The moments around a risky action at which the screen is pictured.
const MOMENTS: [&str; 2] = ["before", "after"];

/// How many tasks are asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedTasks {
    limit: Option<i64>,
}

pub(super) async fn show(Owner(doors): Owner) -> Reply<OperatorInfo> {
    let conversation = conversation(&doors).await?;
    let tasks = listed(&doors, 50).await?;
    let (channel, numbers) = match &doors.orders_from {
        Some((channel, numbers)) => (Some(channel.clone()), *numbers),
        None => (None, 0),
    };
    let strangers = strangers(&doors).await?;
    Ok(Json(OperatorInfo { conversation, channel, numbers, tasks, strangers }))
}

pub(super) async fn tasks(Owner(doors): Owner, QueryString(asked): QueryString<AskedTasks>) -> Reply<OperatorTasks> {
    let limit = limit(asked.limit, 50, MOST)?;
    Ok(Json(OperatorTasks { tasks: listed(&doors, limit).await?, strangers: strangers(&doors).await? }))
}

/// The strangers on the channel by which orders come.
async fn strangers(doors: &Doors) -> Result<Vec<OperatorStranger>, ApiRefusal> {
    let Some((channel, _)) = &doors.orders_from else { return Ok(Vec::new()) };
    let since = (doors.clock.now() - STRANGERS_SHOWN).date_naive();
    let counted = doors.store.strangers(channel, since).await?.into_iter();
    Ok(counted.map(|(from, messages, last_on)| OperatorStranger { from, messages, last_on }).collect())
}

/// Its conversation; `None` as long as nobody said anything to it.
async fn conversation(doors: &Doors) -> Result<Option<ConversationId>, ApiRefusal> {
    Ok(doors.store.owners().mains(&[OPERATOR.to_owned()]).await?.remove(OPERATOR))
}

async fn listed(doors: &Doors, limit: i64) -> Result<Vec<OperatorTaskInfo>, ApiRefusal> {
    let Some(conversation) = conversation(doors).await? else { return Ok(Vec::new()) };
    Ok(doors.store.operator_tasks(conversation, limit).await?.into_iter().map(task_info).collect())
}

fn task_info(task: OperatorTask) -> OperatorTaskInfo {
    let OperatorTask { turn, state, goal, source, approval, reason, answer, unproven, undelivered, created_at, ended_at } = task;
    let from = source.and_then(|source| ContactAddress::read(&source.address).ok()).map(|address| address.masked());
    OperatorTaskInfo { id: turn, state, goal, from, approval, reason, answer, unproven, undelivered, created_at, ended_at }
}

/// The recordings of a task: the database has all but the pictures.
pub(super) async fn recordings(Owner(doors): Owner, At(task): At<TurnId>) -> Reply<OperatorRecordings> {
    let actions = match conversation(&doors).await? {
        Some(conversation) => doors.store.risky_actions(conversation, Some(task)).await?,
        None => Vec::new(),
    };
    let mut recordings = Vec::with_capacity(actions.len());
    for action in actions {
        let mut pictures = Vec::new();
        for moment in MOMENTS {
            let file = picture_of(&doors, action.turn, action.call, moment);
            if tokio::fs::try_exists(&file).await.unwrap_or(false) {
                pictures.push(moment.to_owned());
            }
        }
        recordings.push(recorded(action, pictures));
    }
    Ok(Json(OperatorRecordings { recordings }))
}

fn recorded(action: RecordedAction, pictures: Vec<String>) -> RecordingInfo {
    let RecordedAction { call, name, arguments, state, result, logs, operations, created_at, ended_at, .. } = action;
    RecordingInfo { call, name, state, arguments, result, logs, operations, pictures, proposed_at: created_at, ended_at }
}

fn picture_of(doors: &Doors, task: TurnId, call: ToolCallId, moment: &str) -> std::path::PathBuf {
    doors.site.recordings().join(format!("turn-{task}")).join(format!("call-{call}-{moment}.png"))
}

/// A picture of the screen before or after a risky action.
pub(super) async fn picture(
    Owner(doors): Owner,
    At((task, call, moment)): At<(TurnId, ToolCallId, String)>,
) -> Result<Response, ApiRefusal> {
    let unknown = || ApiRefusal::unknown(format!("there is no picture `{moment}` of call {call} in task {task}"));
    // Another word could lead out of the folder.
    if !MOMENTS.contains(&moment.as_str()) {
        return Err(unknown());
    }
    let bytes = tokio::fs::read(picture_of(&doors, task, call, &moment)).await.map_err(|_| unknown())?;
    image(bytes).ok_or_else(unknown)
}

/// A picture that never changes.
fn image(bytes: Vec<u8>) -> Option<Response> {
    let kind = ImageType::of(&bytes)?;
    let headers = [(header::CONTENT_TYPE, kind.as_str()), (header::CACHE_CONTROL, "private, max-age=31536000, immutable")];
    Some((headers, bytes).into_response())
}

pub(super) async fn context(Owner(doors): Owner) -> Reply<OperatorContextInfo> {
    Ok(Json(shown(doors.store.operator_context().await?)))
}

pub(super) async fn set_context(Owner(doors): Owner, Body(given): Body<SetOperatorContext>) -> Reply<OperatorContextInfo> {
    let now = doors.clock.now();
    let conversation = doors.store.owners().main_conversation_of(OPERATOR, now).await?;
    let changed = doors.store.set_operator_context(conversation, given.version, given.document, now).await?;
    match changed {
        Ok(context) => Ok(Json(shown(context))),
        Err(refused @ ContextRefused::Overtaken { .. }) => Err(ApiRefusal::conflict(refused.to_string())),
        Err(refused @ (ContextRefused::NoObject | ContextRefused::TooLarge(_))) => Err(ApiRefusal::bad(refused.to_string())),
    }
}

fn shown(context: GlobalContext) -> OperatorContextInfo {
    let GlobalContext { version, document, updated_at } = context;
    let bytes = document.to_string().len();
    OperatorContextInfo { version, document, bytes, most_bytes: MOST_CONTEXT, updated_at }
}

/// A picture that is kept, by its fingerprint.
pub(super) async fn media(Owner(doors): Owner, At(name): At<String>) -> Result<Response, ApiRefusal> {
    let note = MediaNote { sha256: Some(name.clone()), kind: String::new(), bytes: 0, omitted: false };
    let unknown = || ApiRefusal::unknown(format!("there is no picture `{name}`"));
    let file = kept_at(&note, &doors.site.media()).ok_or_else(unknown)?;
    let bytes = tokio::fs::read(file).await.map_err(|_| unknown())?;
    image(bytes).ok_or_else(unknown)
}
