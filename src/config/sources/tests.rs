//! Settings of several places.

use std::time::Duration;

use super::*;

fn map(settings: &[(&str, &str)]) -> HashMap<String, String> {
    settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn change(name: &str, value: Option<&str>) -> BTreeMap<String, Option<String>> {
    BTreeMap::from([(name.to_owned(), value.map(str::to_owned))])
}

fn state(sources: &SettingSources, folder: &Path, name: &str) -> SettingState {
    sources.states(folder).unwrap().into_iter().find(|state| state.name == name).unwrap()
}

#[test]
fn the_page_sets_what_no_other_place_sets_from_the_next_start_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let given = SettingSources::new(map(&[("LEVEL3_DATA_DIR", folder.to_str().unwrap())]), HashMap::new());
    given.changed(folder, change("HEARTBEAT_INTERVAL", Some(" 60 "))).unwrap().keep(folder).unwrap();
    let before = state(&given, folder, "HEARTBEAT_INTERVAL");
    assert_eq!((before.origin, before.value, before.next.as_deref()), (SettingOrigin::Default, None, Some("60")));

    let next = Config::layered(given.clone()).unwrap();
    assert_eq!(Duration::from(next.heartbeat).as_secs(), 60);
    let now = state(&next.sources, folder, "HEARTBEAT_INTERVAL");
    assert_eq!((now.origin, now.value.as_deref(), now.waits), (SettingOrigin::Page, Some("60"), false));

    next.sources.changed(folder, change("HEARTBEAT_INTERVAL", None)).unwrap().keep(folder).unwrap();
    assert_eq!(Duration::from(Config::layered(given).unwrap().heartbeat).as_secs(), 300);
}

#[test]
fn the_environment_wins_over_a_file_and_that_over_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let place = ("LEVEL3_DATA_DIR", folder.to_str().unwrap());
    let free = SettingSources::new(map(&[place]), HashMap::new());
    free.changed(folder, change("MAX_TOOL_ITERATIONS", Some("3"))).unwrap().keep(folder).unwrap();
    let dot_env = map(&[("MAX_TOOL_ITERATIONS", "4")]);
    let config = Config::layered(SettingSources::new(map(&[place]), dot_env.clone())).unwrap();
    assert_eq!(config.turn.steps, 4);
    let refused = config.sources.changed(folder, change("MAX_TOOL_ITERATIONS", Some("9"))).err().unwrap();
    assert_eq!(refused.to_string(), "MAX_TOOL_ITERATIONS is set in .env, which wins; change it there");
    let both = SettingSources::new(map(&[place, ("MAX_TOOL_ITERATIONS", "5")]), dot_env);
    let config = Config::layered(both).unwrap();
    assert_eq!(config.turn.steps, 5);
    let shown = state(&config.sources, folder, "MAX_TOOL_ITERATIONS");
    assert_eq!((shown.origin, shown.on_page, shown.can_change), (SettingOrigin::Environment, true, false));
    assert!(!state(&config.sources, folder, "LEVEL3_DATA_DIR").on_page, "no form is for it");
}

#[test]
fn the_page_sets_nothing_that_opens_a_door_or_that_no_server_starts_with() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let given = SettingSources::new(map(&[("LLM_API_KEY", "canary"), ("DATABASE_URL", "postgres://canary")]), HashMap::new());
    for (name, value, said) in [
        ("LEVEL3_LISTEN", "0.0.0.0:1", "in the environment or in .env only"),
        ("LEVEL3_TOKEN", "x", "in the environment or in .env only"),
        ("LLM_BASE_URL", "http://elsewhere", "in the environment or in .env only"),
        ("HOME", "/", "there is no setting `HOME`"),
        ("HEARTBEAT_INTERVAL", "0", "HEARTBEAT_INTERVAL is `0`"),
    ] {
        let refused = given.changed(folder, change(name, Some(value))).err().unwrap().to_string();
        assert!(refused.contains(said), "{name}: {refused}");
    }
    let shown = serde_json::to_string(&given.states(folder).unwrap()).unwrap();
    assert!(!shown.contains("canary"), "{shown}");
    assert_eq!(state(&given, folder, "LLM_API_KEY").origin, SettingOrigin::Environment);
}

#[test]
fn a_file_of_the_page_that_is_of_no_use_keeps_no_server_from_its_start() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let given = SettingSources::new(map(&[("LEVEL3_DATA_DIR", folder.to_str().unwrap())]), HashMap::new());
    for text in ["{", r#"{"HEARTBEAT_INTERVAL": "never"}"#] {
        fs::write(folder.join(FILE), text).unwrap();
        let config = Config::layered(given.clone()).unwrap();
        assert_eq!(Duration::from(config.heartbeat).as_secs(), 300);
        assert!(config.unknown.iter().any(|said| said.contains(FILE)), "{:?}", config.unknown);
    }
}
