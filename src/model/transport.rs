//! Sends requests. async-openai builds and authorises them; the response is handed to us untouched.
//!
//! async-openai's own reader of responses is not used: it retries by its own rules, loses the
//! status if an error has an integer code or an HTML body, ends a stream at the first bad byte, and
//! sees a cut stream as a finished one. Its middleware boundary lets a service stand in for the
//! HTTP client; ours returns every response along the error path, on which nothing reads it.

use std::net::IpAddr;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures::future::BoxFuture;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::body::ChatBody;
use crate::config::{AddressFault, model_address};
use crate::domain::FailureWords;
use crate::lasting::Lasting;
use crate::telemetry::SHORTEST_HIDDEN;

/// A setting that no model can be reached with. The sentence names the variable to mend.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct SettingError(pub(super) String);

impl Lasting for SettingError {}

impl SettingError {
    /// The same for the reader of these words.
    pub fn named(self, words: FailureWords) -> Self {
        Self(words.named(&self.0))
    }
}

/// The address of a server with models, with the key that opens it.
#[derive(Clone)]
pub struct Endpoint {
    base: String,
    shown: String,
    plain: bool,
    loopback: bool,
    key: SecretString,
    headers: HeaderMap,
    address_variable: &'static str,
    key_variable: &'static str,
}

impl Endpoint {
    /// Checks an address such as `https://api.openai.com/v1` and a key.
    ///
    /// # Errors
    /// A sentence that names the variable to mend.
    pub fn new(base_url: &str, api_key: Option<&str>) -> Result<Self, SettingError> {
        Self::of(base_url, api_key, "LLM_BASE_URL", "LLM_API_KEY")
    }

