//! The way out as a whole: real sockets on loopback, which the operator of these tests allows, and
//! a name server of our own.

mod addresses;
mod limits;
mod loopbacks;
mod name_server;
mod names;
mod peer;
mod redirects;
mod requests;
mod secrets;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use secrecy::SecretString;
use serde_json::json;

use super::{Egress, EgressError, EgressLimits, Placeholders, Problem, Resolve, SystemResolver};
use crate::domain::{Effect, Grants, HttpGrant, HttpRequest, HttpResponse, Mode, ToolCallId, Toolset};
use crate::governor::{Evidence, Permit, Policy, Proposal, Verdict, authorize};
use crate::telemetry::Scrubber;
use peer::{Answer, Peer, reply};

/// The value that must never be seen where it does not belong.
const CANARY: &str = "canary/8f21+ü=token";
/// The placeholder, which is all the guest knows of it.
const PLACEHOLDER: &str = "lv3secret7Qm2Zx9";

fn permit() -> Permit {
    let policy = Policy { mode: Mode::Auto, governor: false, rules: BTreeMap::new(), tools: Toolset::Builder };
    let (call, effects) = (ToolCallId(1), [Effect::Call].into());
    let proposal = Proposal { call, tool: "probe".into(), arguments: json!({}), effects, version: Some(1), losses: Vec::new() };
    match authorize(&policy, &proposal, Evidence::default()) {
        Verdict::Allow(permit) => permit,
        other => panic!("{other:?}"),
    }
}

/// Names that are known without asking anybody.
#[derive(Clone, Default)]
struct Table(BTreeMap<String, Vec<IpAddr>>);

impl Table {
    fn of(names: &[(&str, &[&str])]) -> Self {
        let addresses = |addresses: &[&str]| addresses.iter().map(|address| address.parse().unwrap()).collect();
        Self(names.iter().map(|(name, list)| ((*name).to_owned(), addresses(list))).collect())
    }
}

impl Resolve for Table {
    fn resolve(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let found = self.0.get(host).cloned().unwrap_or_default();
        Box::pin(async move { Ok(found) })
    }
}

/// One way out with everything that decides about a request.
struct Way {
    resolver: Arc<dyn Resolve>,
    allowed: BTreeSet<SocketAddr>,
    limits: EgressLimits,
    scrubber: Scrubber,
    grants: BTreeSet<HttpGrant>,
    secrets: Placeholders,
}

impl Way {
    /// Everything is granted on the ports of these peers, over http and https, and no address is
    /// allowed. The names `api.example` and `other.example` are 127.0.0.1.
    fn granted(peers: &[&Peer]) -> Self {
        let hosts: Vec<_> = peers
            .iter()
            .flat_map(|peer| ["http", "https"].map(|scheme| json!({"host": "*", "scheme": scheme, "port": peer.address.port()})))
            .collect();
        Self {
            resolver: Arc::new(Table::of(&[("api.example", &["127.0.0.1"]), ("other.example", &["127.0.0.1"])])),
            allowed: BTreeSet::new(),
            limits: EgressLimits::default(),
            scrubber: Scrubber::default(),
            grants: grants(&json!(hosts)),
            secrets: Placeholders::default(),
        }
    }

    /// As [`Self::granted`], and the operator allows the peers' addresses.
    fn open(peers: &[&Peer]) -> Self {
        Self { allowed: peers.iter().map(|peer| peer.address).collect(), ..Self::granted(peers) }
    }

    /// With the canary bound to `hosts`, known to the scrubber as it is in the server.
    fn with_secret(mut self, hosts: &[&str]) -> Self {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        self.secrets.insert(PLACEHOLDER.into(), "API_KEY".into(), CANARY.into(), hosts);
        self.scrubber.set(&[("API_KEY".into(), SecretString::from(CANARY))]);
        self
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, EgressError> {
        let (resolver, scrubber) = (Arc::clone(&self.resolver), self.scrubber.clone());
        let egress = Egress::with_tls(resolver, self.allowed.clone(), self.limits, scrubber, peer::trusting());
        egress.send(&permit(), request, &self.grants, &self.secrets).await
    }

    /// Sends a request that must be refused before anything was sent; gives the sentence.
    async fn refused(&self, request: HttpRequest) -> String {
        let error = self.send(request.clone()).await.expect_err(&request.url);
        assert!(!error.may_have_arrived(), "{}: {error}", request.url);
        spoken(&error)
    }
}

fn grants(hosts: &serde_json::Value) -> BTreeSet<HttpGrant> {
    serde_json::from_value::<Grants>(json!({"http": {"hosts": hosts}})).unwrap().http
}

fn get(url: impl Into<String>) -> HttpRequest {
    HttpRequest { method: "GET".into(), url: url.into(), ..HttpRequest::default() }
}

fn post(url: impl Into<String>, body: &str) -> HttpRequest {
    HttpRequest { method: "POST".into(), body: Some(body.into()), ..get(url) }
}

fn header(mut request: HttpRequest, name: &str, value: &str) -> HttpRequest {
    request.headers.push((name.into(), value.into()));
    request
}

/// An error with its causes, as it is logged; it never holds the canary.
fn spoken(error: &EgressError) -> String {
    let text = format!("{} {error:?}", crate::telemetry::chain(error));
    assert!(!text.contains("8f21"), "{text}");
    crate::telemetry::chain(error)
}
