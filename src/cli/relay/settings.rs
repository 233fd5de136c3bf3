//! `config.json` in the folder of Relay.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::{Host, Url};

use super::RelayCliError;
use crate::cli::model_key::key_place;
use crate::config::model_place;
use crate::domain::relay::Pace;

/// The address of the document.
const LISTEN: &str = "127.0.0.1:3214";
/// How the server says that a lax pace is wanted; here an option says it.
const BESIDE_IT: &str = "say \"i_know\": true beside it";
/// The word beside a lax pace.
const I_KNOW: &str = "i_know";

/// The settings of Relay. They hold no secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HomeConfig {
    /// The address of the daemon, on loopback.
    #[serde(default = "listen")]
    pub(super) listen: SocketAddr,
    /// A level3 that runs already; then there is no daemon to start.
    #[serde(default)]
    pub(super) server: Option<String>,
    /// The model of the agent; without one, level3 looks for one itself.
    #[serde(default)]
    pub(super) model: HomeModel,
    /// The channel of new instances that name none.
    #[serde(default)]
    pub(super) channel: HomeChannel,
    /// WhatsApp.
    #[serde(default)]
    pub(super) whatsapp: HomeWhatsApp,
    /// The pace, where it differs from what is usual, with the word of a person if it is laxer.
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

impl HomeModel {
    /// The place that its key is for, in words.
    pub(super) fn place(&self) -> String {
        key_place(self.provider.as_deref(), self.base_url.as_deref())
    }
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
        let config = Self::read_unagreed(file, text)?;
        let lax = |why: String| {
            let why = why.replace(BESIDE_IT, "say: relay init --i-know");
            RelayCliError::Usage(format!("{}: pace: {why}", file.display()))
        };
        Pace::read(&Value::Object(config.pace.clone()).to_string()).map_err(lax)?;
        Ok(config)
    }

    /// The same of a file whose pace may be laxer than a person has agreed to.
    pub(super) fn read_unagreed(file: &Path, text: &[u8]) -> Result<Self, RelayCliError> {
        let wrong = |why: String| RelayCliError::Usage(format!("{}: {why}", file.display()));
        let whole: Value = serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
        // A list would be read as the fields in their order.
        if !whole.is_object() {
            return Err(wrong("the settings are one JSON object, like {\"channel\": \"loopback\"}".into()));
        }
        if let Some(name) = ["model", "whatsapp"].into_iter().find(|name| whole.get(*name).is_some_and(Value::is_array)) {
            return Err(wrong(format!("`{name}` is a list; write an object, like \"{name}\": {{}}")));
        }
        let config: Self = serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
        if !config.listen.ip().is_loopback() {
            return Err(wrong(format!("listen is {}: Relay serves this machine alone; write it like {LISTEN}", config.listen)));
        }
        if config.listen.port() == 0 {
            return Err(wrong(format!("listen is {}: port 0 is another at each start; write it like {LISTEN}", config.listen)));
        }
        if config.server.as_ref().is_some_and(|server| !is_here(server)) {
            // Not said again: it may hold a password.
            return Err(wrong(
                "server is no bare address of a level3 on this machine: write it like http://127.0.0.1:8000".into(),
            ));
        }
        model_place(config.model.provider.as_deref(), config.model.base_url.as_deref()).map_err(wrong)?;
        for (name, value) in &config.pace {
            pace_setting(name, value).map_err(|why| wrong(format!("pace: {why}")))?;
        }
        Ok(config)
    }

    /// Puts a person's word beside a pace that needs it, and takes it away from one that does not.
    /// A word said before holds for what was agreed to then; whatever goes further needs it now.
    pub(super) fn agree(&mut self, before: &Self, says_it: bool) -> Result<(), RelayCliError> {
        let read = |pace: &Map<String, Value>| {
            let read = serde_json::from_value::<Pace>(Value::Object(pace.clone()));
            read.map_err(|error| RelayCliError::Usage(format!("pace: {error}")))
        };
        let (now, before, usual) = (read(&self.pace)?, read(&before.pace)?, Pace::default());
        let agreed = if before.i_know { before } else { usual };
        if let Some(why) = now.laxer_than(&[usual, agreed]).filter(|_| !says_it) {
            return Err(RelayCliError::Usage(format!("pace: {}", why.replace(BESIDE_IT, "add --i-know"))));
        }
        match now.laxer_than(&[usual]) {
            Some(_) => self.pace.insert(I_KNOW.to_owned(), true.into()),
            None => self.pace.remove(I_KNOW),
        };
        Ok(())
    }

    /// The file's content.
    pub(super) fn written(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).expect("settings are JSON");
        text.push(b'\n');
        text
    }

    /// The address that commands ask.
    pub(super) fn url(&self) -> Url {
        let text = self.server.clone().unwrap_or_else(|| format!("http://{}/", self.listen));
        Url::parse(&text).expect("checked when it was read; an address with a port makes a URL")
    }
}

/// Looks at one setting of the pace by itself, so that the words about it name it and show a right
/// value.
pub(super) fn pace_setting(name: &str, value: &Value) -> Result<(), String> {
    let usual = serde_json::to_value(Pace::default()).unwrap_or_default();
    let Some(right) = usual.get(name) else {
        let names: Vec<_> = usual.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
        return Err(format!("`{name}` is no setting of the pace; write one of {}", names.join(", ")));
    };
    // How lax it may be is asked of all settings together.
    let alone: Map<_, _> = [(I_KNOW.to_owned(), true.into()), (name.to_owned(), value.clone())].into_iter().collect();
    let wrong = |_| format!("`{name}` is {value}; a right one is {right}");
    Pace::read(&Value::Object(alone).to_string()).map(drop).map_err(wrong)
}

/// True for the bare address of a server on this machine: no user name, no password, nothing behind
/// the port.
fn is_here(server: &str) -> bool {
    Url::parse(server).is_ok_and(|url| {
        let on_loopback = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        };
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        url.scheme() == "http" && on_loopback && url.username().is_empty() && url.password().is_none() && is_bare
    })
}

#[cfg(test)]
mod tests;
