//! The client of the daemon: that of `level3`, with Relay's own words if nobody answers.

use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::RelayCliError;
use super::home::RelayHome;
use crate::cli::CliError;
use crate::cli::client::Client;

/// Asks the daemon, or the level3 that `config.json` names.
pub(super) struct RelayClient {
    client: Client,
    url: Url,
    /// True if the server is no daemon of ours.
    foreign: bool,
    token: PathBuf,
}

impl RelayClient {
    /// A client of the server of this folder. Nothing is sent yet.
    pub(super) fn of(home: &RelayHome) -> Result<Self, RelayCliError> {
        let config = home.config()?;
        let client = Client::new(config.url(), Some(home.token()?)).map_err(RelayCliError::Asked)?;
        Ok(Self { client, url: config.url(), foreign: config.server.is_some(), token: home.token_file() })
    }

    /// Reads something below `/api/relay`.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &[&str], query: &[(&str, String)]) -> Result<T, RelayCliError> {
        self.told(self.client.get(&below(path), query).await)
    }

    /// Has something done.
    pub(super) async fn post<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<T, RelayCliError> {
        self.told(self.client.post(&below(path), Some(body)).await)
    }

    /// Removes something.
    pub(super) async fn delete(&self, path: &[&str]) -> Result<serde_json::Value, RelayCliError> {
        self.told(self.client.delete(&below(path)).await)
    }

    /// Has something done that needs no more words.
    pub(super) async fn order<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, RelayCliError> {
        self.post(path, &serde_json::json!({})).await
    }

    fn told<T>(&self, answer: Result<T, CliError>) -> Result<T, RelayCliError> {
        answer.map_err(|error| match error {
            CliError::Unreachable { .. } if self.foreign => RelayCliError::NoServer(self.url.clone()),
            CliError::Unreachable { .. } => RelayCliError::NoDaemon,
            CliError::Token => RelayCliError::Token(self.token.clone()),
            error => RelayCliError::Asked(error),
        })
    }
}

fn below<'a>(path: &[&'a str]) -> Vec<&'a str> {
    [&["relay"], path].concat()
}
