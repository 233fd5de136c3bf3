//! The two doors for Vapi: it asks what to say in a call, and tells what happens in one. A request
//! shows which call it is, and gets at what is its person's; a request that does not gets 401 and
//! no word of why. `docs/voice.md` describes them.

mod answer;
mod asked;
mod events;
mod follow;
mod tools;
mod words;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;

use super::visitor::Closed;
use crate::store::StoreError;

/// The largest body, in bytes: each request brings all that was said in a call.
const MAX_BODY_BYTES: usize = 4 << 20;

/// Both doors; the first one twice, since some of Vapi's documents call its address a base, and
/// some the whole.
pub(super) fn routes() -> Router<Closed> {
    Router::new()
        .route("/{call}/chat/completions", post(answer::complete))
        .route("/{call}/chat/completions/chat/completions", post(answer::complete))
        .route("/{call}/events", post(events::take))
        .fallback(async || StatusCode::NOT_FOUND)
        .method_not_allowed_fallback(async || StatusCode::NOT_FOUND)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
}

/// The number of the call that an address names. An address that names none is a stranger's.
struct AtCall(i64);

impl<S: Send + Sync> FromRequestParts<S> for AtCall {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        Path::from_request_parts(parts, state).await.map(|Path(call)| Self(call)).map_err(|_| unauthorized())
    }
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
