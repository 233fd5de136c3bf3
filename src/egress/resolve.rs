//! Names to addresses, and which of them may be connected to.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};

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
    /// True when each of them was allowed by the operator, so that even plain http stays where he wants it.
    pub(super) by_operator: bool,
}

/// Finds the addresses of an http or https address and checks all of them: one that is not public spoils the name, because a name that
/// points to both is a name under attack. A place that the operator named itself may have any address.
pub(super) async fn resolve(
    resolver: &dyn Resolve,
    (allowed, own): (&BTreeSet<SocketAddr>, &BTreeSet<(String, u16)>),
    url: &Url,
) -> Result<CheckedAddresses, Problem> {
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
    let is_own = own.contains(&(name.clone(), port));
    let mut by_operator = true;
    let mut addresses = Vec::new();
    for address in found {
        let address = SocketAddr::new(address, port);
        if !is_own && !allowed.contains(&address) {
            by_operator = false;
            if let Some(range) = reserved_for(address.ip()) {
                return Err(Problem::NotPublic { host: name, address, range });
            }
        }
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    Ok(CheckedAddresses { addresses, by_operator })
}
