//! The page. Its files are part of the program, so they cannot be missing.

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "static/"]
struct Files;

/// A file of the page; `/` is `index.html`.
pub(super) async fn file(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    let Some(file) = Files::get(path) else {
        return (StatusCode::NOT_FOUND, "there is nothing here; the page is at /").into_response();
    };
    if ![Method::GET, Method::HEAD].contains(&method) {
        let told = "the page is only read";
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")], told).into_response();
    }
    // A vendored file carries its version in its name and never changes; browsers ask for the
    // others again.
    let caching = if path.starts_with("vendor/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let etag = format!("\"{}\"", hex::encode(&file.metadata.sha256_hash()[..16]));
    // No header of a request changes these answers, so there is no `Vary`.
    let known = [(header::CACHE_CONTROL, caching), (header::ETAG, &*etag)];
    if has(&headers, &etag) {
        return (StatusCode::NOT_MODIFIED, known).into_response();
    }
    (known, [(header::CONTENT_TYPE, content_type(path))], file.data).into_response()
}

/// True if the client has the bytes of this tag already.
pub(super) fn has(headers: &HeaderMap, etag: &str) -> bool {
    let values = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|tags| tags.split(',')).map(str::trim);
    tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("json") => "application/json",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests;
