//! Whose messages are orders to the operator, and the environment of the command `level3 operator`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{ConfigError, PROGRAMS, PROVIDER_ADDRESSES, PROVIDER_KEYS, SCREEN};
use crate::domain::relay::{ADDRESS_RULE, ContactAddress};

/// The limits of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorLimits {
    /// Iterations of the loop.
    pub max_iterations: u64,
    /// Minutes of work; waiting does not count.
    pub max_runtime_minutes: u64,
    /// Tokens read and written, by planner and governor together.
    pub max_tokens_per_session: u64,
}

impl Default for OperatorLimits {
    fn default() -> Self {
        Self { max_iterations: 40, max_runtime_minutes: 5, max_tokens_per_session: 50_000 }
    }
}

impl OperatorLimits {
    /// As the setting has them.
    pub fn written(self) -> String {
        let Self { max_iterations, max_runtime_minutes, max_tokens_per_session } = self;
        format!("{max_iterations},{max_runtime_minutes},{max_tokens_per_session}")
    }

    /// Reads what [`OperatorLimits::written`] gives.
    fn read(written: &str) -> Option<Self> {
        let read = |number: &str| number.trim().parse::<u64>().ok().filter(|number| *number > 0);
        let numbers = written.split(',').map(read).collect::<Option<Vec<_>>>()?;
        let [max_iterations, max_runtime_minutes, max_tokens_per_session] = numbers[..] else { return None };
        Some(Self { max_iterations, max_runtime_minutes, max_tokens_per_session })
    }
}

/// Whose messages are orders, and where they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorNumbers {
    /// The channel.
    pub channel: String,
    /// The numbers.
    pub numbers: Vec<ContactAddress>,
    /// The number of the account that is linked, for a pairing code.
    pub account: Option<ContactAddress>,
    /// The limits of a task; without them those of the policy hold.
    pub limits: Option<OperatorLimits>,
}

/// Reads `CHANNEL:NUMBER,NUMBER`.
pub(super) fn numbers(
    written: Option<String>,
    account: Option<String>,
    limits: Option<String>,
) -> Result<Option<OperatorNumbers>, ConfigError> {
    const NAME: &str = "LEVEL3_OPERATOR";
    let wrong = |variable, value: &str, problem: String| ConfigError { variable, value: value.to_owned(), problem };
    let number = |name, number: &str| exactly(number).ok_or_else(|| wrong(name, number, ADDRESS_RULE.to_owned()));
    // They are looked at also while no operator is set.
    let account = account.map(|account| number("LEVEL3_OPERATOR_ACCOUNT", &account)).transpose()?;
    let limit = |written: String| {
        let expected = "expected iterations, minutes and tokens, like 40,5,50000".to_owned();
        OperatorLimits::read(&written).ok_or_else(|| wrong("LEVEL3_OPERATOR_LIMITS", &written, expected))
    };
    let limits = limits.map(limit).transpose()?;
    let Some(written) = written else { return Ok(None) };
    let expected = "expected a channel and numbers, like whatsapp:+491701234567".to_owned();
    let Some((channel, numbers)) = written.split_once(':') else { return Err(wrong(NAME, &written, expected)) };
    if !["loopback", "whatsapp"].contains(&channel) {
        return Err(wrong(NAME, &written, expected));
    }
    let read = numbers.split(',').map(|written| number(NAME, written.trim())).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(OperatorNumbers { channel: channel.to_owned(), numbers: read, account, limits }))
}

/// A number that is written exactly as channels say it.
pub(super) fn exactly(written: &str) -> Option<ContactAddress> {
    ContactAddress::read(written).ok().filter(|address| address.as_str() == written)
}

/// The settings that the server of `level3 operator` gets from the environment, besides keys and
/// addresses of models. All others stand in its home.
const HANDED_ON: [&str; 13] = [
    "LLM_PROVIDER",
    "LLM_MODEL",
    "LLM_API_KEY",
    "LLM_BASE_URL",
    "LLM_FALLBACK",
    "LLM_CONTEXT_TOKENS",
    "LEVEL3_POSTGRES_BIN",
    "DATABASE_URL",
    "LEVEL3_FAILPOINT",
    "LEVEL3_READY_FILE",
    "LEVEL3_TIME_ZONE",
    "LEVEL3_EGRESS_ALLOW",
    "LEVEL3_SHUTDOWN_SECONDS",
];

/// The environment of the command `level3 operator`.
#[derive(Clone, Debug, Default)]
pub struct OperatorEnvironment {
    /// `ZETA_HOME`: the home of the operator.
    pub home: Option<PathBuf>,
    /// `HOME`: the user's own folder.
    pub user_home: Option<PathBuf>,
    /// `LEVEL3_WHATSAPP`: the program that speaks with WhatsApp.
    pub whatsapp: Option<PathBuf>,
    /// `PATH`, where cargo is looked for.
    pub path: Option<String>,
    /// The environment of the server.
    pub handed_on: BTreeMap<String, String>,
}

impl OperatorEnvironment {
    /// Reads the environment.
    #[expect(clippy::disallowed_methods, reason = "config reads the environment")]
    pub fn load() -> Self {
        Self::read(std::env::vars().collect())
    }

    /// The same from names and values. An empty value counts as unset.
    pub fn read(mut settings: BTreeMap<String, String>) -> Self {
        settings.retain(|_, value| !value.trim().is_empty());
        let place = |name: &str| settings.get(name).map(PathBuf::from);
        let (home, user_home, whatsapp) = (place("ZETA_HOME"), place("HOME"), place("LEVEL3_WHATSAPP"));
        let path = settings.get("PATH").cloned();
        let names = HANDED_ON.iter().chain(&PROGRAMS).chain(&SCREEN).chain(&PROVIDER_KEYS).chain(&PROVIDER_ADDRESSES);
        let handed_on = names.filter_map(|name| settings.remove_entry(*name)).collect();
        Self { home, user_home, whatsapp, path, handed_on }
    }
}

#[cfg(test)]
mod tests;
