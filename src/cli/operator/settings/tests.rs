//! Tests of `cli::operator::settings`.

use super::*;

#[test]
fn what_is_written_is_read_again() {
    let mut config = OperatorConfig::read(r#"{"number": "+491701234567"}"#).unwrap();
    assert_eq!((config.limits, config.listen.port()), (OperatorLimits::default(), 8000));
    config.channel = Some(OperatorChannel::Loopback);
    config.limits.max_iterations = 7;
    assert_eq!(OperatorConfig::read(&config.written()), Ok(config.clone()));
    config.numbers.push(ContactAddress::read("+491701234568").unwrap());
    assert_eq!(OperatorConfig::read(&config.written()), Ok(config));
}

#[test]
fn a_bad_field_is_named_with_a_right_value() {
    for (wrong, field, right) in [
        (r#"{"number": "0049 170 1234567"}"#, "`number`", "+491701234567"),
        (r#"{"number": "+49 170 1234567"}"#, "`number`", "\"+491701234567\""),
        (r#"{"number": 5}"#, "`number`", "+491701234567"),
        (r#"{"channel": "sms"}"#, "`channel`", "whatsapp"),
        (r#"{"limits": {"max_iterations": "many"}}"#, "`limits.max_iterations`", "40"),
        (r#"{"limits": {"max_runtime_minutes": 0}}"#, "`limits.max_runtime_minutes`", "5"),
        (r#"{"limits": {"max_tokens_per_session": -1}}"#, "`limits.max_tokens_per_session`", "50000"),
        (r#"{"limits": {"max_runtime_minutes": 9000000000000000000}}"#, "`limits.max_runtime_minutes`", "from 1 to 1000000000"),
        (r#"{"model": {"name": 7}}"#, "`model.name`", "gpt-4o"),
        (r#"{"limits": {"tokens": 1}}"#, "`limits.tokens`", "max_tokens_per_session"),
        (r#"{"listen": "0.0.0.0:8000"}"#, "`listen`", "127.0.0.1:8000"),
        (r#"{"model": "gpt-4o"}"#, "`model`", "provider"),
        (r#"{"model": {"provider": "zzz"}}"#, "`model.provider`", "openai"),
        (r#"{"model": {"base_url": "http://u:sekret@127.0.0.1:1/v1"}}"#, "`model.base_url`", "http://127.0.0.1:8080/v1"),
        (r#"{"colour": 1}"#, "`colour`", "number, channel"),
        ("[]", "JSON object", "+491701234567"),
        (r#"{"number": "+491701234567", "number": "+491709999999"}"#, "`number` stands twice", "write it once"),
        (r#"{"limits": {"max_iterations": 1, "max_iterations": 2}}"#, "`max_iterations` stands twice", "write it once"),
    ] {
        let told = OperatorConfig::read(wrong).unwrap_err();
        assert!(told.contains(field) && told.contains(right) && !told.contains("sekret"), "{wrong}: {told}");
    }
}

#[test]
fn a_number_that_stands_twice_in_the_list_counts_once() {
    let config = OperatorConfig::read(r#"{"number": ["+491701234567", "+491701234568", "+491701234567"]}"#).unwrap();
    assert_eq!(config.numbers.iter().map(ContactAddress::as_str).collect::<Vec<_>>(), ["+491701234567", "+491701234568"]);
}

#[test]
fn settings_that_are_no_utf_8_are_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.json"), b"{\"number\": \"\xe9\"}").unwrap();
    let home = OperatorHome::find(Some(folder.path()), &OperatorEnvironment::default()).unwrap();
    let refused = complete(home, Said::default(), OperatorEnvironment::default(), false).unwrap_err();
    let told = refused.to_string();
    assert!(told.contains("config.json: this is no UTF-8 text, from byte 13 on; save it as UTF-8"), "{told}");
    assert_eq!(refused.exit_code(), 2);
}

#[test]
fn a_provider_that_is_none_is_refused_before_anything_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let home = OperatorHome::find(Some(folder.path()), &OperatorEnvironment::default()).unwrap();
    let said = Said { number: Some("+491701234567".to_owned()), provider: Some("nonsense".to_owned()), ..Said::default() };
    let refused = complete(home, said, OperatorEnvironment::default(), false).unwrap_err();
    assert!(refused.to_string().contains("`model.provider` is \"nonsense\"") && refused.exit_code() == 2, "{refused}");
    assert!(!folder.path().join("config.json").exists());
}

#[test]
fn a_provider_that_is_none_is_asked_for_again_at_once() {
    let mut written = ["openai", "openia"].map(str::to_owned).to_vec();
    let provider = asked_provider(|_| Ok(written.pop().unwrap())).unwrap();
    assert_eq!((provider.as_deref(), written.len()), (Some("openai"), 0));
    assert_eq!(asked_provider(|_| Ok(String::new())).unwrap(), None);
}

#[test]
fn a_key_that_others_could_read_is_closed_to_them_when_it_is_used() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("model-key");
    std::fs::write(&key, "sekret\n").unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let home = OperatorHome::find(Some(folder.path()), &OperatorEnvironment::default()).unwrap();
    assert_eq!(home.model_key().unwrap().map(|kept| kept.key).as_deref(), Some("sekret"));
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_channel_that_is_said_for_one_run_is_no_setting() {
    let folder = tempfile::tempdir().unwrap();
    let run = |channel: Option<OperatorChannel>| {
        let home = OperatorHome::find(Some(folder.path()), &OperatorEnvironment::default()).unwrap();
        let said = Said { channel, number: Some("+491701234567".to_owned()), ..Said::default() };
        complete(home, said, OperatorEnvironment::default(), false).unwrap().channel
    };
    let kept = || OperatorConfig::read(&std::fs::read_to_string(folder.path().join("config.json")).unwrap()).unwrap().channel;
    let (loopback, whatsapp) = (OperatorChannel::Loopback, OperatorChannel::Whatsapp);
    assert_eq!((run(Some(loopback)), kept()), (loopback, None));
    assert_eq!((run(None), kept()), (whatsapp, Some(whatsapp)));
    assert_eq!((run(Some(loopback)), kept()), (loopback, Some(whatsapp)));
    std::fs::write(folder.path().join("config.json"), r#"{"channel": "loopback"}"#).unwrap();
    assert_eq!((run(None), kept()), (loopback, Some(loopback)));
}

/// A home whose settings and key are those of OpenAI, after a start with this provider.
fn started_with(provider: &str) -> (tempfile::TempDir, Result<OperatorSetup, CliError>) {
    let folder = tempfile::tempdir().unwrap();
    let model = json!({"provider": "openai", "name": "gpt-4o", "base_url": "https://proxy.example/v1"});
    std::fs::write(folder.path().join("config.json"), json!({"number": "+491701234567", "model": model}).to_string()).unwrap();
    let home = OperatorHome::find(Some(folder.path()), &OperatorEnvironment::default()).unwrap();
    std::fs::write(folder.path().join("model-key"), "sekret\n").unwrap();
    let said = Said { provider: Some(provider.to_owned()), ..Said::default() };
    (folder, complete(home, said, OperatorEnvironment::default(), false))
}

#[test]
fn another_provider_is_given_neither_the_key_nor_the_model_nor_the_address_of_the_one_before() {
    let (folder, setup) = started_with("groq");
    let server = setup.unwrap().server().unwrap();
    assert_eq!(server["LLM_PROVIDER"], "groq");
    for name in ["LLM_API_KEY", "LLM_MODEL", "LLM_BASE_URL"] {
        assert!(!server.contains_key(name), "{name}: {server:?}");
    }
    assert!(!folder.path().join("model-key").exists());
    let config = std::fs::read_to_string(folder.path().join("config.json")).unwrap();
    assert!(!config.contains("gpt-4o") && !config.contains("proxy.example"), "{config}");
    let (_folder, same) = started_with("OpenAI");
    let server = same.unwrap().server().unwrap();
    assert_eq!((&*server["LLM_API_KEY"], &*server["LLM_MODEL"]), ("sekret", "gpt-4o"));
    let (folder, refused) = started_with("nonsense");
    assert!(refused.is_err() && folder.path().join("model-key").exists());
}

#[test]
fn a_provider_that_was_changed_by_hand_is_given_no_key_of_the_one_before() {
    let (folder, setup) = started_with("openai");
    assert_eq!(setup.unwrap().server().unwrap()["LLM_API_KEY"], "sekret");
    let (config, key) = (folder.path().join("config.json"), folder.path().join("model-key"));
    let by_hand = |provider: &str| {
        let model = json!({"provider": provider, "name": "a-model"});
        std::fs::write(&config, json!({"number": "+491701234567", "model": model}).to_string()).unwrap();
        let home = OperatorHome::find(Some(folder.path()), &OperatorEnvironment::default()).unwrap();
        complete(home, Said::default(), OperatorEnvironment::default(), false).unwrap().server().unwrap()
    };
    let server = by_hand("groq");
    assert_eq!((&*server["LLM_PROVIDER"], &*server["LLM_MODEL"]), ("groq", "a-model"));
    assert!(!server.contains_key("LLM_API_KEY") && !key.exists(), "{server:?}");
    // A key that is written by hand is for the settings beside it.
    std::fs::write(&key, "another\n").unwrap();
    assert_eq!(by_hand("groq")["LLM_API_KEY"], "another");
    assert_eq!(by_hand("Groq")["LLM_API_KEY"], "another");
    assert!(!by_hand("openai").contains_key("LLM_API_KEY") && !key.exists());
}

#[test]
fn the_file_of_a_key_that_leads_elsewhere_stays_as_it_is() {
    let (folder, _) = started_with("openai");
    let (key, elsewhere) = (folder.path().join("model-key"), folder.path().join("elsewhere"));
    std::fs::write(&elsewhere, "sekret\n").unwrap();
    std::fs::remove_file(&key).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &key).unwrap();
    let home = OperatorHome::find(Some(folder.path()), &OperatorEnvironment::default()).unwrap();
    let setup = complete(home, Said::default(), OperatorEnvironment::default(), false).unwrap();
    assert_eq!(setup.server().unwrap()["LLM_API_KEY"], "sekret");
    assert!(key.is_symlink() && std::fs::read_to_string(&elsewhere).unwrap() == "sekret\n");
}

#[test]
fn the_things_that_are_forgotten_with_a_provider_are_named() {
    let before = OperatorConfig { provider: Some("openai".into()), model: Some("gpt-4o".into()), ..OperatorConfig::default() };
    let now = OperatorConfig { provider: Some("groq".into()), ..OperatorConfig::default() };
    let told = forgotten(&before, &now, Some("openai"));
    assert_eq!(told[0], "Forgotten, since it was for openai: the model gpt-4o.");
    assert!(told.len() == 2 && told[1].starts_with("Forgotten, since it was for openai: the key"), "{told:?}");
    assert!(forgotten(&now, &now, None).is_empty());
}

#[test]
fn the_account_is_asked_for_until_it_is_a_number_and_kept() {
    let (folder, setup) = started_with("openai");
    let mut setup = setup.unwrap();
    setup.ask_account(|_| Ok(String::new())).unwrap();
    assert_eq!(setup.config.account, None);
    let mut written = ["+491711111111", "0171 1111111"].map(str::to_owned).to_vec();
    setup.ask_account(|_| Ok(written.pop().unwrap())).unwrap();
    assert!(written.is_empty());
    let kept = OperatorConfig::read(&std::fs::read_to_string(folder.path().join("config.json")).unwrap()).unwrap();
    assert_eq!(kept.account.as_ref().map(ContactAddress::as_str), Some("+491711111111"));
    assert_eq!(setup.server().unwrap()["LEVEL3_OPERATOR_ACCOUNT"], "+491711111111");
    setup.ask_account(|question| panic!("{question}")).unwrap();
}
