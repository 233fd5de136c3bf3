//! The page. Its files are part of the program, so they cannot be missing.
//!
//! `/` is asked for again each time. All else stands under `/s/<hash of all files>/` and is kept by browsers for good: a file that
//! changes changes the hash. Imports within the page are relative, so they inherit the hash, and only `index.html` names it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::sync::{LazyLock, OnceLock};

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};

#[derive(RustEmbed)]
#[folder = "static/"]
struct Embedded;

/// Stands in `index.html` for the folder of all other files.
const PLACEHOLDER: &str = "/s/-/";
/// Compression of a smaller file saves nothing.
const WORTH_COMPRESSING: usize = 200;

/// A file, and what it is compressed, once somebody asked for that.
struct File {
    data: Bytes,
    etag: String,
    gzip: OnceLock<Option<Bytes>>,
}

/// All files of the page, by path.
struct Page {
    /// `/s/<hash>/`.
    folder: String,
    files: HashMap<Cow<'static, str>, File>,
}

static PAGE: LazyLock<Page> = LazyLock::new(Page::read);

impl Page {
    fn read() -> Self {
        let mut names: Vec<_> = Embedded::iter().collect();
        names.sort_unstable();
        let found = names.into_iter().filter_map(|name| Some((name.clone(), Embedded::get(&name)?)));
        let found: Vec<_> = found.collect();
        let mut all = Sha256::new();
        for (name, file) in &found {
            all.update(name.as_bytes());
            all.update([0]);
            all.update(file.metadata.sha256_hash());
        }
        let folder = format!("/s/{}/", hex::encode(&all.finalize()[..8]));
        let files = found.into_iter().map(|(name, file)| {
            let data = match (&*name, file.data) {
                ("index.html", html) => String::from_utf8_lossy(&html).replace(PLACEHOLDER, &folder).into(),
                (_, Cow::Borrowed(bytes)) => Bytes::from_static(bytes),
                (_, Cow::Owned(bytes)) => Bytes::from(bytes),
            };
            let etag = format!("\"{}\"", hex::encode(&Sha256::digest(&data)[..16]));
            (name, File { data, etag, gzip: OnceLock::new() })
        });
        let files = files.collect();
        Self { folder, files }
    }
}

impl File {
    /// The file compressed; `None` if that makes it no smaller.
    fn compressed(&self) -> Option<Bytes> {
        let compress = || {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&self.data).ok()?;
            let smaller = encoder.finish().ok()?;
            (smaller.len() < self.data.len()).then(|| Bytes::from(smaller))
        };
        self.gzip.get_or_init(|| if self.data.len() < WORTH_COMPRESSING { None } else { compress() }).clone()
    }
}

/// A file of the page; `/` is `index.html`.
pub(super) async fn file(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    let (name, caching) = match path.strip_prefix(&*PAGE.folder) {
        Some(name) => (name, "public, max-age=31536000, immutable"),
        // The target of a `CONNECT` has no path.
        None if path == "/" || path.is_empty() => ("index.html", "no-cache"),
        None => ("", ""),
    };
    let Some(file) = PAGE.files.get(name) else {
        return (StatusCode::NOT_FOUND, "there is nothing here; the page is at /").into_response();
    };
    if ![Method::GET, Method::HEAD].contains(&method) {
        let told = "the page is only read";
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")], told).into_response();
    }
    let known = [(header::CACHE_CONTROL, caching), (header::ETAG, &*file.etag), (header::VARY, "accept-encoding")];
    if has(&headers, &file.etag) {
        return (StatusCode::NOT_MODIFIED, known).into_response();
    }
    let of_type = [(header::CONTENT_TYPE, content_type(name))];
    match file.compressed().filter(|_| takes_gzip(&headers)) {
        Some(smaller) => (known, of_type, [(header::CONTENT_ENCODING, "gzip")], smaller).into_response(),
        None => (known, of_type, file.data.clone()).into_response(),
    }
}

/// True if the client says that it reads gzip. `q=0` says that it does not.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|codings| codings.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        named
            && parts.all(|part| part.strip_prefix("q=").is_none_or(|weight| weight.parse().is_ok_and(|weight: f32| weight > 0.0)))
    })
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
