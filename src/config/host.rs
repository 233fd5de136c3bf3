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
mod tests;
