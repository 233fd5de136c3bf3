//! `manage_tasks`: create, list, get, update, complete, delete.

use std::sync::LazyLock;

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, SecondsFormat, Utc};
use futures::FutureExt;
use futures::future::BoxFuture;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::domain::todo::{UTC, valid_title, written_time};
use crate::domain::{
    ConversationId, Effect, MANAGE_TASKS, Origin, Outcome, Refusal, RefusalCode, Subtask, Task, TaskId, TaskStatus, ToolSpec,
    seen_name,
};
use crate::model::reference::Reference;
use crate::store::{Lease, SeenTask, Store, StoreError, TasksFound, TodoChanges};
use crate::tools::kit::Kit;
use crate::tools::todo::{comes_round, make_next};
use crate::tools::tool::{Act, CallCard, Doing, Executed, Prepared, Preparing, Tool, ToolError, read_known, spec};

const DESCRIPTION: &str = "Create, list, get, update, complete, or delete tasks. Returns task data as JSON. A task with due_at wakes you at that moment.";

/// The tool.
pub(super) struct ManageTasks;

impl Tool for ManageTasks {
    fn spec(&self) -> ToolSpec {
        spec::<Request>(MANAGE_TASKS, DESCRIPTION)
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        async move {
            let request = Request::of(&asked.arguments)?;
            let mut effect = request.effect();
            if effect == Effect::Delete && !request.finds_its_task(&asked.kit().store, asked.lease.conversation).await? {
                effect = Effect::Read; // the call will be refused
            }
            Ok(Prepared::new(TaskCall { conversation: asked.lease.conversation, request }, effect))
        }
        .boxed()
    }

