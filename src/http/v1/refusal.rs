//! Errors in OpenAI's form, so that its clients raise the same exceptions as elsewhere.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::store::{ShownError, StoreError};
use crate::wire::v1::{ErrorBody, Fault, MODEL};

/// A request without an answer.
#[derive(Debug)]
pub(super) struct V1Refusal {
    status: StatusCode,
    fault: Fault,
    /// True if a client that repeats requests by itself should; `None` leaves it to the client.
    again: Option<bool>,
    /// Seconds after which the client may come again.
    wait: Option<u32>,
}

impl V1Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let kind = match status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            StatusCode::FORBIDDEN => "permission_error",
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        Self { status, fault: Fault { message: message.into(), kind, param: None, code: None }, again: None, wait: None }
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn no_model(name: &str) -> Self {
        let told = format!("there is no model `{name}` here; the agent answers as `{MODEL}`");
        Self::new(StatusCode::NOT_FOUND, told).at("model").code("model_not_found")
    }

    /// The server ends or restarts in the middle of the answer.
    pub(super) fn away() -> Self {
        let told = "the server restarts; the message is kept and its turn goes on. Send the same request again, with the same \
                    Idempotency-Key, for the answer";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, told).code("restarting").again(true)
    }

    /// The turn ended without an answer: a client that asks again only gets the same.
    pub(super) fn failed(status: StatusCode, message: String, code: &'static str) -> Self {
        Self::new(status, message).code(code).again(false)
    }

    /// The turn ended because the model has too many requests. The same request joins that turn; a
    /// client may send a new one after `wait` seconds.
    pub(super) fn busy(message: String, wait: u32) -> Self {
        let refusal = Self::failed(StatusCode::TOO_MANY_REQUESTS, message, "rate_limit_exceeded");
        Self { wait: Some(wait), ..refusal }
    }

    /// Names the field that is wrong.
    pub(super) fn at(mut self, param: impl Into<String>) -> Self {
        self.fault.param = Some(param.into());
        self
    }

    pub(super) fn code(mut self, code: &'static str) -> Self {
        self.fault.code = Some(code);
        self
    }

    fn again(mut self, again: bool) -> Self {
        self.again = Some(again);
        self
    }

    /// The error in the form of a stream that has begun.
    pub(super) fn into_event(self) -> ErrorBody {
        ErrorBody { error: self.fault }
    }
}

impl IntoResponse for V1Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(ErrorBody { error: self.fault })).into_response();
        let headers = response.headers_mut();
        if let Some(again) = self.again {
            headers.insert("x-should-retry", HeaderValue::from_static(if again { "true" } else { "false" }));
        }
        let soon = self.status == StatusCode::SERVICE_UNAVAILABLE && self.again != Some(false);
        if let Some(wait) = self.wait.or(soon.then_some(2)) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(wait));
        }
        response
    }
}

impl From<StoreError> for V1Refusal {
    fn from(error: StoreError) -> Self {
        if let StoreError::NoConversation(_) = error {
            let told = format!("{error}; leave it out for a new one");
            return Self::new(StatusCode::NOT_FOUND, told).at("metadata.conversation").code("conversation_not_found");
        }
        if let StoreError::OfContact(..) = error {
            return Self::new(StatusCode::CONFLICT, error.to_string()).at("metadata.conversation");
        }
        tracing::warn!(error = &error as &dyn std::error::Error, "/v1 could not answer");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error.for_caller())
    }
}

impl From<ShownError> for V1Refusal {
    fn from(error: ShownError) -> Self {
        match error {
            ShownError::KeyReused => Self::bad(error.to_string()).code("idempotency_key_reused"),
            ShownError::TooLong(_) => Self::bad(error.to_string()).at("messages").code("context_length_exceeded"),
            ShownError::Store(error) => error.into(),
        }
    }
}

/// The refusal of the guard, in the form of this interface.
pub(in crate::http) fn turned_away(status: StatusCode, why: &str) -> Response {
    let refusal = V1Refusal::new(status, why);
    if status == StatusCode::UNAUTHORIZED { refusal.code("invalid_api_key") } else { refusal }.into_response()
}
