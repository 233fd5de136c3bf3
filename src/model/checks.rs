//! Looks at models as a person would who wonders why nothing answers: is there a key, is somebody
//! there, does an answer stream, does it call a tool. Costs a few hundred tokens at most.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use serde::Serialize;
use serde_json::json;

use super::client::{ChatClient, ModelLimits, SettingError};
use super::providers::PROVIDERS;
use super::reference::{self, Reference};
use super::{Entry, Model, ModelError, ModelErrorKind, Request};
use crate::clock::{Clock, Random};
use crate::config::ModelSettings;
use crate::domain::ToolSpec;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// As it should be.
    Ok,
    /// Something is to be mended.
    Failed,
    /// Not tried, mostly because an earlier one failed.
    Skipped,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The thing that was looked at, in one or two words.
    pub what: &'static str,
    /// How it came out.
    pub state: CheckState,
    /// The finding; if it failed, the thing to do, in one line.
    pub said: String,
}

impl Check {
    /// It is as it should be.
    pub fn ok(what: &'static str, said: impl Into<String>) -> Self {
        Self { what, state: CheckState::Ok, said: said.into() }
    }

    /// It was not tried; `said` tells why.
    pub fn skipped(what: &'static str, said: impl Into<String>) -> Self {
        Self { what, state: CheckState::Skipped, said: said.into() }
    }

    /// It failed; `said` tells what to do.
    pub fn failed(what: &'static str, said: impl Into<String>) -> Self {
        Self { what, state: CheckState::Failed, said: said.into() }
    }
}

/// One model and what was seen of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Examined {
    /// Its reference.
    pub model: String,
    /// `in use`, `fallback`, or `tried` if a person named it.
    pub role: &'static str,
    /// In the order they were made.
    pub checks: Vec<Check>,
}

/// One provider and what it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProviderEntry {
    /// Its name.
    pub provider: &'static str,
    /// `ready`, `unreachable` (nobody answers), `refused` (somebody answers, without a list) or
    /// `not configured`.
    pub state: &'static str,
    /// The address that was asked; empty when none was.
    pub address: String,
    /// Why it is not ready, in one line that says what to do; empty when it is.
    pub why: String,
    /// Its models, as it lists them.
    pub models: Vec<String>,
    /// Those of them, or others, that are in use.
    pub in_use: Vec<String>,
    /// Those that are asked when the one in use is down.
    pub fallbacks: Vec<String>,
}

/// The things from outside that looks need.
pub struct Looking {
    /// The settings.
    pub settings: ModelSettings,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// How long to wait.
    pub limits: ModelLimits,
}

impl Looking {
    /// Nothing is tried twice, and nobody waits long.
    pub fn limits() -> ModelLimits {
        ModelLimits {
            connect: Duration::from_secs(4),
            first_token: Duration::from_secs(60),
            whole: Duration::from_secs(120),
            retries: 0,
            answer_tokens: Some(512),
            ..ModelLimits::default()
        }
    }

    fn client(&self, reference: &Reference) -> Result<ChatClient, String> {
        let target = reference.target(&self.settings).map_err(|error| error.to_string())?;
        let (clock, random) = (Arc::clone(&self.clock), Arc::clone(&self.random));
        ChatClient::new(target, self.limits, clock, random).map_err(|error| error.to_string())
    }

    /// The models that are set, the one in use first. If none is set, the first local one that
    /// answers.
    ///
    /// # Errors
    /// The setting that is wrong.
    async fn set(&self) -> Result<Vec<Reference>, String> {
        let chosen = reference::chosen(&self.settings).map_err(|error| error.to_string())?;
        let fallbacks = reference::fallbacks(&self.settings).map_err(|error| error.to_string())?;
        let first = match chosen {
            Some(chosen) => Some(chosen),
            None => self.found().await,
        };
        Ok(first.into_iter().chain(fallbacks).collect())
    }

