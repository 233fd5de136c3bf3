//! Which requests may come in. Loopback is no fence: any page in the user's browser can reach it,
//! and a name server can point any name at it. So each request must name a host of this server, and
//! a browser's request must come from its own page.

mod tokens;

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use percent_encoding::percent_decode_str;

use self::tokens::{Credential, Tokens, Wrong, token_in};
use crate::clock::{Clock, Random};
use crate::config::HostName;
use crate::telemetry::Metrics;

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
    port: u16,
    tokens: Option<Tokens>,
}

/// All that the guard needs besides the request.
#[derive(Clone)]
pub(super) struct Guard {
    pub(super) access: Arc<Access>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) metrics: Metrics,
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
        Self { hosts, port, tokens: token.map(|token| Tokens::new(token, secret, random)) }
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
        let Some(host) = host.parse().ok().filter(|host| self.knows_host(host)) else {
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

impl Guard {
    /// The reason to turn a request away, or `None`.
    fn refusal(&self, request: &Parts) -> Option<TurnedAway> {
        if let Some(refused) = self.access.stranger(request) {
            return Some(refused);
        }
        let tokens = self.access.tokens.as_ref()?;
        if HEALTH.contains(&request.uri.path()) {
            return None;
        }
        let now = self.clock.now();
        match tokens.shown(&request.headers, request.uri.query().unwrap_or_default(), now) {
            Credential::Right => return None,
            Credential::Nothing => {}
            Credential::Wrong => {
                let peer = request.extensions.get::<Peer>().map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |Peer(peer)| peer.ip());
                if let Some(wait) = self.wrong(tokens, peer, now) {
                    let why = "too many wrong tokens came from this address; try again later, with the right one (LEVEL3_TOKEN)";
                    return Some(TurnedAway { wait: Some(wait), ..refused(StatusCode::TOO_MANY_REQUESTS, why) });
                }
            }
        }
        let why = "open the page as /?token=… once, or send Authorization: Bearer … (LEVEL3_TOKEN)";
        Some(refused(StatusCode::UNAUTHORIZED, why))
    }

    /// Counts and logs a wrong token. If there were too many, gives the seconds until the server
    /// looks at the next one.
    fn wrong(&self, tokens: &Tokens, from: IpAddr, now: DateTime<Utc>) -> Option<i64> {
        self.metrics.wrong_token();
        match tokens.count_wrong(from, now) {
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
    fn entered(&self, request: &Parts) -> Option<Response> {
        let tokens = self.access.tokens.as_ref()?;
        token_in(request.uri.query()?).filter(|_| request.uri.path() == "/")?;
        let cookie = tokens.cookie(came_by_https(&request.headers), self.clock.now());
        let headers =
            [(header::SET_COOKIE, cookie), (header::LOCATION, "/".to_owned()), (header::CACHE_CONTROL, "no-store".to_owned())];
        Some((headers, StatusCode::SEE_OTHER).into_response())
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
    uri.path() == "/"
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
    let mut response = match guard.refusal(&parts) {
        Some(refused) => turned_away(parts.uri.path(), &refused),
        None => match guard.entered(&parts) {
            Some(entered) => entered,
            None => {
                if let Some(uri) = without_token(&parts.uri) {
                    parts.uri = uri;
                }
                next.run(Request::from_parts(parts, body)).await
            }
        },
    };
    for (name, value) in HEADERS {
        // A stricter header stays.
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Each interface has errors of its own form, and its clients read no other.
fn turned_away(path: &str, refused: &TurnedAway) -> Response {
    let TurnedAway { status, why, wait } = *refused;
    let mut response = if path.starts_with("/v1/") {
        super::v1::turned_away(status, why)
    } else if path.starts_with("/api/") {
        super::api::turned_away(status, why)
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

const HEADERS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
];

#[cfg(test)]
mod tests;
