//! How the interface reads requests and answers them: JSON in, JSON out, and each refusal is a
//! sentence with a fitting status.

mod unread;

use axum::Json;
use axum::body::Bytes;
use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;

use crate::config::SettingRefused;
use crate::domain::faithful;
use crate::profiles::UnknownProfile;
use crate::secrets::SecretError;
use crate::store::{DecideError, DeleteError, LifeError, StoreError, UndoError, UserError};
use crate::telemetry::chain;
use crate::wire::api::{ApiError, FieldFault};

/// A handler's answer, or its refusal.
pub(in crate::http) type Reply<T> = Result<Json<T>, ApiRefusal>;

/// A request that is not done.
#[derive(Debug)]
pub(in crate::http) struct ApiRefusal {
    status: StatusCode,
    refused: ApiError,
}

impl ApiRefusal {
    pub(in crate::http) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, refused: ApiError { error: error.into(), grants_in_words: Vec::new(), at: None } }
    }

    pub(in crate::http) fn status(&self) -> StatusCode {
        self.status
    }

    pub(in crate::http) fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// The same, at this field. `why`: for a person at the field.
    pub(in crate::http) fn at(mut self, field: &str, why: &str) -> Self {
        self.refused.at = Some(FieldFault { field: field.to_owned(), says: sentence(why) });
        self
    }

    pub(in crate::http) fn unknown(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    pub(in crate::http) fn conflict(error: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, error)
    }
}

impl IntoResponse for ApiRefusal {
    fn into_response(self) -> Response {
        (self.status, Json(self.refused)).into_response()
    }
}

/// Words as a sentence. A name that they begin with stays as it is.
fn sentence(words: &str) -> String {
    let first = words.split([' ', ',']).next().unwrap_or_default();
    let is_word = first.len() < words.len() && first.chars().all(|letter| letter.is_ascii_lowercase());
    let begun = match words.chars().next().filter(|_| is_word) {
        Some(letter) => format!("{}{}", letter.to_ascii_uppercase(), &words[1..]),
        None => words.to_owned(),
    };
    if begun.ends_with(['.', '!', '?', '…']) { begun } else { begun + "." }
}

/// The refusal of the guard, in the form of this interface.
pub(in crate::http) fn turned_away(status: StatusCode, why: &str) -> Response {
    ApiRefusal::new(status, why).into_response()
}

impl From<StoreError> for ApiRefusal {
    fn from(error: StoreError) -> Self {
        if let StoreError::NoConversation(_) = error {
            return Self::unknown(error.to_string());
        }
        if let StoreError::OfContact(..) = error {
            return Self::conflict(error.to_string());
        }
        tracing::warn!(error = &error as &dyn std::error::Error, "the interface could not answer");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error.for_caller())
    }
}

impl From<UnknownProfile> for ApiRefusal {
    fn from(error: UnknownProfile) -> Self {
        Self::bad(error.to_string())
    }
}

impl From<DecideError> for ApiRefusal {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::Unknown(_) => Self::unknown(error.to_string()),
            DecideError::Decided(..) => Self::conflict(error.to_string()),
            DecideError::Rule => Self::new(StatusCode::FORBIDDEN, error.to_string()),
            DecideError::Store(error) => error.into(),
        }
    }
}

impl From<DeleteError> for ApiRefusal {
    fn from(error: DeleteError) -> Self {
        match error {
            DeleteError::Main(_) | DeleteError::Busy(_) => Self::conflict(error.to_string()),
            DeleteError::Store(error) => error.into(),
        }
    }
}

impl From<UserError> for ApiRefusal {
    fn from(error: UserError) -> Self {
        match error {
            UserError::Unknown(_) => Self::unknown(error.to_string()),
            UserError::Taken(_) | UserError::Owner(_) => Self::conflict(error.to_string()),
            UserError::Zone(_) => Self::bad(error.to_string()).at("time_zone", &error.to_string()),
            UserError::DisplayName(ref why) => Self::bad(error.to_string()).at("display_name", why),
            UserError::HoldsSecret => Self::bad(error.to_string()),
            UserError::Store(error) => error.into(),
        }
    }
}

impl From<UndoError> for ApiRefusal {
    fn from(error: UndoError) -> Self {
        match error {
            UndoError::Unknown(_) => Self::unknown(error.to_string()),
            UndoError::Running(_) | UndoError::Nothing(_) | UndoError::Undone(..) | UndoError::Conflicts(_) | UndoError::Held => {
                Self::conflict(error.to_string())
            }
            UndoError::Store(error) => error.into(),
        }
    }
}

impl From<LifeError> for ApiRefusal {
    fn from(error: LifeError) -> Self {
        let told = error.to_string();
        match error {
            LifeError::Unknown(_) | LifeError::NoVersion(..) => Self::unknown(told),
            LifeError::Live(..) => Self::conflict(told),
            LifeError::Wider { grants_in_words, .. } => {
                Self { status: StatusCode::CONFLICT, refused: ApiError { error: told, grants_in_words, at: None } }
            }
            LifeError::Store(error) => error.into(),
        }
    }
}

