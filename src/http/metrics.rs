//! `/metrics`: the server's numbers for Prometheus. They are the owner's.

use axum::http::header;
use axum::response::IntoResponse;

use super::visitor::Owner;
use crate::domain::DEFAULT_PROFILE;
use crate::telemetry::Seen;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) async fn metrics(Owner(doors): Owner) -> impl IntoResponse {
    // One of the numbers says that the database does not answer; the parts that need it log the
    // reason.
    let measures = doors.store.measures(DEFAULT_PROFILE, doors.clock.now());
    let stored = tokio::time::timeout(doors.limits.measures, measures).await.ok().and_then(Result::ok);
    let seen = Seen { stored, sockets: doors.sockets.len(), pools: doors.store.pools() };
    ([(header::CONTENT_TYPE, OPEN_METRICS)], doors.metrics.render(&seen))
}
