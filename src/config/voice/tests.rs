//! Settings of speech servers, and those that are of no use.

use std::collections::HashMap;

use super::*;

fn of(settings: &[(&str, &str)]) -> Result<VoiceSettings, String> {
    let settings: HashMap<_, _> = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    read(|name| settings.get(name).cloned()).map_err(|error| error.to_string())
}

#[test]
fn servers_are_whole_addresses_and_keys_are_names() {
    assert_eq!(of(&[]), Ok(VoiceSettings::default()));
    let all = [
        ("VOICE_STT_URL", "https://api.groq.com/openai/v1/audio/transcriptions"),
        ("VOICE_STT_KEY", "GROQ"),
        ("VOICE_STT_MODEL", "whisper-large-v3-turbo"),
        ("VOICE_TTS_URL", "http://127.0.0.1:5000/"),
        ("VOICE_TTS_SHAPE", "piper"),
        ("VOICE_TTS_VOICE", "en_US-lessac-medium"),
    ];
    let read = of(&all).unwrap();
    let hears = read.hears.unwrap();
    assert_eq!((hears.key.as_deref(), &*hears.model), (Some("GROQ"), "whisper-large-v3-turbo"));
    let speaks = read.speaks.unwrap();
    assert_eq!((speaks.key, &*speaks.model, speaks.url.as_str()), (None, "tts-1", "http://127.0.0.1:5000/"));
    assert_eq!((read.shape, read.voice.as_deref()), (SpeechShape::Piper, Some("en_US-lessac-medium")));
}

#[test]
fn a_setting_that_is_of_no_use_names_itself_and_never_shows_a_key() {
    for url in ["localhost:8080", "ftp://a.example/", "http://user:pass@a.example/", "/inference", "http://"] {
        let said = of(&[("VOICE_STT_URL", url)]).unwrap_err();
        assert!(said.starts_with("VOICE_STT_URL is ") && said.contains("a whole http or https address"), "{said}");
    }
    let said = of(&[("VOICE_TTS_URL", "http://a.example/"), ("VOICE_TTS_KEY", "sk-proj 123")]).unwrap_err();
    assert!(said.contains("VOICE_TTS_KEY") && said.contains("the name of a secret") && !said.contains("sk-proj"), "{said}");
    for key in ["VOICE_STT_KEY", "VOICE_TTS_KEY"] {
        assert!(of(&[(key, "sk-proj 123")]).unwrap_err().starts_with(key), "also while {key} has no address");
    }
    let said = of(&[("VOICE_TTS_SHAPE", "espeak")]).unwrap_err();
    assert_eq!(said, "VOICE_TTS_SHAPE is `espeak`: expected openai or piper");
}
