//! The reasons why something is not done in a browser, each in a sentence with what to do.

use crate::config::BrowserAddress;
use crate::domain::campaign::page::OPEN;

/// The oldest version that has all commands.
pub(super) const OLDEST: u32 = 120;

/// Something was not done in the browser, or nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrowserError {
    /// No browser can be reached. Nothing happened.
    #[error("{0}")]
    NotThere(String),
    /// The page, or a rule, does not allow it. Nothing happened.
    #[error("{0}")]
    Refused(String),
    /// Tab or browser went away after it had begun: it may have happened.
    #[error("nobody knows whether it happened: {0}")]
    Unknown(String),
}

impl BrowserError {
    /// No browser is set.
    pub(super) fn unset() -> Self {
        Self::NotThere(format!("no browser is set; set LEVEL3_BROWSER=http://127.0.0.1:9222 and start Chrome: {}", command(9222)))
    }

    /// Nothing listens.
    pub(super) fn closed(host: &str, port: u16) -> Self {
        Self::NotThere(format!(
            "no browser answers at {host}:{port}; start Chrome: {} (Chrome 136 and later opens no port with its default profile)",
            command(port)
        ))
    }

    /// The profile has no port.
    pub(super) fn no_port(folder: &std::path::Path) -> Self {
        let folder = folder.display();
        Self::NotThere(format!(
            "no browser with an open port uses the profile {folder}; start Chrome: google-chrome --remote-debugging-port=0 \
             --user-data-dir={folder}"
        ))
    }

    /// Something else listens.
    pub(super) fn no_browser(address: &BrowserAddress, why: &str) -> Self {
        let at = match address {
            BrowserAddress::Port { host, port } | BrowserAddress::Socket { host, port, .. } => format!("{host}:{port}"),
            BrowserAddress::Profile(folder) => format!("the port of {}", folder.display()),
        };
        Self::NotThere(format!("what answers at {at} is no Chrome with DevTools ({why}); start Chrome: {}", command(9222)))
    }

    /// It is too old.
    pub(super) fn old(product: &str) -> Self {
        Self::NotThere(format!("the browser is {product}, and version {OLDEST} or later is needed; update it"))
    }

    /// True if it may have happened.
    pub fn may_have_happened(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }
}

/// The command that starts Chrome.
fn command(port: u16) -> String {
    format!("google-chrome --remote-debugging-port={port} --user-data-dir=$HOME/.level3-chrome")
}

/// A command of the protocol without an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CdpFault {
    /// The tab, or the browser, is gone.
    #[error("the campaign's tab was closed, or the browser ended")]
    Gone,
    /// The browser refused it.
    #[error("the browser says: {0}")]
    Refused(String),
    /// The browser did not answer in time.
    #[error("the browser did not answer {0} in time")]
    Slow(&'static str),
    /// The tab did not: it is given up.
    #[error("the campaign's tab did not answer {0} in time, so it is given up")]
    GivenUp(&'static str),
}

impl CdpFault {
    /// As the fault of something that had not begun.
    pub(super) fn before(self) -> BrowserError {
        match self {
            Self::Gone | Self::GivenUp(_) => BrowserError::Refused(format!("{self}; propose {OPEN}")),
            other => BrowserError::Refused(other.to_string()),
        }
    }

    /// As the fault of something that had begun.
    pub(super) fn amid(self) -> BrowserError {
        BrowserError::Unknown(self.to_string())
    }
}
