//! Errors of `/mcp` in the form of JSON-RPC. The crate `rmcp` refuses a request in plain text,
//! which a client cannot match with what it asked.

use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, RequestId};
use serde_json::{Value, json};

use super::words;
use crate::domain::faithful;
use crate::wire::MAX_MCP_BYTES;

/// The longest refusal in plain text, in bytes.
const MAX_TEXT: usize = 64 << 10;

/// Seconds after which a client may find a place that another one left.
const SOON: &str = "30";

/// Hands a request on as it was written, and puts a refusal in plain text into the form of the
/// protocol.
pub(super) async fn in_json_rpc(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let body = match Bytes::from_request(Request::from_parts(parts.clone(), body), &()).await {
        Ok(body) => body,
        // The request was not read, so its id is not known: only the status can say which it was.
        Err(error) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            return (error.status(), format!("a request has at most {MAX_MCP_BYTES} bytes")).into_response();
        }
        Err(error) => return error.into_response(),
    };
    if let Err(why) = faithful(&String::from_utf8_lossy(&body))
        && let Ok(message) = serde_json::from_slice::<Value>(&body)
    {
        let error = ErrorData::invalid_params(why, None);
        let told = json!({ "jsonrpc": "2.0", "id": message.get("id"), "error": error });
        return (StatusCode::BAD_REQUEST, Json(told)).into_response();
    }
    let response = next.run(Request::from_parts(parts, Body::from(body.clone()))).await;
    let status = response.status();
    let failed = status.is_client_error() || status.is_server_error();
    let (true, None) = (failed, response.headers().get(header::CONTENT_TYPE)) else { return response };
    let (id, error) = match read(&body) {
        Ok(Some(id)) => (Some(id), None),
        // No client waits for the answer to a notification.
        Ok(None) => return response,
        Err((id, error)) => (id, Some(error)),
    };
    let (mut parts, text) = response.into_parts();
    let text = to_bytes(text, MAX_TEXT).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let full = text.ends_with(words::FULL);
    let (status, error) = match error {
        Some(error) => (StatusCode::BAD_REQUEST, error),
        None if full => (StatusCode::SERVICE_UNAVAILABLE, ErrorData::new(words::UNANSWERED, words::FULL, None)),
        None if status.is_server_error() => (status, ErrorData::new(words::UNANSWERED, text.into_owned(), None)),
        None => (status, ErrorData::invalid_request(text.into_owned(), None)),
    };
    if full {
        parts.headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static(SOON));
    }
    (status, parts.headers, Json(json!({ "jsonrpc": "2.0", "id": id, "error": error }))).into_response()
}

/// The id of a request, `None` for another message.
///
/// # Errors
/// The fault of a body that is no message, with its id if it has one.
fn read(body: &[u8]) -> Result<Option<RequestId>, (Option<RequestId>, ErrorData)> {
    let written: Value = serde_json::from_slice(body)
        .map_err(|error| (None, ErrorData::new(ErrorCode::PARSE_ERROR, format!("the body is no JSON: {error}"), None)))?;
    if written.is_array() {
        return Err((None, ErrorData::invalid_request(words::BATCH, None)));
    }
    let id = written.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    match serde_json::from_slice(body) {
        Ok(ClientJsonRpcMessage::Request(request)) => match request.request {
            // Parameters that are none make another request of a greeting.
            ClientRequest::CustomRequest(request) if request.method == words::GREETING => Err((id, words::unread(&request))),
            _ => Ok(Some(request.id)),
        },
        Ok(_) => Ok(None),
        Err(_) => Err((id, ErrorData::invalid_request(words::NO_MESSAGE, None))),
    }
}

#[cfg(test)]
mod tests;
