//! Hosts as a person writes them: those whose pages a campaign may open, and the one of a required
//! reading.

use std::fmt;
use std::str::FromStr;

use url::{Host, Url};

use crate::domain::shortened;

/// The most bytes of an address.
const MOST_ADDRESS: usize = 2_000;

/// A host: a name or an IP address, `*.` and a name for all below it, with a port or without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageHost {
    /// True for all names below it, and not for itself.
    below: bool,
    /// The name as addresses have it: in lower case and ASCII.
    name: String,
    /// `None`: any port.
    port: Option<u16>,
}

impl PageHost {
    /// Reads a host that is one alone, and at any port. Gives its name.
    ///
    /// # Errors
    /// A sentence with what is expected.
    pub fn alone(written: &str) -> Result<String, String> {
        let Self { below, name, port } = written.parse::<Self>()?;
        if below || port.is_some() {
            return Err(format!("`{}` is no single host without a port; write it like {name}", shortened(written, 200)));
        }
        Ok(name)
    }

    fn holds(&self, name: &str) -> bool {
        match self.below {
            true => name.strip_suffix(&self.name).is_some_and(|below| below.ends_with('.') && below.len() > 1),
            false => name == self.name,
        }
    }
}

impl FromStr for PageHost {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let refused = || {
            format!(
                "`{}` is no host; write example.com, *.example.com for all below it, or 127.0.0.1:8080, without https:// and \
                 without a path",
                shortened(written, 200)
            )
        };
        let named = written.trim();
        let (below, named) = named.strip_prefix("*.").map_or((false, named), |above| (true, above));
        let (name, port) = match named.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, Some(port)),
            _ => (named, None),
        };
        let digits = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
        let number = |port: &str| port.parse::<u16>().ok().filter(|number| *number > 0 && digits(port));
        let port = port.map(|port| number(port).ok_or_else(refused)).transpose()?;
        let host = Host::parse(name).map_err(|_| refused())?;
        let name = host.to_string();
        if name.contains('*') || below && !matches!(host, Host::Domain(_)) {
            return Err(refused());
        }
        Ok(Self { below, name, port })
    }
}

impl fmt::Display for PageHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { below, name, port } = self;
        write!(f, "{}{name}", if *below { "*." } else { "" })?;
        port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// The hosts whose pages a campaign may open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageHosts(Vec<PageHost>);

impl PageHosts {
    /// The hosts that a person wrote. An environment of an earlier version may hold something that
    /// is none: it opens nothing.
    pub fn of(written: Vec<String>) -> Self {
        Self(written.iter().filter_map(|host| host.parse().ok()).collect())
    }

    /// True if no page may be opened.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if a page may be opened.
    pub fn allow(&self, address: &Url) -> bool {
        let (Some(name), port) = (address.host_str(), address.port_or_known_default()) else { return false };
        let fits = |host: &PageHost| host.holds(name) && (host.port.is_none() || host.port == port);
        matches!(address.scheme(), "http" | "https") && self.0.iter().any(fits)
    }

    /// True if some page of a host may be opened.
    pub fn names(&self, name: &str) -> bool {
        self.0.iter().any(|host| host.holds(name))
    }

    /// Reads an address that is to be opened.
    ///
    /// # Errors
    /// The sentence for the model.
    pub fn read(&self, written: &str) -> Result<Url, String> {
        let address =
            Url::parse(written.trim()).map_err(|error| format!("`{}` is no address: {error}", shortened(written, 200)))?;
        self.check(&address)?;
        Ok(address)
    }

    /// Checks an address that is to be opened.
    ///
    /// # Errors
    /// The sentence for the model.
    pub fn check(&self, address: &Url) -> Result<(), String> {
        if !matches!(address.scheme(), "http" | "https") {
            return Err(format!("`{}:` addresses are not opened, only http and https", address.scheme()));
        }
        if !address.username().is_empty() || address.password().is_some() {
            return Err("an address with a name or a password in it is not opened; the person signs in".to_owned());
        }
        if address.as_str().len() > MOST_ADDRESS {
            return Err(format!("the address has {} bytes; {MOST_ADDRESS} are allowed", address.as_str().len()));
        }
        if !self.allow(address) {
            let hosts: Vec<_> = self.0.iter().map(PageHost::to_string).collect();
            let hosts = if hosts.is_empty() { "none".to_owned() } else { hosts.join(", ") };
            return Err(format!(
                "{} is no host of this campaign (its hosts: {hosts}); a person adds hosts to the artifact environment",
                address.host_str().unwrap_or_default()
            ));
        }
        Ok(())
    }
}
