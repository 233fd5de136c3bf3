//! HTTP as a capability speaks it: the request it wants made, and the response it gets.

use serde_json::json;

/// A request; placeholders stand in it for secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpRequest {
    /// `GET`, `POST` and so on, in any case.
    pub method: String,
    /// An absolute https or http address.
    pub url: String,
    /// Names and values, in order; a name may come several times.
    pub headers: Vec<(String, String)>,
    /// The body's bytes.
    pub body: Option<Vec<u8>>,
    /// Sent as `Idempotency-Key`, in place of the guest's own.
    pub idempotency_key: Option<String>,
}

/// A peer's response, without the values of secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpResponse {
    /// 200 and so on. Every status is a response; none is an error.
    pub status: u16,
    /// `OK` and so on, as the peer wrote it.
    pub status_text: String,
    /// The address that answered, after redirects; placeholders stand in it for secrets.
    pub url: String,
    /// Names in lower case, and values, in order; a name may come several times.
    pub headers: Vec<(String, String)>,
    /// The body's bytes.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// `{"status": …, "status_text": …, "url": …, "headers": [[name, value], …], "body": …}`; with
    /// `body_base64` in place of `body` if the bytes are not UTF-8.
    pub fn to_json(&self) -> String {
        use base64::Engine as _;
        let Self { status, status_text, url, headers, body } = self;
        let mut answer = json!({ "status": status, "status_text": status_text, "url": url, "headers": headers });
        match std::str::from_utf8(body) {
            Ok(text) => answer["body"] = json!(text),
            Err(_) => answer["body_base64"] = json!(base64::engine::general_purpose::STANDARD.encode(body)),
        }
        answer.to_string()
    }
}

#[cfg(test)]
mod tests;
