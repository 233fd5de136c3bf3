//! The user who asks: who they are here, their password, and the browsers in which they are signed
//! in.

use axum::Json;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::reply::{ApiRefusal, At, Body, Reply};
use crate::domain::valid_password;
use crate::http::access::{CameBy, no_cookie, peer};
use crate::http::sign_in::later;
use crate::http::visitor::Visitor;
use crate::wire::api::{ChangeMe, ChangeUser, EndedSession, Me, OpenSessions, PasswordSet, SetPassword, SignedOut};

pub(super) async fn show(visitor: Visitor) -> Reply<Me> {
    let user = visitor.theirs().me().await?;
    Ok(Json(Me { user, signed_in: session(&visitor).is_some() }))
}

pub(super) async fn change(visitor: Visitor, Body(change): Body<ChangeMe>) -> Reply<Me> {
    let ChangeMe { display_name, time_zone } = change;
    visitor.theirs().change_me(ChangeUser { display_name, time_zone, ..ChangeUser::default() }, visitor.now()).await?;
    show(visitor).await
}

/// Sets one's own password. A user who has one says it first: a browser that was left open must not
/// lock its user out.
pub(super) async fn set_password(
    visitor: Visitor,
    parts: Parts,
    Body(SetPassword { password, current }): Body<SetPassword>,
) -> Result<Response, ApiRefusal> {
    valid_password(&password).map_err(ApiRefusal::bad)?;
    let theirs = visitor.theirs();
    // The token of the house opens the house, so its holder may have forgotten the password.
    let known = if *visitor.entered() == CameBy::HouseToken { None } else { theirs.password_hash().await? };
    if known.is_some() {
        // As at the door: whoever sits down at an open browser may not guess for long.
        let (name, from, now, throttle) =
            (theirs.me().await?.name, peer(&parts), visitor.now(), &visitor.guard().access.throttle);
        if let Some(wait) = throttle.wait(&name, from, now) {
            return Ok(later(wait));
        }
        if !visitor.passwords().is_right(current.unwrap_or_default(), known).await {
            throttle.failed(&name, from, now);
            return Err(ApiRefusal::new(StatusCode::FORBIDDEN, "`current` is not the password that you have"));
        }
    }
    let hash = visitor.passwords().hash(password).await;
    theirs.set_password(&hash, session(&visitor)).await?;
    let done = Json(PasswordSet { set: true });
    if *visitor.entered() != CameBy::Open {
        return Ok(done.into_response());
    }
    // From now on one has to sign in: whoever set the first password is.
    let cookie = visitor.guard().begin_session(visitor.user(), &parts.headers).await?;
    Ok(([(header::SET_COOKIE, cookie)], done).into_response())
}

pub(super) async fn sessions(visitor: Visitor) -> Reply<OpenSessions> {
    let sessions = visitor.theirs().sessions(session(&visitor), visitor.now()).await?;
    Ok(Json(OpenSessions { sessions }))
}

pub(super) async fn end_session(visitor: Visitor, At(id): At<i64>) -> Reply<EndedSession> {
    if !visitor.theirs().end_session(id).await? {
        return Err(ApiRefusal::unknown(format!("there is no session {id}")));
    }
    Ok(Json(EndedSession { ended: id }))
}

/// Ends the session by which the request came in, and takes the cookie from the browser.
pub(super) async fn sign_out(visitor: Visitor, headers: HeaderMap) -> Result<Response, ApiRefusal> {
    if let Some(session) = session(&visitor) {
        visitor.theirs().end_session(session).await?;
    }
    let cookie = no_cookie(visitor.guard().secure(&headers));
    Ok(([(header::SET_COOKIE, cookie)], Json(SignedOut { signed_out: true })).into_response())
}

/// The session by which the visitor came in, if they signed in.
fn session(visitor: &Visitor) -> Option<i64> {
    match visitor.entered() {
        CameBy::Session(session) => Some(*session),
        CameBy::Open | CameBy::HouseToken | CameBy::Token | CameBy::Call => None,
    }
}
