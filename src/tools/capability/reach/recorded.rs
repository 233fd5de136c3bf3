//! The operations of a call that is recorded, each with its whole request and its answer. The
//! ledger lacks those that only read tables and values, and has the fingerprints of bodies.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Reaching;
use crate::domain::HttpRequest;
use crate::sandbox::{OperationRefused, OperationRequest};

impl Reaching {
    /// Notes how an operation ended, if its call is recorded.
    pub(super) async fn record(&self, ordinal: i32, request: Value, ended: &Result<String, OperationRefused>) {
        let Some(recording) = &self.0.recording else { return };
        let (came, answer) = match ended {
            Ok(answer) => ("answer", serde_json::from_str(answer).unwrap_or_else(|_| Value::from(answer.as_str()))),
            Err(refused) => ("refused", Value::from(refused.message.as_str())),
        };
        let at = self.0.tools.kit.clock.now();
        let noted = json!({ "at": at, "ordinal": ordinal, "request": request, came: answer }).to_string();
        recording.operation(serde_json::from_str(&self.named(&noted)).unwrap_or_default()).await;
    }
}

/// A request with all that is in it; placeholders stand for secrets.
pub(super) fn whole(request: &OperationRequest) -> Value {
    match request {
        OperationRequest::Http(HttpRequest { method, url, headers, body, idempotency_key: _ }) => {
            let mut shown = json!({ "method": method, "url": url, "headers": headers });
            match body.as_deref().map(std::str::from_utf8) {
                None => {}
                Some(Ok(text)) => shown["body"] = json!(text),
                Some(Err(_)) => shown["body_base64"] = json!(STANDARD.encode(body.as_deref().unwrap_or_default())),
            }
            shown
        }
        OperationRequest::Sql { text, params } => json!({ "sql": text, "params": params }),
        OperationRequest::Kv(request) => json!({ "kv": request }),
        OperationRequest::Tool { name, params } => json!({ "tool": name, "arguments": params }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::KvRequest;

    #[test]
    fn a_request_is_recorded_with_its_body_and_a_value_that_is_only_read() {
        let sent = |body: &[u8]| {
            let headers = vec![("accept".to_owned(), "*/*".to_owned())];
            let (method, url) = ("POST".to_owned(), "https://a.example/".to_owned());
            whole(&OperationRequest::Http(HttpRequest { method, url, headers, body: Some(body.to_vec()), idempotency_key: None }))
        };
        let shown = json!({"method": "POST", "url": "https://a.example/", "headers": [["accept", "*/*"]], "body": "all of it"});
        assert_eq!(sent(b"all of it"), shown);
        assert_eq!(sent(&[0xff])["body_base64"], "/w==");
        let read = whole(&OperationRequest::Kv(KvRequest::Get { key: "word".into() }));
        assert_eq!(read, json!({"kv": {"do": "get", "key": "word"}}));
        let query = OperationRequest::Sql { text: "SELECT $1".into(), params: vec![json!(1)] };
        assert_eq!(whole(&query), json!({"sql": "SELECT $1", "params": [1]}));
    }
}
