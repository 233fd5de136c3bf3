//! Who may come in. Loopback is no fence: any page in the user's browser can reach it, and a name server can point any name at it. So
//! each request must name a host we go by, and a browser's request must come from our own page.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

const COOKIE: &str = "level3_token";

/// The names the server goes by, and the token a client must show.
pub struct Access {
    hosts: Vec<String>,
    token: Option<String>,
}

impl Access {
    /// `address` is where the server really listens.
    pub fn new(address: SocketAddr, further_hosts: &[String], token: Option<String>) -> Self {
        let port = address.port();
        let mut hosts = vec![address.to_string()];
        for name in ["localhost", "127.0.0.1", "[::1]"] {
            hosts.push(format!("{name}:{port}"));
        }
        if port == 80 {
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        }
        for host in further_hosts {
            hosts.extend([host.clone(), format!("{host}:{port}")]);
        }
        Self { hosts, token }
    }

    fn knows_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
    }

    /// Why a request is turned away, or `None`.
    fn refusal(&self, headers: &HeaderMap, query: &str) -> Option<(StatusCode, &'static str)> {
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let Some(host) = text(header::HOST) else {
            return Some((StatusCode::BAD_REQUEST, "the request has no Host header"));
        };
        if !self.knows_host(host) {
            return Some((StatusCode::MISDIRECTED_REQUEST, "unknown Host; add the name to LEVEL3_ALLOWED_HOSTS if it is yours"));
        }
        // Only browsers send Origin, and they cannot be told by a page to leave it out.
        if headers.contains_key(header::ORIGIN) {
            let from = text(header::ORIGIN).and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
            if !from.is_some_and(|host| self.knows_host(host)) {
                return Some((StatusCode::FORBIDDEN, "requests from other pages are refused"));
            }
        }
        if self.token.as_ref().is_some_and(|token| !shows(token, headers, query)) {
            return Some((
                StatusCode::UNAUTHORIZED,
                "open the page as /?token=… once, or send Authorization: Bearer … (LEVEL3_TOKEN)",
            ));
        }
        None
    }
}

fn shows(token: &str, headers: &HeaderMap, query: &str) -> bool {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let cookie = cookies.flat_map(|cookies| cookies.split("; ")).find_map(|pair| pair.strip_prefix(COOKIE)?.strip_prefix('='));
    [bearer, cookie, token_in(query)].into_iter().flatten().any(|shown| same(shown, token))
}

fn token_in(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Compares without telling by its duration how much was right.
fn same(shown: &str, token: &str) -> bool {
    use sha2::{Digest, Sha256};
    Sha256::digest(shown) == Sha256::digest(token)
}

/// Turns away what may not come in, and gives every answer the headers that keep the page closed.
pub(super) async fn guard(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let mut response = match access.refusal(request.headers(), query) {
        // Clients of OpenAI's interface read errors in its form only.
        Some((status, why)) if request.uri().path().starts_with("/v1/") => super::v1::turned_away(status, why),
        Some(refusal) => refusal.into_response(),
        // The token moves from the address, where it would stay in the history, into a cookie.
        None => match (&access.token, token_in(query)) {
            (Some(token), Some(_)) if request.uri().path() == "/" => {
                let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/");
                ([(header::SET_COOKIE, cookie), (header::LOCATION, "/".to_owned())], StatusCode::SEE_OTHER).into_response()
            }
            _ => next.run(request).await,
        },
    };
    for (name, value) in HEADERS {
        // What is stricter already stays so.
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

const HEADERS: [(header::HeaderName, &str); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn access(token: Option<&str>) -> Access {
        Access::new("127.0.0.1:8000".parse().unwrap(), &["box.lan".to_owned()], token.map(str::to_owned))
    }

    fn status(access: &Access, headers: &[(&'static str, &str)], query: &str) -> Option<u16> {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        access.refusal(&headers, query).map(|(status, _)| status.as_u16())
    }

    #[test]
    fn only_hosts_we_go_by_come_in() {
        for host in ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000", "box.lan", "box.lan:8000"] {
            assert_eq!(status(&access(None), &[("host", host)], ""), None, "{host}");
        }
        for host in ["evil.example", "127.0.0.1", "127.0.0.1:8001", "localhost.evil.example:8000", ""] {
            assert_eq!(status(&access(None), &[("host", host)], ""), Some(421), "{host}");
        }
        assert_eq!(status(&access(None), &[], ""), Some(400));
    }

    #[test]
    fn other_pages_are_refused() {
        let from = |origin| status(&access(None), &[("host", "localhost:8000"), ("origin", origin)], "");
        assert_eq!(from("http://localhost:8000"), None);
        for origin in ["http://evil.example", "null", "", "http://localhost:3000", "file://"] {
            assert_eq!(from(origin), Some(403), "{origin}");
        }
    }

    #[test]
    fn a_token_is_taken_from_header_cookie_or_address() {
        let access = access(Some("s3cret"));
        let host = ("host", "localhost:8000");
        assert_eq!(status(&access, &[host], ""), Some(401));
        assert_eq!(status(&access, &[host, ("authorization", "Bearer wrong")], ""), Some(401));
        assert_eq!(status(&access, &[host, ("authorization", "Bearer s3cret")], ""), None);
        assert_eq!(status(&access, &[host, ("cookie", "a=b; level3_token=s3cret")], ""), None);
        assert_eq!(status(&access, &[host], "token=s3cret"), None);
    }
}