    async fn found(&self) -> Option<Reference> {
        for place in super::detect::usual_places() {
            let reference: Reference = place.provider.parse().ok()?;
            let Ok(client) = self.client(&reference) else { continue };
            if let Ok(name) = client.model_name().await {
                return format!("{}/{name}", place.provider).parse().ok();
            }
        }
        None
    }

    /// Every provider: whether it is configured, whether it answers, what it has.
    ///
    /// # Errors
    /// A setting that makes the choice itself impossible, by name.
    pub async fn list(&self) -> Result<Vec<ProviderEntry>, String> {
        let set = self.set().await?;
        let asked = PROVIDERS.iter().map(|provider| async {
            let reference = Reference::any_of(provider);
            let of = |references: &[Reference]| {
                let own = references.iter().filter(|one| one.provider().name == provider.name);
                own.map(ToString::to_string).collect::<Vec<_>>()
            };
            let mut listed = ProviderEntry {
                provider: provider.name,
                state: "not configured",
                address: String::new(),
                why: String::new(),
                models: Vec::new(),
                in_use: of(&set[..set.len().min(1)]),
                fallbacks: of(set.get(1..).unwrap_or_default()),
            };
            let client = match self.client(&reference) {
                Ok(client) => client,
                Err(why) => return ProviderEntry { why, ..listed },
            };
            listed.address = client.address().to_owned();
            match client.list_names().await {
                Ok(models) => {
                    // A provider alone means the first it has.
                    let first = client.model_name().await.unwrap_or_default();
                    let named = listed.in_use.iter_mut().chain(&mut listed.fallbacks).filter(|name| *name == provider.name);
                    named.for_each(|name| *name = format!("{}/{first}", provider.name));
                    ProviderEntry { state: "ready", models, ..listed }
                }
                Err(ModelError { kind: ModelErrorKind::Unreachable | ModelErrorKind::Timeout, message, .. }) => {
                    ProviderEntry { state: "unreachable", why: message, ..listed }
                }
                Err(error) => ProviderEntry { state: "refused", why: error.message, ..listed },
            }
        });
        Ok(join_all(asked).await)
    }

    /// The model in use and each fallback, looked at closely.
    ///
    /// # Errors
    /// A setting that makes the choice itself impossible, by name.
    pub async fn examine(&self) -> Result<Vec<Examined>, String> {
        let set = self.set().await?;
        let roles = std::iter::once("in use").chain(std::iter::repeat("fallback"));
        let examined = set.iter().zip(roles).map(|(reference, role)| async move {
            Examined { model: reference.to_string(), role, checks: self.checks(reference).await }
        });
        Ok(join_all(examined).await)
    }

    /// One model, looked at closely, whether it is in use or not.
    ///
    /// # Errors
    /// If the text names no model.
    pub async fn examine_one(&self, text: &str) -> Result<Examined, String> {
        let reference: Reference = text.parse().map_err(|error: SettingError| error.to_string())?;
        Ok(Examined { model: reference.to_string(), role: "tried", checks: self.checks(&reference).await })
    }

    async fn checks(&self, reference: &Reference) -> Vec<Check> {
        const AFTER_KEY: [&str; 4] = ["reachable", "models", "streaming", "tool calls"];
        let skipped = |what: &'static str| Check { what, state: CheckState::Skipped, said: String::new() };
        let client = match self.client(reference) {
            Ok(client) => client,
            Err(why) => return std::iter::once(Check::failed("key", why)).chain(AFTER_KEY.map(skipped)).collect(),
        };
        let mut checks = vec![Check::ok("key", client.key_in_words())];
        match client.list_names().await {
            Ok(names) => {
                checks.push(Check::ok("reachable", client.address()));
                checks.push(self.model_check(&client, &names).await);
            }
            Err(ModelError { kind: ModelErrorKind::Unreachable | ModelErrorKind::Timeout, message, .. }) => {
                checks.push(Check::failed("reachable", message));
                return checks.into_iter().chain(AFTER_KEY[1..].iter().map(|what| skipped(what))).collect();
            }
            Err(ModelError { kind: ModelErrorKind::Unauthorized, message, .. }) => {
                checks[0] = Check::failed("key", message);
                checks.push(Check::ok("reachable", client.address()));
                return checks.into_iter().chain(AFTER_KEY[1..].iter().map(|what| skipped(what))).collect();
            }
            // Not every server has a list; whether the model answers is what counts.
            Err(error) => {
                checks.push(Check::ok("reachable", client.address()));
                checks.push(Check::ok("models", format!("No list: {}", error.message)));
            }
        }
        if checks.iter().any(|check| check.state == CheckState::Failed) {
            return checks.into_iter().chain(AFTER_KEY[2..].iter().map(|what| skipped(what))).collect();
        }
        let streaming = streaming(&client).await;
        let answered = streaming.state == CheckState::Ok;
        checks.push(streaming);
        checks.push(if answered { calling(&client).await } else { skipped("tool calls") });
        checks
    }

