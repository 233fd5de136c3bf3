//! The client of the daemon: that of `level3`, with Relay's own words if nobody answers.

use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use super::RelayCliError;
use super::home::RelayHome;
use super::told::Told;
use crate::cli::CliError;
use crate::cli::client::Client;

/// Asks the daemon, or the level3 that `config.json` names.
pub(super) struct RelayClient {
    client: Client,
    url: Url,
    /// The folder whose daemon it asks; `None` if `config.json` names another server.
    daemon: Option<RelayHome>,
    token: PathBuf,
}

impl RelayClient {
    /// A client of the server of this folder. Nothing is sent yet.
    pub(super) fn of(home: &RelayHome) -> Result<Self, RelayCliError> {
        let config = home.config()?;
        let client = Client::new(config.url(), Some(home.token()?)).map_err(RelayCliError::Asked)?;
        let daemon = config.server.is_none().then(|| home.clone());
        Ok(Self { client, url: config.url(), daemon, token: home.token_file() })
    }

    /// Looks whether the daemon runs. Without it the token would go to any program that listens at its address.
    fn must_run(&self) -> Result<(), RelayCliError> {
        match &self.daemon {
            Some(home) => home.running()?.map(|_pid| ()).ok_or(RelayCliError::NoDaemon),
            None => Ok(()),
        }
    }

    /// Reads something below `/api/relay`.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, String)],
    ) -> Result<Told<T>, RelayCliError> {
        self.must_run()?;
        self.told(self.client.get(&below(path), query).await)
    }

    /// Has something done.
    pub(super) async fn post<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<Told<T>, RelayCliError> {
        self.must_run()?;
        self.told(self.client.post(&below(path), Some(body)).await)
    }

    /// Has something done that needs no more words.
    pub(super) async fn order<T: DeserializeOwned>(&self, path: &[&str]) -> Result<Told<T>, RelayCliError> {
        self.post(path, &serde_json::json!({})).await
    }

    /// Removes something.
    pub(super) async fn delete(&self, path: &[&str]) -> Result<Told<Value>, RelayCliError> {
        self.must_run()?;
        self.told(self.client.delete(&below(path)).await)
    }

    fn told<T: DeserializeOwned>(&self, answer: Result<Value, CliError>) -> Result<Told<T>, RelayCliError> {
        let whole = answer.map_err(|error| match error {
            CliError::Unreachable { .. } if self.daemon.is_none() => RelayCliError::NoServer(self.url.clone()),
            CliError::Unreachable { .. } => RelayCliError::NoDaemon,
            CliError::Token => RelayCliError::Token(self.token.clone()),
            error => RelayCliError::Asked(error),
        })?;
        let strange = |error| {
            let told =
                format!("the server at {} answers in a way that this relay does not understand: {error}; update both", self.url);
            RelayCliError::Refused(told)
        };
        let said = T::deserialize(&whole).map_err(strange)?;
        Ok(Told { whole, said })
    }
}

fn below<'a>(path: &[&'a str]) -> Vec<&'a str> {
    [&["relay"], path].concat()
}
