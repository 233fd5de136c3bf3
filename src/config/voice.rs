//! Servers that are Law's ears and mouth: whole addresses, and the names of the secrets that go
//! with them.

use url::Url;

use super::ConfigError;
use crate::domain::valid_secret_name;

/// One speech server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpeechServer {
    /// The whole address that is asked.
    pub url: Url,
    /// The name of the secret that goes along as a bearer.
    pub key: Option<String>,
    /// The model that is named.
    pub model: String,
}

/// The form of a request for speech.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpeechShape {
    /// That of OpenAI's `/v1/audio/speech`.
    #[default]
    OpenAi,
    /// That of piper's HTTP server.
    Piper,
}

/// The servers for speech that are set up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VoiceSettings {
    /// `VOICE_STT_URL`, `VOICE_STT_KEY`, `VOICE_STT_MODEL`: turns speech into words.
    pub hears: Option<SpeechServer>,
    /// `VOICE_TTS_URL`, `VOICE_TTS_KEY`, `VOICE_TTS_MODEL`: turns words into speech.
    pub speaks: Option<SpeechServer>,
    /// `VOICE_TTS_VOICE`: the voice that is asked for.
    pub voice: Option<String>,
    /// `VOICE_TTS_SHAPE`: the form of the request for speech.
    pub shape: SpeechShape,
}

/// Reads the settings.
pub(super) fn read(get: impl Fn(&str) -> Option<String>) -> Result<VoiceSettings, ConfigError> {
    let hears = server(&get, ["VOICE_STT_URL", "VOICE_STT_KEY", "VOICE_STT_MODEL"], "whisper-1")?;
    let speaks = server(&get, ["VOICE_TTS_URL", "VOICE_TTS_KEY", "VOICE_TTS_MODEL"], "tts-1")?;
    let shape = match get("VOICE_TTS_SHAPE").as_deref() {
        None | Some("openai") => SpeechShape::OpenAi,
        Some("piper") => SpeechShape::Piper,
        Some(other) => {
            let problem = "expected openai or piper".to_owned();
            return Err(ConfigError { variable: "VOICE_TTS_SHAPE", value: other.to_owned(), problem });
        }
    };
    Ok(VoiceSettings { hears, speaks, voice: get("VOICE_TTS_VOICE"), shape })
}

fn server(
    get: impl Fn(&str) -> Option<String>,
    [url, key, model]: [&'static str; 3],
    usual: &str,
) -> Result<Option<SpeechServer>, ConfigError> {
    // A key that cannot be used is a mistake also while no address is set.
    let key = secret(key, get(key))?;
    let Some(address) = get(url) else { return Ok(None) };
    Ok(Some(SpeechServer { url: whole(url, address)?, key, model: get(model).unwrap_or_else(|| usual.to_owned()) }))
}

/// A whole http or https address, without a user in it.
pub(super) fn whole(variable: &'static str, value: String) -> Result<Url, ConfigError> {
    let parsed = Url::parse(&value).ok();
    let usable = |url: &Url| {
        let named = url.host_str().is_some_and(|host| !host.is_empty());
        matches!(url.scheme(), "http" | "https") && named && url.username().is_empty() && url.password().is_none()
    };
    parsed.filter(usable).ok_or_else(|| {
        let problem =
            "expected a whole http or https address, like http://127.0.0.1:8080/inference; a key is named apart".to_owned();
        ConfigError { variable, value, problem }
    })
}

/// The name of a secret.
pub(super) fn secret(variable: &'static str, written: Option<String>) -> Result<Option<String>, ConfigError> {
    let Some(name) = written else { return Ok(None) };
    if valid_secret_name(&name) {
        return Ok(Some(name));
    }
    // It may be the key itself, which nothing prints.
    let problem = "expected the name of a secret; `level3 secret set NAME` keeps the key under that name".to_owned();
    Err(ConfigError { variable, value: "(hidden)".to_owned(), problem })
}

#[cfg(test)]
mod tests;
