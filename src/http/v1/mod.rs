//! `/v1`: the agent, for any client of OpenAI's interface. A request is a message like any other:
//! it is accepted durably and becomes a turn with its law, its approvals and its tools, which the
//! server runs itself. `wire::v1` has the words, `docs/openai.md` describes it.

mod answer;
mod answering;
mod follow;
mod history;
mod read;
pub(super) mod refusal;
mod stream;
pub(super) mod telling;

use axum::extract::{DefaultBodyLimit, Path};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};

use super::visitor::{Closed, Owner};
use crate::wire::v1::{MODEL, ModelEntry, Models};
use crate::wire::{MAX_IMAGE_BYTES, MAX_IMAGES};
use refusal::V1Refusal;

/// The largest body, in bytes: each request brings the whole history and, in base64, as many of the
/// largest images as one message may have.
const MAX_BODY_BYTES: usize = (8 << 20) + MAX_IMAGES * (MAX_IMAGE_BYTES / 3 + 1) * 4;

/// Every route of the interface.
pub(super) fn routes() -> Router<Closed> {
    Router::new()
        .route("/chat/completions", post(answer::complete))
        .route("/models", get(models))
        .route("/models/{id}", get(model))
        .fallback(async || V1Refusal::new(StatusCode::NOT_FOUND, "there is nothing here; docs/openai.md lists what there is"))
        .method_not_allowed_fallback(async || V1Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "this address has no such method"))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
}

const AGENT: ModelEntry = ModelEntry { id: MODEL, object: "model", created: 0, owned_by: MODEL };

async fn models(_: Owner) -> Json<Models> {
    Json(Models { object: "list", data: [AGENT] })
}

async fn model(_: Owner, Path(id): Path<String>) -> Result<Json<ModelEntry>, V1Refusal> {
    if id == MODEL { Ok(Json(AGENT)) } else { Err(V1Refusal::no_model(&id)) }
}
