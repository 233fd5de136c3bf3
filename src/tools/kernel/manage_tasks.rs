//! `manage_tasks`: create, list, get, update, complete, delete.

use std::sync::LazyLock;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, Utc};
use futures::FutureExt;
use futures::future::BoxFuture;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::domain::todo::valid_title;
use crate::domain::{
    ConversationId, Effect, MANAGE_TASKS, Origin, Outcome, Refusal, RefusalCode, Subtask, Task, TaskId, TaskStatus, ToolSpec,
};
use crate::model::reference::Reference;
use crate::store::{Lease, NewTask, StoreError, TaskChange, Unit};
use crate::tools::kit::Kit;
use crate::tools::todo::comes_round;
use crate::tools::tool::{Act, CallCard, Doing, Executed, Prepared, Preparing, Tool, ToolError, read, spec};

const DESCRIPTION: &str = "Create, list, get, update, complete, or delete tasks. Returns task data as JSON. A task with due_at wakes you at that moment.";

/// The tool.
pub(super) struct ManageTasks;

impl Tool for ManageTasks {
    fn spec(&self) -> ToolSpec {
        spec::<Request>(MANAGE_TASKS, DESCRIPTION)
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        async move {
            let request: Request = read(asked.arguments.clone())?;
            let mut effect = request.effect();
            if effect == Effect::Delete {
                let kit = asked.kit();
                let conversation = asked.lease.conversation;
                if !request.finds_its_task(&mut kit.store.begin(kit.clock.now()).await?, conversation).await? {
                    effect = Effect::Read; // the call will be refused
                }
            }
            Ok(Prepared::new(TaskCall { conversation: asked.lease.conversation, request }, effect))
        }
        .boxed()
    }

    fn changes(&self, arguments: &Value) -> bool {
        read::<Request>(arguments.clone()).is_ok_and(|request| request.effect() != Effect::Read)
    }

    fn for_capabilities(&self) -> bool {
        true
    }
}

/// A call that was read, and whose tasks it is about: those of the conversation's user.
struct TaskCall {
    conversation: ConversationId,
    request: Request,
}

impl Act for TaskCall {
    fn card<'a>(&'a self, kit: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        async move {
            let Self { conversation, request: Request { action, id, .. } } = self;
            let Some(id) = *id else {
                return Ok(CallCard::of(vec![format!("Does `{action}` with tasks, as the arguments say.")]));
            };
            let task = kit.store.begin(kit.clock.now()).await?.task(*conversation, TaskId(id)).await?;
            Ok(CallCard::of(vec![match task {
                Some(task) if action == "delete" => format!("Deletes the task {id}, “{}”.", task.title),
                Some(task) => format!("Changes the task {id}, “{}”: {action}.", task.title),
                None => format!("There is no task {id} any more; nothing will happen."),
            }]))
        }
        .boxed()
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move {
            let mut unit = doing.kit().store.begin(doing.now).await?;
            let outcome = match apply(&mut unit, doing, self.request).await {
                Ok(result) => Outcome::ok(result),
                Err(ToolError::Refused(refusal)) => Outcome::refused(&refusal),
                Err(ToolError::Store(error)) => return Err(error),
            };
            Ok(Executed::Within(unit, outcome))
        }
        .boxed()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Request {
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
    /// All of its subtasks, in their order: for a person's own order. No model is told of it.
    #[serde(default)]
    #[schemars(skip)]
    subtasks: Option<Vec<Subtask>>,
}

impl Request {
    /// Its effect. An action that does not exist has none.
    fn effect(&self) -> Effect {
        match self.action.as_str() {
            "create" | "update" | "complete" => Effect::Write,
            "delete" => Effect::Delete,
            _ => Effect::Read,
        }
    }

