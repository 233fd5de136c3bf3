//! `relay init`: the folder, the model with its key, the channel, the pace. Asked at a terminal, or
//! said by options. Called again it changes what is said and keeps the rest.

use std::io::{self, IsTerminal, Read};
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use secrecy::zeroize::Zeroizing;
use serde_json::{Value, json};

use super::ask_person::{asked, value};
use super::home::RelayHome;
use super::settings::{HomeChannel, HomeConfig, HomeModel, pace_setting};
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
    base_url: Option<String>,
    /// Read the model's key from standard input
    #[arg(long)]
    key: bool,
    /// The program that speaks with WhatsApp; else that of LEVEL3_WHATSAPP, else the one beside
    /// relay, else it is built
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
    /// Let the pace be laxer than accounts are known to bear; whatever goes further needs it again
    #[arg(long)]
    i_know: bool,
    /// The daemon's address on this machine
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Option<SocketAddr>,
    /// Use a level3 that runs already, like http://127.0.0.1:8000; its token is read from standard
    /// input
    #[arg(long, value_name = "URL", conflicts_with = "key")]
    server: Option<String>,
}

/// The secret that was said.
enum SaidSecret {
    /// The key of the model.
    Key(Zeroizing<String>),
    /// The token of the level3 that is to be asked.
    Token(Zeroizing<String>),
}

pub(super) async fn run(
    ask: InitCommand,
    home: &RelayHome,
    world: &RelayWorld<'_>,
    screen: &mut Screen<'_>,
) -> Result<(), RelayCliError> {
    let is_new = !home.is_set_up();
    let before = if is_new { HomeConfig::default() } else { home.unagreed_config()? };
    let mut config = before.clone();
    let at_terminal = io::stdin().is_terminal() && screen.terminal && !screen.json;
    let secret = said(&ask, &mut config, is_new && at_terminal)?;
    config.agree(&before, ask.i_know)?;
    // Read again: what was said has to be as right as what is written by hand.
    let mut config = HomeConfig::read(&home.config_file(), &config.written())?;
    home.make(world.random)?;
    if config.channel == HomeChannel::Whatsapp {
        let word = WhatsAppWord { consent: ask.consent, build: ask.build_whatsapp, at_terminal };
        agreed(&mut config, word, home, world)?;
    }
    // A daemon reads its settings when it starts.
    let has_news = !is_new && (config != before || secret.is_some());
    // Before the settings: if this process dies here, the key of one place still goes to no other.
    let forgot_key = match &secret {
        Some(SaidSecret::Key(key)) => {
            home.keep_key(key, &config.model)?;
            false
        }
        Some(SaidSecret::Token(_)) | None => !is_new && config.model.place() != before.model.place() && home.forget_key()?,
    };
    if let Some(SaidSecret::Token(token)) = &secret {
        home.keep(&home.token_file(), format!("{}\n", token.trim()).as_bytes())?;
    }
    home.keep(&home.config_file(), &config.written())?;
    let forgotten = forgotten(&before.model, &config.model, forgot_key);
    let set_up = json!({
        "home": home.path(), "url": config.url().as_str(), "channel": config.channel, "new": is_new, "forgotten": forgotten,
    });
    if !screen.json(&set_up)? {
        screen.line(format!("Relay is set up in {}: channel {}.", home.path().display(), config.channel.name()))?;
        if !forgotten.is_empty() {
            screen.line(format!("Forgotten, since it was for {}: {}.", before.model.place(), forgotten.join(", ")))?;
        }
        if forgot_key {
            screen.line("If the model needs a key now: relay init --key")?;
        }
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

/// The things that belonged to the model before and are no more.
fn forgotten(before: &HomeModel, now: &HomeModel, forgot_key: bool) -> Vec<String> {
    let gone = [("model", before.name.as_deref(), &now.name), ("address", before.base_url.as_deref(), &now.base_url)];
    let gone = gone.into_iter().filter(|(_, _, now)| now.is_none());
    let gone = gone.filter_map(|(field, before, _)| before.map(|before| format!("the {field} {before}")));
    gone.chain(forgot_key.then(|| "the key".to_owned())).collect()
}

/// Puts what was said into the settings; gives the secret that was said with it.
fn said(ask: &InitCommand, config: &mut HomeConfig, asking: bool) -> Result<Option<SaidSecret>, RelayCliError> {
    let mut secret = None;
    if asking && ask.provider.is_none() && ask.base_url.is_none() && ask.server.is_none() {
        let provider = asked("Provider of the model, like groq (empty: a model on this machine): ")?;
        config.model.provider = Some(provider).filter(|provider| !provider.is_empty());
        if config.model.provider.is_some() {
            config.model.name =
                Some(asked("Model, as the provider names it (empty: its usual one): ")?).filter(|name| !name.is_empty());
            let key = rpassword::prompt_password("Its key (not shown): ").map_err(value)?;
            secret = Some(Zeroizing::new(key)).filter(|key| !key.trim().is_empty()).map(SaidSecret::Key);
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
        secret = Some(if ask.server.is_some() { SaidSecret::Token(given) } else { SaidSecret::Key(given) });
    }
    let model = &mut config.model;
    if let Some(provider) = &ask.provider
        && !model.provider.as_ref().is_some_and(|before| before.eq_ignore_ascii_case(provider))
    {
        // Name and address of a model are its provider's.
        *model = HomeModel { provider: Some(provider.clone()), ..HomeModel::default() };
    }
    model.name = ask.model.clone().or(model.name.take());
    model.base_url = ask.base_url.clone().or(model.base_url.take());
    config.channel = ask.channel.unwrap_or(config.channel);
    config.listen = ask.listen.unwrap_or(config.listen);
    config.server = ask.server.clone().or(config.server.take());
    config.whatsapp.program = ask.whatsapp_program.clone().or(config.whatsapp.program.take());
    config.pace.extend(ask.pace.iter().cloned());
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

/// Reads the daemon's address; whether it is one of this machine is looked at with all other
/// settings.
fn address(written: &str) -> Result<SocketAddr, String> {
    written.parse().map_err(|_| "expected an address of this machine with a port, like 127.0.0.1:3214".to_owned())
}

/// Reads a setting of the pace: numbers are numbers, all else is text.
fn setting(written: &str) -> Result<(String, Value), String> {
    let told = || format!("`{written}` is no setting of the pace; write it like contact_gap_seconds=5");
    let (name, value) = written.split_once('=').ok_or_else(told)?;
    let (name, value) = (name.trim(), value.trim());
    let value = value.parse::<u32>().map_or_else(|_| value.into(), Value::from);
    pace_setting(name, &value)?;
    Ok((name.to_owned(), value))
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
    let address = scan::linked(&RelayClient::of(home, screen.json)?, world.clock, screen).await?;
    if !screen.json(&json!({ "linked": true, "address": address }))? {
        let whose = address.map(|address| format!(" as {address}")).unwrap_or_default();
        screen.line(format!("WhatsApp is linked{whose}. The Relay daemon runs; relay stop ends it."))?;
    }
    Ok(())
}
