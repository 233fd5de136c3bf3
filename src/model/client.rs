//! A model behind an OpenAI-compatible address: asks, waits, tries again if that may help, and
//! reads the answer as it streams.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::BoxFuture;
use reqwest::Response;
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout_at};

use super::assemble::{Assembly, NO_CALL};
use super::body::{self, RequestManner};
use super::providers::{Provider, Quirks, Tells};
use super::reading::{AttemptDeadlines, ResponseReader};
use super::refusal::{RefusingServer, one_line};
use super::retry::{Again, FailedAttempt, RetryPolicy};
use super::tells::{self, ModelProperties};
use super::transport::{SendError, Transport};
use super::{Abilities, Answer, Model, ModelError, ModelErrorKind, OnDelta, Request, names, rescue};
use crate::clock::{Clock, Random};
use crate::domain::{ModelInfo, Rate};

pub use super::limits::ModelLimits;
pub use super::transport::{Endpoint, SettingError};

/// How long a server may take to say how much its model can take.
const LEARNING: Duration = Duration::from_secs(1);
/// For how long a server that did not say it is not asked again, if nobody knows which program
/// serves there: it may have no such answer.
const UNTOLD: TimeDelta = TimeDelta::minutes(1);

/// Which model to ask, and how to call it on the page.
#[derive(Clone)]
pub struct Target {
    /// The address, with the key for it.
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
    limits: ModelLimits,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    provider: &'static Provider,
    model: OnceCell<String>,
    /// The server's own words about its model; empty until it was asked.
    told: OnceCell<ModelProperties>,
    /// The server is not asked for them before this time.
    ask_after: Mutex<DateTime<Utc>>,
    /// Cleared when the server refuses to count tokens in streams.
    asks_usage: AtomicBool,
    /// Cleared when the server refuses to demand a call, or does not make the model obey.
    demands_calls: AtomicBool,
}

