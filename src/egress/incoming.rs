//! A response as it is read: up to a limit, unpacked by nobody, and cleaned.

use std::borrow::Cow;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::ext::ReasonPhrase;
use hyper::header::{CONTENT_ENCODING, HeaderMap, TRANSFER_ENCODING};
use url::Url;

use super::error::Problem;
use crate::domain::HttpResponse;
use crate::telemetry::Scrubber;

/// Reads all of it. `url` is the address as it may be shown; `most` bytes of the body are kept,
/// more is an error.
pub(super) async fn read(
    response: hyper::Response<Incoming>,
    host: &str,
    url: &Url,
    scrubbers: &[Scrubber],
    most: usize,
) -> Result<HttpResponse, Problem> {
    let (head, mut incoming) = response.into_parts();
    if let Some(coding) = coding(&head.headers) {
        return Err(Problem::Packed { host: host.to_owned(), coding });
    }
    let mut body = Vec::new();
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(|source| Problem::Broken { host: host.to_owned(), source })?;
        let Some(data) = frame.data_ref() else { continue };
        if body.len() + data.len() > most {
            return Err(Problem::ResponseTooLarge { host: host.to_owned(), most });
        }
        body.extend_from_slice(data);
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(&clean(scrubbers, bytes.to_vec())).into_owned();
    let reason = head.extensions.get::<ReasonPhrase>().map(ReasonPhrase::as_bytes);
    let reason = reason.or(head.status.canonical_reason().map(str::as_bytes)).unwrap_or_default();
    Ok(HttpResponse {
        status: head.status.as_u16(),
        status_text: text(reason),
        url: text(url.as_str().as_bytes()),
        headers: head.headers.iter().map(|(name, value)| (text(name.as_str().as_bytes()), text(value.as_bytes()))).collect(),
        body: clean(scrubbers, body),
    })
}

/// The name of a coding that hides the body from the scrubber.
fn coding(headers: &HeaderMap) -> Option<String> {
    let codings = headers.get_all(CONTENT_ENCODING).iter().chain(headers.get_all(TRANSFER_ENCODING));
    let names = codings.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let mut names = names.map(|name| String::from_utf8_lossy(name).trim().to_ascii_lowercase());
    names.find(|name| !matches!(name.as_str(), "" | "identity" | "chunked"))
}

fn clean(scrubbers: &[Scrubber], bytes: Vec<u8>) -> Vec<u8> {
    scrubbers.iter().fold(bytes, |bytes, scrubber| match scrubber.clean_bytes(&bytes) {
        Cow::Owned(clean) => clean,
        Cow::Borrowed(_) => bytes,
    })
}
