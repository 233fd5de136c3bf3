//! A request after Host and Origin: its user comes in by the token of the house, by a session or a
//! token of a user, or because nobody else has an account here.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, TimeDelta, Utc};

use super::doors::is_door;
use super::tokens::{Credentials, Wrong, session_cookie, token_in};
use super::{Access, HEALTH, Peer, TurnedAway, came_by_https, refused};
use crate::clock::Clock;
use crate::config::HostName;
use crate::domain::UserId;
use crate::faces::voice::KnownCall;
use crate::http::page;
use crate::http::passwords::Passwords;
use crate::store::{DoorSecret, Recognized, Store, StoreError};
use crate::telemetry::Metrics;

/// The address at which one signs in; what stands below it belongs to that.
pub(in crate::http) const SIGN_IN: &str = "/sign-in";

/// All that the guard needs besides the request.
#[derive(Clone)]
pub(in crate::http) struct Guard {
    pub(in crate::http) access: Arc<Access>,
    pub(in crate::http) clock: Arc<dyn Clock>,
    // The whole house: nobody gets at it through the guard.
    store: Store,
    metrics: Metrics,
}

/// How a visitor came in.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::http) enum CameBy {
    /// Nobody else has an account, and no password is set.
    Open,
    /// With the token of the house.
    HouseToken,
    /// With a session of theirs.
    Session(i64),
    /// With a token of theirs.
    Token,
    /// By a call that Vapi makes for them.
    Call,
}

/// A user who came in, and by what.
#[derive(Clone, Debug)]
pub(in crate::http) struct Visit {
    pub(in crate::http) user: UserId,
    pub(in crate::http) entered: CameBy,
    sessions: Vec<DoorSecret>,
    tokens: Vec<DoorSecret>,
}

impl Visit {
    /// The person of a call, for as long as one request of Vapi's.
    pub(in crate::http) fn in_call(known: &KnownCall) -> Self {
        Self::of(known.call().user, CameBy::Call)
    }

    fn of(user: UserId, entered: CameBy) -> Self {
        Self { user, entered, sessions: Vec::new(), tokens: Vec::new() }
    }
}

/// So long the database's word that the door stands open is believed. A server that cannot speak to
/// others may have closed it.
const BELIEVED: TimeDelta = TimeDelta::seconds(1);

/// The last word of the database that the door stands open: the time, and the count of changes
/// then.
#[derive(Default)]
pub(super) struct OpenDoor(Mutex<Option<(u64, DateTime<Utc>)>>);

impl OpenDoor {
    pub(super) fn as_of(&self, changes: u64, now: DateTime<Utc>) -> bool {
        let learned = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        learned.is_some_and(|(count, at)| count == changes && (at..at + BELIEVED).contains(&now))
    }

    pub(super) fn learn(&self, changes: u64, now: DateTime<Utc>, open: bool) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = open.then_some((changes, now));
    }
}

/// The decision of the guard.
pub(super) enum AtTheDoor {
    /// This address is for anybody.
    Anybody,
    /// A user; the cookie, if the browser is to have one that lasts longer.
    Visitor(Visit, Option<String>),
    /// Somebody who has to sign in first, and can.
    SignIn,
}

/// True for an address that asks nobody who they are.
fn is_for_anybody(path: &str) -> bool {
    HEALTH.contains(&path) || path == SIGN_IN || path == "/sign-in/password" || page::is_of_sign_in(path) || is_door(path)
}

impl Guard {
    pub(in crate::http) fn new(access: Arc<Access>, store: Store, clock: Arc<dyn Clock>, metrics: Metrics) -> Self {
        Self { access, clock, store, metrics }
    }

    /// Finds out who comes in, or the reason to turn them away.
    pub(super) async fn entry(&self, request: &Parts) -> Result<AtTheDoor, TurnedAway> {
        if let Some(refused) = self.access.stranger(request) {
            return Err(refused);
        }
        let path = request.uri.path();
        if is_for_anybody(path) {
            return Ok(AtTheDoor::Anybody);
        }
        let now = self.clock.now();
        let shown = Credentials::of(&request.headers, request.uri.query().unwrap_or_default());
        let closed = self.access.tokens.as_ref();
        if closed.is_some_and(|tokens| tokens.opens(&shown, now)) {
            return Ok(AtTheDoor::Visitor(Visit::of(UserId::OWNER, CameBy::HouseToken), None));
        }
        let changes = self.store.signals().user_changes();
        // While nobody has an account, hardly anything is asked of the database. Beside another
        // server it is asked each time, and so it is while none could be heard.
        let alone = self.store.signals().is_alone();
        if closed.is_none() && alone && self.access.open.as_of(changes, now) {
            return Ok(AtTheDoor::Visitor(Visit::of(UserId::OWNER, CameBy::Open), None));
        }
        let (sessions, tokens) = (shown.sessions(), shown.user_tokens());
        let who = self.store.who_is(&sessions, &tokens, now).await.map_err(|error| unanswered(&error))?;
        self.access.open.learn(changes, now, who.open && alone);
        if let Some(Recognized { user, session, prolonged }) = who.found {
            let cookie =
                sessions.first().filter(|_| prolonged).map(|secret| session_cookie(secret, self.secure(&request.headers)));
            let entered = session.map_or(CameBy::Token, CameBy::Session);
            return Ok(AtTheDoor::Visitor(Visit { user, entered, sessions, tokens }, cookie));
        }
        if who.open && closed.is_none() {
            return Ok(AtTheDoor::Visitor(Visit::of(UserId::OWNER, CameBy::Open), None));
        }
        if shown.shows_token()
            && let Some(wait) = self.wrong(peer(request), now)
        {
            let why = "too many wrong tokens came from this address; try again later, with the right one (LEVEL3_TOKEN)";
            return Err(TurnedAway { wait: Some(wait), ..refused(StatusCode::TOO_MANY_REQUESTS, why) });
        }
        if who.sign_in && path == "/" && [Method::GET, Method::HEAD].contains(&request.method) {
            return Ok(AtTheDoor::SignIn);
        }
        Err(refused(
            StatusCode::UNAUTHORIZED,
            match who.sign_in {
                true => "sign in at /sign-in, or send Authorization: Bearer … with a token of yours (or with LEVEL3_TOKEN)",
                false => {
                    "open the page as /?token=… once, or send Authorization: Bearer …, with LEVEL3_TOKEN, or with the words of the file \
                     `token` if Relay has started this server"
                }
            },
        ))
    }