    async fn model_check(&self, client: &ChatClient, names: &[String]) -> Check {
        let model = match client.model_name().await {
            Ok(model) => model,
            Err(error) => return Check::failed("models", error.message),
        };
        client.prepare().await;
        let takes = format!("{model} takes {} tokens", client.abilities().context_tokens);
        let images = if client.abilities().images { ", and images" } else { "" };
        // A shorter name may stand for a dated one, so that a name that is not listed is no failure
        // yet.
        let listed = if names.iter().any(|name| name == model) { "" } else { "; it is not among the models listed" };
        Check::ok("models", format!("{} listed; {takes}{images}{listed}", names.len()))
    }
}

/// Checks that an answer comes in pieces.
async fn streaming(client: &ChatClient) -> Check {
    const WHAT: &str = "streaming";
    let pieces = AtomicUsize::new(0);
    let entries = vec![Entry::User("Count from one to ten in words, with spaces between them, and say nothing else.".into())];
    let counted = |_: &str| {
        pieces.fetch_add(1, Ordering::Relaxed);
    };
    match client.answer(Request { entries, ..Request::default() }, &counted).await {
        Err(error) => Check::failed(WHAT, error.message),
        Ok(_) => match pieces.load(Ordering::Relaxed) {
            0 => Check::failed(WHAT, "It answered without a word: choose another model with LLM_MODEL."),
            1 => Check::ok(WHAT, "the answer came in one piece, so text shows only at its end"),
            pieces => Check::ok(WHAT, format!("{pieces} pieces")),
        },
    }
}

/// Checks that the model calls a tool that it is told to call.
async fn calling(client: &ChatClient) -> Check {
    const WHAT: &str = "tool calls";
    let parameters = json!({
        "type": "object",
        "properties": { "word": { "type": "string", "description": "The word to send" } },
        "required": ["word"],
    });
    let tool = ToolSpec { name: "ping".into(), description: "Sends a word and tells whether it arrived.".into(), parameters };
    let entries = vec![
        Entry::System("You have one tool, ping. You answer every message by calling it.".into()),
        Entry::User("Call the tool ping with the word \"hello\" now.".into()),
    ];
    match client.answer(Request { entries, tools: vec![tool.into()], ..Request::default() }, &|_| {}).await {
        Err(error) => Check::failed(WHAT, error.message),
        Ok(answer) => match answer.calls.as_slice() {
            [] => Check::failed(
                WHAT,
                "It answered in words and did not call the tool: choose a model made for tools with LLM_MODEL (llama.cpp: start it with --jinja).",
            ),
            [call, ..] if call.name != "ping" => {
                Check::failed(WHAT, "It called a tool that was not offered: choose a model made for tools with LLM_MODEL.")
            }
            [call, ..] => {
                let word = serde_json::from_str::<serde_json::Value>(&call.arguments).ok();
                match word.as_ref().and_then(|arguments| arguments["word"].as_str()) {
                    Some(_) => Check::ok(WHAT, format!("ping({})", call.arguments)),
                    None => Check::failed(
                        WHAT,
                        "It called the tool with arguments that do not fit: choose a larger model, or one made for tools, with LLM_MODEL.",
                    ),
                }
            }
        },
    }
}
