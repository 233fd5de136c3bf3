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
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

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
                    grants.harmless.insert(power);
                }
                Power::Http => grants.http = http(settings)?,
                Power::Sql => grants.sql = Some(sql(settings)?),
                Power::Kv => grants.kv = true,
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

fn http(settings: &Value) -> Result<BTreeSet<HttpGrant>, GrantError> {
    let hosts = settings.get("hosts").unwrap_or(settings).as_array().ok_or_else(|| GrantError(HTTP.into()))?;
    if hosts.is_empty() {
        return wrong(HTTP);
    }
    hosts.iter().map(host).collect()
}

fn host(written: &Value) -> Result<HttpGrant, GrantError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Written {
        host: String,
        scheme: Option<Scheme>,
        port: Option<u16>,
        path: Option<String>,
        #[serde(default)]
        methods: BTreeSet<String>,
        #[serde(default)]
        keyed: bool,
    }
    if let Some(text) = written.as_str() {
        return host_of_text(text);
    }
    let written = Written::deserialize(written).or_else(|error| wrong(format!("{error}; {HTTP}")))?;
    let mut grant = host_of_text(&written.host)?;
    grant.scheme = written.scheme.unwrap_or(grant.scheme);
    grant.port = written.port.or(grant.port);
    if let Some(path) = written.path {
        grant.path = Some(plain_path(&path)?);
    }
    grant.methods = written.methods.into_iter().map(|method| method.to_ascii_uppercase()).collect();
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
        .ok_or_else(|| GrantError(format!("`{text}` is no host; {HTTP}")))?;
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
    let host = host_of_text(text)?.host;
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
    let access = settings.get("access").unwrap_or(settings).as_str().and_then(|word| word.parse().ok());
    access.ok_or_else(|| GrantError(r#"write `sql` like {"access": "read"} or {"access": "write"}"#.into()))
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
    let form = || format!(r#"write `tools` like {{"names": ["{MANAGE_TASKS}"]}}"#);
    let names: BTreeSet<String> =
        serde_json::from_value(settings.get("names").unwrap_or(settings).clone()).or_else(|_| wrong(form()))?;
    if names.is_empty() || !names.iter().all(|name| valid_name(name)) { wrong(form()) } else { Ok(names) }
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
mod tests {
    use super::*;

    fn read(written: Value) -> Result<Grants, String> {
        serde_json::from_value(written).map_err(|error| error.to_string())
    }

    #[test]
    fn grants_read_back_as_written() {
        let text = serde_json::to_string(&Grants::harmless()).unwrap();
        assert_eq!(text, r#"{"clock":{},"log":{},"random":{}}"#);
        for written in [
            json!({"clock": {}, "log": {}}),
            json!({"http": {"hosts": ["*.example.org", {"host": "a.example", "methods": ["GET", "POST"], "path": "/v1/", "port": 8443}]}}),
            json!({"http": {"hosts": [{"host": "127.0.0.1", "port": 9000, "scheme": "http", "keyed": true}]}}),
            json!({"kv": {}, "sql": {"access": "write"}, "secrets": {"A_KEY": ["a.example"]}, "tools": {"names": ["a", "b"]}}),
        ] {
            assert_eq!(json!(read(written.clone()).unwrap()), written);
        }
    }

    #[test]
    fn the_ways_a_host_is_written_have_one_meaning() {
        let hosts =
            |host: Value| read(json!({"http": {"hosts": [host]}})).map(|grants| json!(grants)["http"]["hosts"][0].clone());
        for same in [
            "api.example.com",
            "API.Example.com",
            "https://api.example.com",
            "https://api.example.com:443/",
            " api.example.com/ ",
        ] {
            assert_eq!(hosts(json!(same)), Ok(json!("api.example.com")), "{same}");
        }
        assert_eq!(
            hosts(json!("http://0x7f.1:9000/hook")),
            Ok(json!({"host": "127.0.0.1", "scheme": "http", "port": 9000, "path": "/hook"}))
        );
        assert_eq!(hosts(json!({"host": "a.example", "methods": ["get"]})), Ok(json!({"host": "a.example", "methods": ["GET"]})));
    }

    #[test]
    fn a_secret_keeps_the_port_it_is_bound_to() {
        for (text, binding) in [
            ("api.example.com", "api.example.com"),
            ("https://API.example.com:443/x", "api.example.com:443"),
            ("api.example.com:8443", "api.example.com:8443"),
            ("http://127.0.0.1:9000", "127.0.0.1:9000"),
            ("http://[::1]:9000/", "[::1]:9000"),
            ("[::1]", "[::1]"),
            ("*.example.com:8443", "*.example.com:8443"),
        ] {
            let grants = read(json!({"secrets": {"A_KEY": [text]}})).unwrap();
            assert_eq!(json!(grants)["secrets"]["A_KEY"][0], binding, "{text}");
            assert_eq!(read(json!(grants)).unwrap(), grants, "{text}");
        }
        assert!(read(json!({"secrets": {"A_KEY": ["a.example:99999"]}})).unwrap_err().contains("is no host"));
    }

    #[test]
    fn what_cannot_be_granted_is_refused_with_the_way_to_write_it() {
        for (written, said) in [
            (json!({"network": {}}), "there is no power `network` to grant; there are: log, clock, random, http"),
            (json!({"http": {}}), "write `http` like"),
            (json!({"http": {"hosts": []}}), "write `http` like"),
            (json!({"http": {"hosts": ["ftp://a.example"]}}), "only https and http"),
            (json!({"http": {"hosts": ["user@a.example"]}}), "is no host"),
            (json!({"http": {"hosts": ["*.1.2.3.4"]}}), "a star stands before a name only"),
            (json!({"http": {"hosts": ["a.*.example"]}}), "is no host"),
            (json!({"http": {"hosts": [{"host": "a.example", "path": "v1"}]}}), "beginning of a plain path"),
            (json!({"http": {"hosts": [{"host": "a.example", "path": "/a/../b"}]}}), "beginning of a plain path"),
            (json!({"http": {"hosts": [{"host": "a.example", "methods": ["CONNECT"]}]}}), "the method `CONNECT`"),
            (json!({"http": {"hosts": [{"host": "a.example", "verbs": ["GET"]}]}}), "verbs"),
            (json!({"sql": {"access": "all"}}), "write `sql` like"),
            (json!({"secrets": {"api-key": ["a.example"]}}), "the secret's name `api-key`"),
            (json!({"secrets": {"A": []}}), "each name with the hosts, or host:port"),
            (json!({"tools": {"names": ["Not A Name"]}}), "write `tools` like"),
        ] {
            let error = read(written.clone()).expect_err(&written.to_string());
            assert!(error.contains(said), "{written}: {error}");
        }
    }
}
