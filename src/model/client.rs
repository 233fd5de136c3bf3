//! A model behind an OpenAI-compatible address: asks, waits, tries again where that may help, and reads the answer as it streams.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::Response;
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout_at};

use super::assemble::Assembly;
use super::reading::{Reading, Watch};
use super::refusal::{Peer, one_line};
use super::retry::{Failure, Policy};
use super::transport::{SendError, Transport};
use super::{Answer, Model, ModelError, ModelErrorKind, OnDelta, Request, body, names, rescue};
use crate::clock::{Clock, Random};
use crate::wire::ModelInfo;

pub use super::transport::{Endpoint, SettingError};

/// How long to wait and how much to take. The defaults fit slow local models as well as fast remote ones.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For the connection to stand.
    pub connect: Duration,
    /// From sending the request to the first token.
    pub first_token: Duration,
    /// Between two pieces of the answer.
    pub silence: Duration,
    /// For the whole answer.
    pub whole: Duration,
    /// For a server on this machine to list its models, when none was set.
    pub look: Duration,
    /// For what may follow the end of the answer: the usage, `[DONE]`.
    pub after_end: Duration,
    /// How often a failed request is sent again.
    pub retries: u32,
    /// The first pause before sending again; it doubles.
    pub retry_base: Duration,
    /// The longest pause a server may ask for with `Retry-After`.
    pub longest_pause: Duration,
    /// The longest answer, and the longest line of a stream, in bytes.
    pub answer_bytes: usize,
    /// The most that is read for one answer with everything around it, in bytes.
    pub wire_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_token: Duration::from_secs(120),
            silence: Duration::from_secs(60),
            whole: Duration::from_secs(30 * 60),
            look: Duration::from_millis(300),
            after_end: Duration::from_secs(3),
            retries: 3,
            retry_base: Duration::from_millis(500),
            longest_pause: Duration::from_secs(30),
            answer_bytes: 8 << 20,
            // A token of a few letters travels in a chunk of about 300 bytes.
            wire_bytes: 256 << 20,
        }
    }
}

/// Which model to ask, and how to call it on the page.
#[derive(Clone)]
pub struct Target {
    /// Where.
    pub endpoint: Endpoint,
    /// Its name; when `None`, the first one the server lists.
    pub model: Option<String>,
    /// The provider's name.
    pub provider: String,
    /// `configured` or `local`, see [`ModelInfo`].
    pub kind: &'static str,
}

/// A model behind an OpenAI-compatible address.
pub struct ChatClient {
    target: Target,
    transport: Transport,
    limits: Limits,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    model: OnceCell<String>,
    /// Cleared when the server refuses to count tokens in streams.
    asks_usage: AtomicBool,
}

