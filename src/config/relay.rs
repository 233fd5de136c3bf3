//! The environment of the command `relay`: where its folder may lie, and what it hands on to the
//! server that it starts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{PROGRAMS, PROVIDER_ADDRESSES, PROVIDER_KEYS};

/// The settings that a server started by `relay start` gets from the environment, besides keys and
/// addresses of models. All others stand in the folder: what a shell happens to hold must not move
/// the data or open a door.
const HANDED_ON: [&str; 7] =
    ["LLM_PROVIDER", "LLM_MODEL", "LLM_API_KEY", "LLM_BASE_URL", "LLM_FALLBACK", "LEVEL3_POSTGRES_BIN", "RUST_LOG"];

/// The environment of the command `relay`.
#[derive(Clone, Default)]
pub struct RelayEnvironment {
    /// `RELAY_HOME`: the folder of Relay.
    pub home: Option<PathBuf>,
    /// `HOME`: the user's own folder.
    pub user_home: Option<PathBuf>,
    /// `LEVEL3_BIN`: the program to start; without it, the one beside `relay`.
    pub program: Option<PathBuf>,
    /// `LEVEL3_WHATSAPP`: the program that speaks with WhatsApp; without it, the one beside
    /// `relay`.
    pub whatsapp: Option<PathBuf>,
    /// The environment of the server that is started.
    pub handed_on: BTreeMap<String, String>,
}

impl RelayEnvironment {
    /// Reads the environment.
    #[expect(clippy::disallowed_methods, reason = "config reads the environment")]
    pub fn load() -> Self {
        Self::read(std::env::vars().collect())
    }

    /// The same from names and values. An empty value counts as unset.
    pub fn read(mut settings: BTreeMap<String, String>) -> Self {
        settings.retain(|_, value| !value.trim().is_empty());
        let place = |name: &str| settings.get(name).map(PathBuf::from);
        let (home, user_home, program) = (place("RELAY_HOME"), place("HOME"), place("LEVEL3_BIN"));
        let whatsapp = place("LEVEL3_WHATSAPP");
        let names = HANDED_ON.iter().chain(&PROGRAMS).chain(&PROVIDER_KEYS).chain(&PROVIDER_ADDRESSES);
        let handed_on = names.filter_map(|name| settings.remove_entry(*name)).collect();
        Self { home, user_home, program, whatsapp, handed_on }
    }
}

#[cfg(test)]
mod tests;
