//! The state of a turn, for a client that gave an order and waits.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};

use super::reply::{ApiRefusal, At, QueryString, Reply};
use crate::domain::{Machine, TurnId};
use crate::http::Doors;
use crate::wire::api::TurnReport;

/// How long one request waits, in real time: the client asks again.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Deserialize)]
pub(super) struct Waiting {
    /// Answer when the turn is over or waits for a person, or after 20 seconds.
    #[serde(default)]
    wait: bool,
}

pub(super) async fn show(
    State(doors): State<Doors>,
    At(turn): At<TurnId>,
    QueryString(Waiting { wait }): QueryString<Waiting>,
) -> Reply<TurnReport> {
    // The handler subscribes before it first looks, so that it misses no event between.
    let mut events = doors.store.signals().events();
    let mut elsewhere = doors.store.signals().elsewhere();
    let until = Instant::now() + PATIENCE;
    loop {
        let report = doors.store.turn_report(turn).await?;
        let report = report.ok_or_else(|| ApiRefusal::unknown(format!("there is no turn {turn}")))?;
        let settled = report.state.is_over() || report.approval.is_some();
        if settled || !wait || doors.shutdown.is_cancelled() || Instant::now() >= until {
            return Ok(Json(report));
        }
        tokio::select! {
            () = doors.shutdown.cancelled() => {}
            // After any event, a missed one, or the end of the patience it looks again.
            _ = timeout_at(until, events.recv()) => {}
            _ = elsewhere.next() => {}
        }
    }
}
