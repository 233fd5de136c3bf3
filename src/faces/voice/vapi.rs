//! Calls by Vapi: made by the server with a key of the vault, and known again by secrets that are
//! made for each call and kept nowhere.
//!
//! Vapi's own model and tools are not used: it hears and speaks, and asks this server what to say.

mod knock;
mod look;

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::TimeDelta;
use serde_json::{Value, json};
use url::Url;

use super::{grant, place};
use crate::clock::{Clock, Random};
use crate::config::{VapiConfig, VapiSettings};
use crate::domain::voice::{VoiceEnd, VoiceLanguage};
use crate::domain::{HttpRequest, HttpResponse, VoiceCallId};
use crate::egress::{Egress, EgressLimits, Placeholders};
use crate::secrets::Vault;
use crate::store::Store;
use crate::wire::api::VapiRoom;

pub use knock::KnownCall;
pub use look::{Looked, look};

/// So long Vapi gets to make a call.
const PATIENCE: TimeDelta = TimeDelta::seconds(20);
/// The longest call, if the month has no limit.
const LONGEST_SECONDS: u64 = 3600;
/// The shortest that Vapi takes.
const SHORTEST_SECONDS: u64 = 10;

/// Vapi was not asked, or did not make a call; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum VapiError {
    /// It is not set up.
    #[error("Vapi is not set up here: set {0} (docs/voice.md)")]
    NotSet(&'static str),
    /// Its key cannot be had.
    #[error("VOICE_VAPI_KEY names the secret {0}, {1}")]
    Key(String, String),
    /// Vapi makes no call as short as the seconds that are left, so to the person they are used up.
    #[error("{}", VoiceEnd::Minutes.words())]
    Short,
    /// No answer came in time.
    #[error("Vapi did not make a call within 20 seconds; try again.")]
    Silent,
    /// The request did not get through.
    #[error("Vapi ({0}) could not be asked: {1}")]
    Unasked(String, String),
    /// It refused.
    #[error("Vapi made no call (status {0}): {1}")]
    Refused(u16, String),
    /// Its answer cannot be used.
    #[error("Vapi's answer has no {0}: look whether VOICE_VAPI_URL is the address that makes calls by the web.")]
    Odd(&'static str),
}

/// Calls by Vapi. Cheap to clone.
#[derive(Clone)]
pub struct Vapi {
    config: Arc<VapiConfig>,
    egress: Egress,
    vault: Vault,
    store: Store,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

/// A call that Vapi has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomMade {
    /// Vapi's own id of it.
    pub id: String,
    /// The room to join.
    pub room: VapiRoom,
}

impl Vapi {
    /// Its requests leave by this way, to exactly Vapi's address.
    pub fn new(
        config: VapiConfig,
        egress: &Egress,
        vault: Vault,
        store: Store,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        let places: Vec<&Url> = config.whole.iter().map(|settings| &settings.url).collect();
        let limits = EgressLimits { whole: std::time::Duration::from_secs(60), redirects: 0, ..EgressLimits::default() };
        let egress = egress.to_own(&places, limits);
        Self { config: Arc::new(config), egress, vault, store, clock, random }
    }

    /// True if calls can be made.
    pub fn is_set(&self) -> bool {
        self.config.whole.is_some()
    }

    /// # Errors
    /// [`VapiError::NotSet`] with what is missing.
    pub fn ready(&self) -> Result<(), VapiError> {
        self.settings().map(|_| ())
    }

    fn settings(&self) -> Result<&VapiSettings, VapiError> {
        let missing = || VapiError::NotSet(self.config.missing.unwrap_or("VOICE_VAPI_KEY and VOICE_PUBLIC_URL"));
        self.config.whole.as_ref().ok_or_else(missing)
    }

    /// Has Vapi make the call of this number. The key of the request has the number, so that none
    /// is made twice. Vapi sends the language back with each request for words, so that nothing
    /// here keeps it.
    ///
    /// # Errors
    /// [`VapiError`].
    pub async fn make(
        &self,
        call: VoiceCallId,
        seconds_left: Option<u64>,
        language: VoiceLanguage,
    ) -> Result<RoomMade, VapiError> {
        let settings = self.settings()?;
        let longest = seconds_left.unwrap_or(LONGEST_SECONDS).min(LONGEST_SECONDS);
        if longest < SHORTEST_SECONDS {
            return Err(VapiError::Short);
        }
        let value = self.key(&settings.key).await?;
        let grant = grant(&settings.url);
        let mut bytes = [0; 16];
        self.random.fill(&mut bytes);
        let placeholder = format!("level3-{}", hex::encode(bytes));
        let mut secrets = Placeholders::default();
        secrets.insert(placeholder.clone(), settings.key.clone(), value, [grant.binding()].into());
        let body = json!({ "assistant": self.assistant(settings, call, longest, language) });
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: settings.url.to_string(),
            headers: vec![
                ("Content-Type".to_owned(), "application/json".to_owned()),
                ("Authorization".to_owned(), format!("Bearer {placeholder}")),
            ],
            body: Some(body.to_string().into_bytes()),
            idempotency_key: Some(format!("level3-voice-{call}")),
        };
        let grants = BTreeSet::from([grant]);
        let answer = tokio::select! {
            answer = self.egress.ask(request, &grants, &secrets) => answer,
            () = self.clock.sleep_until(self.clock.now() + PATIENCE) => return Err(VapiError::Silent),
        };
        made(&answer.map_err(|error| VapiError::Unasked(place(&settings.url), error.for_person()))?)
    }

    async fn key(&self, name: &str) -> Result<secrecy::SecretString, VapiError> {
        let failed = |why: String| VapiError::Key(name.to_owned(), why);
        let found = self.vault.get(name).await.map_err(|error| failed(format!("which cannot be opened: {error}")))?;
        found.ok_or_else(|| failed(format!("and there is none: `level3 secret set {name}` sets it")))
    }

    /// The assistant of one call: it has ears, a mouth, and this server for a model.
    fn assistant(&self, settings: &VapiSettings, call: VoiceCallId, longest: u64, language: VoiceLanguage) -> Value {
        let door =
            |end: &str| settings.public.join(&format!("/voice/vapi/{call}/{end}")).map_or_else(|_| String::new(), String::from);
        let plan = &settings.signature;
        json!({
            "name": "Law",
            "firstMessage": first_message(language),
            "metadata": { "lang": language },
            "maxDurationSeconds": longest,
            "model": {
                "provider": "custom-llm", "url": door("chat/completions"), "model": "law",
                "metadataSendMode": "variable", "timeoutSeconds": 20,
            },
            "server": { "url": door("events"), "timeoutSeconds": 20 },
            "credentials": [
                { "provider": "custom-llm", "apiKey": self.bearer(call) },
                {
                    "provider": "webhook", "name": format!("level3 call {call}"),
                    "authenticationPlan": {
                        "type": "hmac", "secretKey": self.signing_key(call), "algorithm": plan.algorithm.as_str(),
                        "signatureHeader": plan.signature, "timestampHeader": plan.timestamp, "signaturePrefix": plan.prefix,
                        "includeTimestamp": true, "payloadFormat": "{timestamp}.{body}", "signatureEncoding": plan.encoding.as_str(),
                    },
                },
            ],
            // Sound is kept nowhere.
            "artifactPlan": { "recordingEnabled": false, "videoRecordingEnabled": false },
            "serverMessages": ["status-update", "end-of-call-report", "transcript[transcriptType='final']", "tool-calls", "hang"],
        })
    }
}