impl ChatClient {
    /// A client for `target`; nothing is sent yet.
    ///
    /// # Errors
    /// TLS cannot be set up on this machine.
    pub fn new(target: Target, limits: Limits, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Result<Self, SettingError> {
        let transport = Transport::new(target.endpoint.clone(), limits.connect)?;
        let model = OnceCell::new_with(target.model.clone());
        Ok(Self { target, transport, limits, clock, random, model, asks_usage: AtomicBool::new(true) })
    }

    /// The model's name: the one set, else the first one the server lists, asked for once.
    ///
    /// # Errors
    /// The server does not answer, or lists none.
    pub async fn model_name(&self) -> Result<&str, ModelError> {
        let found = self.model.get_or_try_init(|| self.trying(|| Box::pin(self.list()))).await;
        found.map(String::as_str).map_err(|error| self.without_key(error))
    }

    async fn list(&self) -> Result<String, Failure> {
        let deadline = Instant::now() + self.limits.connect;
        let listed = timeout_at(deadline, self.head(self.transport.models(), deadline + self.limits.connect, "")).await;
        let Ok(response) = listed else {
            let message =
                format!("{} did not list its models in time: is it the right LLM_BASE_URL? Or set LLM_MODEL.", self.address());
            return Err(Failure::passing(ModelErrorKind::Timeout, message));
        };
        let bytes = self.start_of(response?, 1 << 20, deadline).await;
        let list: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        names::first_chat_model(&list).ok_or_else(|| {
            let message = format!("{} lists no model to talk to: load one there, or set LLM_MODEL.", self.address());
            Failure::last(ModelErrorKind::Refused, message)
        })
    }

    /// Runs `attempt` until it works or trying again is over.
    #[expect(clippy::disallowed_methods, reason = "the pause is for the peer's sake, in real time")]
    async fn trying<'f, T>(&self, attempt: impl Fn() -> BoxFuture<'f, Result<T, Failure>>) -> Result<T, ModelError> {
        let Limits { retries, retry_base: base, longest_pause: longest, .. } = self.limits;
        let mut failures = 0;
        loop {
            match attempt().await {
                Ok(done) => return Ok(done),
                Err(failure) => {
                    failures += 1;
                    let told = failure.error.message.clone();
                    let pause = Policy { retries, base, longest }.pause(failure, failures, &*self.random)?;
                    tracing::warn!(attempt = failures, ?pause, "the model request failed, trying again: {}", self.scrub(&told));
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    async fn ask(&self, request: &Request, on_delta: OnDelta<'_>) -> Result<Answer, ModelError> {
        let model = self.model_name().await?;
        let mut answer = self.trying(|| Box::pin(self.attempt(request, model, on_delta))).await?;
        rescue::rescue(&mut answer, &request.tools);
        Ok(answer)
    }

    async fn attempt(&self, request: &Request, model: &str, on_delta: OnDelta<'_>) -> Result<Answer, Failure> {
        let watch = Watch::starting(Instant::now(), &self.limits);
        let usage = self.asks_usage.load(Ordering::Relaxed);
        let peer = body::Peer { provider: &self.target.provider, local: self.target.endpoint.is_loopback() };
        let body = body::chat(request, model, peer, usage);
        let response = match self.head(self.transport.chat(&body), watch.first_token(), model).await {
            // An old server that does not know the option; every other refusal of the same kind stays one.
            Err(failure) if usage && failure.error.message.contains("stream_options") => {
                self.asks_usage.store(false, Ordering::Relaxed);
                self.head(self.transport.chat(&body::chat(request, model, peer, false)), watch.first_token(), model).await?
            }
            other => other?,
        };
        let reading = Reading {
            peer: self.peer(model),
            limits: &self.limits,
            assembly: Assembly::new(self.limits.answer_bytes),
            on_delta,
            watch,
        };
        reading.read(response).await
    }

    /// Waits for the head of a response and lets only successes through.
    async fn head(
        &self,
        sent: impl Future<Output = Result<Response, SendError>>,
        deadline: Instant,
        model: &str,
    ) -> Result<Response, Failure> {
        let peer = self.peer(model);
        let response = match timeout_at(deadline, sent).await {
            Err(_) => return Err(peer.no_first_token(self.limits.first_token)),
            Ok(Err(SendError::Http(error))) => return Err(peer.unanswered(&error)),
            Ok(Err(SendError::Request(error))) => {
                let message = format!("The request to {} could not be made: {}", self.address(), one_line(&error.to_string()));
                return Err(Failure::last(ModelErrorKind::Refused, message));
            }
            Ok(Ok(response)) => response,
        };
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = self.start_of(response, 16 << 10, Instant::now() + self.limits.connect).await;
        Err(peer.refused(status, &headers, &bytes, self.clock.now()))
    }

    /// What a body begins with, as far as it comes.
    async fn start_of(&self, mut response: Response, most: usize, deadline: Instant) -> Vec<u8> {
        let mut bytes = Vec::new();
        while let Ok(Ok(Some(chunk))) = timeout_at(deadline, response.chunk()).await {
            bytes.extend_from_slice(&chunk);
            if bytes.len() >= most {
                bytes.truncate(most);
                break;
            }
        }
        bytes
    }

    fn peer<'a>(&'a self, model: &'a str) -> Peer<'a> {
        Peer { address: self.address(), model, has_key: self.target.endpoint.has_key() }
    }

    fn address(&self) -> &str {
        self.target.endpoint.address()
    }

    /// Servers like to repeat the key they refuse.
    fn without_key(&self, error: ModelError) -> ModelError {
        ModelError { message: self.scrub(&error.message), ..error }
    }

    fn scrub(&self, text: &str) -> String {
        self.target.endpoint.scrub(text)
    }
}

impl Model for ChatClient {
    fn answer<'a>(&'a self, request: Request, on_delta: OnDelta<'a>) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move { self.ask(&request, on_delta).await.map_err(|error| self.without_key(error)) })
    }

    fn info(&self) -> ModelInfo {
        let name = self.model.get().cloned().unwrap_or_default();
        ModelInfo { kind: self.target.kind.into(), provider: self.target.provider.clone(), name }
    }
}
