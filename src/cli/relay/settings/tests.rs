//! Tests of `cli::relay::settings`.

use super::*;

fn read(text: &str) -> Result<HomeConfig, RelayCliError> {
    HomeConfig::read(Path::new("config.json"), text.as_bytes())
}

#[test]
fn what_is_not_said_has_its_usual_value_and_reads_back_as_written() {
    let config = read("{}").unwrap();
    assert_eq!(config, HomeConfig::default());
    assert_eq!(config.url().as_str(), "http://127.0.0.1:3214/");
    assert_eq!(read(std::str::from_utf8(&config.written()).unwrap()).unwrap(), config);
}

#[test]
fn a_server_that_runs_already_is_asked_instead() {
    let config = read(r#"{"server": "http://localhost:8000"}"#).unwrap();
    assert_eq!(config.url().as_str(), "http://localhost:8000/");
    assert!(read(r#"{"server": "http://[::1]:8000"}"#).is_ok());
    assert!(read(r#"{"pace": {"channel_per_day": 900, "i_know": true}}"#).is_ok());
}

#[test]
fn each_pace_that_goes_further_needs_the_word_again() {
    const LAX: &str = r#"{"contact_gap_seconds": 1, "i_know": true}"#;
    let with = |pace: &str| HomeConfig { pace: serde_json::from_str(pace).unwrap(), ..HomeConfig::default() };
    for (before, now, says_it, outcome) in [
        ("{}", r#"{"contact_gap_seconds": 1}"#, false, Err("`contact_gap_seconds` is 1, and 2 is")),
        ("{}", r#"{"contact_gap_seconds": 1}"#, true, Ok(LAX)),
        (LAX, LAX, false, Ok(LAX)),
        (
            LAX,
            r#"{"contact_gap_seconds": 1, "contact_per_10_minutes": 100, "i_know": true}"#,
            false,
            Err("`contact_per_10_minutes` is 100, and 10 is"),
        ),
        (LAX, r#"{"contact_gap_seconds": 0, "i_know": true}"#, false, Err("`contact_gap_seconds` is 0, and 2 is")),
        (LAX, r#"{"contact_gap_seconds": 0, "i_know": true}"#, true, Ok(r#"{"contact_gap_seconds": 0, "i_know": true}"#)),
        // The word goes with that for which it was said.
        (LAX, r#"{"contact_gap_seconds": 2, "i_know": true}"#, false, Ok(r#"{"contact_gap_seconds": 2}"#)),
        ("{}", r#"{"channel_per_day": 100}"#, true, Ok(r#"{"channel_per_day": 100}"#)),
        // A person wrote it by hand, without the word.
        (r#"{"contact_gap_seconds": 1}"#, r#"{"contact_gap_seconds": 1}"#, false, Err("`contact_gap_seconds` is 1")),
    ] {
        let mut config = with(now);
        match (config.agree(&with(before), says_it), outcome) {
            (Ok(()), Ok(pace)) => assert_eq!(config, with(pace), "{before} → {now}"),
            (Err(error), Err(said)) => {
                let error = error.to_string();
                assert!(error.contains(said) && error.ends_with(", or add --i-know"), "{before} → {now}: {error}");
                assert_eq!(config, with(now));
            }
            (did, _) => panic!("{before} → {now}: {did:?}"),
        }
    }
}

#[test]
fn what_leaves_the_machine_or_is_unknown_is_refused_by_name() {
    for (text, said) in [
        (r#"{"listen": "0.0.0.0:3214"}"#, "like 127.0.0.1:3214"),
        (r#"{"server": "http://example.org"}"#, "like http://127.0.0.1:8000"),
        (r#"{"server": "https://127.0.0.1"}"#, "like http://127.0.0.1:8000"),
        (r#"{"server": "here"}"#, "like http://127.0.0.1:8000"),
        (r#"{"server": "http://u:sekret@127.0.0.1:8000"}"#, "like http://127.0.0.1:8000"),
        (r#"{"model": {"provider": "nonsense"}}"#, "`model.provider` is \"nonsense\"; write one of anthropic"),
        (r#"{"model": {"base_url": "http://u:sekret@127.0.0.1:8080/v1"}}"#, "`model.base_url` carries a user name or a password"),
        (r#"{"chanel": "loopback"}"#, "unknown field `chanel`"),
        (r#"{"channel": "sms"}"#, "unknown variant `sms`"),
        (r#"{"pace": {"channel_per_day": 900}}"#, "relay init --i-know"),
        (r#"{"pace": {"channel_per_dy": 9}}"#, "`channel_per_dy` is no setting of the pace; write one of "),
        (r#"{"pace": {"contact_gap_seconds": "abc"}}"#, "`contact_gap_seconds` is \"abc\"; a right one is 2"),
        (r#"{"pace": {"quiet_from": 21}}"#, "`quiet_from` is 21; a right one is \"21:00\""),
        (r#"{"pace": {"i_know": "yes"}}"#, "`i_know` is \"yes\"; a right one is false"),
        (r#"{"listen": "127.0.0.1:0"}"#, "like 127.0.0.1:3214"),
        (r#"{"server": "http://127.0.0.1:8000/x"}"#, "like http://127.0.0.1:8000"),
        (r#"{"server": "http://127.0.0.1:8000/?x"}"#, "like http://127.0.0.1:8000"),
        ("[]", "one JSON object"),
        (r#"{"model": []}"#, "`model` is a list"),
        ("{", "EOF"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.to_string().starts_with("config.json: ") && error.to_string().contains(said), "{error}");
        assert!(!error.to_string().contains("sekret"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}
