//! Which requests may come in. Loopback is no fence: any page in the user's browser can reach it,
//! and a name server can point any name at it. So each request must name a host of this server, and
//! a browser's request must come from its own page.

mod doors;
mod entering;
mod throttle;
mod tokens;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;

use self::doors::is_door;
use self::entering::{AtTheDoor, OpenDoor};
use self::tokens::{Tokens, WrongTokens};
use crate::clock::Random;
use crate::config::HostName;

pub(super) use self::entering::{CameBy, Guard, SIGN_IN, Visit, peer};
pub(super) use self::throttle::Throttle;
pub(super) use self::tokens::no_cookie;

/// Addresses that need no token: a program that watches over the server need not be trusted with
/// one.
pub(super) const HEALTH: [&str; 2] = ["/healthz", "/readyz"];

/// The ports that an address may leave out: of http and of https.
const UNWRITTEN: [u16; 2] = [80, 443];

/// The address at the other end of the connection.
#[derive(Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

/// The names of the server, and the token that a client must show.
pub struct Access {
    hosts: Vec<HostName>,
    /// The name that opens the doors of Vapi, and no other.
    public: Option<String>,
    /// True if the page may join a room of a call by Vapi.
    daily: bool,
    port: u16,
    tokens: Option<Tokens>,
    wrong: WrongTokens,
    open: OpenDoor,
    pub(super) random: Arc<dyn Random>,
    pub(super) throttle: Throttle,
}

/// The reason for which a request is turned away.
#[derive(Debug, PartialEq)]
struct TurnedAway {
    status: StatusCode,
    why: &'static str,
    /// Seconds after which the client may try again.
    wait: Option<i64>,
}

fn refused(status: StatusCode, why: &'static str) -> TurnedAway {
    TurnedAway { status, why, wait: None }
}

impl Access {
    /// `address` is the one the server really listens on; `secret` is a key that nobody else knows.
    pub fn new(
        address: SocketAddr,
        further_hosts: &[HostName],
        token: Option<&str>,
        secret: &[u8; 32],
        random: Arc<dyn Random>,
    ) -> Self {
        let port = address.port();
        let own = [address.ip().to_canonical().to_string(), "localhost".into(), "127.0.0.1".into(), "[::1]".into()];
        let own =
            own.into_iter().map(|name| if name.contains(':') && !name.starts_with('[') { format!("[{name}]") } else { name });
        let hosts = own.map(|name| HostName { name, port: Some(port) }).chain(further_hosts.iter().cloned()).collect();
        let tokens = token.map(|token| Tokens::new(token, secret, Arc::clone(&random)));
        let (wrong, open, throttle) = (WrongTokens::default(), OpenDoor::default(), Throttle::default());
        Self { hosts, public: None, daily: false, port, tokens, wrong, open, random, throttle }
    }

    /// Opens two doors under this name, and no other, whatever cookie or token comes along: a
    /// tunnel to loopback would hand out the whole server.
    #[must_use]
    pub fn with_public(mut self, name: Option<&HostName>) -> Self {
        self.public = name.map(|name| name.name.clone());
        self
    }

    /// Lets the page's document join rooms of Daily's, if calls by Vapi can be made.
    #[must_use]
    pub fn with_daily(mut self, daily: bool) -> Self {
        self.daily = daily;
        self
    }

    /// An id that was never given before.
    pub(super) fn fresh_id(&self) -> String {
        let mut bytes = [0; 16];
        self.random.fill(&mut bytes);
        hex::encode(bytes)
    }

    /// True if the house has a token of its own.
    pub(super) fn has_token(&self) -> bool {
        self.tokens.is_some()
    }

    /// A name without a port holds for every port.
    fn knows_host(&self, host: &HostName) -> bool {
        let fits = |known: &HostName| match (known.port, host.port) {
            (None, _) => true,
            (Some(known), Some(port)) => known == port,
            (Some(known), None) => UNWRITTEN.contains(&known),
        };
        self.hosts.iter().any(|known| known.name == host.name && fits(known))
    }

