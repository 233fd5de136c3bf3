//! `config.json` of the operator: who may order, by which channel, with which model, within which
//! limits. A wrong field is named with a right value.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use url::Url;

use super::OperatorChannel;
use super::home::OperatorHome;
use crate::cli::CliError;
use crate::cli::model_key::{KeptKey, key_place};
use crate::config::{OperatorEnvironment, OperatorLimits, model_place};
use crate::domain::relay::{ADDRESS_RULE, ContactAddress};
use crate::domain::undoubled;

/// The settings as they stand in `config.json`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OperatorConfig {
    pub(super) numbers: Vec<ContactAddress>,
    pub(super) channel: Option<OperatorChannel>,
    pub(super) account: Option<ContactAddress>,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) base_url: Option<String>,
    pub(super) limits: OperatorLimits,
    pub(super) listen: SocketAddr,
    pub(super) whatsapp_program: Option<PathBuf>,
}

impl Default for OperatorConfig {
    fn default() -> Self {
        Self {
            numbers: Vec::new(),
            channel: None,
            account: None,
            provider: None,
            model: None,
            base_url: None,
            limits: OperatorLimits::default(),
            listen: SocketAddr::from(([127, 0, 0, 1], 8000)),
            whatsapp_program: None,
        }
    }
}

/// The words of the command line.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) channel: Option<OperatorChannel>,
    pub(super) number: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
}

/// The operator, ready to run.
#[derive(Debug)]
pub struct OperatorSetup {
    /// Its home.
    pub home: OperatorHome,
    /// Its channel.
    pub channel: OperatorChannel,
    /// True if the session of WhatsApp is to be put aside before the server starts.
    pub resets: bool,
    /// The program that speaks with WhatsApp, once it is known.
    pub(super) program: Option<PathBuf>,
    pub(super) environment: OperatorEnvironment,
    config: OperatorConfig,
}

/// The largest limit that may be set.
const MOST_LIMIT: u64 = 1_000_000_000;
/// The question for the account, if a QR code may have no room.
const ACCOUNT: &str = "This terminal is too narrow for a QR code. The number that is to be linked, like +491711111111, for a \
     code to type on its phone (empty: scan the QR code in the page): ";
/// The names of the fields.
const FIELDS: [&str; 7] = ["number", "channel", "account", "model", "limits", "listen", "whatsapp_program"];

/// The settings of a home; `None` if there are none yet.
fn kept_in(home: &OperatorHome) -> Result<Option<OperatorConfig>, CliError> {
    let Some(text) = home.config_text()? else { return Ok(None) };
    let wrong = |why| CliError::Usage(format!("{}: {why}", home.config_file().display()));
    OperatorConfig::read(&text).map(Some).map_err(wrong)
}

/// The address of the server that runs on a home.
pub(super) fn url_of(home: &OperatorHome) -> Result<Url, CliError> {
    let listen = kept_in(home)?.unwrap_or_default().listen;
    Url::parse(&format!("http://{listen}/")).map_err(|error| CliError::Usage(format!("`listen` is {listen}: {error}")))
}

