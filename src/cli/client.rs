//! The client of the HTTP interface.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::CliError;
use crate::domain::{Machine, TurnId};
use crate::wire::api::{ApiError, TurnReport};

/// How long the server gets to answer. Real time: it guards against one that hangs. A request that
/// waits for a turn takes 20 s.
const PATIENCE: Duration = Duration::from_secs(60);
const CONNECT: Duration = Duration::from_secs(5);

/// No body.
pub(super) const NOTHING: Option<&()> = None;

/// Speaks to one server.
pub(super) struct Client {
    http: reqwest::Client,
    url: Url,
    token: Option<SecretString>,
}

impl Client {
    /// A client of the server at `url`. Nothing is sent yet.
    pub(super) fn new(url: Url, token: Option<SecretString>) -> Result<Self, CliError> {
        Self::within(url, token, PATIENCE)
    }

    /// The same for a server that gets so long to answer.
    pub(super) fn within(url: Url, token: Option<SecretString>, patience: Duration) -> Result<Self, CliError> {
        if !["http", "https"].contains(&url.scheme()) || url.cannot_be_a_base() {
            return Err(CliError::Usage(format!("{url} is no address of a server; write it like http://127.0.0.1:8000")));
        }
        let http = http(&url, Some(patience))?;
        Ok(Self { http, url, token })
    }

    /// The server's address.
    pub(super) fn server(&self) -> &Url {
        &self.url
    }

    /// The token to show, if the server asks for one.
    pub(super) fn token(&self) -> Option<&SecretString> {
        self.token.as_ref()
    }

    /// An address of the server.
    pub(super) fn address(&self, path: &[&str]) -> Url {
        let mut url = self.url.clone();
        url.path_segments_mut().expect("checked when the client was made").pop_if_empty().extend(path);
        url
    }

    /// Reads something.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &[&str], query: &[(&str, String)]) -> Result<T, CliError> {
        self.send(Method::GET, path, query, NOTHING).await
    }

    /// Has something done.
    pub(super) async fn post<T: DeserializeOwned>(&self, path: &[&str], body: Option<&impl Serialize>) -> Result<T, CliError> {
        self.send(Method::POST, path, &[], body).await
    }

    /// The same, with a query instead of a body.
    pub(super) async fn post_at<T: DeserializeOwned>(&self, path: &[&str], query: &[(&str, String)]) -> Result<T, CliError> {
        self.send(Method::POST, path, query, NOTHING).await
    }

    /// Sets something.
    pub(super) async fn put<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<T, CliError> {
        self.send(Method::PUT, path, &[], Some(body)).await
    }

    /// Changes a part of something.
    pub(super) async fn patch<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<T, CliError> {
        self.send(Method::PATCH, path, &[], Some(body)).await
    }

    /// Removes something that is to be named twice.
    pub(super) async fn delete_with<T: DeserializeOwned>(&self, path: &[&str], query: &[(&str, String)]) -> Result<T, CliError> {
        self.send(Method::DELETE, path, query, NOTHING).await
    }

    /// Removes something.
    pub(super) async fn delete<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, CliError> {
        self.send(Method::DELETE, path, &[], NOTHING).await
    }

    /// Waits until a turn is over or waits for a person, if only behind the question of another
    /// turn.
    pub(super) async fn settled(&self, turn: TurnId) -> Result<TurnReport, CliError> {
        // The first look asks the server not to wait, since nothing may happen before the person
        // decides that question.
        let mut wait = false;
        loop {
            let report: TurnReport = self.get(&["turns", &turn.to_string()], &[("wait", wait.to_string())]).await?;
            if report.state.is_over() || report.approval.or(report.behind).is_some() {
                return Ok(report);
            }
            wait = true;
        }
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, String)],
        body: Option<&impl Serialize>,
    ) -> Result<T, CliError> {
        let mut url = self.address(&[&["api"], path].concat());
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut request = self.http.request(method, url);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.expose_secret());
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let unreachable = |source: reqwest::Error| CliError::Unreachable { url: self.url.clone(), source: source.without_url() };
        let response = request.send().await.map_err(|error| match error.is_connect() {
            true => unreachable(error),
            false => CliError::Cut(error.without_url()),
        })?;
        let status = response.status();
        let text = response.text().await.map_err(|error| CliError::Cut(error.without_url()))?;
        if status == StatusCode::UNAUTHORIZED {
            return Err(CliError::Token);
        }
        let strange = |said: &str| CliError::Strange {
            url: self.url.clone(),
            status: status.as_u16(),
            said: said.chars().take(200).collect(),
        };
        if !status.is_success() {
            let refused = |said| CliError::Refused { status: status.as_u16(), said };
            return Err(serde_json::from_str::<ApiError>(&text).map_or_else(|_| strange(&text), refused));
        }
        serde_json::from_str(&text).map_err(|error| strange(&error.to_string()))
    }
}

/// A client that waits for a server as long as it takes.
pub(super) fn patient(server: &Url) -> Result<reqwest::Client, CliError> {
    http(server, None)
}

fn http(server: &Url, patience: Option<Duration>) -> Result<reqwest::Client, CliError> {
    // An error means that somebody installed one before; any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT)
        // Each request has a connection of its own. A kept one may be closed by the server, or by a
        // proxy, in the moment of the next request.
        .pool_max_idle_per_host(0)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("level3/", env!("CARGO_PKG_VERSION")));
    if let Some(patience) = patience {
        builder = builder.timeout(patience);
    }
    if server.scheme() == "http" {
        // Without TLS the machine's certificates are not needed. The server is this machine's own:
        // no proxy stands between.
        builder = builder.tls_certs_only([]).no_proxy();
    }
    builder.build().map_err(|source| CliError::Unreachable { url: server.clone(), source })
}

#[cfg(test)]
mod tests;
