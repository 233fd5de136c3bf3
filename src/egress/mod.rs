//! The one way out: every HTTP request of a capability or a tool is made here. Egress checks every
//! hop on the addresses it then connects to, puts secrets in at the last moment, for the hosts they
//! are bound to, bounds the answer, and cleans it of the values of secrets.
//!
//! The model's client is not here: its address is the operator's own. See
//! `docs/adr/0013-one-way-out.md`.

mod connect;
mod error;
mod incoming;
mod outgoing;
mod placeholders;
mod resolve;
mod special;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_RANGE, LOCATION};
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use crate::domain::{HttpGrant, HttpRequest, HttpResponse};
use crate::governor::Permit;
use crate::telemetry::Scrubber;

use connect::{OutgoingConnection, Tls};
use outgoing::Outgoing;
use placeholders::{Substitution, UsedSecrets};
use resolve::KnownPlaces;

pub use error::{EgressError, Problem};
pub use placeholders::Placeholders;
pub use resolve::{Resolve, SystemResolver};

/// How much of a response's head is read, in bytes and headers.
const MOST_HEAD_BYTES: usize = 64 * 1024;
const MOST_HEADERS: usize = 100;

/// How long and how large requests may be.
#[derive(Clone, Copy, Debug)]
pub struct EgressLimits {
    /// For looking a name up, and again for connecting, TLS included.
    pub connect: Duration,
    /// For everything, redirects included.
    pub whole: Duration,
    /// Bytes of a response's body.
    pub response_body: usize,
    /// Bytes of a request's body.
    pub request_body: usize,
    /// Redirects that are followed.
    pub redirects: usize,
}

impl Default for EgressLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            whole: Duration::from_secs(20),
            response_body: 1024 * 1024,
            request_body: 256 * 1024,
            redirects: 5,
        }
    }
}

/// The way out. Clones share everything.
#[derive(Clone)]
pub struct Egress(Arc<Inner>);

struct Inner {
    resolver: Arc<dyn Resolve>,
    allowed: BTreeSet<SocketAddr>,
    /// Names and ports that the operator has set up, and may reach whatever their addresses are.
    own: BTreeSet<(String, u16)>,
    limits: EgressLimits,
    scrubber: Scrubber,
    tls: Tls,
}

impl Egress {
    /// A way out that looks names up with `resolver` and reaches public addresses, and those in
    /// `allowed`, whatever they are.
    pub fn new(resolver: Arc<dyn Resolve>, allowed: BTreeSet<SocketAddr>, limits: EgressLimits, scrubber: Scrubber) -> Self {
        Self(Arc::new(Inner { resolver, allowed, own: BTreeSet::new(), limits, scrubber, tls: Tls::default() }))
    }

    /// As [`Self::new`], with certificates to trust other than the machine's.
    pub fn with_tls(
        resolver: Arc<dyn Resolve>,
        allowed: BTreeSet<SocketAddr>,
        limits: EgressLimits,
        scrubber: Scrubber,
        tls: Arc<rustls::ClientConfig>,
    ) -> Self {
        Self(Arc::new(Inner { resolver, allowed, own: BTreeSet::new(), limits, scrubber, tls: Tls::with(tls) }))
    }

    /// A way out to places that the operator has set up, whatever their addresses are. The requests
    /// are the program's own.
    #[must_use]
    pub fn to_own(&self, places: &[&Url], limits: EgressLimits) -> Self {
        let Inner { resolver, allowed, scrubber, tls, .. } = &*self.0;
        let place = |url: &&Url| Some((url.host_str()?.to_owned(), url.port_or_known_default()?));
        let own = places.iter().filter_map(place).collect();
        let (resolver, allowed, scrubber, tls) = (Arc::clone(resolver), allowed.clone(), scrubber.clone(), tls.clone());
        Self(Arc::new(Inner { resolver, allowed, own, limits, scrubber, tls }))
    }

    /// The sentence with which all requests to a host are refused, if its address says so by
    /// itself. No name is looked up: its name server would hear of it before anybody has allowed
    /// that.
    pub fn refuses(&self, host: &HttpGrant) -> Option<String> {
        let url = Url::parse(&format!("{}://{}", host.scheme.as_str(), host.binding())).ok()?;
        resolve::refused_at_sight(self.0.known(), &url).map(|problem| problem.to_string())
    }

