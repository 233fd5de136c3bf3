//! Names to addresses, and which of them may be connected to.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use futures::future::BoxFuture;
use url::{Host, Url};

use super::error::Problem;
use super::special::reserved_for;

/// Looks names up.
pub trait Resolve: Send + Sync {
    /// The addresses of a name, in the order they should be tried.
    fn resolve(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The machine's own resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let host = host.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect()) })
    }
}

/// Addresses that were checked, and may be connected to.
#[derive(Debug, PartialEq)]
pub(super) struct CheckedAddresses {
    pub(super) addresses: Vec<SocketAddr>,
    /// True when each of them was allowed by the operator, so that even plain http stays where he
    /// wants it.
    pub(super) by_operator: bool,
}

/// The places that the operator knows.
#[derive(Clone, Copy)]
pub(super) struct KnownPlaces<'a> {
    /// The addresses that he allows.
    pub(super) allowed: &'a BTreeSet<SocketAddr>,
    /// The names with port that he has set up.
    pub(super) own: &'a BTreeSet<(String, u16)>,
}

/// Refuses an address that is not public, unless the operator knows it. True if he does.
fn let_through(known: KnownPlaces<'_>, name: &str, address: SocketAddr) -> Result<bool, Problem> {
    if known.allowed.contains(&address) || known.own.contains(&(name.to_owned(), address.port())) {
        return Ok(true);
    }
    match reserved_for(address.ip()) {
        Some(range) => Err(Problem::NotPublic { host: name.to_owned(), address, range }),
        None => Ok(false),
    }
}

/// The reason why a place is never let through, if that can be said without looking a name up.
pub(super) fn refused_at_sight(known: KnownPlaces<'_>, url: &Url) -> Option<Problem> {
    let addresses = match url.host()? {
        Host::Ipv4(address) => vec![IpAddr::V4(address)],
        Host::Ipv6(address) => vec![IpAddr::V6(address)],
        // RFC 6761: this machine, wherever it is looked up.
        Host::Domain("localhost") => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
        Host::Domain(_) => return None,
    };
    let (name, port) = (url.host_str()?, url.port_or_known_default()?);
    let refused: Vec<_> =
        addresses.iter().filter_map(|address| let_through(known, name, SocketAddr::new(*address, port)).err()).collect();
    if refused.len() == addresses.len() { refused.into_iter().next() } else { None }
}

/// Finds the addresses of an http or https address and checks all of them: one that is not public
/// spoils the name, because a name that points to both is a name under attack. A place that the
/// operator named itself may have any address.
pub(super) async fn resolve(resolver: &dyn Resolve, known: KnownPlaces<'_>, url: &Url) -> Result<CheckedAddresses, Problem> {
    let name = url.host_str().unwrap_or_default().to_owned();
    let port = url.port_or_known_default().unwrap_or_default();
    let found = match url.host() {
        Some(Host::Ipv4(address)) => vec![IpAddr::V4(address)],
        Some(Host::Ipv6(address)) => vec![IpAddr::V6(address)],
        Some(Host::Domain(host)) => {
            resolver.resolve(host).await.map_err(|source| Problem::Lookup { host: name.clone(), source })?
        }
        None => Vec::new(),
    };
    if found.is_empty() {
        return Err(Problem::NoAddress { host: name });
    }
    let mut by_operator = true;
    let mut addresses = Vec::new();
    for address in found {
        let address = SocketAddr::new(address, port);
        by_operator &= let_through(known, &name, address)?;
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    Ok(CheckedAddresses { addresses, by_operator })
}
