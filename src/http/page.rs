//! The page. Its files are part of the program, so they cannot be missing.

use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "static/"]
struct Files;

/// A file of the page; `/` is `index.html`.
pub(super) async fn file(uri: Uri) -> Response {
    let path = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    let Some(file) = Files::get(path) else {
        return (StatusCode::NOT_FOUND, "there is nothing here; the page is at /").into_response();
    };
    // A vendored file carries its version in its name and never changes; the others are asked for again.
    let caching = if path.starts_with("vendor/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let etag = format!("\"{}\"", hex::encode(&file.metadata.sha256_hash()[..16]));
    let headers = [
        (header::CONTENT_TYPE, content_type(path).to_owned()),
        (header::CACHE_CONTROL, caching.to_owned()),
        (header::ETAG, etag),
    ];
    (headers, file.data).into_response()
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
mod tests {
    use super::*;

    #[test]
    fn the_page_is_in_the_program() {
        assert!(Files::get("index.html").is_some());
    }

    #[tokio::test]
    async fn a_path_that_leads_out_of_the_folder_finds_nothing() {
        for path in ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "/nothing"] {
            assert_eq!(file(path.parse().unwrap()).await.status(), StatusCode::NOT_FOUND, "{path}");
        }
    }
}