    /// Makes a request and follows its redirects. `grants` names the hosts it may reach, and is
    /// asked again for every hop.
    ///
    /// # Errors
    /// When it was refused, failed, or its response is too long; [`EgressError::may_have_arrived`]
    /// tells whether a peer may have acted.
    pub async fn send(
        &self,
        permit: &Permit,
        request: HttpRequest,
        grants: &BTreeSet<HttpGrant>,
        secrets: &Placeholders,
    ) -> Result<HttpResponse, EgressError> {
        let outcome = self.made(request, grants, secrets).await;
        match &outcome {
            Ok(response) => {
                tracing::debug!(call = %permit.call(), status = response.status, url = response.url, "request answered")
            }
            Err(error) => tracing::debug!(call = %permit.call(), problem = %error.problem(), "request failed"),
        }
        outcome
    }

    /// Tells a peer that the operator set up something. No call asks for it, so there is no permit,
    /// and no secret.
    ///
    /// # Errors
    /// As [`Egress::send`].
    pub async fn tell(&self, request: HttpRequest, grants: &BTreeSet<HttpGrant>) -> Result<HttpResponse, EgressError> {
        self.made(request, grants, &Placeholders::default()).await
    }

    /// As [`Egress::tell`], with secrets that the operator has named for that peer.
    ///
    /// # Errors
    /// As [`Egress::send`].
    pub async fn ask(
        &self,
        request: HttpRequest,
        grants: &BTreeSet<HttpGrant>,
        secrets: &Placeholders,
    ) -> Result<HttpResponse, EgressError> {
        self.made(request, grants, secrets).await
    }

    async fn made(
        &self,
        request: HttpRequest,
        grants: &BTreeSet<HttpGrant>,
        secrets: &Placeholders,
    ) -> Result<HttpResponse, EgressError> {
        let (sent, exchange, whole) = (AtomicBool::new(false), secrets.ready(), self.0.limits.whole);
        let outcome = tokio::time::timeout(whole, self.0.follow(request, grants, &exchange, &sent)).await;
        let outcome = outcome.unwrap_or(Err(Problem::Slow(whole))).map_err(|problem| {
            // A peer has a say in some of the words: in the host it redirects to, for example.
            let scrubbers = [self.0.scrubber.clone(), exchange.scrubber(&exchange.all())];
            problem.without(&scrubbers)
        });
        outcome.map_err(|problem| EgressError::new(problem, sent.load(Ordering::Relaxed)))
    }
}

