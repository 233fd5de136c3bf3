//! A request that was checked, and what becomes of it when the peer points elsewhere.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use url::Url;

use super::error::Problem;
use super::placeholders::{Encoding, Substitution, UsedSecrets, basic};
use crate::domain::{HttpRequest, METHODS};

/// How many headers a guest may give, and how long they may be together.
const MOST_HEADERS: usize = 64;
const MOST_HEADER_BYTES: usize = 16 * 1024;
/// How long an address may be.
const LONGEST_URL: usize = 8 * 1024;

/// Headers that are ours to set. A guest's are left out without a word, as browsers do: models
/// write them out of habit.
const OURS: [&str; 10] = [
    "host",
    "connection",
    "keep-alive",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "accept-encoding",
];
/// Headers by which a server takes one method for another, past the method that was granted. A
/// method or a path in any other header is compared with the grants, see [`Outgoing::claims`].
const DISGUISES: [&str; 3] = ["x-http-method-override", "x-http-method", "x-method-override"];
/// Headers that say where a request comes from, and so name places that it does not go to.
const WHENCE: [HeaderName; 2] = [header::REFERER, header::ORIGIN];
/// Headers that are for one peer only.
const PERSONAL: [HeaderName; 3] = [header::AUTHORIZATION, header::COOKIE, header::PROXY_AUTHORIZATION];
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A request on its way; secrets are not in it yet.
pub(super) struct Outgoing {
    pub(super) method: Method,
    url: Url,
    /// Secrets in the address. Written by the guest: as placeholders; by a peer that redirects: as
    /// values.
    url_secrets: UsedSecrets,
    url_is_guests: bool,
    headers: Vec<Header>,
    body: Option<Body>,
}

#[derive(Clone)]
struct Header {
    name: HeaderName,
    value: String,
    secrets: UsedSecrets,
}

#[derive(Clone)]
struct Body {
    bytes: Bytes,
    secrets: UsedSecrets,
    place: Encoding,
}

impl Outgoing {
    /// Checks a guest's request.
    pub(super) fn new(request: HttpRequest, exchange: &Substitution<'_>, most_body: usize) -> Result<Self, Problem> {
        let method = method(&request.method)?;
        let url = address(&request.url)?;
        let mut written = request.headers;
        if let Some(key) = request.idempotency_key {
            written.retain(|(name, _)| !name.eq_ignore_ascii_case(IDEMPOTENCY_KEY.as_str()));
            written.push((IDEMPOTENCY_KEY.to_string(), key));
        }
        let mut headers = headers(&written, exchange)?;
        for (name, value) in [(header::USER_AGENT, concat!("level3/", env!("CARGO_PKG_VERSION"))), (header::ACCEPT, "*/*")] {
            if !headers.iter().any(|header| header.name == name) {
                headers.push(Header { name, value: value.into(), secrets: UsedSecrets::new() });
            }
        }
        let content_type = headers.iter().find(|header| header.name == header::CONTENT_TYPE).map(|header| &*header.value);
        let place = |body: &[u8]| Encoding::in_body(content_type.unwrap_or_default(), body);
        let body = match request.body {
            Some(bytes) if bytes.len() > most_body => {
                return Err(Problem::RequestTooLarge { what: "the body", size: bytes.len(), most: most_body });
            }
            Some(bytes) => Some(Body { secrets: exchange.used(&bytes), place: place(&bytes), bytes: bytes.into() }),
            None => None,
        };
        let mut url_secrets = exchange.used(url.path().as_bytes());
        url_secrets.extend(exchange.used(url.query().unwrap_or_default().as_bytes()));
        let outgoing = Self { method, url, url_secrets, url_is_guests: true, headers, body };
        match exchange.disguised(outgoing.texts()) {
            Some(secret) => Err(Problem::Secret {
                name: exchange.name(secret).to_owned(),
                host: outgoing.url.host_str().unwrap_or_default().to_owned(),
                why: "the request holds an encoded form of the text that stands for it, and the value is put in for that text alone: \
                      give the text as it is; only the header Authorization may have it in base64, as `Basic ` and btoa(`user:secret`)",
            }),
            None => Ok(outgoing),
        }
    }

