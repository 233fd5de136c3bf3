//! The recorded events, and whether all other rows follow from them.

use axum::Json;

use super::reply::{ApiRefusal, At, Reply};
use crate::domain::TurnId;
use crate::facts::Event;
use crate::http::visitor::Owner;
use crate::replay;
use crate::wire::api::{ReplayCheck, ReplayedTurn};

pub(super) async fn check(Owner(doors): Owner) -> Reply<ReplayCheck> {
    Ok(Json(replay::check(&doors.store).await?))
}

pub(super) async fn turn(Owner(doors): Owner, At(turn): At<TurnId>) -> Reply<ReplayedTurn<Event>> {
    let replayed = replay::turn(&doors.store.owners(), turn).await?;
    replayed.map(Json).ok_or_else(|| ApiRefusal::unknown(format!("there is no turn {turn}")))
}
