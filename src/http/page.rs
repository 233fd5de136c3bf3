//! The page. Its files are part of the program, so they cannot be missing.
//!
//! `/` is asked for again each time. All else stands under `/s/<hash of all files>/` and is kept by
//! browsers for good: a file that changes changes the hash. Imports within the page are relative,
//! so they inherit the hash, and only `index.html` names it. A comment is for a reader of the
//! sources, and is not sent: comments are a fifth of what would be carried (ADR 44).

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
/// The sheets that `index.html` names are one file, since each request holds the first paint up. It
/// stands where `tokens.css` does, whose addresses are relative.
const FIRST_SHEET: &str = "first.css";
/// Compression of a smaller file saves nothing.
const WORTH_COMPRESSING: usize = 200;
/// The page with the phones of the test channel, at `/loopback`.
const LOOPBACK: &str = "loopback/index.html";

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
        let mut carried: HashMap<Cow<'static, str>, Bytes> = HashMap::new();
        for (name, file) in found {
            let data = match file.data {
                text if is_ours(&name) => without_comments(&String::from_utf8_lossy(&text)).into(),
                Cow::Borrowed(bytes) => Bytes::from_static(bytes),
                Cow::Owned(bytes) => Bytes::from(bytes),
            };
            carried.insert(name, data);
        }
        let index = carried.get("index.html").map(|html| String::from_utf8_lossy(html).into_owned()).unwrap_or_default();
        let (index, sheets) = with_one_sheet(&index);
        let sheet: Vec<u8> = sheets.iter().filter_map(|name| carried.get(*name)).flatten().copied().collect();
        carried.insert("index.html".into(), index.replace(PLACEHOLDER, &folder).into());
        for page in ["sign-in/index.html", LOOPBACK] {
            if let Some(html) = carried.get_mut(page) {
                *html = String::from_utf8_lossy(html).replace(PLACEHOLDER, &folder).into();
            }
        }
        carried.insert(FIRST_SHEET.into(), sheet.into());
        let files = carried.into_iter().map(|(name, data)| {
            let etag = format!("\"{}\"", hex::encode(&Sha256::digest(&data)[..16]));
            (name, File { data, etag, gzip: OnceLock::new() })
        });
        let files = files.collect();
        Self { folder, files }
    }
}

/// `index.html` with one link in the place of its first sheet's, and the names of all its sheets.
fn with_one_sheet(index: &str) -> (String, Vec<&str>) {
    const LINK: &str = "<link rel=\"stylesheet\" href=\"/s/-/";
    let (mut page, mut sheets) = (String::with_capacity(index.len()), Vec::new());
    for line in index.lines() {
        let named = line.strip_prefix(LINK).and_then(|rest| rest.strip_suffix("\">"));
        if named.is_none() {
            page.extend([line, "\n"]);
        } else if sheets.is_empty() {
            page.extend([LINK, FIRST_SHEET, "\">\n"]);
        }
        sheets.extend(named);
    }
    (page, sheets)
}

/// True for a module or a style sheet of our own. Other people's files carry their licence in a
/// comment.
fn is_ours(name: &str) -> bool {
    !name.starts_with("vendor/") && (name.ends_with(".js") || name.ends_with(".css"))
}

/// `text` without comments that begin a line. Every line stays where it was, so the lines that a
/// browser names are those of the source. `tests/page/house.test.mjs` holds that no text within a
/// module looks like such a comment.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.lines() {
        let opened = if inside { Some(line) } else { line.trim_start().strip_prefix("/*") };
        let code = match opened {
            Some(comment) => comment.split_once("*/").map(|(_, after)| after),
            None if line.trim_start().starts_with("//") => Some(""),
            None => Some(line),
        };
        inside = code.is_none();
        kept.push_str(code.filter(|code| !code.trim().is_empty()).unwrap_or_default());
        kept.push('\n');
    }
    kept
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

/// True for a file that the page needs on which one signs in: it is for anybody.
pub(super) fn is_of_sign_in(path: &str) -> bool {
    path.strip_prefix(&*PAGE.folder).is_some_and(|name| {
        ["tokens.css", "favicon.svg"].contains(&name) || ["sign-in/", "vendor/inter-"].iter().any(|begin| name.starts_with(begin))
    })
}

/// The page on which one signs in.
pub(super) fn sign_in(headers: &HeaderMap) -> Response {
    sent("sign-in/index.html", "no-cache", headers)
}

/// A file of the page; `/` is `index.html`, and `/loopback` the test phones.
pub(super) async fn file(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    let (name, caching) = match path.strip_prefix(&*PAGE.folder) {
        Some(name) => (name, "public, max-age=31536000, immutable"),
        // The target of a `CONNECT` has no path.
        None if path == "/" || path.is_empty() => ("index.html", "no-cache"),
        None if path == "/loopback" => (LOOPBACK, "no-cache"),
        None => ("", ""),
    };
    if PAGE.files.contains_key(name) && ![Method::GET, Method::HEAD].contains(&method) {
        let told = "the page is only read";
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")], told).into_response();
    }
    sent(name, caching, &headers)
}

/// A file of this name, or that there is none.
fn sent(name: &str, caching: &str, headers: &HeaderMap) -> Response {
    let Some(file) = PAGE.files.get(name) else {
        return (StatusCode::NOT_FOUND, "there is nothing here; the page is at /").into_response();
    };
    let known = [(header::CACHE_CONTROL, caching), (header::ETAG, &*file.etag), (header::VARY, "accept-encoding")];
    if has(headers, &file.etag) {
        return (StatusCode::NOT_MODIFIED, known).into_response();
    }
    let of_type = [(header::CONTENT_TYPE, content_type(name))];
    match file.compressed().filter(|_| takes_gzip(headers)) {
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
        Some("webmanifest") => "application/manifest+json",
        Some("woff2") => "font/woff2",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests;