    /// Everything in which a placeholder may stand for a value, but `Basic`.
    fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let address = [self.url.path(), self.url.query().unwrap_or_default()].into_iter();
        let headers = self.headers.iter().map(|header| &*header.value).filter(|value| basic(value).is_none());
        address.chain(headers).map(str::as_bytes).chain(self.body.iter().map(|body| &*body.bytes))
    }

    /// The address as it may be shown: with placeholders, unless a peer has written it.
    pub(super) fn shown(&self) -> &Url {
        &self.url
    }

    /// The address as it is asked for.
    pub(super) fn real(&self, exchange: &Substitution<'_>) -> Url {
        let mut real = self.url.clone();
        if self.url_is_guests && !self.url_secrets.is_empty() {
            let fill = |text: &str| String::from_utf8_lossy(&exchange.fill(text.as_bytes(), Encoding::Address)).into_owned();
            real.set_path(&fill(self.url.path()));
            real.set_query(self.url.query().map(fill).as_deref());
        }
        real
    }

    /// Other requests that a server may take this one for, by a header: the header's name, the
    /// method, and the address. Frameworks read a method or a path out of headers of many names, so
    /// the value tells and not the name.
    pub(super) fn claims<'a>(&'a self, real: &'a Url) -> impl Iterator<Item = (&'a str, String, Url)> {
        self.headers.iter().filter(|header| !WHENCE.contains(&header.name)).flat_map(move |header| {
            let (name, value) = (header.name.as_str(), header.value.trim());
            let methods = value.split(',').map(|part| part.trim().to_ascii_uppercase());
            let methods = methods.filter(|method| METHODS.contains(&&**method)).map(move |method| (name, method, real.clone()));
            methods.chain(path_of(value, real).map(|url| (name, self.method.to_string(), url)))
        })
    }

    /// True when only a part of a response is asked for.
    pub(super) fn asks_for_a_part(&self) -> bool {
        self.headers.iter().any(|header| header.name == header::RANGE)
    }

    /// All secrets that would be sent.
    pub(super) fn secrets(&self) -> UsedSecrets {
        let mut secrets = self.url_secrets.clone();
        secrets.extend(self.headers.iter().flat_map(|header| &header.secrets));
        secrets.extend(self.body.iter().flat_map(|body| &body.secrets));
        secrets
    }

    /// The request as it is written to the connection, secrets in it.
    pub(super) fn filled(&self, real: &Url, exchange: &Substitution<'_>) -> Result<hyper::Request<Full<Bytes>>, Problem> {
        let unusable = || Problem::Url { url: short(self.url.as_str()), why: "it holds characters no request can carry" };
        let target = &real[url::Position::BeforePath..url::Position::AfterQuery];
        let host = &real[url::Position::BeforeHost..url::Position::AfterPort];
        let bytes = self.body.as_ref().map(|body| match body.secrets.is_empty() {
            true => body.bytes.clone(),
            false => exchange.fill(&body.bytes, body.place).into_owned().into(),
        });
        let mut request = hyper::Request::builder()
            .method(self.method.clone())
            .uri(target)
            .header(header::HOST, host)
            .header(header::CONNECTION, "close")
            .header(header::ACCEPT_ENCODING, "identity")
            .body(Full::new(bytes.unwrap_or_default()))
            .map_err(|_| unusable())?;
        for header in &self.headers {
            let mut value = HeaderValue::from_bytes(&exchange.fill_header(&header.value)).map_err(|_| Problem::Secret {
                name: header.secrets.iter().map(|secret| exchange.name(*secret)).collect::<Vec<_>>().join(", "),
                host: host.to_owned(),
                why: "its value holds characters no header can carry",
            })?;
            value.set_sensitive(!header.secrets.is_empty());
            request.headers_mut().append(header.name.clone(), value);
        }
        Ok(request)
    }

    /// The request that follows a redirect; `real` is the address that answered with it.
    pub(super) fn redirected(
        self,
        real: &Url,
        status: StatusCode,
        location: &HeaderValue,
        exchange: &Substitution<'_>,
    ) -> Result<Self, Problem> {
        let bad = || Problem::BadRedirect { host: real.host_str().unwrap_or_default().to_owned() };
        let location = std::str::from_utf8(location.as_bytes()).map_err(|_| bad())?;
        let url = real.join(location).map_err(|_| bad()).and_then(|url| usable(url).map_err(|_| bad()))?;
        let Self { mut method, mut headers, mut body, .. } = self;
        let becomes_get = match status {
            StatusCode::SEE_OTHER => method != Method::GET && method != Method::HEAD,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => method == Method::POST,
            _ => false,
        };
        if becomes_get {
            method = Method::GET;
            body = None;
            headers.retain(|header| !header.name.as_str().starts_with("content-") && header.name != IDEMPOTENCY_KEY);
        }
        if url.origin() != real.origin() {
            headers.retain(|header| header.secrets.is_empty() && !PERSONAL.contains(&header.name));
            if let Some(secret) = body.as_ref().and_then(|body| body.secrets.first()) {
                return Err(Problem::Secret {
                    name: exchange.name(*secret).to_owned(),
                    host: url.host_str().unwrap_or_default().to_owned(),
                    why: "it is in the body, and the peer redirects the body to another place",
                });
            }
        }
        // A peer that knows the value may lead it on, for example out of `?next=`.
        // Parsing makes hosts small and takes line ends out, so both forms are searched.
        let mut url_secrets = exchange.values_in(url.as_str());
        url_secrets.extend(exchange.values_in(location));
        Ok(Self { method, url, url_secrets, url_is_guests: false, headers, body })
    }
}

