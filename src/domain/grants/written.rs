//! How grants are written, and the faults of those that cannot be read.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use url::{Host, Url};

use super::super::capability::valid_name;
use super::super::names::MANAGE_TASKS;
use super::http::binding_parts;
use super::{Grants, HttpGrant, Power, Scheme, SqlAccess};

/// Grants that cannot be read; the text says how to write them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GrantError(pub String);

fn wrong<T>(message: impl Into<String>) -> Result<T, GrantError> {
    Err(GrantError(message.into()))
}

const HTTP: &str = r#"write `http` like {"hosts": ["api.example.com"]} or {"hosts": [{"host": "api.example.com", "path": "/v1/", "methods": ["GET"]}]}"#;
/// The methods that can be granted.
pub const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

impl Grants {
    /// Reads the written form.
    ///
    /// # Errors
    /// The first part that cannot be read, and how to write it.
    pub fn from_json(written: &Map<String, Value>) -> Result<Self, GrantError> {
        let mut grants = Self::none();
        for (name, settings) in written {
            let power: Power = name.parse().map_err(|_| unknown_power(name))?;
            match power {
                Power::Log | Power::Clock | Power::Random => {
                    without_settings(power, settings)?;
                    grants.harmless.insert(power);
                }
                Power::Http => grants.http = http(settings)?,
                Power::Sql => grants.sql = Some(sql(settings)?),
                Power::Kv => {
                    without_settings(power, settings)?;
                    grants.kv = true;
                }
                Power::Secrets => grants.secrets = secrets(settings)?,
                Power::Tools => grants.tools = tools(settings)?,
            }
        }
        Ok(grants)
    }

    /// The written form.
    pub fn to_json(&self) -> Map<String, Value> {
        let settings = |power| match power {
            Power::Log | Power::Clock | Power::Random | Power::Kv => json!({}),
            Power::Http => json!({ "hosts": self.http.iter().map(host_json).collect::<Vec<_>>() }),
            Power::Sql => json!({ "access": self.sql }),
            Power::Secrets => json!(self.secrets),
            Power::Tools => json!({ "names": self.tools }),
        };
        self.powers().map(|power| (power.to_string(), settings(power))).collect()
    }
}

fn unknown_power(name: &str) -> GrantError {
    let known: Vec<_> = Power::ALL.iter().map(|power| power.as_str()).collect();
    GrantError(format!("there is no power `{name}` to grant; there are: {}", known.join(", ")))
}

/// Refuses a field that a power does not have: without the narrowing that its author meant by it,
/// the grant would be wider than it was written.
fn known_fields(power: Power, settings: &Value, known: &[&str], form: &str) -> Result<(), GrantError> {
    let mut fields = settings.as_object().into_iter().flat_map(Map::keys);
    match fields.find(|field| !known.contains(&field.as_str())) {
        Some(field) if known.is_empty() => wrong(format!("`{power}` has no field `{field}`; it has none: {form}")),
        Some(field) => wrong(format!("`{power}` has no field `{field}`; it has: {}; {form}", known.join(", "))),
        None => Ok(()),
    }
}

/// Reads a power that is granted whole or not at all.
fn without_settings(power: Power, settings: &Value) -> Result<(), GrantError> {
    let form = format!(r#"write `{power}` like {{"{power}": {{}}}}"#);
    match settings {
        Value::Object(_) => known_fields(power, settings, &[], &form),
        Value::Null | Value::Bool(true) => Ok(()),
        Value::Array(items) if items.is_empty() => Ok(()),
        _ => wrong(form),
    }
}

fn http(settings: &Value) -> Result<BTreeSet<HttpGrant>, GrantError> {
    known_fields(Power::Http, settings, &["hosts"], HTTP)?;
    let hosts = settings.get("hosts").unwrap_or(settings).as_array().ok_or_else(|| GrantError(HTTP.into()))?;
    if hosts.is_empty() {
        return wrong(HTTP);
    }
    hosts.iter().map(host).collect()
}

fn host(written: &Value) -> Result<HttpGrant, GrantError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct HostGrant {
        host: String,
        scheme: Option<Scheme>,
        port: Option<u16>,
        path: Option<String>,
        methods: Option<BTreeSet<String>>,
        #[serde(default)]
        keyed: bool,
    }
    if let Some(text) = written.as_str() {
        return host_of_text(text);
    }
    let written = HostGrant::deserialize(written).or_else(|error| wrong(format!("{error}; {HTTP}")))?;
    let mut grant = host_of_text(&written.host)?;
    grant.scheme = written.scheme.unwrap_or(grant.scheme);
    grant.port = written.port.or(grant.port);
    if let Some(path) = written.path {
        grant.path = Some(plain_path(&path)?);
    }
    if written.methods.as_ref().is_some_and(BTreeSet::is_empty) {
        return wrong(format!("`methods` is empty: name those that are granted, or leave it out for every method; {HTTP}"));
    }
    grant.methods = written.methods.unwrap_or_default().iter().map(|method| method.to_ascii_uppercase()).collect();
    if let Some(method) = grant.methods.iter().find(|method| !METHODS.contains(&method.as_str())) {
        return wrong(format!("the method `{method}` cannot be granted; there are: {}", METHODS.join(", ")));
    }
    grant.keyed = written.keyed;
    Ok(normal(grant))
}