    /// The same, with the names of the variables the address and the key came from, or would come
    /// from.
    ///
    /// # Errors
    /// A sentence that names the variable to mend.
    pub(super) fn of(
        base_url: &str,
        api_key: Option<&str>,
        address_variable: &'static str,
        key_variable: &'static str,
    ) -> Result<Self, SettingError> {
        let (base, url) = model_address(base_url).map_err(|fault| {
            SettingError(match fault {
                AddressFault::NotOne => {
                    format!("{address_variable} is no address a model could be at: expected one like http://127.0.0.1:11434/v1.")
                }
                AddressFault::Credentials => {
                    format!("{address_variable} carries a user name or a password: put the key into LLM_API_KEY instead.")
                }
            })
        })?;
        let mut headers = HeaderMap::new();
        if let Some(key) = api_key {
            // async-openai would panic here.
            let mut value = HeaderValue::from_str(&format!("Bearer {key}")).ok().filter(|_| key.is_ascii()).ok_or_else(|| {
                SettingError(format!("{key_variable} holds characters no key has: copy it again, without spaces or line ends."))
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(Self {
            shown: url.as_str().trim_end_matches('/').to_owned(),
            plain: url.scheme() == "http",
            loopback: is_loopback(&url),
            base: base.to_owned(),
            key: api_key.unwrap_or_default().into(),
            headers,
            address_variable,
            key_variable,
        })
    }

    /// The address, for messages; it never holds a secret.
    pub fn address(&self) -> &str {
        &self.shown
    }

    /// The variable to change when it is the wrong address.
    pub(super) fn address_variable(&self) -> &'static str {
        self.address_variable
    }

    /// The variable to change when it is the wrong key.
    pub(super) fn key_variable(&self) -> &'static str {
        self.key_variable
    }

    /// True when a key goes with every request.
    pub(super) fn has_key(&self) -> bool {
        !self.headers.is_empty()
    }

    /// `text` without the key.
    pub(super) fn scrub(&self, text: &str) -> String {
        let key = self.key.expose_secret();
        // Local servers take any word for a key; a short one stands in other words by chance.
        if key.chars().count() < SHORTEST_HIDDEN { text.to_owned() } else { text.replace(key, "[key]") }
    }

    /// True when the model is on this machine.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.ends_with(".localhost") || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

fn setting(sentence: &str) -> SettingError {
    SettingError(sentence.into())
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.base
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}

/// Why there is no response.
#[derive(Debug)]
pub(super) enum SendError {
    /// Nobody answered, or the connection broke.
    Http(reqwest::Error),
    /// The request could not be made.
    Request(OpenAIError),
}

/// A client for one endpoint.
pub(super) struct Transport(async_openai::Client<Endpoint>, reqwest::Client);

impl Transport {
    /// A client that gives up connecting after `connect`. Nothing is sent yet.
    pub(super) fn new(endpoint: Endpoint, connect: Duration) -> Result<Self, SettingError> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // An error means that somebody installed one before; any will do.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let mut builder = reqwest::Client::builder()
            .connect_timeout(connect)
            .tcp_nodelay(true)
            // A key must not follow a server's redirect.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("level3/", env!("CARGO_PKG_VERSION")));
        if endpoint.plain {
            // Without TLS the machine's certificates are not needed, and a machine may have none.
            builder = builder.tls_certs_only([]);
        }
        if endpoint.loopback {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|_| {
            setting("TLS cannot be set up, most likely because this machine has no CA certificates: install the package ca-certificates.")
        })?;
        Ok(Self(async_openai::Client::build(http.clone(), endpoint).with_http_service(HandOver(http.clone())), http))
    }

    /// Posts a chat request; returns when the response's head has come, whatever its status.
    pub(super) async fn chat(&self, body: &ChatBody<'_>) -> Result<reqwest::Response, SendError> {
        handed_over(self.0.chat().create_byot::<_, IgnoredAny>(body).await)
    }

    /// Asks which models there are.
    pub(super) async fn models(&self) -> Result<reqwest::Response, SendError> {
        handed_over(self.0.models().list_byot::<IgnoredAny>().await)
    }

    /// Asks for something beside the OpenAI interface, at a path from the server's root; posts
    /// `body` if there is one.
    pub(super) async fn beside(&self, path: &str, body: Option<&Value>) -> Option<reqwest::Response> {
        let endpoint = self.0.config();
        let root = endpoint.base.strip_suffix("/v1").unwrap_or(&endpoint.base);
        let url = format!("{root}{path}");
        let request = match body {
            Some(body) => self.1.post(url).json(body),
            None => self.1.get(url),
        };
        request.headers(endpoint.headers.clone()).send().await.ok()
    }
}

fn handed_over(outcome: Result<IgnoredAny, OpenAIError>) -> Result<reqwest::Response, SendError> {
    match outcome {
        Err(OpenAIError::Boxed(boxed)) => match boxed.downcast::<Untouched>() {
            Ok(untouched) => Ok(untouched.0.into_inner().unwrap_or_else(PoisonError::into_inner)),
            Err(other) => Err(SendError::Request(OpenAIError::Boxed(other))),
        },
        Err(OpenAIError::Reqwest(error)) => Err(SendError::Http(error)),
        Err(other) => Err(SendError::Request(other)),
        Ok(_) => Err(SendError::Request(OpenAIError::InvalidArgument("the response was read by the wrong hands".into()))),
    }
}

/// A response on its way past async-openai's reader. The mutex makes it `Sync`, as an error must
/// be.
#[derive(Debug, thiserror::Error)]
#[error("a response that nobody has read")]
struct Untouched(Mutex<reqwest::Response>);

/// The service that sends, and hands every response over.
#[derive(Clone)]
struct HandOver(reqwest::Client);

impl tower::Service<HttpRequestFactory> for HandOver {
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = BoxFuture<'static, Result<reqwest::Response, OpenAIError>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), OpenAIError>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequestFactory) -> Self::Future {
        let http = self.0.clone();
        Box::pin(async move {
            let response = http.execute(request.build().await?).await?;
            Err(OpenAIError::Boxed(Box::new(Untouched(Mutex::new(response)))))
        })
    }
}

#[cfg(test)]
mod tests;