impl OperatorConfig {
    /// Reads the text of the file.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let whole: Value = serde_json::from_str(text).map_err(|error| format!("this is no JSON: {error}"))?;
        undoubled(text).map_err(|twice| format!("{twice}; write it once"))?;
        let Value::Object(fields) = whole else {
            return Err("the settings are one JSON object, such as {\"number\": \"+491701234567\"}".into());
        };
        if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
            return Err(format!("`{unknown}` is none of the fields: {}", FIELDS.join(", ")));
        }
        let channel = match text_of(&fields, "channel", "\"whatsapp\" or \"loopback\"")?.as_deref() {
            None => None,
            Some("whatsapp") => Some(OperatorChannel::Whatsapp),
            Some("loopback") => Some(OperatorChannel::Loopback),
            Some(other) => return Err(wrong("channel", &json!(other), "\"whatsapp\" or \"loopback\"")),
        };
        let mut config = Self { numbers: numbers(&fields)?, channel, ..Self::default() };
        let account = text_of(&fields, "account", "a number, such as \"+491701234567\"")?;
        config.account = account.map(|written| exactly("account", &written)).transpose()?;
        let model =
            object_of(&fields, "model", "{\"provider\": \"openai\", \"name\": \"gpt-4o\"}", &["provider", "name", "base_url"])?;
        config.provider = text_of(&model, "model.provider", "the name of a provider, such as \"openai\"")?;
        config.model = text_of(&model, "model.name", "the name of a model, such as \"gpt-4o\"")?;
        config.base_url = text_of(&model, "model.base_url", "an address, such as \"http://127.0.0.1:8080/v1\"")?;
        model_place(config.provider.as_deref(), config.base_url.as_deref())?;
        let names = ["max_iterations", "max_runtime_minutes", "max_tokens_per_session"];
        let limits = object_of(&fields, "limits", "{\"max_iterations\": 40}", &names)?;
        let usual = OperatorLimits::default();
        let number = |name: &str, usual: u64| match limits.get(name) {
            None => Ok(usual),
            Some(value) => value.as_u64().filter(|number| (1..=MOST_LIMIT).contains(number)).ok_or_else(|| {
                wrong(&format!("limits.{name}"), value, &format!("a whole number from 1 to {MOST_LIMIT}, such as {usual}"))
            }),
        };
        config.limits = OperatorLimits {
            max_iterations: number(names[0], usual.max_iterations)?,
            max_runtime_minutes: number(names[1], usual.max_runtime_minutes)?,
            max_tokens_per_session: number(names[2], usual.max_tokens_per_session)?,
        };
        let expected = "an address of this machine with a port, such as \"127.0.0.1:8000\"";
        if let Some(listen) = text_of(&fields, "listen", expected)? {
            let read = listen.parse().ok().filter(|address: &SocketAddr| address.ip().is_loopback());
            config.listen = read.ok_or_else(|| wrong("listen", &json!(listen), expected))?;
        }
        config.whatsapp_program = text_of(&fields, "whatsapp_program", "the path of level3-whatsapp")?.map(PathBuf::from);
        Ok(config)
    }

    /// The place that the key of its model is for, in words.
    fn place(&self) -> String {
        key_place(self.provider.as_deref(), self.base_url.as_deref())
    }

    /// As it is written.
    pub(super) fn written(&self) -> String {
        let OperatorLimits { max_iterations, max_runtime_minutes, max_tokens_per_session } = self.limits;
        let number = match &*self.numbers {
            [one] => json!(one),
            many => json!(many),
        };
        let config = json!({
            "number": number,
            "channel": self.channel.map(OperatorChannel::name),
            "account": self.account,
            "model": { "provider": self.provider, "name": self.model, "base_url": self.base_url },
            "limits": {
                "max_iterations": max_iterations, "max_runtime_minutes": max_runtime_minutes,
                "max_tokens_per_session": max_tokens_per_session,
            },
            "listen": self.listen,
            "whatsapp_program": self.whatsapp_program,
        });
        serde_json::to_string_pretty(&config).unwrap_or_default() + "\n"
    }
}

fn wrong(field: &str, value: &Value, right: &str) -> String {
    format!("`{field}` is {value}; write {right}")
}

/// The text of a field. Its name may have that of its object before it, like `model.name`, as a
/// person is told of it.
fn text_of(fields: &Map<String, Value>, name: &str, right: &str) -> Result<Option<String>, String> {
    match name.rsplit('.').next().and_then(|own| fields.get(own)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned())),
        Some(value) => Err(wrong(name, value, right)),
    }
}

fn object_of(fields: &Map<String, Value>, name: &str, right: &str, known: &[&str]) -> Result<Map<String, Value>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(object)) => match object.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(object.clone()),
            Some(unknown) => Err(format!("`{name}.{unknown}` is none of: {}", known.join(", "))),
        },
        Some(value) => Err(wrong(name, value, right)),
    }
}

/// The numbers, each exactly as channels say it: nothing that merely looks like one may give
/// orders.
fn numbers(fields: &Map<String, Value>) -> Result<Vec<ContactAddress>, String> {
    let written: Vec<&Value> = match fields.get("number") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(many)) => many.iter().collect(),
        Some(one) => vec![one],
    };
    let number = |value: &&Value| match value.as_str() {
        Some(text) => exactly("number", text),
        None => Err(wrong("number", value, "a number, such as \"+491701234567\"")),
    };
    written.iter().map(number).collect::<Result<_, _>>().map(each_once)
}

/// The numbers, each at its first place.
fn each_once(numbers: Vec<ContactAddress>) -> Vec<ContactAddress> {
    let mut once = Vec::new();
    for number in numbers {
        if !once.contains(&number) {
            once.push(number);
        }
    }
    once
}

fn exactly(field: &str, written: &str) -> Result<ContactAddress, String> {
    let read = ContactAddress::read(written).map_err(|_| format!("`{field}` is {}; {ADDRESS_RULE}", json!(written)))?;
    if read.as_str() == written { Ok(read) } else { Err(wrong(field, &json!(written), &format!("\"{read}\""))) }
}

