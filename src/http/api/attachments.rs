//! Images that came with messages, for the page.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::reply::{ApiRefusal, At};
use crate::http::{Doors, page};

/// One image. A browser shows it as this type, whatever bytes it has, and runs nothing.
pub(super) async fn show(State(doors): State<Doors>, At(sha256): At<String>, headers: HeaderMap) -> Result<Response, ApiRefusal> {
    let found = doors.store.attachment(&sha256).await?;
    let Some((kind, bytes)) = found else { return Err(ApiRefusal::unknown("there is no such attachment")) };
    // The name is the fingerprint of the bytes, so the bytes behind a name never change.
    let etag = format!("\"{sha256}\"");
    let known = [(header::CACHE_CONTROL, "private, max-age=31536000, immutable"), (header::ETAG, &*etag)];
    if page::has(&headers, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, known).into_response());
    }
    let headers = [
        (header::CONTENT_TYPE, kind.as_str()),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (header::CONTENT_DISPOSITION, "inline; filename=\"image\""),
    ];
    Ok((known, headers, bytes).into_response())
}