    fn changes(&self, arguments: &Value) -> bool {
        Request::of(arguments).is_ok_and(|request| request.effect() != Effect::Read)
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
            Ok(CallCard::of(vec![match kit.store.tasks_for(*conversation, Some(TaskId(id)), false).await?.one {
                Some(SeenTask { task, .. }) if action == "delete" => format!("Deletes the task {id}, “{}”.", task.title),
                Some(SeenTask { task, .. }) => format!("Changes the task {id}, “{}”: {action}.", task.title),
                None => format!("There is no task {id} any more; nothing will happen."),
            }]))
        }
        .boxed()
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move {
            let mut todos = doing.kit().store.todo_changes(doing.now);
            let outcome = match decide(&mut todos, doing, self.request).await {
                Ok(result) => Outcome::ok(result),
                Err(ToolError::Refused(refusal)) => return Ok(Executed::Outcome(Outcome::refused(&refusal))),
                Err(ToolError::Store(error)) => return Err(error),
            };
            if todos.is_empty() {
                return Ok(Executed::Outcome(outcome));
            }
            Ok(Executed::Changing { todos, outcome, refused: None })
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

/// The arguments that a model may give.
const KNOWN: [&str; 7] = ["action", "id", "title", "details", "status", "due_at", "model"];

impl Request {
    fn of(arguments: &Value) -> Result<Self, ToolError> {
        read_known(&KNOWN, "subtasks", arguments)
    }

    /// Its effect. An action that does not exist has none.
    fn effect(&self) -> Effect {
        match self.action.as_str() {
            "create" | "update" | "complete" => Effect::Write,
            "delete" => Effect::Delete,
            _ => Effect::Read,
        }
    }

    /// True if the task that it wants to delete exists, and is the one that it names.
    async fn finds_its_task(&self, store: &Store, conversation: ConversationId) -> Result<bool, StoreError> {
        let Some(id) = self.id.map(TaskId) else { return Ok(false) };
        let title = self.title.as_deref().map(str::trim);
        let found = store.tasks_for(conversation, Some(id), title.is_some()).await?;
        Ok(found.one.is_some() && not_the_title_of_another(&found.all, id, title, &self.action, None).is_ok())
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

const LONGEST_DETAILS: usize = 32 << 10;

/// The words for the model; `todos` takes the changes.
async fn decide(todos: &mut TodoChanges, doing: Doing<'_>, request: Request) -> Result<String, ToolError> {
    let Doing { lease, permit, now, .. } = doing;
    let (store, conversation) = (&doing.kit().store, lease.conversation);
    let title = request.title.map(|title| seen_name(&title).to_owned());
    // Every turn sees them, and so does each list of tasks.
    if let Some(details) = request.details.as_ref().filter(|details| details.len() > LONGEST_DETAILS) {
        let (long, most) = (details.len(), LONGEST_DETAILS);
        let told = format!("`details` has {long} bytes, and {most} is the most; keep long texts in a table of your own");
        return Err(Refusal::arguments(told).into());
    }
    let named = Named { store, conversation, id: request.id, title: title.as_deref(), action: &request.action };
    match request.action.as_str() {
        "create" => {
            let title = title.filter(|title| !title.is_empty()).ok_or_else(|| missing("title", "create"))?;
            let title = one_line(&title)?;
            let due_at = request.due_at.as_deref().map(due_date).transpose()?.flatten();
            not_at_once(lease, due_at, now)?;
            let details = request.details.unwrap_or_default();
            let model = request.model.as_deref().map(model).transpose()?.flatten();
            if request.due_at.is_none() && names_a_time(&title) {
                return Err(undated(&title, &details));
            }
            let (id, _) = store.task_numbers(0).await?;
            let (status, subtasks, remind_at, recurrence) = (TaskStatus::Pending, Vec::new(), None, None);
            let (created_at, updated_at) = (now, now);
            let task = Task {
                id,
                title,
                details,
                status,
                due_at,
                subtasks,
                remind_at,
                recurrence,
                model,
                conversation,
                created_at,
                updated_at,
            };
            shown(&todos.make(permit, task))
        }
        "list" => Ok(json!(store.tasks_for(conversation, None, true).await?.all).to_string()),
        "get" => shown(&named.alone().task(None).await?.task),
        "update" => {
            named.given().await?;
            let status = request.status.as_deref().map(status).transpose()?;
            let due_at = request.due_at.as_deref().map(due_date).transpose()?;
            not_at_once(lease, due_at.flatten(), now)?;
            if title.as_deref() == Some("") {
                return Err(Refusal::arguments("`title` must not be empty").into());
            }
            let model = request.model.as_deref().map(model).transpose()?;
            let seen = named.task(request.status.as_deref()).await?;
            // A title from before titles had a limit may be said again.
            let title = title.filter(|title| *title != seen.task.title).map(|title| one_line(&title)).transpose()?;
            let change = TaskChange { title, details: request.details, status, due_at, model, subtasks: request.subtasks };
            change_task(todos, doing, &seen, change).await
        }
        "complete" => {
            let seen = named.task(None).await?;
            let change = TaskChange { status: Some(TaskStatus::Done), ..TaskChange::default() };
            change_task(todos, doing, &seen, change).await
        }
        "delete" => {
            let seen = named.task(None).await?;
            todos.delete(permit, seen.task.clone(), Some(&seen));
            Ok(json!({ "deleted": seen.task }).to_string())
        }
        other => Err(Refusal::arguments(format!(
            "`action` is `{other}`; it must be one of: create, list, get, update, complete, delete"
        ))
        .into()),
    }
}

/// The task that a call is about, as the call names it.
#[derive(Clone, Copy)]
struct Named<'a> {
    store: &'a Store,
    conversation: ConversationId,
    id: Option<i64>,
    title: Option<&'a str>,
    action: &'a str,
}

impl Named<'_> {
    /// The same, whatever title stands beside the number.
    fn alone(self) -> Self {
        Self { title: None, ..self }
    }

    /// Its number.
    ///
    /// # Errors
    /// A refusal that names the tasks that there are, if it is missing.
    async fn given(self) -> Result<TaskId, ToolError> {
        let Self { store, conversation, id, action, .. } = self;
        match id {
            Some(id) => Ok(TaskId(id)),
            None => {
                let all = store.tasks_for(conversation, None, true).await?.all;
                let message = format!("`id` is missing; the action `{action}` needs it");
                Err(with_open_tasks(&all, Refusal::arguments(message)).into())
            }
        }
    }

    /// The task. `status`: the one that it is to have, for the words of a refusal.
    ///
    /// # Errors
    /// A refusal that names the tasks that there are, if there is no such task or its title is
    /// another's.
    async fn task(self, status: Option<&str>) -> Result<SeenTask, ToolError> {
        let id = self.given().await?;
        let TasksFound { one, all } = self.store.tasks_for(self.conversation, Some(id), self.title.is_some()).await?;
        not_the_title_of_another(&all, id, self.title, self.action, status)?;
        Ok(one.ok_or_else(|| unknown(&all, id))?)
    }
}

/// The changes of a task; `None` leaves a field as it is.
#[derive(Default)]
struct TaskChange {
    title: Option<String>,
    details: Option<String>,
    status: Option<TaskStatus>,
    /// `Some(None)` takes it away.
    due_at: Option<Option<DateTime<Utc>>>,
    /// `Some(None)` leaves the choice to the profile.
    model: Option<Option<String>>,
    /// All of its subtasks, in their order.
    subtasks: Option<Vec<Subtask>>,
}

/// Changes a task. Completing it completes its subtasks; one that comes round and is done now is
/// followed by the next.
async fn change_task(
    todos: &mut TodoChanges,
    doing: Doing<'_>,
    seen: &SeenTask,
    change: TaskChange,
) -> Result<String, ToolError> {
    let Doing { lease, permit, now, .. } = doing;
    let before = &seen.task;
    let (done, open) = (change.status == Some(TaskStatus::Done), before.clone());
    let subtasks = change.subtasks.map(|subtasks| same_subtasks(&before.subtasks, subtasks)).transpose()?;
    let subtasks = subtasks.unwrap_or(open.subtasks).into_iter();
    let mut after = Task {
        title: change.title.unwrap_or(open.title),
        details: change.details.unwrap_or(open.details),
        status: change.status.unwrap_or(open.status),
        due_at: change.due_at.unwrap_or(open.due_at),
        model: change.model.unwrap_or(open.model),
        subtasks: subtasks.map(|subtask| Subtask { completed: done || subtask.completed, ..subtask }).collect(),
        updated_at: now,
        ..open
    };
    let next = comes_round(before, &mut after, now)?;
    let after = todos.change(permit, after, Some(seen));
    if let Some(next) = next {
        make_next(&doing.kit().store, todos, permit, lease, &after.title, next).await?;
    }
    shown(&after)
}

/// The subtasks as they are to be. None is added or removed by the way: what is renamed, ticked or
/// moved are those that the task has.
fn same_subtasks(before: &[Subtask], after: Vec<Subtask>) -> Result<Vec<Subtask>, ToolError> {
    let ids = |subtasks: &[Subtask]| {
        let mut ids: Vec<_> = subtasks.iter().map(|subtask| subtask.id).collect();
        ids.sort_unstable();
        ids
    };
    if ids(before) != ids(&after) {
        return Err(Refusal::arguments("`subtasks` has to have each subtask of the task once, and no other").into());
    }
    after.into_iter().map(|subtask| Ok(Subtask { title: one_line(&subtask.title)?, ..subtask })).collect()
}

/// A title as any list of tasks keeps it.
fn one_line(title: &str) -> Result<String, ToolError> {
    valid_title(title).map_err(|refused| Refusal::arguments(refused.to_string()).into())
}

fn shown(task: &Task) -> Result<String, ToolError> {
    Ok(json!(task).to_string())
}

fn missing(argument: &str, action: &str) -> ToolError {
    Refusal::arguments(format!("`{argument}` is missing; the action `{action}` needs it")).into()
}

fn unknown(all: &[Task], id: TaskId) -> Refusal {
    let message = format!("there is no task {id}; the action `list` shows all");
    with_open_tasks(all, Refusal::new(RefusalCode::NotFound, message))
}

/// How many open tasks are named to a model that named none of them.
const NAMED: usize = 20;

/// A refusal that names the tasks that the model may have meant.
fn with_open_tasks(all: &[Task], refusal: Refusal) -> Refusal {
    let named = all.iter().filter(|task| open(task)).take(NAMED).map(|task| json!({ "id": task.id, "title": task.title }));
    refusal.with("open_tasks", named.collect::<Value>())
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
fn not_the_title_of_another(
    all: &[Task],
    id: TaskId,
    title: Option<&str>,
    action: &str,
    status: Option<&str>,
) -> Result<(), Refusal> {
    let Some(title) = title.map(str::to_lowercase) else { return Ok(()) };
    let named: Vec<_> = all.iter().filter(|task| task.title.to_lowercase() == title).collect();
    match named.iter().find(|task| open(task)) {
        Some(other) if named.iter().all(|task| task.id != id) => {
            let message = format!("task {other} has this title, not task {id}: call again with `id` {other}", other = other.id);
            let mut call = json!({ "action": action, "id": other.id });
            if let Some(status) = status {
                call["status"] = status.into();
            }
            Err(with_open_tasks(all, Refusal::arguments(message).with("call", call)))
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

/// Reads a date as [`written_time`] does, in UTC; without a time it is midnight. An empty text is
/// none.
fn due_date(text: &str) -> Result<Option<DateTime<Utc>>, ToolError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let date = match NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        Ok(day) => Ok(day.and_time(NaiveTime::MIN).and_utc()),
        Err(_) => written_time(text, UTC),
    };
    match date.ok().filter(|date| (1..=9999).contains(&date.year())) {
        // As the database keeps it: in microseconds, and a second that is added to a day,
        // `23:59:60`, is the first one of the next.
        Some(date) => Ok(Some(DateTime::from_timestamp_micros(date.timestamp_micros()).unwrap_or(date))),
        None => Err(Refusal::arguments(format!(
            "`due_at` is `{text}`, which is no date that can be read; write it like 2026-11-20T09:30:00Z"
        ))
        .into()),
    }
}

#[cfg(test)]
mod tests;