/// The settings with all that is needed: read, said on the command line, or asked at the terminal.
/// They are kept if they changed.
pub(super) fn complete(
    home: OperatorHome,
    said: Said,
    environment: OperatorEnvironment,
    at_terminal: bool,
) -> Result<OperatorSetup, CliError> {
    let before = kept_in(&home)?;
    let first = before.is_none();
    let mut config = before.clone().unwrap_or_default();
    if let Some(written) = said.number {
        let read = written.split(',').map(|number| exactly("number", number.trim())).collect::<Result<Vec<_>, _>>();
        config.numbers = each_once(read.map_err(CliError::Usage)?);
    }
    let kept = config.provider.clone().unwrap_or_default();
    let provider = said.provider.filter(|name| !name.eq_ignore_ascii_case(&kept));
    // The model's name and its address are those of the provider before.
    let another = provider.is_some() && !first;
    if provider.is_some() {
        config = OperatorConfig { provider, model: None, base_url: None, ..config };
    }
    config.model = said.model.or(config.model);
    // A provider that was said now has to be as right as one in the file.
    model_place(config.provider.as_deref(), config.base_url.as_deref()).map_err(CliError::Usage)?;
    if first && at_terminal && config.numbers.is_empty() {
        let number = asked_number("number", "The number that may give orders, like +491701234567: ", asked)?;
        let none = || CliError::Usage("without a number nobody may give orders; start again and write one".to_owned());
        config.numbers = vec![number.ok_or_else(none)?];
    }
    let mut asks = another;
    if first && at_terminal && config.provider.is_none() && config.model.is_none() {
        config.provider = asked_provider(asked)?;
        asks = config.provider.is_some();
    }
    let place = config.place();
    let kept_key = home.model_key()?;
    // A key without a place is for the settings as they were found.
    let found = before.as_ref().map_or_else(|| place.clone(), OperatorConfig::place);
    let key_of = kept_key.as_ref().map(|kept| kept.place.clone().unwrap_or(found)).filter(|of| *of != place);
    asks |= key_of.is_some() && config.provider.is_some();
    let key = if asks && at_terminal { asked_model(&mut config)? } else { None };
    if config.numbers.is_empty() {
        let file = home.config_file();
        let told = format!(
            "nobody may give orders yet: say whose they are, like --number +491701234567, or write it into {} as \"number\"",
            file.display()
        );
        return Err(CliError::Usage(told));
    }
    let usual = config.channel.unwrap_or(OperatorChannel::Whatsapp);
    // A channel that is said for one run is no setting: the next run has the usual one.
    if said.channel.is_none() {
        config.channel = Some(usual);
    }
    let channel = said.channel.unwrap_or(usual);
    if key_of.is_some() {
        // Before the settings: if this process dies here, the key of one place still goes to no
        // other.
        home.forget_key()?;
    }
    for told in forgotten(before.as_ref().unwrap_or(&config), &config, key_of.as_deref()) {
        let _ = writeln!(io::stderr(), "{told}");
    }
    if before.as_ref() != Some(&config) {
        home.keep(&home.config_file(), &config.written())?;
    }
    match (key, kept_key) {
        (Some(key), _) => home.keep_key(&key, &place)?,
        (None, Some(KeptKey { key, place: None })) if key_of.is_none() => home.note_place(&key, &place),
        (None, _) => {}
    }
    let program = config.whatsapp_program.clone().or_else(|| environment.whatsapp.clone());
    Ok(OperatorSetup { home, channel, resets: false, program, environment, config })
}

/// Asks for the model of a provider, if its name was not said, and for its key.
fn asked_model(config: &mut OperatorConfig) -> Result<Option<String>, CliError> {
    if config.model.is_none() {
        let name = asked("Model, as the provider names it (empty: its usual one): ")?;
        config.model = Some(name).filter(|name| !name.is_empty());
    }
    let question = format!("The key for {} (not shown; empty: it is in the environment): ", config.place());
    let given = rpassword::prompt_password(question);
    Ok(Some(given.map_err(CliError::Value)?).filter(|key| !key.trim().is_empty()))
}

