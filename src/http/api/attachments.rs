//! Images that came with messages, for the page.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::reply::{At, Refusal};
use crate::http::Doors;

/// One image. Whatever stands in it, a browser shows it as this type and runs nothing.
pub(super) async fn show(State(doors): State<Doors>, At(sha256): At<String>) -> Result<Response, Refusal> {
    let found = doors.store.attachment(&sha256).await?;
    let Some((kind, bytes)) = found else { return Err(Refusal::unknown("there is no such attachment")) };
    let headers = [
        (header::CONTENT_TYPE, kind.as_str()),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (header::CONTENT_DISPOSITION, "inline; filename=\"image\""),
        // Its name is its fingerprint, so it never changes.
        (header::CACHE_CONTROL, "private, max-age=31536000, immutable"),
    ];
    Ok((headers, bytes).into_response())
}
