//! Settings. Read once, from the environment, `.env` and the file that the page writes; the first
//! of these wins. Every error names the variable.

mod browser;
mod dot_env;
mod host;
mod model_place;
mod names;
mod operator;
mod program;
mod relay;
mod seconds;
mod sources;
mod vapi;
mod voice;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use chrono_tz::Tz;

use crate::domain::TurnLimits;
use crate::domain::relay::Pace;
use crate::domain::todo::zone_named;

pub use browser::BrowserAddress;
pub use host::HostName;
pub use model_place::{AddressFault, PROVIDER_WORDS, model_address, model_place};
pub use operator::{OperatorEnvironment, OperatorLimits, OperatorNumbers};
pub use program::program_at;
pub use relay::RelayEnvironment;
pub use seconds::SettingSeconds;
pub use sources::{NextSettings, SettingOrigin, SettingRefused, SettingSources, SettingState};
pub use vapi::{SignatureAlgorithm, SignatureEncoding, SignaturePlan, VapiConfig, VapiSettings};
pub use voice::{SpeechServer, SpeechShape, VoiceSettings};

/// Everything that can be set from outside.
#[derive(Clone)]
pub struct Config {
    /// `LEVEL3_LISTEN`: the address the server listens on.
    pub listen: SocketAddr,
    /// `LEVEL3_DATA_DIR`: the folder for everything the server keeps in files.
    pub data_dir: PathBuf,
    /// `DATABASE_URL`: a Postgres to use; an embedded one when `None`.
    pub database_url: Option<String>,
    /// `LEVEL3_POSTGRES_BIN`: the folder with `postgres` and `initdb` for the embedded one.
    pub postgres_bin: Option<PathBuf>,
    /// Which model to use.
    pub model: ModelSettings,
    /// `HEARTBEAT_INTERVAL`: how often the server looks for what is due, besides the moments it
    /// falls due.
    pub heartbeat: SettingSeconds,
    /// `APPROVAL_EXPIRY`: how long a person has to decide before it counts as no.
    pub approval_expiry: SettingSeconds,
    /// `MAX_TOOL_ITERATIONS`: how many model requests one turn may make, and
    /// `MAX_CONVERSATION_HISTORY`: how many earlier messages each of them carries.
    pub turn: TurnLimits,
    /// `LEVEL3_TOKEN`: what a client must show; required when `listen` is not loopback and the
    /// owner has no password.
    pub token: Option<String>,
    /// `LEVEL3_ALLOWED_HOSTS`: further names, comma separated, under which the server may be
    /// reached: at that port, or at every port.
    pub allowed_hosts: Vec<HostName>,
    /// `LEVEL3_EGRESS_ALLOW`: addresses with port, comma separated, that requests may go to
    /// although they are not public.
    pub egress_allow: BTreeSet<SocketAddr>,
    /// `LEVEL3_CAPABILITY_CRASHES`: after so many crashes in a row in the middle of a capability's
    /// call its version is disabled.
    pub capability_crashes: u32,
    /// `LEVEL3_TURN_CRASHES`: after so many crashes in a row at one tool call its turn is given up.
    pub turn_crashes: i32,
    /// `LEVEL3_SHUTDOWN_SECONDS`: how long turns, requests and sockets get to end in good order
    /// when the server is stopped.
    pub shutdown: SettingSeconds,
    /// `LEVEL3_TURN_LOG`: whether each turn is logged to a file of the data folder.
    pub turn_log: bool,
    /// `LEVEL3_MCP_COMMANDS`: whether MCP servers that are programs may be added over the HTTP
    /// interface; if a token is asked for they may in any case.
    pub mcp_commands: bool,
    /// `LEVEL3_MCP_SECONDS`: how long an external MCP server gets to answer a call.
    pub mcp_call: SettingSeconds,
    /// The environment of programs that the server starts for others: nothing else of its own
    /// reaches them.
    pub programs: BTreeMap<String, String>,
    /// `LEVEL3_UNDO_QUOTA`: how many bytes all that is kept to be put back may take.
    pub undo_bytes: u64,
    /// `LEVEL3_AGENT_QUOTA`: how many bytes the agent's tables may take.
    pub agent_quota: u64,
    /// `LEVEL3_DISK_RESERVE`: how many bytes of the device the agent's statements leave to the
    /// server.
    pub disk_reserve: u64,
    /// `LEVEL3_READY_FILE`: the server's address is written there once it is ready.
    pub ready_file: Option<PathBuf>,
    /// `LEVEL3_SAFE_MODE`: start without capabilities; set by `run.sh` after repeated crashes.
    pub safe_mode: bool,
    /// `LEVEL3_BROWSER`: the person's browser, which campaigns drive; none when `None`.
    pub browser: Option<BrowserAddress>,
    /// `LEVEL3_WHATSAPP`: the program that speaks with WhatsApp for Relay; none when `None`.
    pub whatsapp: Option<PathBuf>,
    /// `LEVEL3_OPERATOR`: the channel and the numbers whose messages are orders to the operator;
    /// nobody's are when `None`.
    pub operator: Option<OperatorNumbers>,
    /// `DISPLAY` and its like: the screen of which the operator takes pictures.
    pub screen: BTreeMap<String, String>,
    /// `LEVEL3_RELAY_PACE`: when messages to contacts may leave.
    pub pace: Pace,
    /// `LEVEL3_TIME_ZONE`, or `TZ`: the clock of contacts for whom no zone is given.
    pub time_zone: Tz,
    /// The `VOICE_…` settings: servers for speech.
    pub voice: VoiceSettings,
    /// Vapi, and the public name under which it reaches this server.
    pub vapi: VapiConfig,
    /// `LEVEL3_FAILPOINT`: the place in which a test makes this process die, fail or stand still;
    /// see [`crate::failpoint`].
    #[cfg(debug_assertions)]
    pub failpoint: Option<crate::failpoint::Armed>,
    /// A sentence for each name that looks like a setting and is none.
    pub unknown: Vec<String>,
    /// Every setting with the place that it comes from.
    pub sources: SettingSources,
}