    /// True if the task that it wants to delete exists, and is the one that it names.
    async fn finds_its_task(&self, unit: &mut Unit, conversation: ConversationId) -> Result<bool, StoreError> {
        let Some(id) = self.id.map(TaskId) else { return Ok(false) };
        if unit.task(conversation, id).await?.is_none() {
            return Ok(false);
        }
        let title = self.title.as_deref().map(str::trim);
        match not_the_title_of_another(unit, conversation, id, title, &self.action, None).await {
            Ok(()) => Ok(true),
            Err(ToolError::Refused(_)) => Ok(false),
            Err(ToolError::Store(error)) => Err(error),
        }
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

const LONGEST_TITLE: usize = 1024;
const LONGEST_DETAILS: usize = 32 << 10;

async fn apply(unit: &mut Unit, doing: Doing<'_>, request: Request) -> Result<String, ToolError> {
    let Doing { lease, permit, now, .. } = doing;
    let conversation = lease.conversation;
    let title = request.title.map(|title| title.trim().to_owned());
    // Every turn sees them, and so does each list of tasks.
    for (name, text, most) in [("title", &title, LONGEST_TITLE), ("details", &request.details, LONGEST_DETAILS)] {
        if let Some(text) = text.as_ref().filter(|text| text.len() > most) {
            let told =
                format!("`{name}` has {} bytes, and {most} is the most; keep long texts in a table of your own", text.len());
            return Err(Refusal::arguments(told).into());
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
            shown(&unit.create_task(permit, conversation, NewTask { title, details, due_at, model }).await?)
        }
        "list" => {
            let tasks = unit.list_tasks(conversation).await?;
            Ok(json!(tasks).to_string())
        }
        "get" => {
            let id = id(unit, conversation, request.id, "get").await?;
            match unit.task(conversation, id).await? {
                Some(task) => shown(&task),
                None => Err(unknown(unit, conversation, id).await),
            }
        }
        "update" => {
            let id = id(unit, conversation, request.id, "update").await?;
            let status = request.status.as_deref().map(status).transpose()?;
            let due_at = request.due_at.as_deref().map(due_date).transpose()?;
            not_at_once(lease, due_at.flatten(), now)?;
            if title.as_deref() == Some("") {
                return Err(Refusal::arguments("`title` must not be empty").into());
            }
            let model = request.model.as_deref().map(model).transpose()?;
            not_the_title_of_another(unit, conversation, id, title.as_deref(), "update", request.status.as_deref()).await?;
            let change = TaskChange { title, details: request.details, status, due_at, model, subtasks: request.subtasks };
            change_task(unit, doing, id, change).await
        }
        "complete" => {
            let id = id(unit, conversation, request.id, "complete").await?;
            not_the_title_of_another(unit, conversation, id, title.as_deref(), "complete", None).await?;
            let change = TaskChange { status: Some(TaskStatus::Done), ..TaskChange::default() };
            change_task(unit, doing, id, change).await
        }
        "delete" => {
            let id = id(unit, conversation, request.id, "delete").await?;
            not_the_title_of_another(unit, conversation, id, title.as_deref(), "delete", None).await?;
            match unit.delete_task(permit, conversation, id).await? {
                Some(task) => Ok(json!({ "deleted": task }).to_string()),
                None => Err(unknown(unit, conversation, id).await),
            }
        }
        other => Err(Refusal::arguments(format!(
            "`action` is `{other}`; it must be one of: create, list, get, update, complete, delete"
        ))
        .into()),
    }
}

/// Changes a task. One that comes round and is done now is followed by the next.
async fn change_task(unit: &mut Unit, doing: Doing<'_>, id: TaskId, change: TaskChange) -> Result<String, ToolError> {
    let Doing { lease, permit, now, .. } = doing;
    unit.hold_user_of(lease.conversation).await?;
    let before = unit.task(lease.conversation, id).await?;
    let subtasks = match (&before, change.subtasks) {
        (Some(before), Some(subtasks)) => Some(same_subtasks(&before.subtasks, subtasks)?),
        (_, subtasks) => subtasks,
    };
    let change = TaskChange { subtasks, ..change };
    match (before, unit.update_task(permit, lease.conversation, id, change).await?) {
        (Some(before), Some(after)) => {
            comes_round(unit, permit, lease, &before, &after, now).await?;
            shown(&after)
        }
        _ => Err(unknown(unit, lease.conversation, id).await),
    }
}

/// The subtasks as they are to be. None is added or removed by the way: what is renamed, ticked or moved are those that the task has.
fn same_subtasks(before: &[Subtask], after: Vec<Subtask>) -> Result<Vec<Subtask>, ToolError> {
    let ids = |subtasks: &[Subtask]| {
        let mut ids: Vec<_> = subtasks.iter().map(|subtask| subtask.id).collect();
        ids.sort_unstable();
        ids
    };
    if ids(before) != ids(&after) {
        return Err(Refusal::arguments("`subtasks` has to have each subtask of the task once, and no other").into());
    }
    let titled = |subtask: Subtask| match valid_title(&subtask.title) {
        Ok(title) => Ok(Subtask { title, ..subtask }),
        Err(refused) => Err(Refusal::arguments(refused.to_string()).into()),
    };
    after.into_iter().map(titled).collect()
}

fn shown(task: &Task) -> Result<String, ToolError> {
    Ok(json!(task).to_string())
}

fn missing(argument: &str, action: &str) -> ToolError {
    Refusal::arguments(format!("`{argument}` is missing; the action `{action}` needs it")).into()
}

async fn id(unit: &mut Unit, conversation: ConversationId, id: Option<i64>, action: &str) -> Result<TaskId, ToolError> {
    match id {
        Some(id) => Ok(TaskId(id)),
        None => {
            let message = format!("`id` is missing; the action `{action}` needs it");
            Err(with_open_tasks(unit, conversation, Refusal::arguments(message)).await)
        }
    }
}

async fn unknown(unit: &mut Unit, conversation: ConversationId, id: TaskId) -> ToolError {
    let message = format!("there is no task {id}; the action `list` shows all");
    with_open_tasks(unit, conversation, Refusal::new(RefusalCode::NotFound, message)).await
}

/// How many open tasks are named to a model that named none of them.
const NAMED: usize = 20;

/// A refusal that names the tasks that the model may have meant.
async fn with_open_tasks(unit: &mut Unit, conversation: ConversationId, refusal: Refusal) -> ToolError {
    let tasks = match unit.list_tasks(conversation).await {
        Ok(tasks) => tasks,
        Err(error) => return error.into(),
    };
    let named = tasks.iter().filter(|task| open(task)).take(NAMED).map(|task| json!({ "id": task.id, "title": task.title }));
    refusal.with("open_tasks", named.collect::<Value>()).into()
}

/// True if a text has a time of day or a year in it, which the model may have meant as the due
/// date.
fn names_a_time(text: &str) -> bool {
    static TIME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(?:[01]?\d|2[0-3]):[0-5]\d\b|\b20\d\d\b").expect("a constant, tried by a test"));
    TIME.is_match(text)
}

/// A time in the title wakes nobody. A model that means no date has to say so.
fn undated(title: &str, details: &str) -> ToolError {
    let message = "the title names a time, and `due_at` is missing, so this would wake nobody: call again with `due_at`, or with \"\" if it \
                   is not to fall due";
    let call = json!({ "action": "create", "title": title, "details": details, "due_at": "YYYY-MM-DDTHH:MM:SSZ" });
    Refusal::arguments(message).with("call", call).into()
}

/// If a due task began this turn, refuses a task that would wake the model again as soon as the
/// turn ends: a model that makes such a task each time would never stop.
fn not_at_once(lease: &Lease, due_at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Result<(), ToolError> {
    if lease.origin != Origin::Task || due_at.is_none_or(|due_at| due_at > now) {
        return Ok(());
    }
    let message = format!(
        "`due_at` is in the past (it is {now} now), and you were woken by a due task: do now what is to be done now, or give a later time",
        now = now.to_rfc3339_opts(SecondsFormat::Secs, true)
    );
    Err(Refusal::arguments(message).into())
}

/// Refuses to change a task under the title of another open one: most likely the model means that
/// one.
async fn not_the_title_of_another(
    unit: &mut Unit,
    conversation: ConversationId,
    id: TaskId,
    title: Option<&str>,
    action: &str,
    status: Option<&str>,
) -> Result<(), ToolError> {
    let Some(title) = title.map(str::to_lowercase) else { return Ok(()) };
    let tasks = unit.list_tasks(conversation).await?;
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
            Err(with_open_tasks(unit, conversation, Refusal::arguments(message).with("call", call)).await)
        }
        _ => Ok(()),
    }
}

fn open(task: &Task) -> bool {
    matches!(task.status, TaskStatus::Pending | TaskStatus::InProgress)
}

fn status(text: &str) -> Result<TaskStatus, ToolError> {
    text.parse().map_err(|error: String| Refusal::arguments(format!("`status`: {error}")).into())
}

/// Reads the name of a model; an empty text leaves the choice to the profile.
fn model(text: &str) -> Result<Option<String>, ToolError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let reference: Reference = text.parse().map_err(|error| {
        Refusal::arguments(format!("`model` cannot be used: {error} Leave it out for the model that is set."))
    })?;
    Ok(Some(reference.to_string()))
}

/// Reads an ISO 8601 date. Without an offset it is UTC; without a time it is midnight. An empty
/// text means no date.
fn due_date(text: &str) -> Result<Option<DateTime<Utc>>, ToolError> {
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
        (Err(_), None) => Err(Refusal::arguments(format!(
            "`due_at` is `{text}`, which is no ISO 8601 date; write it like 2026-11-20T09:30:00Z"
        ))
        .into()),
    }
}

#[cfg(test)]
mod tests;