    /// True if the visitor would still come in as the same.
    pub(in crate::http) async fn still_opens(&self, visit: &Visit) -> Result<bool, StoreError> {
        if visit.entered == CameBy::HouseToken {
            return Ok(true);
        }
        let who = self.store.who_is(&visit.sessions, &visit.tokens, self.clock.now()).await?;
        Ok(match visit.entered {
            CameBy::Open => who.open,
            _ => who.found.is_some_and(|found| found.user == visit.user),
        })
    }

    /// Counts and logs a wrong token. If there were too many, gives the seconds until the server
    /// looks at the next one.
    fn wrong(&self, from: IpAddr, now: DateTime<Utc>) -> Option<i64> {
        self.metrics.wrong_token();
        match self.access.wrong.count(from, now) {
            Wrong::Refused => {
                tracing::warn!(%from, "a wrong token was shown");
                None
            }
            Wrong::TooMany(wait, first) => {
                // A stranger must not be able to fill the log.
                if first {
                    tracing::warn!(%from, "too many wrong tokens were shown; further ones of this minute are counted and not logged");
                }
                Some(wait)
            }
        }
    }

    /// Moves the token out of the address, which stays in the browser's history, and sets a cookie
    /// that does not hold it.
    pub(super) async fn entered(&self, request: &Parts, visit: &Visit) -> Result<Option<Response>, TurnedAway> {
        let shown = request.uri.query().and_then(token_in).filter(|_| request.uri.path() == "/");
        if shown.is_none() {
            return Ok(None);
        }
        let now = self.clock.now();
        let cookie = match (&visit.entered, &self.access.tokens) {
            (CameBy::HouseToken, Some(tokens)) => tokens.cookie(came_by_https(&request.headers), now),
            (CameBy::Token, _) => self.begin_session(visit.user, &request.headers).await.map_err(|error| unanswered(&error))?,
            _ => return Ok(None),
        };
        let headers =
            [(header::SET_COOKIE, cookie), (header::LOCATION, "/".to_owned()), (header::CACHE_CONTROL, "no-store".to_owned())];
        Ok(Some((headers, StatusCode::SEE_OTHER).into_response()))
    }

    /// The user of this name, if this is their password. For a name that nobody has it takes as
    /// long.
    pub(in crate::http) async fn known_by(
        &self,
        passwords: &Passwords,
        name: &str,
        password: String,
    ) -> Result<Option<UserId>, StoreError> {
        let coming = self.store.on_the_way_in(name).await?;
        let (user, hash) = coming.map_or((None, None), |coming| (Some(coming.user), coming.hash));
        let is_right = passwords.is_right(password, hash).await;
        Ok(user.filter(|_| is_right))
    }

    /// The user whose link has this secret, who has this password from now on; `None` if it does
    /// not work.
    pub(in crate::http) async fn invited_by(
        &self,
        passwords: &Passwords,
        secret: &str,
        password: String,
    ) -> Result<Option<UserId>, StoreError> {
        let Some(secret) = DoorSecret::read(secret) else { return Ok(None) };
        // Nobody makes the server hash without a link that works.
        if !self.store.is_invited(&secret, self.clock.now()).await? {
            return Ok(None);
        }
        let hash = passwords.hash(password).await;
        self.store.use_invitation(&secret, &hash, self.clock.now()).await
    }

    /// Begins a session of a user, in the browser that asks; gives the header that sets its cookie.
    pub(in crate::http) async fn begin_session(&self, user: UserId, headers: &HeaderMap) -> Result<String, StoreError> {
        let secret = DoorSecret::new(&*self.access.random);
        let client = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or("a program");
        let client: String = client.chars().take(LONGEST_CLIENT).collect();
        self.store.begin_session(user, &secret, &client, self.clock.now()).await?;
        Ok(session_cookie(&secret, self.secure(headers)))
    }

    /// True if the cookie of a session may travel encrypted only: everywhere but on this machine
    /// itself.
    pub(in crate::http) fn secure(&self, headers: &HeaderMap) -> bool {
        came_by_https(headers) || !names_this_machine(headers)
    }
}

/// The most characters of a browser's own words about itself that are kept.
const LONGEST_CLIENT: usize = 200;

/// True if the client speaks to this machine by a name that no other machine has.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()?.parse::<HostName>().ok());
    host.is_some_and(|host| {
        let name = host.name.trim_start_matches('[').trim_end_matches(']');
        name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
    })
}

/// The address at the other end.
pub(in crate::http) fn peer(request: &Parts) -> IpAddr {
    request.extensions.get::<Peer>().map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |Peer(peer)| peer.ip())
}

fn unanswered(error: &StoreError) -> TurnedAway {
    tracing::warn!(error = error as &dyn std::error::Error, "nobody can be let in");
    refused(StatusCode::SERVICE_UNAVAILABLE, "the database does not answer; try again")
}
