//! The client of the daemon: that of `level3`, with Relay's own words if nobody answers.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{MissedTickBehavior, interval};
use url::Url;

use super::RelayCliError;
use super::home::{DaemonReach, RelayHome};
use super::told::Told;
use crate::cli::CliError;
use crate::cli::client::Client;

/// How long the server gets to answer. Real time: it guards against one that hangs. A try of a
/// webhook takes 20 s.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks whether the server is back.
const LOOK: Duration = Duration::from_millis(100);
/// So many looks, 15 s together. The supervisor starts a server that has crashed again after a
/// second, and after more each time.
const LOOKS: u32 = 150;

/// The server that is asked.
enum AskedServer {
    /// The daemon of this folder, wherever its server is.
    Daemon(RelayHome),
    /// The level3 that `config.json` names.
    Named(Url),
}

/// Asks the daemon, or the level3 that `config.json` names.
pub(super) struct RelayClient {
    server: AskedServer,
    token: SecretString,
    token_file: PathBuf,
    /// True if standard error is for programs, and bears no word but an error.
    json: bool,
    /// How long the server gets to answer.
    patience: Duration,
    /// True while a person knows that the command waits.
    waits: Cell<bool>,
}

impl RelayClient {
    /// A client of the server of this folder. Nothing is sent yet.
    pub(super) fn of(home: &RelayHome, json: bool) -> Result<Self, RelayCliError> {
        let config = home.config()?;
        let server = match config.server {
            Some(_) => AskedServer::Named(config.url()),
            None => AskedServer::Daemon(home.clone()),
        };
        let (token, token_file) = (home.token(&config)?, home.token_file());
        Ok(Self { server, token, token_file, json, patience: PATIENCE, waits: Cell::new(false) })
    }

    /// The address of the server; `None` while the daemon's is on its way. A daemon is looked for
    /// before each request: without it the token would go to any program that listens at its
    /// address.
    pub(super) fn place(&self) -> Result<Option<Url>, RelayCliError> {
        match &self.server {
            AskedServer::Named(url) => Ok(Some(url.clone())),
            AskedServer::Daemon(home) => match home.reach()? {
                DaemonReach::Gone => Err(RelayCliError::NoDaemon),
                DaemonReach::Coming => Ok(None),
                DaemonReach::Ready(url) => Ok(Some(url)),
            },
        }
    }

    /// Reads something below `/api/relay`.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, String)],
    ) -> Result<Told<T>, RelayCliError> {
        self.ask_for(true, async |client| client.get(&below(path), query).await).await
    }

    /// Has something done.
    pub(super) async fn post<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<Told<T>, RelayCliError> {
        self.ask_for(false, async |client| client.post(&below(path), Some(body)).await).await
    }

    /// Has something done that needs no more words.
    pub(super) async fn order<T: DeserializeOwned>(&self, path: &[&str]) -> Result<Told<T>, RelayCliError> {
        self.post(path, &serde_json::json!({})).await
    }

    /// Removes something.
    pub(super) async fn delete(&self, path: &[&str]) -> Result<Told<Value>, RelayCliError> {
        self.ask_for(false, async |client| client.delete(&below(path)).await).await
    }

    /// Asks, and reads the answer.
    async fn ask_for<T: DeserializeOwned>(
        &self,
        reads: bool,
        ask: impl AsyncFn(&Client) -> Result<Value, CliError>,
    ) -> Result<Told<T>, RelayCliError> {
        let (whole, url) = self.answered(reads, ask).await?;
        let strange = |error| {
            RelayCliError::Refused(format!(
                "the server at {url} answers in a way that this relay does not understand: {error}; update both"
            ))
        };
        let said = T::deserialize(&whole).map_err(strange)?;
        Ok(Told { whole, said })
    }

    /// The answer, and the address it came from. While the daemon's server is on its way back, this
    /// waits for it.
    async fn answered(
        &self,
        reads: bool,
        ask: impl AsyncFn(&Client) -> Result<Value, CliError>,
    ) -> Result<(Value, Url), RelayCliError> {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for _ in 0..LOOKS {
            looks.tick().await;
            if let Some(url) = self.place()? {
                let client = Client::within(url.clone(), Some(self.token.clone()), self.patience);
                let client = client.map_err(RelayCliError::Asked)?;
                match ask(&client).await {
                    Err(error) if self.comes_again(reads, &error) => {}
                    answer => {
                        self.waits.set(false);
                        let refused = |error| self.refused(error, reads);
                        return answer.map(|whole| (whole, url)).map_err(refused);
                    }
                }
            }
            self.tell();
        }
        Err(self.not_back())
    }

    /// True if the request may be made again: it has not reached the daemon, or it only reads and
    /// the server died over it.
    fn comes_again(&self, reads: bool, error: &CliError) -> bool {
        let is_lost = match error {
            CliError::Unreachable { .. } => true,
            CliError::Cut(error) => reads && !error.is_timeout(),
            _ => false,
        };
        is_lost && matches!(self.server, AskedServer::Daemon(_))
    }

    /// Says once that the command waits.
    fn tell(&self) {
        if !self.json && !self.waits.replace(true) {
            // There is nowhere else to say it.
            drop(writeln!(io::stderr(), "relay: the Relay daemon runs, and its server is on its way back; waiting for it"));
        }
    }

    fn refused(&self, error: CliError, reads: bool) -> RelayCliError {
        match (error, &self.server) {
            (CliError::Unreachable { .. }, AskedServer::Named(url)) => RelayCliError::NoServer(url.clone()),
            (CliError::Token, _) => RelayCliError::Token(self.token_file.clone()),
            (CliError::Cut(error), server) if error.is_timeout() => {
                let doubt = if reads { "" } else { " Whether it was done is not known, so look before you repeat it." };
                let help = match server {
                    AskedServer::Daemon(home) => {
                        format!("Its log says more: {}. If it hangs: relay stop, then relay start", home.log().display())
                    }
                    AskedServer::Named(url) => format!("Look after the level3 at {url}"),
                };
                RelayCliError::Refused(format!("the server has not answered within {} s.{doubt} {help}", self.patience.as_secs()))
            }
            (error, _) => RelayCliError::Asked(error),
        }
    }

    fn not_back(&self) -> RelayCliError {
        match &self.server {
            AskedServer::Daemon(home) => RelayCliError::NotBack(home.log()),
            AskedServer::Named(url) => RelayCliError::NoServer(url.clone()),
        }
    }
}

fn below<'a>(path: &[&'a str]) -> Vec<&'a str> {
    [&["relay"], path].concat()
}

#[cfg(test)]
mod tests;
