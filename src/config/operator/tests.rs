//! Tests of `config::operator`.

use super::*;

#[test]
fn the_operators_numbers_are_a_channel_and_exact_numbers() {
    let read = |written: &str| numbers(Some(written.to_owned()), None, None);
    let right = read("loopback:+491701234567,+491701234568").unwrap().unwrap();
    assert_eq!((right.channel.as_str(), right.numbers.len()), ("loopback", 2));
    for wrong in ["+491701234567", "sms:+491701234567", "loopback:", "loopback:00491701234567", "loopback:+49 170 1234567"] {
        let error = read(wrong).unwrap_err().to_string();
        assert!(error.starts_with("LEVEL3_OPERATOR is `") && error.contains("+491701234567"), "{error}");
    }
    assert_eq!(numbers(None, None, None), Ok(None));
}

#[test]
fn the_limits_of_a_task_are_three_numbers_above_zero() {
    let read = |written: &str| numbers(Some("loopback:+491701234567".to_owned()), None, Some(written.to_owned()));
    let limits = OperatorLimits { max_iterations: 7, max_runtime_minutes: 2, max_tokens_per_session: 900 };
    assert_eq!(read(&limits.written()).unwrap().unwrap().limits, Some(limits));
    for wrong in ["", "40", "40,5", "40,5,50000,1", "40,5,0", "40,five,50000", "-1,5,50000"] {
        let error = read(wrong).unwrap_err().to_string();
        assert!(error.starts_with("LEVEL3_OPERATOR_LIMITS is `") && error.contains("40,5,50000"), "{error}");
        assert_eq!(numbers(None, None, Some(wrong.to_owned())).unwrap_err().to_string(), error, "also without an operator");
    }
    let account = numbers(None, Some("0170".to_owned()), None).unwrap_err().to_string();
    assert!(account.starts_with("LEVEL3_OPERATOR_ACCOUNT is `0170`"), "{account}");
}

#[test]
fn the_environment_of_the_operator_leaves_settings_of_other_servers_out() {
    let of = |names: &[(&str, &str)]| names.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let read = OperatorEnvironment::read(of(&[
        ("ZETA_HOME", "/z"),
        ("HOME", "/home/a"),
        ("LEVEL3_LISTEN", "0.0.0.0:1"),
        ("LLM_MODEL", "m"),
        ("DISPLAY", ":0"),
        ("LLM_PROVIDER", " "),
    ]));
    assert_eq!(read.home, Some(PathBuf::from("/z")));
    let names: Vec<_> = read.handed_on.keys().map(String::as_str).collect();
    assert_eq!(names, ["DISPLAY", "HOME", "LLM_MODEL"]);
}
