//! Approvals: the ones that wait for a person, and the person's decision.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use super::reply::{ApiRefusal, At, Body, QueryString, Reply};
use crate::domain::{ApprovalId, ApprovalState, Channel, Decision};
use crate::http::Doors;
use crate::wire::api::{Approval, Approvals, Approve, Deny};

/// The most approvals one answer lists.
const LIMIT: i64 = 200;

#[derive(Deserialize)]
pub(super) struct ApprovalFilter {
    state: Option<ApprovalState>,
}

pub(super) async fn list(
    State(doors): State<Doors>,
    QueryString(ApprovalFilter { state }): QueryString<ApprovalFilter>,
) -> Reply<Approvals> {
    Ok(Json(Approvals { approvals: doors.store.approvals(state, LIMIT).await? }))
}

pub(super) async fn show(State(doors): State<Doors>, At(id): At<ApprovalId>) -> Reply<Approval> {
    let approval = doors.store.approval(id).await?;
    approval.map(Json).ok_or_else(|| ApiRefusal::unknown(format!("there is no approval {id}")))
}

pub(super) async fn approve(
    State(doors): State<Doors>,
    At(id): At<ApprovalId>,
    Body(Approve { always }): Body<Approve>,
) -> Reply<Approval> {
    doors.store.decide(id, Decision::Approve { always }, Channel::Api, doors.clock.now()).await?;
    show(State(doors), At(id)).await
}

pub(super) async fn deny(
    State(doors): State<Doors>,
    At(id): At<ApprovalId>,
    Body(Deny { reason }): Body<Deny>,
) -> Reply<Approval> {
    doors.store.decide(id, Decision::Deny { reason }, Channel::Api, doors.clock.now()).await?;
    show(State(doors), At(id)).await
}