impl Inner {
    /// The places that the operator knows.
    fn known(&self) -> KnownPlaces<'_> {
        KnownPlaces { allowed: &self.allowed, own: &self.own }
    }

    async fn follow(
        &self,
        request: HttpRequest,
        grants: &BTreeSet<HttpGrant>,
        exchange: &Substitution<'_>,
        sent: &AtomicBool,
    ) -> Result<HttpResponse, Problem> {
        let mut outgoing = Outgoing::new(request, exchange, self.limits.request_body)?;
        let mut used = UsedSecrets::new();
        for _ in 0..=self.limits.redirects {
            let secrets = outgoing.secrets();
            used.extend(&secrets);
            let real = outgoing.real(exchange);
            granted(&outgoing, &real, grants)?;
            // A value that is read piece by piece is recognised by nobody. A peer that knows it may
            // have it from another request.
            let host = real.host_str().unwrap_or_default();
            let secret = used.first().copied().or_else(|| exchange.bound_to(&real));
            let part = || Some(Problem::Part { host: host.to_owned(), name: exchange.name(secret?).to_owned() });
            if let Some(part) = part().filter(|_| outgoing.asks_for_a_part()) {
                return Err(part);
            }
            let addresses = self.checked(&real, &secrets, exchange).await?;
            let request = outgoing.filled(&real, exchange)?;
            let connection = connect::connect(&addresses, &real, &self.tls, self.limits.connect).await?;
            let response = match connection {
                OutgoingConnection::Plain(stream) => exchange_on(stream, request, sent).await,
                OutgoingConnection::Tls(stream) => exchange_on(*stream, request, sent).await,
            };
            let (response, _connection) = response.map_err(|source| Problem::Broken { host: host.to_owned(), source })?;
            match response.headers().get(LOCATION) {
                Some(location) if is_redirect(response.status()) => {
                    outgoing = outgoing.redirected(&real, response.status(), location, exchange)?;
                }
                _ => {
                    // A peer may send a part although the guest asked for the whole.
                    if let Some(part) = part().filter(|_| is_part(&response)) {
                        return Err(part);
                    }
                    let scrubbers = [self.scrubber.clone(), exchange.scrubber(&used)];
                    return incoming::read(response, host, outgoing.shown(), &scrubbers, self.limits.response_body).await;
                }
            }
        }
        Err(Problem::Redirects(self.limits.redirects))
    }

    /// The addresses to connect to, when the host may be reached, and may be told these secrets.
    async fn checked(&self, real: &Url, secrets: &UsedSecrets, exchange: &Substitution<'_>) -> Result<Vec<SocketAddr>, Problem> {
        let host = real.host_str().unwrap_or_default();
        let refused = |secret: usize, why| Problem::Secret { name: exchange.name(secret).into(), host: host.into(), why };
        if let Some(secret) = secrets.iter().find(|secret| !exchange.is_bound_to(**secret, real)) {
            return Err(refused(*secret, "it is bound to other hosts"));
        }
        let found = resolve::resolve(&*self.resolver, self.known(), real);
        let found = tokio::time::timeout(self.limits.connect, found).await.unwrap_or_else(|_| {
            let source = std::io::Error::new(std::io::ErrorKind::TimedOut, "the name server did not answer in time");
            Err(Problem::Lookup { host: host.to_owned(), source })
        })?;
        match secrets.first() {
            Some(secret) if real.scheme() != "https" && !found.by_operator => {
                Err(refused(*secret, "http is not encrypted; use https"))
            }
            _ => Ok(found.addresses),
        }
    }
}

/// Sends on a connection of its own and waits for the head. The body comes as long as the handle
/// lives.
async fn exchange_on<T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static>(
    stream: T,
    request: hyper::Request<Full<Bytes>>,
    sent: &AtomicBool,
) -> Result<(hyper::Response<Incoming>, AbortOnDropHandle<()>), hyper::Error>
where
    TokioIo<T>: Read + Write,
{
    let (mut sender, connection) =
        http1::Builder::new().max_headers(MOST_HEADERS).max_buf_size(MOST_HEAD_BYTES).handshake(TokioIo::new(stream)).await?;
    // The sender hears of an error that breaks the connection, so this task need not report it.
    let connection = AbortOnDropHandle::new(tokio::spawn(async move { drop(connection.await) }));
    sent.store(true, Ordering::Relaxed);
    Ok((sender.send_request(request).await?, connection))
}

/// Refuses an address unless it is granted both as the guest wrote it and as egress sends it, and
/// as a header may have a server read it.
fn granted(outgoing: &Outgoing, real: &Url, grants: &BTreeSet<HttpGrant>) -> Result<(), Problem> {
    let method = outgoing.method.as_str();
    let allowed = |method: &str, url: &Url| grants.iter().any(|grant| grant.allows(method, url));
    if [outgoing.shown(), real].iter().all(|url| allowed(method, url)) {
        return match outgoing.claims(real).find(|(_, method, url)| !allowed(method, url)) {
            Some((name, ..)) => Err(Problem::Header { name: name.to_owned(), why: NOT_GRANTED_EITHER }),
            None => Ok(()),
        };
    }
    let shown = outgoing.shown();
    let origin = shown.origin().ascii_serialization();
    let place = format!("{origin}{}", shown.path());
    let grant = origin.strip_prefix("https://").unwrap_or(&origin).to_owned();
    Err(Problem::NotGranted { method: method.to_owned(), place, grant })
}

/// Why a header is refused that names a method or a path beyond the grants.
const NOT_GRANTED_EITHER: &str =
    "its value is a method or a path that is not granted, and some servers take it for that of the request";

fn is_part(response: &hyper::Response<Incoming>) -> bool {
    response.status() == hyper::StatusCode::PARTIAL_CONTENT || response.headers().contains_key(CONTENT_RANGE)
}

fn is_redirect(status: hyper::StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

#[cfg(test)]
mod tests;