    /// True if this server served the page: under the name the page speaks to, or under another
    /// name of ours. A name without a port counts at the usual ports and at our own. A page under
    /// that name at another port is not ours.
    fn knows_origin(&self, origin: &str, host: &HostName) -> bool {
        let (usual, from) = match origin.split_once("://") {
            Some(("http", from)) => (80, from),
            Some(("https", from)) => (443, from),
            _ => return false,
        };
        let Ok(from) = from.parse::<HostName>() else { return false };
        let port = from.port.unwrap_or(usual);
        let fits = |known: &HostName| known.port.map_or(port == usual || port == self.port, |known| known == port);
        let same = from.name == host.name && port == host.port.unwrap_or(usual);
        same || self.hosts.iter().any(|known| known.name == from.name && fits(known))
    }

    /// The reason to turn a request away before its token is looked at.
    fn stranger(&self, request: &Parts) -> Option<TurnedAway> {
        let Parts { method, uri, headers, .. } = request;
        if !readable(uri) {
            return Some(refused(StatusCode::BAD_REQUEST, "the address has characters that no address here has"));
        }
        let host = match single(headers, header::HOST) {
            One::None => return Some(refused(StatusCode::BAD_REQUEST, "the request has no Host header")),
            One::Text(host) => host,
            One::Strange => return Some(refused(StatusCode::BAD_REQUEST, "send one Host header")),
        };
        // Some proxies go by the address and some by the header.
        if uri.authority().is_some_and(|target| !target.as_str().eq_ignore_ascii_case(host)) {
            return Some(refused(StatusCode::BAD_REQUEST, "the address and the Host header name different hosts"));
        }
        let named: Option<HostName> = host.parse().ok();
        if let (Some(public), Some(named)) = (&self.public, &named)
            && public.trim_end_matches('.') == named.name.trim_end_matches('.')
        {
            let opens = *method == Method::POST && is_door(uri.path());
            return (!opens).then(|| refused(StatusCode::NOT_FOUND, "there is nothing here"));
        }
        let Some(host) = named.filter(|host| self.knows_host(host)) else {
            let why = "unknown Host; add the name to LEVEL3_ALLOWED_HOSTS if it is yours";
            return Some(refused(StatusCode::MISDIRECTED_REQUEST, why));
        };
        // Only browsers send Origin, and no page can make them leave it out.
        match single(headers, header::ORIGIN) {
            One::None => {}
            One::Text(origin) if self.knows_origin(origin, &host) => {}
            One::Text(_) => return Some(refused(StatusCode::FORBIDDEN, "requests from other pages are refused")),
            One::Strange => return Some(refused(StatusCode::BAD_REQUEST, "send one Origin header, or none")),
        }
        if from_elsewhere(headers) && !opens_the_page(method, uri, headers) {
            return Some(refused(StatusCode::FORBIDDEN, "requests from other pages are refused"));
        }
        None
    }
}

/// A header that may come once.
enum One<'h> {
    None,
    Text(&'h str),
    /// It came more than once, or is no plain text.
    Strange,
}

fn single(headers: &HeaderMap, name: HeaderName) -> One<'_> {
    let mut all = headers.get_all(name).iter();
    match (all.next().map(HeaderValue::to_str), all.next()) {
        (None, _) => One::None,
        (Some(Ok(text)), None) => One::Text(text),
        _ => One::Strange,
    }
}

/// An address of ours decodes to text without control characters: neither the database nor a log
/// takes one.
fn readable(uri: &Uri) -> bool {
    let written = uri.path_and_query().map_or("", PathAndQuery::as_str);
    percent_decode_str(written).decode_utf8().is_ok_and(|text| !text.contains(char::is_control))
}

/// True if a browser says that another site asks. Browsers say so even without an Origin, for an
/// image, a script or a form. Programs do not.
fn from_elsewhere(headers: &HeaderMap) -> bool {
    headers.get_all("sec-fetch-site").iter().any(|site| site != "same-origin" && site != "none")
}

/// True for a link of another page to ours: that page gets nothing to read by it.
fn opens_the_page(method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
    let is = |name, wanted| headers.get_all(name).iter().all(|value| value == wanted);
    ["/", SIGN_IN].contains(&uri.path())
        && [Method::GET, Method::HEAD].contains(method)
        && headers.contains_key("sec-fetch-mode")
        && is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
}

