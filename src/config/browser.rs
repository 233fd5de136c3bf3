//! `LEVEL3_BROWSER`: how a person's browser is reached. It is on this machine, and level3 starts
//! none.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use url::{Host, Url};

/// The way to a browser whose DevTools listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserAddress {
    /// A port at which `/json/version` says the rest.
    Port {
        /// A name or address of this machine.
        host: String,
        /// The port.
        port: u16,
    },
    /// The websocket itself.
    Socket {
        /// A name or address of this machine.
        host: String,
        /// The port.
        port: u16,
        /// The path.
        path: String,
    },
    /// A folder in which the browser keeps `DevToolsActivePort`.
    Profile(PathBuf),
}

/// The forms of the setting.
const EXPECTED: &str = "expected http://127.0.0.1:9222, a ws:// address, or the folder of a profile";

impl FromStr for BrowserAddress {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        if !written.contains("://") {
            return Ok(Self::Profile(PathBuf::from(written)));
        }
        let url = Url::parse(written).map_err(|_| EXPECTED.to_owned())?;
        let loopback = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
            Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
            None => false,
        };
        if !loopback {
            return Err("the browser has to be on this machine: 127.0.0.1, [::1] or localhost".to_owned());
        }
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let Some(port) = url.port() else { return Err(format!("it has no port; {EXPECTED}")) };
        match url.scheme() {
            "http" if url.path() == "/" => Ok(Self::Port { host, port }),
            "ws" => Ok(Self::Socket { host, port, path: url.path().to_owned() }),
            _ => Err(EXPECTED.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests;