/// The variables that programs are passed on: places of files and programs, and languages. Keys and
/// passwords are not among them.
const PROGRAMS: [&str; 11] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"];

/// The fewest characters of a token if other machines can reach the server.
const SHORTEST_TOKEN: usize = 16;

/// The variables that name the screen of a desktop.
const SCREEN: [&str; 4] = ["DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"];

/// Which model to use, as the operator wrote it. All `None` means: look for a local one, else the
/// tour.
#[derive(Clone, Default)]
pub struct ModelSettings {
    /// `LLM_PROVIDER`.
    pub provider: Option<String>,
    /// `LLM_MODEL`.
    pub model: Option<String>,
    /// `LLM_API_KEY`.
    pub api_key: Option<String>,
    /// `LLM_BASE_URL`.
    pub base_url: Option<String>,
    /// `LLM_FALLBACK`: models that answer when the first is down, as `provider/model`, comma
    /// separated.
    pub fallback: Option<String>,
    /// `LLM_CONTEXT_TOKENS`: how much the model can take, if that is not known or known wrongly.
    pub context_tokens: Option<u32>,
    /// The keys of providers, by the variables of [`PROVIDER_KEYS`].
    pub keys: BTreeMap<String, String>,
    /// The addresses of servers of one's own, by the variables of [`PROVIDER_ADDRESSES`].
    pub addresses: BTreeMap<String, String>,
}

/// The variables with the keys of providers.
pub const PROVIDER_KEYS: [&str; 6] =
    ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GROQ_API_KEY", "OPENROUTER_API_KEY", "MISTRAL_API_KEY", "GEMINI_API_KEY"];
/// The variables with the addresses of providers that people run themselves.
pub const PROVIDER_ADDRESSES: [&str; 3] = ["OLLAMA_BASE_URL", "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL"];

/// A setting that cannot be used.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{variable} is `{value}`: {problem}")]
pub struct ConfigError {
    variable: &'static str,
    value: String,
    problem: String,
}

impl ConfigError {
    /// The setting.
    pub fn variable(&self) -> &'static str {
        self.variable
    }

    /// The fault for a person who sees the field of the setting.
    pub fn at_its_field(&self) -> String {
        format!("`{}` cannot be used here: {}", self.value, self.problem)
    }
}

