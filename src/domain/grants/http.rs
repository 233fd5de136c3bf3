//! One place that HTTP requests may go to.

use std::collections::BTreeSet;

use url::{Host, Url};

use super::super::turn::text_enum;

text_enum! {
    /// The protocol spoken with a host.
    Scheme {
        /// Encrypted, the default.
        Https = "https",
        /// In the clear; an author must ask for it by name.
        Http = "http",
    }
}

/// A place that requests may go to, and which requests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HttpGrant {
    /// `https` unless the author asked for `http`.
    pub scheme: Scheme,
    /// A host name in lower case and ASCII, an IP address as URLs write it, `*.example.com` for
    /// every name below, or `*` for any host.
    pub host: String,
    /// The port; the scheme's own if `None`.
    pub port: Option<u16>,
    /// The beginning of the path, up to the end of a segment; any path if `None`.
    pub path: Option<String>,
    /// Methods in capitals; any if empty.
    pub methods: BTreeSet<String>,
    /// The peer honours `Idempotency-Key`, so that the server may send a request again after a
    /// crash.
    pub keyed: bool,
}

impl HttpGrant {
    /// Every request to a host over https.
    pub fn host(host: &str) -> Self {
        Self { scheme: Scheme::Https, host: host.into(), port: None, path: None, methods: BTreeSet::new(), keyed: false }
    }

    /// The place a secret must be bound to if it may go wherever this grant leads.
    pub fn binding(&self) -> String {
        self.port.map_or_else(|| self.host.clone(), |port| format!("{}:{port}", self.host))
    }

    fn port_or_default(&self) -> u16 {
        self.port.unwrap_or(match self.scheme {
            Scheme::Https => 443,
            Scheme::Http => 80,
        })
    }

    /// True if a request with this method to this address is within the grant. The `url` crate has
    /// parsed `url`, so host and dots in the path have one form only.
    pub fn allows(&self, method: &str, url: &Url) -> bool {
        url.scheme() == self.scheme.as_str()
            && host_matches(&self.host, url)
            && url.port_or_known_default() == Some(self.port_or_default())
            && (self.methods.is_empty() || self.methods.contains(method))
            && self.path.as_ref().is_none_or(|path| path_within(path, url.path()))
    }

    /// True if `self` allows everything that `other` allows.
    pub fn covers(&self, other: &Self) -> bool {
        let methods = self.methods.is_empty() || (!other.methods.is_empty() && other.methods.is_subset(&self.methods));
        let path = match (&self.path, &other.path) {
            (None, _) => true,
            (Some(given), Some(asked)) => path_within(given, asked),
            (Some(_), None) => false,
        };
        self.scheme == other.scheme
            && host_covers(&self.host, &other.host)
            && self.port_or_default() == other.port_or_default()
            && methods
            && path
            && (self.keyed == other.keyed || self.keyed)
    }

    /// The grant in words, for a person.
    pub fn in_words(&self) -> String {
        let methods = match self.methods.len() {
            0 => "any request".to_owned(),
            _ => format!("{} requests", self.methods.iter().map(String::as_str).collect::<Vec<_>>().join(", ")),
        };
        let place = match self.host.as_str() {
            "*" => format!("any public host over {}", self.scheme),
            host => {
                let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
                format!("{}://{host}{port}{}", self.scheme, self.path.as_deref().unwrap_or_default())
            }
        };
        let clear = if self.scheme == Scheme::Http { " It is not encrypted." } else { "" };
        let keyed = if self.keyed {
            " The peer is said to honour Idempotency-Key, so a request may be repeated after a crash."
        } else {
            ""
        };
        format!("Send {methods} to {place}.{clear}{keyed}")
    }
}

pub(super) fn binding_in_words(binding: &str) -> String {
    match binding_parts(binding) {
        ("*", None) => "any host".to_owned(),
        ("*", Some(port)) => format!("any host on port {port}"),
        _ => binding.to_owned(),
    }
}

/// True if a secret with this binding may be sent to the address. A binding is a host as in
/// [`HttpGrant::host`], perhaps with a port, which then has to match.
pub fn binding_matches(binding: &str, url: &Url) -> bool {
    let (host, port) = binding_parts(binding);
    host_matches(host, url) && port.is_none_or(|port| url.port_or_known_default() == Some(port))
}

/// True if `given` matches every address that `asked` matches.
pub(super) fn binding_covers(given: &str, asked: &str) -> bool {
    let ((given, given_port), (asked, asked_port)) = (binding_parts(given), binding_parts(asked));
    host_covers(given, asked) && (given_port.is_none() || given_port == asked_port)
}

/// The host of a binding, or of an address's part between `//` and the path, and the port if one is
/// written.
pub(super) fn binding_parts(binding: &str) -> (&str, Option<u16>) {
    // The colons of an IPv6 address stand in brackets.
    let parts = binding.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    parts.map_or((binding, None), |(host, port)| (host, Some(port)))
}

/// True if `given` matches every host that `asked` matches.
fn host_covers(given: &str, asked: &str) -> bool {
    given == "*" || given == asked || given.strip_prefix('*').is_some_and(|end| asked != "*" && asked.ends_with(end))
}

/// True if the address' host fits the pattern. Only names have names below them.
fn host_matches(pattern: &str, url: &Url) -> bool {
    match (pattern.strip_prefix("*."), url.host()) {
        (_, None) => false,
        (_, Some(_)) if pattern == "*" => true,
        (Some(parent), Some(Host::Domain(host))) => {
            host.strip_suffix(parent).is_some_and(|below| below.len() > 1 && below.ends_with('.'))
        }
        (Some(_), Some(_)) => false,
        (None, Some(_)) => url.host_str() == Some(pattern),
    }
}

/// True if `path` is `prefix` or lies below it, however a server reads it.
fn path_within(prefix: &str, path: &str) -> bool {
    let directory = prefix.strip_suffix('/').unwrap_or(prefix);
    let below = || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'));
    (path == directory || below()) && decoded(path).is_some_and(|plain| !plain.split('/').any(is_dots))
}

/// A path as it reads without its encoding. `None` if a server that decodes it twice, or leniently,
/// may find other segments in it than were compared: an encoded dot, slash, backslash or percent, a
/// control character, what is no encoding, and bytes that are no UTF-8.
fn decoded(path: &str) -> Option<String> {
    let mut parts = path.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, plain) =
            part.split_at_checked(2).filter(|(digits, _)| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        let byte = u8::from_str_radix(digits, 16).ok()?;
        if matches!(byte, b'.' | b'/' | b'\\' | b'%') || byte.is_ascii_control() {
            return None;
        }
        bytes.push(byte);
        bytes.extend_from_slice(plain.as_bytes());
    }
    String::from_utf8(bytes).ok().filter(|plain| !plain.contains('\\'))
}

/// True if a server may take a segment for `..`: some drop what stands behind a `;`, or blanks.
fn is_dots(segment: &str) -> bool {
    let name = segment.split(';').next().unwrap_or_default();
    name.contains('.') && name.chars().all(|letter| letter == '.' || letter.is_whitespace())
}

#[cfg(test)]
mod tests;
