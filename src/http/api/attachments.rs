//! Images that came with messages, for the page.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::reply::{ApiRefusal, At};
use crate::http::page;
use crate::http::visitor::Visitor;

/// One image. A browser shows it as this type, whatever bytes it has, and runs nothing.
pub(super) async fn show(visitor: Visitor, At(sha256): At<String>, headers: HeaderMap) -> Result<Response, ApiRefusal> {
    let found = visitor.theirs().attachment(&sha256).await?;
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