impl Config {
    /// Reads the environment and, below it, the file `.env` in the working folder, and the file
    /// that the page writes.
    ///
    /// # Errors
    /// The first setting that cannot be used, or a `.env` that cannot be read.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub fn load() -> Result<Self, ConfigError> {
        let settings = match fs::read_to_string(".env") {
            Ok(text) => dot_env::read(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => HashMap::new(),
            Err(error) => return Err(dot_env::unusable(format!("it cannot be read: {error}"))),
        };
        Self::layered(SettingSources::new(std::env::vars().collect(), settings))
    }

    /// The sentence about a token that is too short for an address that other machines can reach.
    /// They can try as many as they like in the long run, so only its length keeps them out.
    pub fn short_token(&self) -> Option<String> {
        let short = self.token.as_ref().is_some_and(|token| token.chars().count() < SHORTEST_TOKEN);
        (short && !self.listen.ip().to_canonical().is_loopback()).then(|| {
            format!(
                "LEVEL3_TOKEN has fewer than {SHORTEST_TOKEN} characters, and other machines can reach {}: set a long random text (openssl rand \
                 -hex 32), or listen on 127.0.0.1",
                self.listen
            )
        })
    }

    /// Makes a configuration from the settings that a command has put together, and the file that
    /// the page writes.
    ///
    /// # Errors
    /// The first setting that cannot be used.
    pub fn of(settings: BTreeMap<String, String>) -> Result<Self, ConfigError> {
        Self::layered(SettingSources::new(settings.into_iter().collect(), HashMap::new()))
    }

    /// Makes a configuration from settings of several places. A file of the page that is of no use
    /// is left out, with a word.
    fn layered(mut sources: SettingSources) -> Result<Self, ConfigError> {
        let above = Self::read(&sources.whole())?;
        let unreadable = sources.take_page(&above.data_dir).err().map(|error| error.to_string());
        let (config, problem) = match Self::read(&sources.whole()) {
            Ok(config) => (config, unreadable),
            Err(error) => {
                sources.leave_page_out();
                (above, Some(error.to_string()))
            }
        };
        let left_out = problem.map(|problem| format!("settings.json in the data folder is left out: {problem}"));
        let unknown = config.unknown.iter().cloned().chain(left_out).collect();
        Ok(Self { sources, unknown, ..config })
    }

