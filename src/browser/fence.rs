//! The fence of a tab: which documents may be loaded into it. Parts of a page may come from
//! anywhere, as real sites have it.

use serde_json::Value;
use url::Url;

use crate::domain::campaign::page::PageHosts;

/// The verdict about a request that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FenceVerdict {
    /// It goes on.
    Pass,
    /// It is ended; the sentence is told.
    Refuse(String),
}

/// Judges a request or its response, as `Fetch.requestPaused` tells of it. `main` is the frame of
/// the page itself.
pub(super) fn judge(paused: &Value, main: &str, hosts: &PageHosts) -> FenceVerdict {
    let address = paused["request"]["url"].as_str().unwrap_or_default();
    if paused["frameId"] == main {
        let allowed = Url::parse(address).is_ok_and(|url| hosts.allow(&url));
        if !allowed {
            return FenceVerdict::Refuse(format!("the page wanted to go to {}, which was refused", brief(address)));
        }
    }
    let status = paused["responseStatusCode"].as_u64();
    match status {
        // A redirect is a request of its own.
        None | Some(300..=399) => FenceVerdict::Pass,
        Some(_) if is_download(&paused["responseHeaders"]) => {
            FenceVerdict::Refuse(format!("the page wanted to download {}, which was refused", brief(address)))
        }
        Some(_) => FenceVerdict::Pass,
    }
}

/// True if a response would be kept as a file, and not shown.
fn is_download(headers: &Value) -> bool {
    let header = |name: &str| {
        let mut all = headers.as_array().into_iter().flatten();
        let named = |header: &&Value| header["name"].as_str().is_some_and(|given| given.eq_ignore_ascii_case(name));
        all.rfind(named).and_then(|header| header["value"].as_str()).unwrap_or_default().trim().to_ascii_lowercase()
    };
    let kind = header("content-type");
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let shown = kind.is_empty()
        || ["text/", "image/", "audio/", "video/"].iter().any(|family| kind.starts_with(family))
        || ["application/json", "application/xml", "application/xhtml+xml", "application/javascript"].contains(&kind)
        || kind.ends_with("+xml")
        || kind.ends_with("+json");
    header("content-disposition").starts_with("attachment") || !shown
}

/// An address that fits into a sentence.
pub(super) fn brief(address: &str) -> String {
    crate::domain::shortened(address, 200).into_owned()
}

#[cfg(test)]
mod tests;
