//! `manage_tasks`: create, list, get, update, complete, delete.

use std::sync::LazyLock;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, Utc};
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::Recorder;
use super::arguments::refusal;
use crate::domain::{Effect, OperationState, Origin, Outcome, Task, TaskId, TaskStatus};
use crate::model::reference::Reference;
use crate::store::{Lease, NewOperation, NewTask, Store, StoreError, TaskChange, Unit};

pub(super) const DESCRIPTION: &str = "Create, list, get, update, complete, or delete tasks. Returns task data as JSON. A task with due_at wakes you at that moment.";

#[derive(Deserialize, JsonSchema)]
pub(super) struct ManageTasks {
    /// One of: create, list, get, update, complete, delete
    action: String,
    /// Task ID (required for get, update, complete, delete)
    #[serde(default, deserialize_with = "number_or_text")]
    #[schemars(with = "Option<i64>")]
    id: Option<i64>,
    /// Task title (required for create)
    #[serde(default)]
    title: Option<String>,
    /// Task details
    #[serde(default)]
    details: Option<String>,
    /// New status (for update): pending, in_progress, done, cancelled
    #[serde(default)]
    status: Option<String>,
    /// Due date as ISO 8601 string, like 2026-11-20T09:30:00Z; an empty string takes it away
    #[serde(default)]
    due_at: Option<String>,
    /// Only if the user names a model to work on it: provider/model; an empty string takes it away
    #[serde(default)]
    model: Option<String>,
}

impl ManageTasks {
    /// What it would do. An action that does not exist does nothing.
    pub(super) fn effect(&self) -> Effect {
        match self.action.as_str() {
            "create" | "update" | "complete" => Effect::Write,
            "delete" => Effect::Delete,
            _ => Effect::Read,
        }
    }

    /// Whether there is a task for it to delete, and it does not say that it means another.
    pub(super) async fn finds_its_task(&self, unit: &mut Unit) -> Result<bool, StoreError> {
        let Some(id) = self.id.map(TaskId) else { return Ok(false) };
        if unit.task(id).await?.is_none() {
            return Ok(false);
        }
        match not_the_title_of_another(unit, id, self.title.as_deref().map(str::trim), &self.action, None).await {
            Ok(()) => Ok(true),
            Err(Failure::Refused(_)) => Ok(false),
            Err(Failure::Store(error)) => Err(error),
        }
    }

    /// The task it is about, and what is to be done with it.
    pub(super) fn id_and_action(&self) -> (Option<i64>, &str) {
        (self.id, &self.action)
    }
}

/// Models write an id as `3` or as `"3"`.
fn number_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Id {
        Number(i64),
        Text(String),
    }
    match Option::<Id>::deserialize(deserializer).map_err(|_| serde::de::Error::custom("`id` must be a whole number"))? {
        None => Ok(None),
        Some(Id::Number(id)) => Ok(Some(id)),
        Some(Id::Text(text)) if text.trim().is_empty() => Ok(None),
        Some(Id::Text(text)) => text
            .trim()
            .parse()
            .map(Some)
            .map_err(|_| serde::de::Error::custom(format!("`id` must be a whole number, not `{text}`"))),
    }
}

