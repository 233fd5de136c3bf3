//! `/api/relay`: the orders of a person, or of their agent, about conversations with contacts.

mod channels;
mod instances;
mod shown;
mod webhooks;

use axum::Router;
use axum::routing::{delete, get, post};

use crate::http::visitor::Closed;

/// The routes, below `/api/relay`.
pub(super) fn routes() -> Router<Closed> {
    Router::new()
        .route("/instances", get(instances::list).post(instances::create))
        .route("/instances/{id}", get(instances::show))
        .route("/instances/{id}/transcript", get(instances::transcript))
        .route("/instances/{id}/pause", post(instances::pause))
        .route("/instances/{id}/resume", post(instances::resume))
        .route("/instances/{id}/cancel", post(instances::cancel))
        .route("/instances/{id}/send", post(instances::send))
        .route("/messages/{id}/resend", post(instances::resend))
        .route("/messages/{id}/settle", post(instances::settle))
        .route("/unknown", get(instances::unknown))
        .route("/export", get(instances::export))
        .route("/status", get(channels::status))
        .route("/channels", get(channels::list))
        .route("/channels/{name}/logout", post(channels::logout))
        .route("/channels/{name}/unlock", post(channels::unlock))
        .route("/pace", get(channels::pace))
        .route("/webhooks", get(webhooks::list).post(webhooks::add))
        .route("/webhooks/{id}", delete(webhooks::remove))
        .route("/webhooks/{id}/test", post(webhooks::try_once))
        .route("/loopback", get(channels::phone).post(channels::say))
}