/// The things that belonged to a provider before and are no more, a sentence for each; `key_of` is
/// the place of a key that was forgotten.
fn forgotten(before: &OperatorConfig, now: &OperatorConfig, key_of: Option<&str>) -> Vec<String> {
    let model = before.model.as_ref().filter(|_| now.model.is_none()).map(|name| format!("the model {name}"));
    let address = before.base_url.as_ref().filter(|_| now.base_url.is_none()).map(|address| format!("the address {address}"));
    let those: Vec<_> = [model, address].into_iter().flatten().collect();
    let whose = before.provider.as_deref().unwrap_or("the model before");
    let those = (!those.is_empty()).then(|| (whose, those.join(", ")));
    let key = key_of.map(|place| (place, "the key (the new one stands in model-key, or in the environment)".to_owned()));
    let gone = those.into_iter().chain(key);
    gone.map(|(whose, gone)| format!("Forgotten, since it was for {whose}: {gone}.")).collect()
}

/// A number for a field, asked for until it is one; `None` if nothing is written.
fn asked_number(
    field: &str,
    question: &str,
    mut ask: impl FnMut(&str) -> Result<String, CliError>,
) -> Result<Option<ContactAddress>, CliError> {
    loop {
        let written = ask(question)?;
        if written.is_empty() {
            return Ok(None);
        }
        match exactly(field, &written) {
            Ok(number) => return Ok(Some(number)),
            Err(why) => drop(writeln!(io::stderr(), "{why}")),
        }
    }
}

/// The provider, asked for until it is one; `None` for a model on this machine.
fn asked_provider(mut ask: impl FnMut(&str) -> Result<String, CliError>) -> Result<Option<String>, CliError> {
    loop {
        let written = ask("Provider of the model, like openai (empty: a model on this machine): ")?;
        let provider = Some(written).filter(|provider| !provider.is_empty());
        match model_place(provider.as_deref(), None) {
            Ok(()) => return Ok(provider),
            Err(why) => drop(writeln!(io::stderr(), "{why}")),
        }
    }
}

/// A line from the person at the terminal.
pub(super) fn asked(question: &str) -> Result<String, CliError> {
    let mut terminal = io::stderr();
    terminal.write_all(question.as_bytes()).and_then(|()| terminal.flush()).map_err(CliError::Value)?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(CliError::Value)?;
    Ok(line.trim().to_owned())
}

impl OperatorSetup {
    /// Asks for the number that is to be linked, if it is not known, and keeps it. An empty answer
    /// leaves it open.
    pub(super) fn ask_account(&mut self, ask: impl FnMut(&str) -> Result<String, CliError>) -> Result<(), CliError> {
        if self.config.account.is_some() {
            return Ok(());
        }
        self.config.account = asked_number("account", ACCOUNT, ask)?;
        if self.config.account.is_some() {
            self.home.keep(&self.home.config_file(), &self.config.written())?;
        }
        Ok(())
    }

    /// Looks whether the page can have its address.
    pub(super) fn may_listen(&self) -> Result<(), CliError> {
        let listen = self.config.listen;
        let cannot = |error| {
            CliError::Failed(format!(
                "the page cannot have the address {listen} ({error}). If another program runs there, end it; or write another \
                 address into {} as \"listen\"",
                self.home.config_file().display()
            ))
        };
        TcpListener::bind(listen).map(drop).map_err(cannot)
    }

    /// The whole environment of the server. Settings of the home stand above those of the shell.
    ///
    /// # Errors
    /// If a file of the home cannot be read.
    pub fn server(&self) -> Result<BTreeMap<String, String>, CliError> {
        let config = &self.config;
        let mut settings = self.environment.handed_on.clone();
        if config.provider.is_some() || config.model.is_some() || config.base_url.is_some() {
            // Halves of two models would make none.
            settings.retain(|name, _| !["LLM_PROVIDER", "LLM_MODEL", "LLM_BASE_URL"].contains(&name.as_str()));
        }
        let mut set = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                settings.insert(name.to_owned(), value);
            }
        };
        set("LLM_PROVIDER", config.provider.clone());
        set("LLM_MODEL", config.model.clone());
        set("LLM_BASE_URL", config.base_url.clone());
        set("LLM_API_KEY", self.home.model_key()?.map(|kept| kept.key));
        set("LEVEL3_LISTEN", Some(config.listen.to_string()));
        set("LEVEL3_DATA_DIR", Some(self.home.path().display().to_string()));
        let numbers: Vec<_> = config.numbers.iter().map(ContactAddress::as_str).collect();
        set("LEVEL3_OPERATOR", Some(format!("{}:{}", self.channel.name(), numbers.join(","))));
        set("LEVEL3_OPERATOR_ACCOUNT", config.account.as_ref().map(ToString::to_string));
        set("LEVEL3_OPERATOR_LIMITS", Some(config.limits.written()));
        if self.channel == OperatorChannel::Whatsapp {
            set("LEVEL3_WHATSAPP", self.program.as_ref().map(|program| program.display().to_string()));
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests;
