//! `/sign-in`: the page on which a person says who they are, and what it asks. Nothing here tells
//! whether a name exists.

use axum::extract::DefaultBodyLimit;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};

use super::access::{Guard, peer};
use super::api::reply::{self, ApiRefusal, Body};
use super::page;
use super::visitor::{Closed, Stranger};
use crate::domain::{UserId, valid_password};
use crate::wire::api::{FirstPassword, SignIn, SignedIn};

/// The largest body, in bytes.
const MAX_BODY_BYTES: usize = 16 << 10;

const WRONG: &str = "The name or the password is wrong.";
const OVER: &str = "This link does not work any more. Ask for a new one.";

pub(super) fn routes() -> Router<Closed> {
    Router::new()
        .route("/", get(form).post(sign_in))
        .route("/password", post(first_password))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn(reply::json_only))
}

/// The page itself.
async fn form(headers: HeaderMap) -> Response {
    page::sign_in(&headers)
}

async fn sign_in(
    stranger: Stranger,
    parts: Parts,
    Body(SignIn { name, password }): Body<SignIn>,
) -> Result<Response, ApiRefusal> {
    let guard = stranger.guard();
    let (from, now) = (peer(&parts), guard.clock.now());
    if let Some(wait) = guard.access.throttle.wait(&name, from, now) {
        return Ok(later(wait));
    }
    match guard.known_by(stranger.passwords(), &name, password).await? {
        Some(user) => {
            guard.access.throttle.passed(&name);
            welcome(guard, user, &parts.headers).await
        }
        None => {
            guard.access.throttle.failed(&name, from, now);
            tracing::warn!(%from, "somebody was not signed in");
            Err(ApiRefusal::new(StatusCode::UNAUTHORIZED, WRONG))
        }
    }
}

/// Sets the password of the user who holds a link, and signs them in.
async fn first_password(
    stranger: Stranger,
    parts: Parts,
    Body(FirstPassword { secret, password }): Body<FirstPassword>,
) -> Result<Response, ApiRefusal> {
    let guard = stranger.guard();
    let (from, now) = (peer(&parts), guard.clock.now());
    if let Some(wait) = guard.access.throttle.wait("", from, now) {
        return Ok(later(wait));
    }
    valid_password(&password).map_err(ApiRefusal::bad)?;
    match guard.invited_by(stranger.passwords(), &secret, password).await? {
        Some(user) => welcome(guard, user, &parts.headers).await,
        None => {
            guard.access.throttle.failed("", from, now);
            Err(ApiRefusal::new(StatusCode::UNAUTHORIZED, OVER))
        }
    }
}

/// A new session, whatever the browser had before.
async fn welcome(guard: &Guard, user: UserId, headers: &HeaderMap) -> Result<Response, ApiRefusal> {
    let cookie = guard.begin_session(user, headers).await?;
    tracing::info!(%user, "signed in");
    Ok(([(header::SET_COOKIE, cookie)], Json(SignedIn { signed_in: true })).into_response())
}

/// The refusal of a try that comes too soon.
pub(super) fn later(wait: i64) -> Response {
    let minutes = (wait + 59) / 60;
    let told = if minutes == 1 { "a minute".to_owned() } else { format!("{minutes} minutes") };
    let refusal = ApiRefusal::new(StatusCode::TOO_MANY_REQUESTS, format!("Too many tries. Wait {told}, then try again."));
    let mut response = refusal.into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait));
    response
}
