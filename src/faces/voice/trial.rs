//! Tries both servers as a call would: a sentence is spoken, and what was spoken is heard again.

use super::{SpeechServers, wav};
use crate::wire::api::TriedSpeech;

/// The sentence.
const SENTENCE: &str = "Hello, this is Law.";
/// Its language.
const LANGUAGE: &str = "en";
/// Words for the two servers.
pub const SPEECH_SERVERS: [&str; 2] = ["words to speech", "speech to words"];
const SPEAKS: &str = SPEECH_SERVERS[0];
const HEARS: &str = SPEECH_SERVERS[1];

impl SpeechServers {
    /// True if trying them needs the vault.
    pub fn has_key(&self) -> bool {
        [&self.settings.hears, &self.settings.speaks].into_iter().flatten().any(|server| server.key.is_some())
    }

    /// Speaks and hears a sentence; nothing is told of a server that is not set up.
    pub async fn try_out(&self) -> Vec<TriedSpeech> {
        let mut checks = Vec::new();
        let mut spoken = None;
        if let Some(at) = self.speaks_at() {
            checks.push(match self.speech(SENTENCE).await {
                Ok(sound) => {
                    let said = format!("{at} said “{SENTENCE}” in {} KB", sound.len() / 1024);
                    spoken = wav::for_ears(&sound);
                    well(SPEAKS, said)
                }
                Err(error) => unwell(SPEAKS, error.to_string()),
            });
        }
        if let Some(at) = self.hears_at() {
            checks.push(self.hears_again(&at, spoken).await);
        }
        checks
    }

    async fn hears_again(&self, at: &str, spoken: Option<Vec<u8>>) -> TriedSpeech {
        let Some(spoken) = spoken else {
            // Nobody spoke, so half a second of silence is all there is to be heard.
            let silence = wav::file(&[0; 8000], wav::RATE);
            return match self.words(&silence, LANGUAGE).await {
                Ok(_) => well(HEARS, format!("{at} answers; without a sentence to hear, only silence was sent")),
                Err(error) => unwell(HEARS, error.to_string()),
            };
        };
        match self.words(&spoken, LANGUAGE).await {
            Ok(words) if words.is_empty() => {
                unwell(HEARS, format!("{at} heard nothing in a spoken sentence: look at its model and its language"))
            }
            Ok(words) => well(HEARS, format!("{at} heard “{words}”")),
            Err(error) => unwell(HEARS, error.to_string()),
        }
    }
}

fn well(what: &str, said: String) -> TriedSpeech {
    TriedSpeech { what: what.to_owned(), ok: true, said }
}

fn unwell(what: &str, said: String) -> TriedSpeech {
    TriedSpeech { what: what.to_owned(), ok: false, said }
}
