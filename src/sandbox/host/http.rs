//! `http`: requests to granted hosts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use url::Url;
use wasmtime::Result;

use crate::domain::{Grants, HttpGrant, HttpRequest, Power, Scheme};

use super::super::reach::{Missing, OperationRefused, OperationRequest};
use super::HostState;
use super::bindings::level3::capability::http;
use super::operations::{json, lacking, lacking_power};

impl http::Host for HostState {
    fn start(&mut self, request: String) -> Result<u32> {
        Self::start(self, &request, read)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FetchRequest {
    #[serde(default)]
    method: Option<String>,
    url: String,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    body_base64: Option<String>,
}

pub(super) fn read(grants: &Grants, request: &str) -> Result<OperationRequest, OperationRefused> {
    let written: FetchRequest = json(request)?;
    let method = written.method.map_or_else(|| "GET".to_owned(), |method| method.to_ascii_uppercase());
    let url = Url::parse(&written.url);
    if grants.http.is_empty() {
        return Err(nothing_granted(grants, url.ok().as_ref()).into());
    }
    let mut url = url.map_err(|_| {
        OperationRefused::new(format!("`{}` is no address; write it whole, like https://api.example.com/path", written.url))
    })?;
    url.set_fragment(None);
    if !grants.http.iter().any(|grant| grant.allows(&method, &url)) {
        return Err(not_granted(grants, &method, &url));
    }
    let body = match (written.body, written.body_base64) {
        (Some(_), Some(_)) => return Err(OperationRefused::new("a request has `body` or `body_base64`, not both")),
        (text, None) => text.map(String::into_bytes),
        (None, Some(text)) => {
            Some(STANDARD.decode(text).map_err(|error| OperationRefused::new(format!("`body_base64` is no base64: {error}")))?)
        }
    };
    let headers = written.headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    Ok(OperationRequest::Http(HttpRequest { method, url: url.into(), headers, body, idempotency_key: None }))
}

fn not_granted(grants: &Grants, method: &str, url: &Url) -> OperationRefused {
    let may: Vec<_> = grants.http.iter().map(HttpGrant::in_words).collect();
    let may = may.join(" ");
    let (Some(host), Ok(scheme)) = (url.host_str(), url.scheme().parse()) else {
        return OperationRefused::new(format!(
            "`{url}` cannot be reached: only https and http addresses can be granted. It may: {may}"
        ));
    };
    // Neither name nor password belong into an error.
    let shown = format!("{scheme}://{host}{}{}", url.port().map(|port| format!(":{port}")).unwrap_or_default(), url.path());
    let asked = HttpGrant { scheme, port: url.port(), ..HttpGrant::host(host) };
    let lacks = format!("this capability was not granted {method} {shown}; it may: {may} To reach {host} so");
    let add = |grants: &mut Grants| {
        grants.http.insert(asked);
    };
    lacking(grants, lacks, add).into()
}

/// The grant that a capability lacks if it may send no requests at all. It is written as the
/// prelude writes it: the text then stands in the source as it is.
fn nothing_granted(grants: &Grants, url: Option<&Url>) -> Missing {
    let asked = url.and_then(|url| {
        let (host, scheme) = (url.host_str()?, url.scheme().parse::<Scheme>().ok()?);
        let place = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let written = if scheme == Scheme::Https { place.clone() } else { format!("{scheme}://{place}") };
        Some((place, written))
    });
    let (place, written) = asked.unwrap_or_else(|| ("a host".to_owned(), "api.example.com".to_owned()));
    let missing = lacking_power(grants, Power::Http, &format!("reach {place}"), |_| {});
    Missing { grants: serde_json::json!({ "http": { "hosts": [written] } }), ..missing }
}