    /// Makes a configuration from names and values. An empty value counts as unset.
    ///
    /// # Errors
    /// The first setting that cannot be used.
    pub fn read(settings: &HashMap<String, String>) -> Result<Self, ConfigError> {
        let get = |name: &str| {
            debug_assert!(names::may_be_read(name), "{name} is missing in names.rs");
            settings.get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let allowed_hosts = allowed_hosts(get("LEVEL3_ALLOWED_HOSTS"))?;
        let config = Self {
            listen: parse(get, "LEVEL3_LISTEN", "127.0.0.1:8000", "an address with a port, like 127.0.0.1:8000")?,
            data_dir: get("LEVEL3_DATA_DIR").unwrap_or_else(|| "./data".into()).into(),
            database_url: get("DATABASE_URL"),
            postgres_bin: get("LEVEL3_POSTGRES_BIN").map(PathBuf::from),
            model: ModelSettings {
                provider: get("LLM_PROVIDER"),
                model: get("LLM_MODEL"),
                api_key: get("LLM_API_KEY"),
                base_url: get("LLM_BASE_URL"),
                fallback: get("LLM_FALLBACK"),
                context_tokens: context_tokens(get)?,
                keys: those_set(get, &PROVIDER_KEYS),
                addresses: those_set(get, &PROVIDER_ADDRESSES),
            },
            heartbeat: seconds(get, "HEARTBEAT_INTERVAL", "300")?,
            approval_expiry: seconds(get, "APPROVAL_EXPIRY", "86400")?,
            turn: TurnLimits {
                steps: u32::try_from(positive(get, "MAX_TOOL_ITERATIONS", "10")?).unwrap_or(u32::MAX),
                history: usize::try_from(positive(get, "MAX_CONVERSATION_HISTORY", "50")?).unwrap_or(usize::MAX),
            },
            token: get("LEVEL3_TOKEN"),
            vapi: vapi::read(get, &allowed_hosts)?,
            allowed_hosts,
            egress_allow: egress_allow(get("LEVEL3_EGRESS_ALLOW"))?,
            capability_crashes: u32::try_from(positive(get, "LEVEL3_CAPABILITY_CRASHES", "3")?).unwrap_or(u32::MAX),
            turn_crashes: i32::try_from(positive(get, "LEVEL3_TURN_CRASHES", "5")?).unwrap_or(i32::MAX),
            shutdown: seconds(get, "LEVEL3_SHUTDOWN_SECONDS", "3")?,
            turn_log: switch(get, "LEVEL3_TURN_LOG", "1")?,
            mcp_commands: switch(get, "LEVEL3_MCP_COMMANDS", "0")? || get("LEVEL3_TOKEN").is_some(),
            mcp_call: seconds(get, "LEVEL3_MCP_SECONDS", "60")?,
            programs: PROGRAMS.iter().filter_map(|name| Some(((*name).to_owned(), get(name)?))).collect(),
            undo_bytes: bytes(get, "LEVEL3_UNDO_QUOTA", "256MiB")?,
            agent_quota: bytes(get, "LEVEL3_AGENT_QUOTA", "2GiB")?,
            disk_reserve: bytes(get, "LEVEL3_DISK_RESERVE", "200MiB")?,
            ready_file: get("LEVEL3_READY_FILE").map(PathBuf::from),
            safe_mode: switch(get, "LEVEL3_SAFE_MODE", "0")?,
            browser: browser(get("LEVEL3_BROWSER"))?,
            whatsapp: get("LEVEL3_WHATSAPP").map(|named| whatsapp(named.into(), get("PATH").as_deref())),
            operator: operator::numbers(get("LEVEL3_OPERATOR"), get("LEVEL3_OPERATOR_ACCOUNT"), get("LEVEL3_OPERATOR_LIMITS"))?,
            screen: PROGRAMS.iter().chain(&SCREEN).filter_map(|name| Some(((*name).to_owned(), get(name)?))).collect(),
            pace: pace(get("LEVEL3_RELAY_PACE"))?,
            time_zone: time_zone(get("LEVEL3_TIME_ZONE"), get("TZ"))?,
            voice: voice::read(get)?,
            #[cfg(debug_assertions)]
            failpoint: failpoint(get("LEVEL3_FAILPOINT"))?,
            unknown: names::unknown(settings),
            sources: SettingSources::new(settings.clone(), HashMap::new()),
        };
        Ok(config)
    }
}

/// The program that speaks with WhatsApp. One that is not there stays as it was named, and the
/// status of its channel says so.
fn whatsapp(named: PathBuf, path: Option<&str>) -> PathBuf {
    program_at(&named, path).unwrap_or(named)
}

fn parse<T: std::str::FromStr>(
    get: impl Fn(&str) -> Option<String>,
    variable: &'static str,
    default: &str,
    expected: &str,
) -> Result<T, ConfigError> {
    let value = get(variable).unwrap_or_else(|| default.to_owned());
    value.parse().map_err(|_| ConfigError { variable, problem: format!("expected {expected}"), value })
}

fn pace(written: Option<String>) -> Result<Pace, ConfigError> {
    let wrong = |value: &str, problem| ConfigError { variable: "LEVEL3_RELAY_PACE", value: value.to_owned(), problem };
    written.map_or_else(|| Ok(Pace::default()), |value| Pace::read(&value).map_err(|problem| wrong(&value, problem)))
}

fn browser(written: Option<String>) -> Result<Option<BrowserAddress>, ConfigError> {
    let read = |value: String| value.parse().map_err(|problem| ConfigError { variable: "LEVEL3_BROWSER", value, problem });
    written.map(read).transpose()
}

/// The zone that is set; else the machine's, if its name is one of the IANA.
fn time_zone(written: Option<String>, machines: Option<String>) -> Result<Tz, ConfigError> {
    match written {
        Some(value) => zone_named(&value).map_err(|problem| ConfigError { variable: "LEVEL3_TIME_ZONE", value, problem }),
        None => Ok(machines.and_then(|name| zone_named(&name).ok()).unwrap_or(Tz::UTC)),
    }
}

fn those_set(get: impl Fn(&str) -> Option<String>, names: &[&str]) -> BTreeMap<String, String> {
    names.iter().filter_map(|name| Some(((*name).to_owned(), get(name)?))).collect()
}

/// Fewer than 1024 tokens do not even hold the first request.
fn context_tokens(get: impl Fn(&str) -> Option<String>) -> Result<Option<u32>, ConfigError> {
    const NAME: &str = "LLM_CONTEXT_TOKENS";
    let read = |value: String| match value.parse() {
        Ok(tokens @ 1024..) => Ok(tokens),
        _ => Err(ConfigError { variable: NAME, value, problem: "expected a whole number of tokens from 1024 up".into() }),
    };
    get(NAME).map(read).transpose()
}

fn allowed_hosts(written: Option<String>) -> Result<Vec<HostName>, ConfigError> {
    let written = written.unwrap_or_default();
    let entries = written.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let host = |entry: &str| {
        let wrong = |problem: &str| ConfigError {
            variable: "LEVEL3_ALLOWED_HOSTS",
            value: entry.to_owned(),
            problem: problem.to_owned(),
        };
        entry.parse().map_err(wrong)
    };
    entries.map(host).collect()
}

fn egress_allow(written: Option<String>) -> Result<BTreeSet<SocketAddr>, ConfigError> {
    let written = written.unwrap_or_default();
    let entries = written.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let address = |entry: &str| {
        let address: Option<SocketAddr> = entry.parse().ok();
        address.filter(|address| address.port() != 0 && !address.ip().is_unspecified()).ok_or_else(|| ConfigError {
            variable: "LEVEL3_EGRESS_ALLOW",
            value: entry.to_owned(),
            problem: "expected the addresses of single peers with their ports, comma separated, like 127.0.0.1:9000,[::1]:9000"
                .into(),
        })
    };
    entries.map(address).collect()
}

#[cfg(debug_assertions)]
fn failpoint(written: Option<String>) -> Result<Option<crate::failpoint::Armed>, ConfigError> {
    let wrong = |value, problem| ConfigError { variable: "LEVEL3_FAILPOINT", value, problem };
    written.map(|value| value.parse().map_err(|problem| wrong(value, problem))).transpose()
}

/// A number of bytes, plain or with a unit.
fn bytes(get: impl Fn(&str) -> Option<String>, variable: &'static str, default: &str) -> Result<u64, ConfigError> {
    let value = get(variable).unwrap_or_else(|| default.to_owned());
    let digits = value.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match value[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "" => Some(1),
        "kib" => Some(1 << 10),
        "mib" => Some(1 << 20),
        "gib" => Some(1 << 30),
        "tib" => Some(1_u64 << 40),
        _ => None,
    };
    let read = digits.parse::<u64>().ok().zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    read.filter(|bytes| *bytes > 0).ok_or_else(|| {
        let problem = "expected a number of bytes from 1 up, like 500MiB or 2GiB".to_owned();
        ConfigError { variable, value, problem }
    })
}

/// On or off.
fn switch(get: impl Fn(&str) -> Option<String>, variable: &'static str, default: &str) -> Result<bool, ConfigError> {
    let value = get(variable).unwrap_or_else(|| default.to_owned());
    match value.to_ascii_lowercase().as_str() {
        "1" | "on" | "true" | "yes" => Ok(true),
        "0" | "off" | "false" | "no" => Ok(false),
        _ => Err(ConfigError { variable, problem: "expected 1 for on, or 0 for off".to_owned(), value }),
    }
}

fn seconds(get: impl Fn(&str) -> Option<String>, variable: &'static str, default: &str) -> Result<SettingSeconds, ConfigError> {
    parse(get, variable, default, SettingSeconds::EXPECTED)
}

fn positive(get: impl Fn(&str) -> Option<String>, variable: &'static str, default: &str) -> Result<u64, ConfigError> {
    const EXPECTED: &str = "a whole number from 1 up";
    match parse(get, variable, default, EXPECTED)? {
        0 => Err(ConfigError { variable, value: "0".into(), problem: format!("expected {EXPECTED}") }),
        number => Ok(number),
    }
}

#[cfg(test)]
mod tests;