fn method(written: &str) -> Result<Method, Problem> {
    let refused = || Problem::Method(short(written));
    let method = Method::from_bytes(written.to_ascii_uppercase().as_bytes()).map_err(|_| refused())?;
    match method.as_str() {
        // CONNECT makes a tunnel; TRACE sends back what only the peer should see.
        "CONNECT" | "TRACE" | "TRACK" => Err(refused()),
        known if known.len() > 20 => Err(refused()),
        _ => Ok(method),
    }
}

fn address(written: &str) -> Result<Url, Problem> {
    if written.len() > LONGEST_URL {
        return Err(Problem::RequestTooLarge { what: "the address", size: written.len(), most: LONGEST_URL });
    }
    let wrong = |why| Problem::Url { url: short(written), why };
    let url = Url::parse(written).map_err(|_| wrong("expected one like https://api.example.com/path"))?;
    usable(url).map_err(wrong)
}

/// The address without its fragment, when requests can go there.
fn usable(mut url: Url) -> Result<Url, &'static str> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err("only https and http can be used");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it carries a user name or a password; put them into the header Authorization");
    }
    if url.port() == Some(0) {
        return Err("nothing listens on port 0");
    }
    url.set_fragment(None);
    Ok(url)
}

/// The address with another path, if a header's value is a path or an address of the same host.
fn path_of(value: &str, real: &Url) -> Option<Url> {
    let absolute = Url::parse(value).ok().filter(|url| url.host().is_some() && url.host() == real.host());
    let path = match &absolute {
        Some(url) => url.path(),
        None => value.split(['?', '#']).next().filter(|path| path.starts_with(['/', '\\']))?,
    };
    let mut url = real.clone();
    url.set_path(path);
    Some(url)
}

fn headers(written: &[(String, String)], exchange: &Substitution<'_>) -> Result<Vec<Header>, Problem> {
    if written.len() > MOST_HEADERS {
        return Err(Problem::RequestTooLarge { what: "the number of headers", size: written.len(), most: MOST_HEADERS });
    }
    let size = written.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > MOST_HEADER_BYTES {
        return Err(Problem::RequestTooLarge { what: "all headers together", size, most: MOST_HEADER_BYTES });
    }
    let mut headers = Vec::new();
    for (name, value) in written {
        let wrong = |why| Problem::Header { name: short(name), why };
        let name: HeaderName = name.parse().map_err(|_| wrong("its name holds characters no header's name has"))?;
        // Servers that make variables of headers do not tell these names apart.
        let read = name.as_str().replace('_', "-");
        if OURS.contains(&&*read) || read.starts_with("proxy-") {
            continue;
        }
        if DISGUISES.contains(&&*read) {
            return Err(wrong("it would change the method after it was checked; use that method itself"));
        }
        HeaderValue::from_str(value)
            .or_else(|_| HeaderValue::from_bytes(value.as_bytes()))
            .map_err(|_| wrong("its value holds a line end or another control character"))?;
        headers.push(Header { name, value: value.clone(), secrets: exchange.used_in_header(value) });
    }
    Ok(headers)
}

/// The beginning of a text that somebody else wrote, for a sentence.
fn short(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
