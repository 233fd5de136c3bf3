//! `config.json` in the folder of Relay.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use super::RelayCliError;

/// The address of the document.
const LISTEN: &str = "127.0.0.1:3214";

/// The settings of Relay. They hold no secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HomeConfig {
    /// The address of the daemon, on loopback.
    #[serde(default = "listen")]
    pub(super) listen: SocketAddr,
    /// A level3 that runs already; then there is no daemon to start.
    #[serde(default)]
    pub(super) server: Option<Url>,
    /// The model of the agent; without one, level3 looks for one itself.
    #[serde(default)]
    pub(super) model: HomeModel,
    /// The channel of new instances that name none.
    #[serde(default)]
    pub(super) channel: HomeChannel,
    /// WhatsApp.
    #[serde(default)]
    pub(super) whatsapp: HomeWhatsApp,
    /// The pace, where it differs from what is usual.
    #[serde(default)]
    pub(super) pace: Map<String, Value>,
}

/// The model of the agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HomeModel {
    /// Its provider, such as `groq`.
    #[serde(default)]
    pub(super) provider: Option<String>,
    /// Its name.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// The address of a server of one's own.
    #[serde(default)]
    pub(super) base_url: Option<String>,
}

/// A channel that instances may run over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub(super) enum HomeChannel {
    /// The test channel, which reaches nobody.
    #[default]
    Loopback,
    /// WhatsApp.
    Whatsapp,
}

impl HomeChannel {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::Whatsapp => "whatsapp",
        }
    }
}

/// WhatsApp, as it was set up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HomeWhatsApp {
    /// The program that speaks with it.
    #[serde(default)]
    pub(super) program: Option<PathBuf>,
    /// When the operator took the risk on themselves.
    #[serde(default)]
    pub(super) consent_at: Option<DateTime<Utc>>,
}

impl Default for HomeConfig {
    fn default() -> Self {
        Self {
            listen: listen(),
            server: None,
            model: HomeModel::default(),
            channel: HomeChannel::default(),
            whatsapp: HomeWhatsApp::default(),
            pace: Map::new(),
        }
    }
}

fn listen() -> SocketAddr {
    LISTEN.parse().expect("an address with a port")
}

impl HomeConfig {
    /// Reads the file and checks it.
    pub(super) fn read(file: &Path, text: &[u8]) -> Result<Self, RelayCliError> {
        let wrong = |why: String| RelayCliError::Usage(format!("{}: {why}", file.display()));
        let config: Self = serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
        if !config.listen.ip().is_loopback() {
            return Err(wrong(format!("listen is {}: Relay serves this machine alone; write it like {LISTEN}", config.listen)));
        }
        if let Some(server) = &config.server {
            let loopback = match server.host() {
                Some(url::Host::Domain(name)) => name == "localhost",
                Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
                Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
                None => false,
            };
            if server.scheme() != "http" || !loopback {
                return Err(wrong(format!("server is {server}: expected a level3 on this machine, like http://127.0.0.1:8000")));
            }
        }
        Ok(config)
    }

    /// The file's content.
    pub(super) fn written(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).expect("settings are JSON");
        text.push(b'\n');
        text
    }

    /// The address that commands ask.
    pub(super) fn url(&self) -> Url {
        match &self.server {
            Some(server) => server.clone(),
            None => Url::parse(&format!("http://{}/", self.listen)).expect("an address with a port makes a URL"),
        }
    }
}

#[cfg(test)]
mod tests;