/// The words with which Law begins.
fn first_message(language: VoiceLanguage) -> &'static str {
    match language {
        VoiceLanguage::English => "Hey, Law here! What's on your list?",
        VoiceLanguage::Portuguese => "Oi, aqui é Law! O que há na sua lista?",
    }
}

/// Reads Vapi's answer to the making of a call.
fn made(answer: &HttpResponse) -> Result<RoomMade, VapiError> {
    let read: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let text = |at: &Value| at.as_str().map(str::to_owned);
    if !(200..300).contains(&answer.status) {
        // One sentence, or a list of them.
        let words = match &read["message"] {
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; "),
            one => one.as_str().unwrap_or_default().to_owned(),
        };
        let words: String = words.chars().filter(|letter| !letter.is_control()).take(300).collect();
        let refused = matches!(answer.status, 401 | 403);
        let todo =
            if refused { "set VOICE_VAPI_KEY to the name of a secret with the right key" } else { "its dashboard says more" };
        let words = if words.is_empty() { format!("{todo}.") } else { format!("“{words}”; {todo}.") };
        return Err(VapiError::Refused(answer.status, words));
    }
    let url = text(&read["webCallUrl"]).or_else(|| text(&read["transport"]["callUrl"])).ok_or(VapiError::Odd("webCallUrl"))?;
    let safe = Url::parse(&url).is_ok_and(|url| url.scheme() == "https");
    if !safe {
        return Err(VapiError::Odd("webCallUrl that begins with https"));
    }
    let token = text(&read["transport"]["callToken"]);
    Ok(RoomMade { id: text(&read["id"]).ok_or(VapiError::Odd("id"))?, room: VapiRoom { url, token } })
}

#[cfg(test)]
mod tests;
