//! `http`: requests to granted hosts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use url::Url;
use wasmtime::Result;

use crate::domain::{Grants, HttpGrant};

use super::super::reach::{HttpRequest, Refused, Request};
use super::State;
use super::bindings::level3::capability::http;
use super::operations::{json, written_with};

impl http::Host for State {
    fn start(&mut self, request: String) -> Result<u32> {
        Self::start(self, &request, read)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
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

fn read(grants: &Grants, request: &str) -> Result<Request, Refused> {
    let written: Written = json(request)?;
    let method = written.method.map_or_else(|| "GET".to_owned(), |method| method.to_ascii_uppercase());
    let mut url = Url::parse(&written.url)
        .map_err(|_| Refused(format!("`{}` is no address; write it whole, like https://api.example.com/path", written.url)))?;
    url.set_fragment(None);
    if !grants.http.iter().any(|grant| grant.allows(&method, &url)) {
        return Err(not_granted(grants, &method, &url));
    }
    let body = match (written.body, written.body_base64) {
        (Some(_), Some(_)) => return Err(Refused("a request has `body` or `body_base64`, not both".into())),
        (text, None) => text.map(String::into_bytes),
        (None, Some(text)) => {
            Some(STANDARD.decode(text).map_err(|error| Refused(format!("`body_base64` is no base64: {error}")))?)
        }
    };
    let headers = written.headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    Ok(Request::Http(HttpRequest { method, url: url.into(), headers, body }))
}

fn not_granted(grants: &Grants, method: &str, url: &Url) -> Refused {
    let may: Vec<_> = grants.http.iter().map(HttpGrant::in_words).collect();
    let may = may.join(" ");
    let (Some(host), Ok(scheme)) = (url.host_str(), url.scheme().parse()) else {
        return Refused(format!("`{url}` cannot be reached: only https and http addresses can be granted. It may: {may}"));
    };
    // Neither name nor password belong into an error.
    let shown = format!("{scheme}://{host}{}{}", url.port().map(|port| format!(":{port}")).unwrap_or_default(), url.path());
    let asked = HttpGrant { scheme, port: url.port(), ..HttpGrant::host(host) };
    let wider = written_with(grants, |grants| {
        grants.http.insert(asked);
    });
    Refused(format!(
        "this capability was not granted {method} {shown}; it may: {may} To reach {host} so, write it again with grants {wider}"
    ))
}
