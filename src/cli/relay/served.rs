//! The server that the daemon runs: which program, with which settings.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use secrecy::ExposeSecret;
use serde_json::json;

use super::RelayCliError;
use super::home::RelayHome;
use crate::config::RelayEnvironment;

/// How long turns get to come to a checkpoint. `stop` waits 15 s for all of it.
const SHUTDOWN_SECONDS: &str = "8";

/// The program of the server: the one of `LEVEL3_BIN`, else the one beside `relay`.
pub(super) fn program(environment: &RelayEnvironment, relay: &Path) -> Result<PathBuf, RelayCliError> {
    let program = environment.program.clone().unwrap_or_else(|| relay.with_file_name("level3"));
    if program.is_file() {
        return Ok(program);
    }
    let told = format!(
        "there is no program {}; build both with `cargo build --release`, or set LEVEL3_BIN to level3",
        program.display()
    );
    Err(RelayCliError::Refused(told))
}

/// The whole environment of the server. Settings of the folder stand above those of the shell.
pub(super) fn environment(home: &RelayHome, environment: &RelayEnvironment) -> Result<BTreeMap<String, String>, RelayCliError> {
    let config = home.config()?;
    let mut settings = environment.handed_on.clone();
    let model = &config.model;
    let key = home.model_key(model)?;
    if model.provider.is_some() || model.name.is_some() || model.base_url.is_some() || key.is_some() {
        // Halves of two models would make none.
        settings.retain(|name, _| !name.starts_with("LLM_"));
    }
    let text = |path: PathBuf| path.to_str().map(str::to_owned).ok_or_else(|| RelayCliError::file(&path)(not_text()));
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            settings.insert(name.to_owned(), value);
        }
    };
    set("LLM_PROVIDER", model.provider.clone());
    set("LLM_MODEL", model.name.clone());
    set("LLM_BASE_URL", model.base_url.clone());
    set("LLM_API_KEY", key);
    set("LEVEL3_LISTEN", Some(config.listen.to_string()));
    set("LEVEL3_TOKEN", Some(home.token(&config)?.expose_secret().to_owned()));
    set("LEVEL3_DATA_DIR", Some(text(home.data())?));
    set("LEVEL3_READY_FILE", Some(text(home.ready_file())?));
    set("LEVEL3_SHUTDOWN_SECONDS", Some(SHUTDOWN_SECONDS.to_owned()));
    // Without the operator's consent there is no such channel.
    if config.whatsapp.consent_at.is_some() {
        set("LEVEL3_WHATSAPP", config.whatsapp.program.map(text).transpose()?);
    }
    if !config.pace.is_empty() {
        set("LEVEL3_RELAY_PACE", Some(json!(config.pace).to_string()));
    }
    Ok(settings)
}

fn not_text() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "its name is no text that a setting can hold")
}

#[cfg(test)]
mod tests;