impl From<SettingRefused> for ApiRefusal {
    fn from(error: SettingRefused) -> Self {
        match error {
            SettingRefused::Wrong(wrong) => Self::bad(wrong.to_string()).at(wrong.variable(), &wrong.at_its_field()),
            SettingRefused::Unknown(_) | SettingRefused::Elsewhere(_) => Self::bad(error.to_string()),
            SettingRefused::Won(..) => Self::conflict(error.to_string()),
            SettingRefused::File(_) => {
                tracing::error!(error = &error as &dyn std::error::Error, "the settings of the page cannot be used");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, chain(&error))
            }
        }
    }
}

impl From<SecretError> for ApiRefusal {
    fn from(error: SecretError) -> Self {
        match error {
            SecretError::Name(_) | SecretError::Short(_) | SecretError::Long(_) | SecretError::ZeroCharacter => {
                Self::bad(error.to_string())
            }
            SecretError::Unreadable { .. } | SecretError::OtherKey(_) => Self::conflict(error.to_string()),
            // The caller is the operator, who may know which file it is.
            SecretError::Key(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "secrets cannot be used");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, chain(&error))
            }
            SecretError::Store(error) => error.into(),
        }
    }
}

/// The body, read as JSON. No body is an empty object.
pub(in crate::http) struct Body<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiRefusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiRefusal> {
        let bytes = bytes(request, state).await?;
        let text = if bytes.trim_ascii().is_empty() { b"{}" } else { &bytes[..] };
        // Serde would read a list as the fields in their order.
        if text.trim_ascii_start().starts_with(b"[") {
            return Err(ApiRefusal::bad(unread::NO_OBJECT));
        }
        if holds_zero(text) {
            return Err(ApiRefusal::bad("the body holds a zero character (\\u0000), which cannot be kept; leave it out"));
        }
        let read = serde_json::from_slice(text).map_err(|error| {
            let (told, at) = unread::body::<T>(text, &error);
            let refusal = ApiRefusal::bad(told);
            match at {
                Some((field, why)) => refusal.at(&field, &why),
                None => refusal,
            }
        })?;
        // Else the last of two fields, or another number, would count as sent.
        let text = String::from_utf8_lossy(text);
        faithful(&text).map_err(ApiRefusal::bad)?;
        Ok(Self(read))
    }
}

/// True if a text in the JSON holds a zero character. It can only stand there as an escape, and a
/// backslash stands only within texts.
fn holds_zero(json: &[u8]) -> bool {
    let mut rest = json;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        if rest[at + 1..].starts_with(b"u0000") {
            return true;
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    false
}

/// The body as bytes, for a handler whose errors must not repeat it.
pub(in crate::http) async fn bytes<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, ApiRefusal> {
    Bytes::from_request(request, state).await.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"),
        _ => ApiRefusal::bad("the body did not arrive whole"),
    })
}

/// The part of the path between slashes.
pub(in crate::http) struct At<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for At<T> {
    type Rejection = ApiRefusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiRefusal> {
        let read = Path::from_request_parts(parts, state).await;
        read.map(|Path(at)| Self(at))
            .map_err(|error| ApiRefusal::bad(format!("the address cannot be read: {}", unread_path(&error))))
    }
}

/// The fault of a path, in words.
fn unread_path(error: &PathRejection) -> String {
    use ErrorKind::{ParseError, ParseErrorAtIndex, ParseErrorAtKey};
    if let PathRejection::FailedToDeserializePathParams(error) = error
        && let ParseError { value, .. } | ParseErrorAtIndex { value, .. } | ParseErrorAtKey { value, .. } = error.kind()
    {
        return format!("`{value}` is no number, or one that nothing here has");
    }
    error.body_text()
}

/// The part of the address behind the question mark.
pub(in crate::http) struct QueryString<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryString<T> {
    type Rejection = ApiRefusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiRefusal> {
        let read = Query::from_request_parts(parts, state).await;
        read.map(|Query(asked)| Self(asked)).map_err(|error| ApiRefusal::bad(unread::query(&error)))
    }
}

/// How many are asked for; a usual number if the question does not say.
pub(super) fn limit(asked: Option<i64>, usual: i64, most: i64) -> Result<i64, ApiRefusal> {
    let limit = asked.unwrap_or(usual);
    let fits = (1..=most).contains(&limit);
    if fits { Ok(limit) } else { Err(ApiRefusal::bad(format!("`limit` is a number from 1 to {most}"))) }
}

/// Lets only JSON change something: a browser may send another page's form unasked, but a form has
/// another type. Browsers do not keep the answers, unless an answer says so itself.
pub(in crate::http) async fn json_only(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let has_body =
        headers.contains_key(header::TRANSFER_ENCODING) || text(header::CONTENT_LENGTH).is_some_and(|length| length != "0");
    let kind = text(header::CONTENT_TYPE).map(|kind| kind.split(';').next().unwrap_or_default().trim());
    let reads = [Method::GET, Method::HEAD].contains(request.method());
    let is_json = kind.map_or(!has_body, |kind| kind.eq_ignore_ascii_case("application/json"));
    let mut response = if reads || is_json {
        next.run(request).await
    } else {
        let told = "send the body as JSON, with the header Content-Type: application/json";
        ApiRefusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, told).into_response()
    };
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests;
