//! Speech servers that the operator has set up: one turns speech into words, the other words into
//! speech. No sound is kept.

mod error;
mod form;
mod language;
mod trial;
mod vapi;
mod wav;

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::TimeDelta;
use serde_json::{Value, json};
use url::Url;

use self::form::Form;
use crate::clock::{Clock, Random};
use crate::config::{SpeechServer, SpeechShape, VoiceSettings};
use crate::domain::{HttpGrant, HttpRequest, HttpResponse, Scheme};
use crate::egress::{Egress, EgressLimits, Placeholders};
use crate::secrets::Vault;
use crate::wire::MAX_MESSAGE_BYTES;

pub use error::SpeechError;
pub use trial::SPEECH_SERVERS;
pub use vapi::{KnownCall, Looked, RoomMade, Vapi, VapiError, look};

/// The most bytes of speech that are turned into words at once: half a minute.
pub const MOST_SPEECH: usize = 1 << 20;
/// The most characters that are spoken at once.
pub const MOST_TEXT: usize = 500;
/// So long a speech server gets for an answer.
const PATIENCE: TimeDelta = TimeDelta::seconds(20);
/// Bytes of the largest answer: two minutes of speech.
const MOST_ANSWER: usize = 8 << 20;

const STT: &str = "STT";
const TTS: &str = "TTS";

/// The speech servers. Cheap to clone.
#[derive(Clone)]
pub struct SpeechServers {
    settings: Arc<VoiceSettings>,
    egress: Egress,
    /// None in a program without a database, such as the doctor.
    vault: Option<Vault>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

impl SpeechServers {
    /// Servers of these settings. Their requests leave by this way, to exactly their addresses.
    pub fn new(
        settings: VoiceSettings,
        egress: &Egress,
        vault: Option<Vault>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        let places: Vec<&Url> = [&settings.hears, &settings.speaks].into_iter().flatten().map(|server| &server.url).collect();
        let limits = EgressLimits {
            // The clock ends a request; this is for one that even the clock does not reach.
            whole: std::time::Duration::from_secs(60),
            response_body: MOST_ANSWER,
            request_body: MOST_SPEECH + 4096,
            // A redirect would lead to an address that nobody set up.
            redirects: 0,
            ..EgressLimits::default()
        };
        let egress = egress.to_own(&places, limits);
        Self { settings: Arc::new(settings), egress, vault, clock, random }
    }

    /// The host and port of the server that hears.
    pub fn hears_at(&self) -> Option<String> {
        self.settings.hears.as_ref().map(|server| place(&server.url))
    }

    /// The host and port of the server that speaks.
    pub fn speaks_at(&self) -> Option<String> {
        self.settings.speaks.as_ref().map(|server| place(&server.url))
    }

    /// True if these bytes are sound that a server may be asked about.
    pub fn is_sound(bytes: &[u8]) -> bool {
        wav::is_wav(bytes)
    }

    /// The words in a WAV file; empty if there are none. `tag` is that of the language that is
    /// spoken, such as `pt-BR`, or empty.
    ///
    /// # Errors
    /// [`SpeechError`].
    pub async fn words(&self, sound: &[u8], tag: &str) -> Result<String, SpeechError> {
        let server = self.settings.hears.as_ref().ok_or(SpeechError::NotSet("VOICE_STT_URL"))?;
        let mut form = Form::new(self.token()).wav("file", sound).field("model", &server.model).field("response_format", "json");
        if let Some(language) = language::named(tag) {
            form = form.field("language", language);
        }
        let (kind, body) = form.done();
        let answer = self.asked(STT, server, kind, body).await?;
        let read: Option<Value> = serde_json::from_slice(&answer.body).ok();
        let text = read.as_ref().and_then(|read| read.get("text")?.as_str());
        let text =
            text.map(heard).ok_or_else(|| SpeechError::Odd { of: STT, kind: kind_of(&answer), wanted: "JSON with `text`" })?;
        if text.contains('\0') {
            return Err(SpeechError::Unsendable("words with a zero character".to_owned()));
        }
        if text.len() > MAX_MESSAGE_BYTES {
            return Err(SpeechError::Unsendable(format!("{} bytes of words", text.len())));
        }
        Ok(text)
    }

