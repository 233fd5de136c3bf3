//! Connections to addresses that were checked, and to no others. No proxy, no connection kept for a
//! later request.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::{Host, Url};

use super::error::Problem;

/// How many addresses of a name are tried.
const MOST_TRIED: usize = 4;

/// How peers are made to show who they are. Made when it is first needed: a machine without
/// certificates can still use http.
#[derive(Clone, Default)]
pub(super) struct Tls(OnceLock<Option<Arc<ClientConfig>>>);

impl Tls {
    pub(super) fn with(config: Arc<ClientConfig>) -> Self {
        Self(OnceLock::from(Some(config)))
    }

    /// The certificates of this machine, read once.
    fn config(&self) -> Option<Arc<ClientConfig>> {
        self.0
            .get_or_init(|| {
                let provider = Arc::new(rustls::crypto::ring::default_provider());
                let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
                Some(Arc::new(builder.with_platform_verifier().ok()?.with_no_client_auth()))
            })
            .clone()
    }
}

/// An open connection.
pub(super) enum OutgoingConnection {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// Connects for `url` to one of `addresses`, all within `limit`.
pub(super) async fn connect(
    addresses: &[SocketAddr],
    url: &Url,
    tls: &Tls,
    limit: Duration,
) -> Result<OutgoingConnection, Problem> {
    let host = || url.host_str().unwrap_or_default().to_owned();
    let end = Instant::now() + limit;
    let config = match url.scheme() {
        "https" => Some(tls.config().ok_or(Problem::NoRoots)?),
        _ => None,
    };
    let tcp = tcp(addresses, end).await.map_err(|source| Problem::Connect { host: host(), source })?;
    let Some(config) = config else { return Ok(OutgoingConnection::Plain(tcp)) };
    let refused = |source| Problem::Tls { host: host(), source };
    let name = match url.host() {
        Some(Host::Ipv4(address)) => ServerName::from(std::net::IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => ServerName::from(std::net::IpAddr::V6(address)),
        _ => ServerName::try_from(host()).map_err(|error| refused(io::Error::other(error)))?,
    };
    let stream = timeout_at(end, TlsConnector::from(config).connect(name, tcp)).await.unwrap_or_else(|_| Err(late()));
    stream.map(|stream| OutgoingConnection::Tls(Box::new(stream))).map_err(refused)
}

/// Tries the addresses one after the other; each gets an equal share of what time is left, so that
/// one that swallows everything leaves room for the next.
async fn tcp(addresses: &[SocketAddr], end: Instant) -> io::Result<TcpStream> {
    let tried = addresses.len().min(MOST_TRIED);
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for (at, address) in addresses.iter().take(tried).enumerate() {
        let share = end.saturating_duration_since(Instant::now()) / u32::try_from(tried - at).unwrap_or(1);
        match timeout(share, TcpStream::connect(address)).await.unwrap_or_else(|_| Err(late())) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn late() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "nobody answered in time")
}
