//! Tests of `cli::relay::served`.

use std::fs;

use super::*;
use crate::clock::SeededRandom;

/// A folder with this `config.json` and this key, and the environment that its server gets.
fn set(config: &str, key: Option<&str>, shell: &[(&str, &str)]) -> (tempfile::TempDir, BTreeMap<String, String>) {
    let place = tempfile::tempdir().unwrap();
    let home = RelayHome::find(Some(place.path()), &RelayEnvironment::default(), Path::new("/")).unwrap();
    home.make(&SeededRandom::new(1)).unwrap();
    fs::write(home.config_file(), config).unwrap();
    if let Some(key) = key {
        fs::write(home.key_file(), key).unwrap();
    }
    let shell = shell.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let settings = environment(&home, &RelayEnvironment::read(shell)).unwrap();
    (place, settings)
}

#[test]
fn the_server_gets_its_place_and_its_door_from_the_folder() {
    let (place, settings) = set("{}", None, &[("DATABASE_URL", "postgres://x"), ("PATH", "/bin"), ("LLM_MODEL", "of-shell")]);
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    assert_eq!(settings["LEVEL3_LISTEN"], "127.0.0.1:3214");
    assert_eq!((&settings["LEVEL3_DATA_DIR"], &settings["LEVEL3_READY_FILE"]), (&path("data"), &path("daemon.ready")));
    assert_eq!(settings["LEVEL3_TOKEN"], fs::read_to_string(path("token")).unwrap().trim());
    assert_eq!((settings["PATH"].as_str(), settings["LLM_MODEL"].as_str()), ("/bin", "of-shell"));
    for absent in ["DATABASE_URL", "LEVEL3_WHATSAPP", "LEVEL3_RELAY_PACE"] {
        assert!(!settings.contains_key(absent), "{absent}");
    }
}

#[test]
fn a_model_of_the_folder_takes_nothing_from_the_shell() {
    let config = r#"{"model": {"provider": "groq"}, "pace": {"channel_per_day": 20}}"#;
    let shell = [("LLM_MODEL", "of-shell"), ("LLM_API_KEY", "of-shell"), ("GROQ_API_KEY", "k")];
    let (_place, settings) = set(config, Some("key-of-file\n"), &shell);
    assert_eq!((settings["LLM_PROVIDER"].as_str(), settings["LLM_API_KEY"].as_str()), ("groq", "key-of-file"));
    assert!(!settings.contains_key("LLM_MODEL"));
    assert_eq!((settings["GROQ_API_KEY"].as_str(), settings["LEVEL3_RELAY_PACE"].as_str()), ("k", r#"{"channel_per_day":20}"#));
}

#[test]
fn a_key_of_the_folder_goes_to_no_address_of_the_shell() {
    let shell = [("LLM_PROVIDER", "custom"), ("LLM_BASE_URL", "http://127.0.0.1:9/v1")];
    let (_place, settings) = set("{}", Some("key-of-file\n"), &shell);
    assert_eq!(settings["LLM_API_KEY"], "key-of-file");
    assert!(!settings.contains_key("LLM_PROVIDER") && !settings.contains_key("LLM_BASE_URL"), "{settings:?}");
}

#[test]
fn there_is_no_whatsapp_without_consent() {
    let (_a, without) = set(r#"{"whatsapp": {"program": "/w"}}"#, None, &[]);
    let (_b, with) = set(r#"{"whatsapp": {"program": "/w", "consent_at": "2026-11-23T09:00:00Z"}}"#, None, &[]);
    assert_eq!((without.get("LEVEL3_WHATSAPP"), with["LEVEL3_WHATSAPP"].as_str()), (None, "/w"));
}

#[test]
fn the_program_is_the_one_beside_relay_or_the_one_that_is_named() {
    let place = tempfile::tempdir().unwrap();
    let (relay, level3, other) = (place.path().join("relay"), place.path().join("level3"), place.path().join("other"));
    let missing = program(&RelayEnvironment::default(), &relay).unwrap_err();
    assert!(missing.to_string().contains("LEVEL3_BIN"), "{missing}");
    fs::write(&level3, "").unwrap();
    fs::write(&other, "").unwrap();
    assert_eq!(program(&RelayEnvironment::default(), &relay).unwrap(), level3);
    let named = RelayEnvironment { program: Some(other.clone()), ..RelayEnvironment::default() };
    assert_eq!(program(&named, &relay).unwrap(), other);
}