    /// A text as a WAV file.
    ///
    /// # Errors
    /// [`SpeechError`].
    pub async fn speech(&self, text: &str) -> Result<Vec<u8>, SpeechError> {
        let server = self.settings.speaks.as_ref().ok_or(SpeechError::NotSet("VOICE_TTS_URL"))?;
        let voice = self.settings.voice.as_deref();
        let body = match self.settings.shape {
            SpeechShape::OpenAi => {
                json!({ "model": server.model, "input": text, "voice": voice.unwrap_or("alloy"), "response_format": "wav" })
            }
            SpeechShape::Piper => match voice {
                Some(voice) => json!({ "text": text, "voice": voice }),
                None => json!({ "text": text }),
            },
        };
        let answer = self.asked(TTS, server, "application/json".to_owned(), body.to_string().into_bytes()).await?;
        if !wav::is_wav(&answer.body) {
            return Err(SpeechError::Odd { of: TTS, kind: kind_of(&answer), wanted: "a WAV file" });
        }
        Ok(wav::mended(answer.body))
    }

    async fn asked(
        &self,
        of: &'static str,
        server: &SpeechServer,
        kind: String,
        body: Vec<u8>,
    ) -> Result<HttpResponse, SpeechError> {
        let grant = grant(&server.url);
        let mut secrets = Placeholders::default();
        let mut headers = vec![("Content-Type".to_owned(), kind)];
        if let Some(name) = &server.key {
            let value = self.key(of, name).await?;
            let placeholder = self.token();
            headers.push(("Authorization".to_owned(), format!("Bearer {placeholder}")));
            secrets.insert(placeholder, name.clone(), value, [grant.binding()].into());
        }
        let (method, url) = ("POST".to_owned(), server.url.to_string());
        let request = HttpRequest { method, url, headers, body: Some(body), idempotency_key: None };
        let grants = BTreeSet::from([grant]);
        let answer = tokio::select! {
            answer = self.egress.ask(request, &grants, &secrets) => answer,
            () = self.clock.sleep_until(self.clock.now() + PATIENCE) => return Err(SpeechError::Silent(of)),
        };
        let answer = answer.map_err(|error| SpeechError::Unasked { of, why: error.for_person() })?;
        match answer.status {
            200..300 => Ok(answer),
            status @ (401 | 403) => Err(SpeechError::Refused { of, status }),
            status => Err(SpeechError::Failed { of, status }),
        }
    }

    async fn key(&self, of: &'static str, name: &str) -> Result<secrecy::SecretString, SpeechError> {
        let setting = if of == STT { "VOICE_STT_KEY" } else { "VOICE_TTS_KEY" };
        let failed = |why: String| SpeechError::Key { setting, name: name.to_owned(), why };
        let Some(vault) = &self.vault else {
            return Err(failed("which only a running server can open: start it, and ask again".to_owned()));
        };
        let found = vault.get(name).await.map_err(|error| failed(format!("which cannot be opened: {error}")))?;
        found.ok_or_else(|| failed(format!("and there is none: `level3 secret set {name}` sets it")))
    }

    /// A text that nobody else has.
    fn token(&self) -> String {
        let mut bytes = [0; 16];
        self.random.fill(&mut bytes);
        format!("level3-{}", hex::encode(bytes))
    }
}

/// The host of an address, and its port if one is written.
fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Leave for one address.
fn grant(url: &Url) -> HttpGrant {
    let scheme = if url.scheme() == "http" { Scheme::Http } else { Scheme::Https };
    let host = HttpGrant::host(url.host_str().unwrap_or_default());
    HttpGrant { scheme, port: url.port(), path: Some(url.path().to_owned()), methods: ["POST".to_owned()].into(), ..host }
}

/// An answer by the type that it says it has, for a sentence.
fn kind_of(answer: &HttpResponse) -> String {
    let kind = answer
        .headers
        .iter()
        .find(|(name, _)| name == "content-type")
        .map(|(_, kind)| kind.split(';').next().unwrap_or_default());
    let kind: String = kind.unwrap_or_default().chars().filter(|letter| letter.is_ascii_graphic()).take(60).collect();
    if kind.is_empty() { "an answer without a type".to_owned() } else { format!("an answer of the type {kind}") }
}

/// The words of a transcription. Servers write what is no speech in brackets, such as
/// `[BLANK_AUDIO]` and `(music)`.
fn heard(text: &str) -> String {
    let mut words = String::new();
    let mut depth = 0_u32;
    for letter in text.chars() {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => words.push(letter),
            _ => {}
        }
    }
    // A bracket that nobody closes is no remark.
    let words = if depth > 0 { text.to_owned() } else { words };
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