/// True if a proxy says that the browser speaks https. Only the cookie depends on it: a client that
/// forges it harms only itself.
fn came_by_https(headers: &HeaderMap) -> bool {
    let says = |name: &str, wanted: &[&str]| {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let mut words = values.flat_map(|value| value.split([',', ';'])).map(str::trim);
        words.any(|word| wanted.iter().any(|wanted| word.eq_ignore_ascii_case(wanted)))
    };
    says("x-forwarded-proto", &["https"]) || says("forwarded", &["proto=https", "proto=\"https\""])
}

/// The address without the token, so that nothing behind the guard can write it down.
fn without_token(uri: &Uri) -> Option<Uri> {
    let kept: Vec<_> = uri.query()?.split('&').filter(|pair| !pair.starts_with("token=")).collect();
    let written = if kept.is_empty() { uri.path().to_owned() } else { format!("{}?{}", uri.path(), kept.join("&")) };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(written.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// Turns a request away that may not come in, and gives every answer the headers that keep the page
/// closed.
pub(super) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let (lets_daily_in, path) = (guard.access.daily, parts.uri.path().to_owned());
    let answered = match guard.entry(&parts).await {
        Err(refused) => Err(refused),
        Ok(AtTheDoor::SignIn) => Ok((None, Some(to_sign_in()))),
        Ok(AtTheDoor::Anybody) => Ok((None, None)),
        Ok(AtTheDoor::Visitor(visit, cookie)) => guard.entered(&parts, &visit).await.map(|entered| {
            parts.extensions.insert(visit);
            (cookie, entered)
        }),
    };
    let mut response = match answered {
        Err(refused) => turned_away(parts.uri.path(), &refused),
        Ok((_, Some(answer))) => answer,
        Ok((cookie, None)) => {
            if let Some(uri) = without_token(&parts.uri) {
                parts.uri = uri;
            }
            let mut response = next.run(Request::from_parts(parts, body)).await;
            if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
                // A handler that signs out has set its own.
                response.headers_mut().entry(header::SET_COOKIE).or_insert(cookie);
            }
            response
        }
    };
    if lets_daily_in && ["/", ""].contains(&&*path) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(WITH_DAILY));
    }
    for (name, value) in HEADERS {
        // A stricter header stays.
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// The way to where one signs in.
fn to_sign_in() -> Response {
    ([(header::LOCATION, SIGN_IN), (header::CACHE_CONTROL, "no-store")], StatusCode::SEE_OTHER).into_response()
}

/// The refusal of what is the owner's, in words.
pub(super) fn forbidden(path: &str) -> Response {
    turned_away(
        path,
        &refused(StatusCode::FORBIDDEN, "You don't have permission to do that: it is for the owner of this server."),
    )
}

/// The refusal of a visitor who has not said who they are.
pub(super) fn unknown_visitor(path: &str) -> Response {
    turned_away(path, &refused(StatusCode::UNAUTHORIZED, "sign in at /sign-in first"))
}

/// Each interface has errors of its own form, and its clients read no other.
fn turned_away(path: &str, refused: &TurnedAway) -> Response {
    let TurnedAway { status, why, wait } = *refused;
    let mut response = if path.starts_with("/v1/") {
        super::v1::refusal::turned_away(status, why)
    } else if path.starts_with("/api/") {
        super::api::reply::turned_away(status, why)
    } else {
        (status, why).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some(wait) = wait {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(wait));
    }
    response
}

const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; \
         manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "microphone=(self), camera=()"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
];

/// The policy of the page's document if Vapi can be called: its rooms are Daily's. Daily's reports
/// of errors stay blocked.
const WITH_DAILY: &str = "default-src 'none'; script-src 'self' https://c.daily.co; style-src 'self'; img-src 'self' data:; \
     connect-src 'self' https://*.daily.co wss://*.daily.co https://*.pluot.blue; worker-src 'self' blob:; font-src 'self'; \
     manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[cfg(test)]
mod tests;
