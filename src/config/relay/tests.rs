//! Tests of `config::relay`.

use super::*;

fn read(settings: &[(&str, &str)]) -> RelayEnvironment {
    RelayEnvironment::read(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

#[test]
fn what_moves_the_data_or_opens_a_door_is_not_handed_on() {
    let environment = read(&[
        ("PATH", "/bin"),
        ("LLM_MODEL", "m"),
        ("GROQ_API_KEY", "k"),
        ("OLLAMA_BASE_URL", "http://127.0.0.1:1"),
        ("LEVEL3_POSTGRES_BIN", "/pg"),
        ("DATABASE_URL", "postgres://elsewhere"),
        ("LEVEL3_LISTEN", "0.0.0.0:80"),
        ("LEVEL3_TOKEN", "t"),
        ("LEVEL3_DATA_DIR", "/elsewhere"),
        ("LEVEL3_FAILPOINT", "x"),
        ("SECRET_OF_ANOTHER", "s"),
    ]);
    let names: Vec<_> = environment.handed_on.keys().map(String::as_str).collect();
    assert_eq!(names, ["GROQ_API_KEY", "LEVEL3_POSTGRES_BIN", "LLM_MODEL", "OLLAMA_BASE_URL", "PATH"]);
}

#[test]
fn an_empty_value_is_none() {
    let environment = read(&[
        ("RELAY_HOME", " "),
        ("HOME", "/home/ana"),
        ("LEVEL3_BIN", "/opt/level3"),
        ("LEVEL3_WHATSAPP", "/w"),
        ("LLM_MODEL", ""),
    ]);
    assert_eq!((environment.home, environment.user_home), (None, Some("/home/ana".into())));
    assert_eq!((environment.program, environment.whatsapp), (Some("/opt/level3".into()), Some("/w".into())));
    assert_eq!(environment.handed_on.keys().collect::<Vec<_>>(), ["HOME"]);
}
