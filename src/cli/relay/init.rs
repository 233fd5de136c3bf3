//! `relay init`: the folder, the model with its key, the channel, the pace. Asked at a terminal, or said by options. Called again it changes what is
//! said and keeps the rest.

use std::io::{self, IsTerminal, Read};
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use secrecy::zeroize::Zeroizing;
use serde_json::{Value, json};
use url::Url;

use super::ask_person::{asked, value};
use super::home::RelayHome;
use super::settings::{HomeChannel, HomeConfig};
use super::whatsapp::{self, WhatsAppWord};
use super::{RelayCliError, RelayClient, RelayWorld, daemon, scan, start};
use crate::cli::Screen;

/// More than any key has.
const MAX_KEY: u64 = 4 * 1024;

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
    /// The program that speaks with WhatsApp; else that of LEVEL3_WHATSAPP, else the one beside relay, else it is built
    #[arg(long, value_name = "FILE")]
    whatsapp_program: Option<PathBuf>,
    /// Build the program that speaks with WhatsApp if there is none, without being asked (minutes)
    #[arg(long)]
    build_whatsapp: bool,
    /// Take the risk of using WhatsApp this way on yourself
    #[arg(long)]
    consent: bool,
    /// A setting of the pace, like contact_gap_seconds=5 or quiet_from=20:00; again for each
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pace: Vec<(String, Value)>,
    /// Let the pace be laxer than accounts are known to bear
    #[arg(long)]
    i_know: bool,
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
    // Read again: what was said has to be as right as what is written by hand.
    let mut config = HomeConfig::read(&home.config_file(), &config.written())?;
    home.make(world.random)?;
    if config.channel == HomeChannel::Whatsapp {
        let word = WhatsAppWord { consent: ask.consent, build: ask.build_whatsapp, at_terminal };
        agreed(&mut config, word, home, world)?;
    }
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
    config.pace.extend(ask.pace.iter().cloned());
    if ask.i_know {
        config.pace.insert("i_know".to_owned(), true.into());
    }
    Ok(secret)
}

/// Finds the program that speaks with WhatsApp, and gets the person's consent to the risk.
fn agreed(config: &mut HomeConfig, word: WhatsAppWord, home: &RelayHome, world: &RelayWorld<'_>) -> Result<(), RelayCliError> {
    let asks = if config.server.is_some() {
        if config.whatsapp.consent_at.is_none() {
            whatsapp::consent_for_server(word)?;
        }
        config.whatsapp.consent_at.is_none()
    } else {
        let program = whatsapp::program(config, world.environment.whatsapp.as_deref(), world.program, word)?;
        // A consent by option is given anew, since the words of a newer program may be others.
        let asks = word.consent || config.whatsapp.consent_at.is_none() || !whatsapp::has_consent(home);
        if asks {
            whatsapp::consent(home, &program, word)?;
        }
        config.whatsapp.program = Some(program);
        asks
    };
    if asks {
        config.whatsapp.consent_at = Some(world.clock.now());
    }
    Ok(())
}

/// Reads a setting of the pace: numbers are numbers, all else is text.
fn setting(written: &str) -> Result<(String, Value), String> {
    let told = || format!("`{written}` is no setting of the pace; write it like contact_gap_seconds=5");
    let (name, value) = written.split_once('=').ok_or_else(told)?;
    let value = value.trim();
    Ok((name.trim().to_owned(), value.parse::<u32>().map_or_else(|_| value.into(), Value::from)))
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