/// Reads `host`, `host:port`, or an address with scheme and path.
fn host_of_text(text: &str) -> Result<HttpGrant, GrantError> {
    let text = text.trim();
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => {
            (scheme.parse().or_else(|_| wrong(format!("`{text}`: only https and http can be granted")))?, rest)
        }
        None => (Scheme::Https, text),
    };
    let (authority, path) = rest.split_at(end_of_authority(rest));
    // A star is no host of a URL; the name behind it must be one.
    let (star, named) = match authority {
        "*" => return Ok(HttpGrant { scheme, ..HttpGrant::host("*") }),
        _ => authority.strip_prefix("*.").map_or((false, authority), |named| (true, named)),
    };
    let place = Url::parse(&format!("{scheme}://{named}/"))
        .ok()
        .filter(|url| url.username().is_empty() && url.password().is_none() && !named.contains(['@', '*']))
        .ok_or_else(|| GrantError(format!("`{text}` is no host, as api.example.com is one")))?;
    let host = match place.host() {
        Some(Host::Domain(_)) if star => format!("*.{}", place.host_str().unwrap_or_default()),
        Some(_) if !star => place.host_str().unwrap_or_default().to_owned(),
        _ => return wrong(format!("`{text}`: a star stands before a name only, as in *.example.com")),
    };
    let path = if path.len() > 1 { Some(plain_path(path)?) } else { None };
    Ok(normal(HttpGrant { scheme, port: place.port(), path, ..HttpGrant::host(&host) }))
}

/// The place at which the path begins in an address without its scheme.
fn end_of_authority(rest: &str) -> usize {
    rest.find(['/', '?', '#']).unwrap_or(rest.len())
}

/// A place that a secret may be sent to, as `host` or `host:port`. A written port stays, even the
/// scheme's own: without one, every port will do.
fn binding(text: &str) -> Result<String, GrantError> {
    let HttpGrant { host, path, .. } = host_of_text(text)?;
    if let Some(path) = path {
        return wrong(format!("a secret is bound to a host and not to a path: write `{text}` without {path}"));
    }
    let rest = text.trim().split_once("://").map_or(text.trim(), |(_, rest)| rest);
    let (_, port) = binding_parts(&rest[..end_of_authority(rest)]);
    Ok(port.map_or_else(|| host.clone(), |port| format!("{host}:{port}")))
}

/// One form for each meaning: the scheme's own port is left out.
fn normal(mut grant: HttpGrant) -> HttpGrant {
    grant.port = grant.port.filter(|port| *port != if grant.scheme == Scheme::Https { 443 } else { 80 });
    grant.path = grant.path.filter(|path| path != "/");
    grant
}

fn plain_path(path: &str) -> Result<String, GrantError> {
    let plain =
        Url::parse("https://host.example").ok().and_then(|base| base.join(path).ok()).is_some_and(|url| url.path() == path);
    if path.starts_with('/') && plain && !path.contains('%') {
        return Ok(path.to_owned());
    }
    wrong(format!("the path `{path}` cannot be granted: write the beginning of a plain path, like /v1/"))
}

fn host_json(grant: &HttpGrant) -> Value {
    let mut written = json!({ "host": grant.host });
    if grant.scheme == Scheme::Http {
        written["scheme"] = json!(grant.scheme);
    }
    if let Some(port) = grant.port {
        written["port"] = json!(port);
    }
    if let Some(path) = &grant.path {
        written["path"] = json!(path);
    }
    if !grant.methods.is_empty() {
        written["methods"] = json!(grant.methods);
    }
    if grant.keyed {
        written["keyed"] = json!(true);
    }
    // The form that authors write most often.
    if written.as_object().is_some_and(|fields| fields.len() == 1) { json!(grant.host) } else { written }
}

fn sql(settings: &Value) -> Result<SqlAccess, GrantError> {
    const FORM: &str = r#"write `sql` like {"access": "read"} or {"access": "write"}"#;
    known_fields(Power::Sql, settings, &["access"], FORM)?;
    let access = settings.get("access").unwrap_or(settings).as_str().and_then(|word| word.parse().ok());
    access.ok_or_else(|| GrantError(FORM.into()))
}

fn secrets(settings: &Value) -> Result<BTreeMap<String, BTreeSet<String>>, GrantError> {
    const FORM: &str =
        r#"write `secrets` like {"API_KEY": ["api.example.com"]}: each name with the hosts, or host:port, it may be sent to"#;
    let written: BTreeMap<String, Vec<String>> = serde_json::from_value(settings.clone()).or_else(|_| wrong(FORM))?;
    let bound = |(name, hosts): (String, Vec<String>)| {
        if !valid_secret_name(&name) {
            return wrong(format!("the secret's name `{name}` cannot be used: {SECRET_NAME_RULE}"));
        }
        if hosts.is_empty() {
            return wrong(FORM);
        }
        let hosts: Result<BTreeSet<_>, _> = hosts.iter().map(|host| binding(host)).collect();
        Ok((name, hosts?))
    };
    if written.is_empty() { wrong(FORM) } else { written.into_iter().map(bound).collect() }
}

fn tools(settings: &Value) -> Result<BTreeSet<String>, GrantError> {
    let form = format!(r#"write `tools` like {{"names": ["{MANAGE_TASKS}"]}}"#);
    known_fields(Power::Tools, settings, &["names"], &form)?;
    let names: BTreeSet<String> =
        serde_json::from_value(settings.get("names").unwrap_or(settings).clone()).or_else(|_| wrong(&form))?;
    if names.is_empty() || !names.iter().all(|name| valid_name(name)) { wrong(form) } else { Ok(names) }
}

/// The rule a secret's name must keep, in words.
pub const SECRET_NAME_RULE: &str = "a capital letter, then capital letters, digits or `_`, 64 at most, like API_KEY";

/// True if `name` keeps [`SECRET_NAME_RULE`].
pub fn valid_secret_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

impl Serialize for Grants {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Grants {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(&Map::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
