//! `relay init`: the folder, the model with its key, the channel. Asked at a terminal, or said by options. Called again it changes what is
//! said and keeps the rest.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use secrecy::zeroize::Zeroizing;
use serde_json::json;
use url::Url;

use super::home::RelayHome;
use super::settings::{HomeChannel, HomeConfig};
use super::{RelayCliError, RelayClient, RelayWorld, daemon, scan, start};
use crate::cli::{CliError, Screen};

/// More than any key has.
const MAX_KEY: u64 = 4 * 1024;

/// The risk, in the words of the document.
const RISK: &str = "WhatsApp may block an account that sends messages automatically, and its terms do not allow it. \
    You take full responsibility. Relay keeps a slow pace and writes only for the objectives you give it.";

/// How Relay is set up; what is not said stays, or is asked at a terminal.
#[derive(Debug, Args)]
pub(super) struct InitCommand {
    /// The channel: loopback to try everything, or whatsapp
    #[arg(long, value_enum)]
    channel: Option<HomeChannel>,
    /// The provider of the model, like groq; without one, level3 looks for a local model
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The model, as the provider names it
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The address of a model server of your own, like http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL")]
    base_url: Option<Url>,
    /// Read the model's key from standard input
    #[arg(long)]
    key: bool,
    /// The program that speaks with WhatsApp
    #[arg(long, value_name = "FILE")]
    whatsapp_program: Option<PathBuf>,
    /// Take the risk of using WhatsApp this way on yourself
    #[arg(long)]
    consent: bool,
    /// The daemon's address on this machine
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Use a level3 that runs already, like http://127.0.0.1:8000; its token is read from standard input
    #[arg(long, value_name = "URL")]
    server: Option<Url>,
}

pub(super) async fn run(
    ask: InitCommand,
    home: &RelayHome,
    world: &RelayWorld<'_>,
    screen: &mut Screen<'_>,
) -> Result<(), RelayCliError> {
    let is_new = !home.is_set_up();
    let before = if is_new { HomeConfig::default() } else { home.config()? };
    let mut config = before.clone();
    let at_terminal = io::stdin().is_terminal() && screen.terminal && !screen.json;
    let secret = said(&ask, &mut config, is_new && at_terminal)?;
    if config.channel == HomeChannel::Whatsapp && config.whatsapp.consent_at.is_none() {
        agreed(ask.consent, at_terminal)?;
        config.whatsapp.consent_at = Some(world.clock.now());
    }
    if config.channel == HomeChannel::Whatsapp && config.server.is_none() && config.whatsapp.program.is_none() {
        let told = "whatsapp-program: say which program speaks with WhatsApp, like --whatsapp-program ./level3-whatsapp";
        return Err(RelayCliError::Usage(told.into()));
    }
    // Read again: what was said has to be as right as what is written by hand.
    let config = HomeConfig::read(&home.config_file(), &config.written())?;
    home.make(world.random)?;
    // A daemon reads its settings when it starts.
    let has_news = !is_new && (config != before || secret.is_some());
    if let Some(secret) = secret {
        let file = if config.server.is_some() { home.token_file() } else { home.key_file() };
        home.keep(&file, format!("{}\n", secret.trim()).as_bytes())?;
    }
    home.keep(&home.config_file(), &config.written())?;
    let set_up = json!({ "home": home.path(), "url": config.url().as_str(), "channel": config.channel, "new": is_new });
    if !screen.json(&set_up)? {
        screen.line(format!("Relay is set up in {}: channel {}.", home.path().display(), config.channel.name()))?;
    }
    if config.channel == HomeChannel::Whatsapp {
        return link(has_news, home, world, screen).await;
    }
    if !screen.json {
        let runs = has_news && home.running()?.is_some();
        screen.line(if runs {
            "The daemon still runs with the settings from before: relay stop, then relay start"
        } else {
            "Next: relay start"
        })?;
    }
    Ok(())
}