/// Why a request was not carried out.
enum Failure {
    /// What the model reads.
    Refused(String),
    Store(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

pub(super) async fn run(record: &Recorder<'_>, request: ManageTasks) -> Result<(), StoreError> {
    let mut unit = record.store.begin(record.now).await?;
    let outcome = match apply(&mut unit, record.lease, request, record.now).await {
        Ok(result) => Outcome::ok(result),
        Err(Failure::Refused(reason)) => Outcome::failed(reason),
        Err(Failure::Store(error)) => return Err(error),
    };
    unit.end_call(record.lease, record.end(outcome)).await?;
    unit.commit().await
}

/// Does what a capability asks for; `operation` is its place in the ledger, where it changes something. The inner error is what the
/// capability is told.
pub(super) async fn run_nested(
    store: &Store,
    lease: &Lease,
    request: ManageTasks,
    operation: Option<NewOperation<'_>>,
    now: DateTime<Utc>,
) -> Result<Result<String, String>, StoreError> {
    let mut unit = store.begin(now).await?;
    let answer = match apply(&mut unit, lease, request, now).await {
        Ok(result) => Ok(result),
        Err(Failure::Refused(reason)) => Err(reason),
        Err(Failure::Store(error)) => return Err(error),
    };
    if let Some(operation) = operation {
        let (state, text) = match &answer {
            Ok(result) => (OperationState::Done, result),
            Err(reason) => (OperationState::Failed, reason),
        };
        unit.end_operation(lease, &operation, state, Some(text)).await?;
    }
    unit.commit().await?;
    Ok(answer)
}

const LONGEST_TITLE: usize = 1024;
const LONGEST_DETAILS: usize = 32 << 10;

async fn apply(unit: &mut Unit, lease: &Lease, request: ManageTasks, now: DateTime<Utc>) -> Result<String, Failure> {
    let conversation = lease.conversation;
    let title = request.title.map(|title| title.trim().to_owned());
    // They are in what every turn is shown, and in each list of tasks.
    for (name, text, most) in [("title", &title, LONGEST_TITLE), ("details", &request.details, LONGEST_DETAILS)] {
        if let Some(text) = text.as_ref().filter(|text| text.len() > most) {
            let told =
                format!("`{name}` has {} bytes, and {most} is the most; keep long texts in a table of your own", text.len());
            return Err(Failure::Refused(refusal(&told)));
        }
    }
    match request.action.as_str() {
        "create" => {
            let title = title.filter(|title| !title.is_empty()).ok_or_else(|| missing("title", "create"))?;
            let due_at = request.due_at.as_deref().map(due_date).transpose()?.flatten();
            not_at_once(lease, due_at, now)?;
            let details = request.details.unwrap_or_default();
            let model = request.model.as_deref().map(model).transpose()?.flatten();
            if request.due_at.is_none() && names_a_time(&title) {
                return Err(undated(&title, &details));
            }
            shown(&unit.create_task(conversation, NewTask { title, details, due_at, model }).await?)
        }
        "list" => {
            let tasks = unit.list_tasks().await?;
            Ok(json!(tasks).to_string())
        }
        "get" => {
            let id = id(unit, request.id, "get").await?;
            match unit.task(id).await? {
                Some(task) => shown(&task),
                None => Err(unknown(unit, id).await),
            }
        }
        "update" => {
            let id = id(unit, request.id, "update").await?;
            let status = request.status.as_deref().map(status).transpose()?;
            let due_at = request.due_at.as_deref().map(due_date).transpose()?;
            not_at_once(lease, due_at.flatten(), now)?;
            if title.as_deref() == Some("") {
                return Err(Failure::Refused(refusal("`title` must not be empty")));
            }
            let model = request.model.as_deref().map(model).transpose()?;
            not_the_title_of_another(unit, id, title.as_deref(), "update", request.status.as_deref()).await?;
            let change = TaskChange { title, details: request.details, status, due_at, model };
            match unit.update_task(conversation, id, change).await? {
                Some(task) => shown(&task),
                None => Err(unknown(unit, id).await),
            }
        }
        "complete" => {
            let id = id(unit, request.id, "complete").await?;
            not_the_title_of_another(unit, id, title.as_deref(), "complete", None).await?;
            let change = TaskChange { status: Some(TaskStatus::Done), ..TaskChange::default() };
            match unit.update_task(conversation, id, change).await? {
                Some(task) => shown(&task),
                None => Err(unknown(unit, id).await),
            }
        }
        "delete" => {
            let id = id(unit, request.id, "delete").await?;
            not_the_title_of_another(unit, id, title.as_deref(), "delete", None).await?;
            match unit.delete_task(conversation, id).await? {
                Some(task) => Ok(json!({ "deleted": task }).to_string()),
                None => Err(unknown(unit, id).await),
            }
        }
        other => Err(Failure::Refused(refusal(&format!(
            "`action` is `{other}`; it must be one of: create, list, get, update, complete, delete"
        )))),
    }
}

fn shown(task: &Task) -> Result<String, Failure> {
    Ok(json!(task).to_string())
}

fn missing(argument: &str, action: &str) -> Failure {
    Failure::Refused(refusal(&format!("`{argument}` is missing; the action `{action}` needs it")))
}

async fn id(unit: &mut Unit, id: Option<i64>, action: &str) -> Result<TaskId, Failure> {
    match id {
        Some(id) => Ok(TaskId(id)),
        None => {
            let message = format!("`id` is missing; the action `{action}` needs it");
            Err(with_open_tasks(unit, json!({ "error": "invalid_arguments", "message": message })).await)
        }
    }
}

async fn unknown(unit: &mut Unit, id: TaskId) -> Failure {
    let message = format!("there is no task {id}; the action `list` shows all");
    with_open_tasks(unit, json!({ "error": "not_found", "message": message })).await
}

/// How many open tasks are named to whoever named none of them.
const NAMED: usize = 20;

/// A refusal that names the tasks it could have been about.
async fn with_open_tasks(unit: &mut Unit, mut told: Value) -> Failure {
    let tasks = match unit.list_tasks().await {
        Ok(tasks) => tasks,
        Err(error) => return error.into(),
    };
    told["open_tasks"] =
        tasks.iter().filter(|task| open(task)).take(NAMED).map(|task| json!({ "id": task.id, "title": task.title })).collect();
    Failure::Refused(told.to_string())
}

/// Whether a text has a time of day or a year in it, which its author may have meant as the due date.
fn names_a_time(text: &str) -> bool {
    static TIME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(?:[01]?\d|2[0-3]):[0-5]\d\b|\b20\d\d\b").expect("a constant, tried by a test"));
    TIME.is_match(text)
}

/// A time in the title wakes nobody. Whoever means no date says so.
fn undated(title: &str, details: &str) -> Failure {
    let message = "the title names a time, and `due_at` is missing, so this would wake nobody: call again with `due_at`, or with \"\" if it \
                   is not to fall due";
    let call = json!({ "action": "create", "title": title, "details": details, "due_at": "YYYY-MM-DDTHH:MM:SSZ" });
    Failure::Refused(json!({ "error": "invalid_arguments", "message": message, "call": call }).to_string())
}

/// Refuses a task that would wake the model again as soon as this turn ends, where a due task began it: a model that makes such a task each
/// time it is woken would never stop.
fn not_at_once(lease: &Lease, due_at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Result<(), Failure> {
    if lease.origin != Origin::Task || due_at.is_none_or(|due_at| due_at > now) {
        return Ok(());
    }
    let message = format!(
        "`due_at` is in the past (it is {now} now), and you were woken by a due task: do now what is to be done now, or give a later time",
        now = now.to_rfc3339_opts(SecondsFormat::Secs, true)
    );
    Err(Failure::Refused(refusal(&message)))
}

/// Refuses to change a task under the title of another open one: then most likely that one was meant.
async fn not_the_title_of_another(
    unit: &mut Unit,
    id: TaskId,
    title: Option<&str>,
    action: &str,
    status: Option<&str>,
) -> Result<(), Failure> {
    let Some(title) = title.map(str::to_lowercase) else { return Ok(()) };
    let tasks = unit.list_tasks().await?;
    let named: Vec<_> = tasks.iter().filter(|task| task.title.to_lowercase() == title).collect();
    match named.iter().find(|task| open(task)) {
        Some(other) if named.iter().all(|task| task.id != id) => {
            let message = format!(
                "task {} has this title, not task {id}: give the `id` of the one that is meant, or another title",
                other.id
            );
            let mut call = json!({ "action": action, "id": other.id });
            if let Some(status) = status {
                call["status"] = status.into();
            }
            Err(with_open_tasks(unit, json!({ "error": "invalid_arguments", "message": message, "call": call })).await)
        }
        _ => Ok(()),
    }
}

fn open(task: &Task) -> bool {
    matches!(task.status, TaskStatus::Pending | TaskStatus::InProgress)
}

fn status(text: &str) -> Result<TaskStatus, Failure> {
    text.parse().map_err(|error: String| Failure::Refused(refusal(&format!("`status`: {error}"))))
}

/// Reads the name of a model; an empty text leaves the choice to the profile.
fn model(text: &str) -> Result<Option<String>, Failure> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let reference: Reference = text.parse().map_err(|error| {
        Failure::Refused(refusal(&format!("`model` cannot be used: {error} Leave it out for the model that is set.")))
    })?;
    Ok(Some(reference.to_string()))
}

/// Reads an ISO 8601 date; without an offset it is UTC, without a time it is midnight. An empty text means no date.
fn due_date(text: &str) -> Result<Option<DateTime<Utc>>, Failure> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let with_offset = DateTime::parse_from_rfc3339(text).map(|date| date.to_utc());
    let without = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
        .or_else(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(|day| day.and_time(NaiveTime::MIN)));
    match (with_offset, without) {
        (Ok(date), _) => Ok(Some(date)),
        (Err(_), Some(date)) => Ok(Some(date.and_utc())),
        (Err(_), None) => Err(Failure::Refused(refusal(&format!(
            "`due_at` is `{text}`, which is no ISO 8601 date; write it like 2026-11-20T09:30:00Z"
        )))),
    }
}

#[cfg(test)]
mod tests;
