//! Rows that calls deleted or overwrote: the list of what can be put back, and putting it back.

use axum::Json;

use super::reply::{ApiRefusal, At, Reply};
use crate::domain::ToolCallId;
use crate::http::visitor::Owner;
use crate::wire::api::{KeptCalls, Undone};

pub(super) async fn list(Owner(doors): Owner) -> Reply<KeptCalls> {
    Ok(Json(KeptCalls { kept: doors.store.kept_calls().await? }))
}

/// An undo runs to its end even if the client goes away.
pub(super) async fn undo(Owner(doors): Owner, At(call): At<ToolCallId>) -> Reply<Undone> {
    let (store, now) = (doors.store.clone(), doors.clock.now());
    let undoing = tokio::spawn(async move { store.undo_call(call, now).await });
    let undone = undoing.await.map_err(|_panicked| ApiRefusal::conflict("undoing this failed; nothing was changed"))?;
    Ok(Json(Undone { call, rows: undone? }))
}
