//! Tasks, as they are now.

use axum::Json;
use axum::extract::State;

use super::reply::Reply;
use crate::http::Doors;
use crate::wire::api::Tasks;

/// The most tasks of an answer.
const LIMIT: i64 = 500;

pub(super) async fn list(State(doors): State<Doors>) -> Reply<Tasks> {
    let mut tasks = doors.store.tasks(LIMIT + 1).await?;
    let more = tasks.len() > LIMIT as usize;
    tasks.truncate(LIMIT as usize);
    Ok(Json(Tasks { tasks, more }))
}
