//! Tasks: as they are now, and orders of a person to make, change or delete one. An order passes
//! the same law as a call of the agent.

use axum::Json;
use chrono::DateTime;
use serde_json::json;

use super::reply::{ApiRefusal, At, Body, Reply};
use super::turns::{self, Ordered};
use crate::domain::todo::{room_for_task, valid_title};
use crate::domain::{MANAGE_TASKS, Task, TaskId, shortened};
use crate::http::visitor::Visitor;
use crate::wire::api::{TaskOrder, Tasks};

/// The most tasks of an answer.
const LIMIT: i64 = 500;
/// The most bytes of a title in the words of an order; its arguments have the whole.
const MOST_TITLE: usize = 200;

pub(super) async fn list(visitor: Visitor) -> Reply<Tasks> {
    let mut tasks = visitor.theirs().tasks(LIMIT + 1).await?;
    let more = tasks.len() > LIMIT as usize;
    tasks.truncate(LIMIT as usize);
    Ok(Json(Tasks { tasks, more }))
}

pub(super) async fn create(visitor: Visitor, Body(mut order): Body<TaskOrder>) -> Ordered {
    readable(&order)?;
    let title = order.title.as_deref().map(str::trim).unwrap_or_default();
    if title.is_empty() {
        return Err(ApiRefusal::bad("a task needs a `title`"));
    }
    let title = valid_title(title).map_err(|refused| ApiRefusal::bad(refused.to_string()))?;
    if order.status.is_some() || order.subtasks.is_some() {
        return Err(ApiRefusal::bad("a new task has no `status` yet, and no `subtasks`; leave them out"));
    }
    room_for_task(visitor.theirs().open_tasks().await?).map_err(|full| ApiRefusal::conflict(full.to_string()))?;
    let content = format!("Add the task “{}”", shortened(&title, MOST_TITLE));
    order.title = Some(title);
    // A person who gives no date means none, also if the title names a time.
    order.due_at.get_or_insert_default();
    let mut arguments = json!(order);
    arguments["action"] = "create".into();
    turns::order(&visitor, None, &content, MANAGE_TASKS, &arguments).await
}

pub(super) async fn change(visitor: Visitor, At(id): At<TaskId>, Body(mut order): Body<TaskOrder>) -> Ordered {
    readable(&order)?;
    if order == TaskOrder::default() {
        return Err(ApiRefusal::bad("nothing is to be changed: give `title`, `details`, `status`, `due_at` or `subtasks`"));
    }
    if let Some(title) = &mut order.title {
        *title = valid_title(title).map_err(|refused| ApiRefusal::bad(refused.to_string()))?;
    }
    let task = known(&visitor, id).await?;
    let mut arguments = json!(order);
    arguments["action"] = "update".into();
    arguments["id"] = json!(id);
    turns::order(&visitor, None, &in_words(&task, &order), MANAGE_TASKS, &arguments).await
}

pub(super) async fn delete(visitor: Visitor, At(id): At<TaskId>) -> Ordered {
    let task = known(&visitor, id).await?;
    let content = format!("Delete the task {id}, “{}”", shortened(&task.title, MOST_TITLE));
    turns::order(&visitor, None, &content, MANAGE_TASKS, &json!({ "action": "delete", "id": id })).await
}

async fn known(visitor: &Visitor, id: TaskId) -> Result<Task, ApiRefusal> {
    let task = visitor.theirs().task(id).await?;
    task.ok_or_else(|| ApiRefusal::unknown(format!("there is no task {id}")))
}

/// Refuses a date that the tool could not read.
fn readable(order: &TaskOrder) -> Result<(), ApiRefusal> {
    match order.due_at.as_deref() {
        Some(due_at) if !due_at.is_empty() && DateTime::parse_from_rfc3339(due_at).is_err() => {
            Err(ApiRefusal::bad("`due_at` is no time like 2026-11-20T09:30:00Z, and not empty"))
        }
        _ => Ok(()),
    }
}

/// The words of an order, as the conversation shows them.
fn in_words(task: &Task, order: &TaskOrder) -> String {
    let changes = [
        order.title.as_deref().map(|title| format!("title “{}”", shortened(title.trim(), MOST_TITLE))),
        order.details.as_ref().map(|_| "new details".to_owned()),
        order.status.map(|status| status.to_string()),
        order.due_at.as_deref().map(|due_at| {
            DateTime::parse_from_rfc3339(due_at)
                .map_or_else(|_| "no date".to_owned(), |at| format!("due {}", at.to_utc().format("%Y-%m-%d %H:%M UTC")))
        }),
        order.subtasks.as_ref().map(|_| "its subtasks".to_owned()),
    ];
    let changes = changes.into_iter().flatten().collect::<Vec<_>>().join(", ");
    format!("Change the task {}, “{}”: {changes}", task.id, shortened(&task.title, MOST_TITLE))
}
