//! The two doors for Vapi: it asks what to say in a call, and tells what happens in one. A request shows which call it is, and gets at what is
//! its person's; a request that does not gets 401 and no word of why. `docs/voice.md` describes them.

mod answer;
mod asked;
mod events;
mod follow;
mod tools;
mod words;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;

use super::visitor::Closed;
use crate::store::StoreError;

/// The largest body, in bytes: each request brings all that was said in a call.
const MAX_BODY_BYTES: usize = 4 << 20;

/// Both doors; the first one twice, since some of Vapi's documents call its address a base, and some the whole.
pub(super) fn routes() -> Router<Closed> {
    Router::new()
        .route("/{call}/chat/completions", post(answer::complete))
        .route("/{call}/chat/completions/chat/completions", post(answer::complete))
        .route("/{call}/events", post(events::take))
        .fallback(async || StatusCode::NOT_FOUND)
        .method_not_allowed_fallback(async || StatusCode::NOT_FOUND)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
}

/// A header of a request, if it is text.
fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// The answer to a stranger.
fn unauthorized() -> Response {
    StatusCode::UNAUTHORIZED.into_response()
}

/// The answer if the database does not.
fn unavailable(error: &StoreError) -> Response {
    tracing::warn!(error = error as &dyn std::error::Error, "a request of Vapi's was not answered");
    StatusCode::SERVICE_UNAVAILABLE.into_response()
}
