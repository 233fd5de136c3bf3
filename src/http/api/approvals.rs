//! Approvals: the ones that wait for a person, and the person's decision.

use axum::Json;
use serde::Deserialize;

use super::reply::{ApiRefusal, At, Body, QueryString, Reply};
use crate::domain::{ApprovalId, ApprovalState, Channel, Decision};
use crate::http::visitor::Visitor;
use crate::wire::api::{Approval, Approvals, Approve, Deny};

/// The most approvals one answer lists.
const LIMIT: i64 = 200;

#[derive(Deserialize)]
pub(super) struct ApprovalFilter {
    state: Option<ApprovalState>,
}

pub(super) async fn list(
    visitor: Visitor,
    QueryString(ApprovalFilter { state }): QueryString<ApprovalFilter>,
) -> Reply<Approvals> {
    Ok(Json(Approvals { approvals: visitor.theirs().approvals(state, LIMIT).await? }))
}

pub(super) async fn show(visitor: Visitor, At(id): At<ApprovalId>) -> Reply<Approval> {
    let approval = visitor.theirs().approval(id).await?;
    approval.map(Json).ok_or_else(|| ApiRefusal::unknown(format!("there is no approval {id}")))
}

pub(super) async fn approve(
    visitor: Visitor,
    At(id): At<ApprovalId>,
    Body(Approve { always }): Body<Approve>,
) -> Reply<Approval> {
    visitor.theirs().decide(id, Decision::Approve { always }, Channel::Api, visitor.now()).await?;
    show(visitor, At(id)).await
}

pub(super) async fn deny(visitor: Visitor, At(id): At<ApprovalId>, Body(Deny { reason }): Body<Deny>) -> Reply<Approval> {
    visitor.theirs().decide(id, Decision::Deny { reason }, Channel::Api, visitor.now()).await?;
    show(visitor, At(id)).await
}
