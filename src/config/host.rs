//! Names under which a server is reached, as an operator or a browser writes them.

use std::net::Ipv6Addr;
use std::str::FromStr;

/// A name or an address, perhaps with a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName {
    /// In small letters; an IPv6 address in brackets.
    pub name: String,
    /// The port, if one is written.
    pub port: Option<u16>,
}

impl FromStr for HostName {
    type Err = &'static str;

    /// # Errors
    /// The form that was expected.
    fn from_str(written: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str =
            "expected names or addresses, each with a port or without one, comma separated, like box.lan,[fe80::1]:8443";
        let (name, port) = match written.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
            _ => (written, None),
        };
        let port = match port {
            // The parser of numbers would take `+80`.
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(port.parse().map_err(|_| EXPECTED)?),
            Some(_) => return Err(EXPECTED),
            None => None,
        };
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
        let name = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(address) => format!("[{}]", address.parse::<Ipv6Addr>().map_err(|_| EXPECTED)?),
            None if !name.is_empty() && name.chars().all(plain) => name.to_ascii_lowercase(),
            None => return Err(EXPECTED),
        };
        Ok(Self { name, port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_with_its_port_or_without() {
        for (written, name, port) in [
            ("Box.lan", "box.lan", None),
            ("box.lan:8443", "box.lan", Some(8443)),
            ("[0:0::1]", "[::1]", None),
            ("[::1]:80", "[::1]", Some(80)),
            ("10.0.0.1:65535", "10.0.0.1", Some(65535)),
        ] {
            assert_eq!(written.parse(), Ok(HostName { name: name.into(), port }), "{written}");
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for written in
            ["", ":80", "box:", "box:+80", "box:65536", "http://box", "box/", "a@b", "::1", "[::1", "[box]", "a b", "*.lan"]
        {
            assert!(written.parse::<HostName>().is_err(), "{written}");
        }
    }
}