impl ChatClient {
    /// A client for `target`; nothing is sent yet.
    ///
    /// # Errors
    /// TLS cannot be set up on this machine.
    pub fn new(
        target: Target,
        limits: ModelLimits,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Self, SettingError> {
        let transport = Transport::new(target.endpoint.clone(), limits.connect)?;
        let model = OnceCell::new_with(target.model.clone());
        let provider = Provider::named(&target.provider).unwrap_or_else(Provider::custom);
        let (told, ask_after) = (OnceCell::new(), Mutex::new(DateTime::<Utc>::MIN_UTC));
        let (asks_usage, demands_calls) = (AtomicBool::new(true), AtomicBool::new(true));
        Ok(Self { target, transport, limits, clock, random, provider, model, told, ask_after, asks_usage, demands_calls })
    }

    /// The model's name: the one set, else the first one the server lists, asked for once.
    ///
    /// # Errors
    /// The server does not answer, or lists none.
    pub async fn model_name(&self) -> Result<&str, ModelError> {
        let found = self.model.get_or_try_init(|| self.trying(|| Box::pin(self.first_listed()))).await;
        found.map(String::as_str).map_err(|error| self.without_key(error))
    }

    /// The models the server lists, those that are for something else than talk included.
    ///
    /// # Errors
    /// The server does not answer, or lists none one can talk to.
    pub async fn list_names(&self) -> Result<Vec<String>, ModelError> {
        let list = self.trying(|| Box::pin(self.list())).await.map_err(|error| self.without_key(error))?;
        Ok(names::all(&list))
    }

    async fn first_listed(&self) -> Result<String, FailedAttempt> {
        let list = self.list().await?;
        let name = names::first_chat_model(&list).ok_or_else(|| {
            let message = format!("{} lists no model to talk to: load one there, or set LLM_MODEL.", self.address());
            FailedAttempt::last(ModelErrorKind::Refused, message)
        })?;
        if self.provider.tells == Tells::Nothing
            && let Some(told) = ModelProperties::listed(&list, &name)
        {
            // If another request was first, it has set the same.
            let _ = self.told.set(told);
        }
        Ok(name)
    }

    async fn list(&self) -> Result<Value, FailedAttempt> {
        let deadline = Instant::now() + self.limits.connect;
        let listed = timeout_at(deadline, self.head(self.transport.models(), deadline + self.limits.connect, "")).await;
        let Ok(response) = listed else {
            let (address, variable) = (self.address(), self.target.endpoint.address_variable());
            let message = format!("{address} did not list its models in time: is it the right {variable}? Or set LLM_MODEL.");
            return Err(FailedAttempt::passing(ModelErrorKind::Timeout, message));
        };
        let bytes = self.start_of(response?, 1 << 20, deadline).await;
        serde_json::from_slice(&bytes).map_err(|_| {
            let (address, variable) = (self.address(), self.target.endpoint.address_variable());
            let message = format!(
                "{address} answered with something else than a list of models: is it the right {variable}? Or set LLM_MODEL."
            );
            FailedAttempt::last(ModelErrorKind::Refused, message)
        })
    }

    /// Asks the server how much its model can take, if it is one that says so; once it has
    /// answered, no more, unless it has the model not loaded yet. A server that may have no answer
    /// is left alone for a while. One try: the request that follows has its own.
    async fn learn(&self) {
        if self.told.get().is_some_and(|told| told.context_tokens.is_some() || self.provider.tells != Tells::Running) {
            return;
        }
        if self.clock.now() < *self.ask_after.lock().unwrap_or_else(PoisonError::into_inner) {
            return;
        }
        let asked = async {
            let model = self.model.get_or_try_init(|| self.first_listed()).await.ok()?;
            if self.told.initialized() { None } else { tells::ask(&self.transport, self.provider.tells, model).await }
        };
        let answered = tokio::time::timeout(LEARNING, asked).await;
        if !matches!(answered, Ok(Some(_))) && self.provider.tells == Tells::Somewhere {
            *self.ask_after.lock().unwrap_or_else(PoisonError::into_inner) = self.clock.now() + UNTOLD;
        }
        if let Ok(Some(told)) = answered {
            let again = self.provider.tells == Tells::Running && told.context_tokens.is_none();
            if !again && self.told.set(told).is_ok() && told != ModelProperties::default() {
                tracing::info!(provider = self.provider.name, ?told, "the server said how much its model can take");
            }
        }
    }

    /// Runs `attempt` until it works or trying again is over.
    #[expect(clippy::disallowed_methods, reason = "the pause is for the peer's sake, in real time")]
    async fn trying<'f, T>(&self, attempt: impl Fn() -> BoxFuture<'f, Result<T, FailedAttempt>>) -> Result<T, ModelError> {
        let ModelLimits { retries, retry_base: base, longest_pause: longest, first_token: loading, .. } = self.limits;
        let policy = RetryPolicy { retries, base, longest, loading };
        let (mut failures, begun) = (0, Instant::now());
        loop {
            match attempt().await {
                Ok(done) => return Ok(done),
                Err(failure) => {
                    failures += 1;
                    let told = failure.error.message.clone();
                    let pause = policy.pause(failure, failures, begun.elapsed(), &*self.random)?;
                    tracing::warn!(attempt = failures, ?pause, "the model request failed, trying again: {}", self.scrub(&told));
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }

    async fn ask(&self, request: &Request, on_delta: OnDelta<'_>) -> Result<Answer, ModelError> {
        let model = self.model_name().await?;
        let mut answer = self.trying(|| Box::pin(self.attempt_or_rescue(request, model, on_delta))).await?;
        rescue::rescue(&mut answer, request);
        Ok(answer)
    }

    /// One attempt. If the server could not read a tool call that the model wrote, perhaps this
    /// side can; if it broke down in the middle of a stream, perhaps it can give the whole.
    async fn attempt_or_rescue(&self, request: &Request, model: &str, on_delta: OnDelta<'_>) -> Result<Answer, FailedAttempt> {
        let mut failure = match self.attempt(request, model, on_delta, true).await {
            Ok(answer) if answer.finish_reason == NO_CALL => {
                return self.attempt(request, model, on_delta, true).await; // which does not demand one
            }
            Err(failure) if failure.within_stream => {
                tracing::warn!(
                    "the server broke off its stream, asking for a whole reply: {}",
                    self.scrub(&failure.error.message)
                );
                // A person has seen the first part already and must not see it twice: nothing of
                // this is shown, and there is no further attempt.
                let whole = self.attempt(request, model, &|_| {}, false).await;
                return whole.map_err(|failure| FailedAttempt { again: Again::Never, ..failure });
            }
            Err(failure) => failure,
            answered => return answered,
        };
        let Some(content) = failure.wrote.take() else { return Err(failure) };
        let (finish_reason, model) = ("tool_calls".into(), model.to_owned());
        let mut answer = Answer { content, calls: Vec::new(), finish_reason, usage: None, estimate: None, model };
        rescue::rescue(&mut answer, request);
        if answer.calls.is_empty() { Err(failure) } else { Ok(answer) }
    }

    async fn attempt(
        &self,
        request: &Request,
        model: &str,
        on_delta: OnDelta<'_>,
        streamed: bool,
    ) -> Result<Answer, FailedAttempt> {
        let watch = AttemptDeadlines::starting(Instant::now(), &self.limits, streamed);
        let quirks = self.provider.quirks(model);
        // Some servers refuse a request whose answer might not fit; half of it all is left to the
        // question.
        let most = self.limits.answer_tokens.unwrap_or(quirks.answer_tokens);
        let answer_tokens = most.min(request.answer_tokens.unwrap_or(most)).min(self.abilities().context_tokens / 2);
        let tagged_calls = self.told.get().is_some_and(|told| told.escapes_calls);
        let local = self.target.endpoint.is_loopback();
        let peer = body::RequestTarget { quirks: Quirks { answer_tokens, ..quirks }, local, tagged_calls };
        let (response, demanded) = loop {
            let manner = RequestManner {
                streamed,
                counted: quirks.asks_usage && self.asks_usage.load(Ordering::Relaxed),
                demanding: self.demands_calls.load(Ordering::Relaxed),
            };
            let body = body::chat(request, model, peer, manner);
            let head = self.head(self.transport.chat(&body), watch.first_token(), model).await;
            // An old server that does not know an option; every other refusal of the same kind
            // stays one.
            let unknown =
                |option: &str| body.has(option) && head.as_ref().is_err_and(|failure| failure.error.message.contains(option));
            if unknown("stream_options") {
                self.asks_usage.store(false, Ordering::Relaxed);
            } else if unknown("tool_choice") {
                self.demands_calls.store(false, Ordering::Relaxed);
            } else {
                break (head?, body.has("tool_choice"));
            }
        };
        let attempt = request.meter.begin(model, request.bytes(), self.rate(model));
        let reading = ResponseReader {
            peer: self.peer(model),
            attempt: &attempt,
            limits: &self.limits,
            assembly: Assembly::new(self.limits.answer_bytes).wanting_call(demanded && streamed),
            // If a call is demanded, talk may be thrown away, so nobody hears it before the end.
            on_delta: if demanded { &|_| {} } else { on_delta },
            watch,
        };
        let answer = match reading.read(response).await {
            // It was refused after all.
            Err(failure)
                if attempt.is_empty() && !matches!(failure.error.kind, ModelErrorKind::Timeout | ModelErrorKind::Cut) =>
            {
                attempt.complete();
                return Err(failure);
            }
            answered => answered?,
        };
        // An answer without the call that was demanded is thrown away.
        if answer.finish_reason != NO_CALL {
            attempt.complete();
        }
        if demanded && answer.calls.is_empty() {
            // It takes the option for a hint, and the model then writes calls into the text, in
            // forms of its own.
            tracing::info!(provider = self.provider.name, "a call was demanded and none came: none will be demanded there again");
            self.demands_calls.store(false, Ordering::Relaxed);
        }
        Ok(answer)
    }

    /// Waits for the head of a response and lets only successes through.
    async fn head(
        &self,
        sent: impl Future<Output = Result<Response, SendError>>,
        deadline: Instant,
        model: &str,
    ) -> Result<Response, FailedAttempt> {
        let peer = self.peer(model);
        let response = match timeout_at(deadline, sent).await {
            Err(_) => return Err(peer.no_first_token(self.limits.first_token)),
            Ok(Err(SendError::Http(error))) => return Err(peer.unanswered(&error)),
            Ok(Err(SendError::Request(error))) => {
                let message = format!("The request to {} could not be made: {}", self.address(), one_line(&error.to_string()));
                return Err(FailedAttempt::last(ModelErrorKind::Refused, message));
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

    /// The first `most` bytes of a body, as far as they come before the deadline.
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

    fn peer<'a>(&'a self, model: &'a str) -> RefusingServer<'a> {
        let endpoint = &self.target.endpoint;
        let (key_variable, address_variable) = (endpoint.key_variable(), endpoint.address_variable());
        RefusingServer { address: self.address(), model, has_key: endpoint.has_key(), key_variable, address_variable }
    }

    /// The variable that holds the key, or words for none.
    pub(super) fn key_in_words(&self) -> String {
        let endpoint = &self.target.endpoint;
        if endpoint.has_key() { endpoint.key_variable().to_owned() } else { "none needed, none set".to_owned() }
    }

    pub(super) fn address(&self) -> &str {
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

    fn abilities(&self) -> Abilities {
        let named = self.provider.abilities(self.model.get().map_or("", String::as_str));
        let told = self.told.get().copied().unwrap_or_default();
        let context_tokens = self.limits.context_tokens.or(told.context_tokens).unwrap_or(named.context_tokens);
        Abilities { context_tokens, images: told.images.unwrap_or(named.images) }
    }

    fn prepare(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.learn())
    }

    fn rate(&self, answered: &str) -> Option<Rate> {
        // Elsewhere somebody else charges, or nobody.
        self.provider.rate(answered).filter(|_| self.address() == self.provider.base_url)
    }
}
