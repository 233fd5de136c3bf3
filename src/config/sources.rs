//! The places from which settings come: the environment, below it the file `.env`, and below both
//! the file that the page writes. A setting of the page holds from the next start.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Config, ConfigError, PROVIDER_KEYS, names};

use crate::whole_file;

/// The file in the data folder that the page writes.
const FILE: &str = "settings.json";

/// The settings that can be changed on the page. None of them opens a door, sends a key elsewhere,
/// or moves what is kept.
const CHANGEABLE: [&str; 13] = [
    "LLM_PROVIDER",
    "LLM_MODEL",
    "LLM_FALLBACK",
    "LLM_CONTEXT_TOKENS",
    "HEARTBEAT_INTERVAL",
    "APPROVAL_EXPIRY",
    "MAX_CONVERSATION_HISTORY",
    "MAX_TOOL_ITERATIONS",
    "LEVEL3_MCP_SECONDS",
    "LEVEL3_TURN_LOG",
    "LEVEL3_UNDO_QUOTA",
    "LEVEL3_AGENT_QUOTA",
    "LEVEL3_DISK_RESERVE",
];

/// Settings whose values are shown to nobody.
const HIDDEN: [&str; 3] = ["LEVEL3_TOKEN", "LLM_API_KEY", "DATABASE_URL"];

/// Settings of single starts, for `run.sh` and for tests.
const OF_A_START: [&str; 4] = ["LEVEL3_BIN", "LEVEL3_RESTART_PAUSE", "LEVEL3_READY_FILE", "LEVEL3_FAILPOINT"];

/// The place that a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingOrigin {
    /// The environment of the process.
    Environment,
    /// The file `.env` in the working folder.
    DotEnv,
    /// The page.
    Page,
    /// Nothing: it has its default.
    Default,
}

/// A setting, as a person is shown it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingState {
    /// The variable's name.
    pub name: String,
    /// Its value; `None` if it has its default, or if it is shown to nobody.
    pub value: Option<String>,
    /// The place that it comes from.
    pub origin: SettingOrigin,
    /// True if the page may set it at all.
    pub on_page: bool,
    /// True if it can be changed on the page now. A setting of the environment or of `.env` cannot.
    pub can_change: bool,
    /// True if the page has set something else meanwhile, which holds from the next start.
    pub waits: bool,
    /// The value from the next start on, if it `waits`; `None` means the default.
    pub next: Option<String>,
}

/// The settings with their places. The values include secrets, so nothing prints it.
#[derive(Clone, Default)]
pub struct SettingSources {
    environment: HashMap<String, String>,
    dot_env: HashMap<String, String>,
    page: BTreeMap<String, String>,
}

/// The settings of the page after a change, which are not kept yet.
pub struct NextSettings {
    page: BTreeMap<String, String>,
    /// The configuration of the next start.
    pub config: Config,
}