/// Puts what was said into the settings; gives the key, or the token of a foreign server, if one was said.
fn said(ask: &InitCommand, config: &mut HomeConfig, asking: bool) -> Result<Option<Zeroizing<String>>, RelayCliError> {
    let mut secret = None;
    if asking && ask.provider.is_none() && ask.base_url.is_none() && ask.server.is_none() {
        let provider = asked("Provider of the model, like groq (empty: a model on this machine): ")?;
        config.model.provider = Some(provider).filter(|provider| !provider.is_empty());
        if config.model.provider.is_some() {
            config.model.name =
                Some(asked("Model, as the provider names it (empty: its usual one): ")?).filter(|name| !name.is_empty());
            let key = rpassword::prompt_password("Its key (not shown): ").map_err(value)?;
            secret = Some(Zeroizing::new(key)).filter(|key| !key.trim().is_empty());
        }
    }
    if asking && ask.channel.is_none() {
        config.channel = match asked("Channel, loopback or whatsapp (empty: loopback): ")?.as_str() {
            "" | "loopback" => HomeChannel::Loopback,
            "whatsapp" => HomeChannel::Whatsapp,
            other => {
                return Err(RelayCliError::Usage(format!("channel: `{other}` is none; write loopback or whatsapp")));
            }
        };
    }
    if ask.key || ask.server.is_some() {
        let mut given = Zeroizing::new(String::new());
        io::stdin().lock().take(MAX_KEY).read_to_string(&mut given).map_err(value)?;
        if given.trim().is_empty() {
            let what = if ask.server.is_some() { "the server's token" } else { "the model's key" };
            return Err(RelayCliError::Usage(format!("key: {what} is read from standard input, which is empty")));
        }
        secret = Some(given);
    }
    let model = &mut config.model;
    model.provider = ask.provider.clone().or(model.provider.take());
    model.name = ask.model.clone().or(model.name.take());
    model.base_url = ask.base_url.as_ref().map(Url::to_string).or(model.base_url.take());
    config.channel = ask.channel.unwrap_or(config.channel);
    config.listen = ask.listen.unwrap_or(config.listen);
    config.server = ask.server.as_ref().map(Url::to_string).or(config.server.take());
    config.whatsapp.program = ask.whatsapp_program.clone().or(config.whatsapp.program.take());
    Ok(secret)
}

/// The operator's consent, said by an option or at the terminal.
fn agreed(said: bool, at_terminal: bool) -> Result<(), RelayCliError> {
    if said {
        return Ok(());
    }
    if at_terminal && asked(&format!("{RISK}\nType yes to go on: "))? == "yes" {
        return Ok(());
    }
    Err(RelayCliError::Refused(format!(
        "WhatsApp needs your consent: {RISK} If you agree: relay init --channel whatsapp --consent"
    )))
}

/// Starts the daemon and shows the QR code until a phone has scanned it.
async fn link(has_news: bool, home: &RelayHome, world: &RelayWorld<'_>, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    let config = home.config()?;
    if config.server.is_none() {
        if let (true, Some(pid)) = (has_news, home.running()?) {
            daemon::end(home, pid).await?;
        }
        start::running(home, world).await?;
    }
    let address = scan::linked(&RelayClient::of(home)?, world.clock, screen).await?;
    if !screen.json(&json!({ "linked": true, "address": address }))? {
        let whose = address.map(|address| format!(" as {address}")).unwrap_or_default();
        screen.line(format!("WhatsApp is linked{whose}. The Relay daemon runs; relay stop ends it."))?;
    }
    Ok(())
}

/// A line from the person at the terminal.
fn asked(question: &str) -> Result<String, RelayCliError> {
    let mut terminal = io::stderr();
    terminal.write_all(question.as_bytes()).and_then(|()| terminal.flush()).map_err(value)?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(value)?;
    Ok(line.trim().to_owned())
}

fn value(source: io::Error) -> RelayCliError {
    RelayCliError::Asked(CliError::Value(source))
}