/// The reason why a setting is not changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingRefused {
    /// No setting has this name.
    #[error("there is no setting `{0}`")]
    Unknown(String),
    /// It is not for the page.
    #[error("{0} is set in the environment or in .env only")]
    Elsewhere(String),
    /// Another place wins.
    #[error("{0} is set {1}, which wins; change it there")]
    Won(String, &'static str),
    /// The server could not start with it.
    #[error(transparent)]
    Wrong(#[from] ConfigError),
    /// The file of the page cannot be used.
    #[error("the file settings.json in the data folder cannot be used")]
    File(#[source] io::Error),
}

impl SettingSources {
    /// Settings of these places, and none of the page.
    pub(super) fn new(environment: HashMap<String, String>, dot_env: HashMap<String, String>) -> Self {
        Self { environment, dot_env, page: BTreeMap::new() }
    }

    /// All settings by name.
    pub(super) fn whole(&self) -> HashMap<String, String> {
        let mut whole = self.dot_env.clone();
        whole.extend(self.environment.clone());
        for (name, value) in &self.page {
            if whole.get(name).is_none_or(|above| above.trim().is_empty()) {
                whole.insert(name.clone(), value.clone());
            }
        }
        whole
    }

    /// Takes the settings of the page from its file.
    pub(super) fn take_page(&mut self, folder: &Path) -> io::Result<()> {
        self.page = of_page(folder)?;
        Ok(())
    }

    /// Leaves the settings of the page out.
    pub(super) fn leave_page_out(&mut self) {
        self.page.clear();
    }

    /// Every setting, as a person is shown it. `folder`: the data folder.
    ///
    /// # Errors
    /// If the file of the page cannot be read.
    pub fn states(&self, folder: &Path) -> Result<Vec<SettingState>, SettingRefused> {
        let page = of_page(folder).map_err(SettingRefused::File)?;
        let shown = names::known().filter(|name| !OF_A_START.contains(name));
        Ok(shown.map(|name| self.state(name, &page)).collect())
    }

    fn state(&self, name: &str, page: &BTreeMap<String, String>) -> SettingState {
        let (origin, value) = match self.above(name) {
            Some((origin, value)) => (origin, Some(value.to_owned())),
            None => match self.page.get(name) {
                Some(value) => (SettingOrigin::Page, Some(value.clone())),
                None => (SettingOrigin::Default, None),
            },
        };
        let on_page = CHANGEABLE.contains(&name);
        let can_change = on_page && !matches!(origin, SettingOrigin::Environment | SettingOrigin::DotEnv);
        let waits = can_change && page.get(name) != self.page.get(name);
        let next = page.get(name).filter(|_| waits).cloned();
        let hidden = HIDDEN.contains(&name) || PROVIDER_KEYS.contains(&name);
        SettingState { name: name.to_owned(), value: value.filter(|_| !hidden), origin, on_page, can_change, waits, next }
    }

    /// The setting in a place above the page.
    fn above(&self, name: &str) -> Option<(SettingOrigin, &str)> {
        let set = match self.environment.get(name) {
            Some(value) => (SettingOrigin::Environment, value),
            None => (SettingOrigin::DotEnv, self.dot_env.get(name)?),
        };
        Some((set.0, set.1.trim())).filter(|(_, value)| !value.is_empty())
    }

    /// The settings of the page after these changes; `None` takes one away. Nothing is kept yet.
    ///
    /// # Errors
    /// [`SettingRefused`]; then no change can be kept.
    pub fn changed(&self, folder: &Path, changes: BTreeMap<String, Option<String>>) -> Result<NextSettings, SettingRefused> {
        let mut page = of_page(folder).map_err(SettingRefused::File)?;
        for (name, value) in changes {
            if names::known().all(|known| known != name) {
                return Err(SettingRefused::Unknown(name));
            }
            if !CHANGEABLE.contains(&name.as_str()) {
                return Err(SettingRefused::Elsewhere(name));
            }
            match self.above(&name) {
                Some((SettingOrigin::Environment, _)) => return Err(SettingRefused::Won(name, "in the environment")),
                Some(_) => return Err(SettingRefused::Won(name, "in .env")),
                None => {}
            }
            match value.filter(|value| !value.trim().is_empty()) {
                Some(value) => page.insert(name, value.trim().to_owned()),
                None => page.remove(&name),
            };
        }
        let next = Self { page: page.clone(), ..self.clone() };
        Ok(NextSettings { page, config: Config::read(&next.whole())? })
    }
}

impl NextSettings {
    /// Keeps them for the next start.
    ///
    /// # Errors
    /// If the file cannot be written; then the one before is still there.
    pub fn keep(&self, folder: &Path) -> Result<(), SettingRefused> {
        let text = serde_json::to_string_pretty(&self.page).map_err(io::Error::other);
        text.and_then(|text| whole_file::write(&folder.join(FILE), text.as_bytes())).map_err(SettingRefused::File)
    }
}

/// The settings in the page's file; none if there is no file. Names that the page cannot change are
/// left out.
fn of_page(folder: &Path) -> io::Result<BTreeMap<String, String>> {
    let text = match fs::read_to_string(folder.join(FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(error),
    };
    let mut page: BTreeMap<String, String> = serde_json::from_str(&text).map_err(io::Error::other)?;
    page.retain(|name, _| CHANGEABLE.contains(&name.as_str()));
    Ok(page)
}

#[cfg(test)]
mod tests;
