//! Tests of `consent`.

use super::*;

const NOW: &str = "2026-11-23T08:00:00Z";

fn asked(folder: &Path, accept_risk: bool, answer: &str) -> (bool, String) {
    let mut shown = Vec::new();
    let yes = ask(folder, accept_risk, NOW, &mut answer.as_bytes(), &mut shown).unwrap();
    (yes, String::from_utf8(shown).unwrap())
}

#[test]
fn only_a_typed_yes_is_recorded_with_time_and_text() {
    let folder = tempfile::tempdir().unwrap();
    for no in ["", "\n", "y\n", "YES!\n", "no\n"] {
        let (yes, shown) = asked(folder.path(), false, no);
        assert!(!yes && shown.contains("terms of service") && shown.contains("loopback"), "{no:?}");
        assert!(!given(folder.path()));
    }
    assert!(asked(folder.path(), false, " yes \n").0);
    assert!(given(folder.path()));
    let record: Consent = serde_json::from_slice(&std::fs::read(folder.path().join("consent.json")).unwrap()).unwrap();
    assert_eq!(record, Consent { at: NOW.into(), how: "typed".into(), text: TEXT.into() });
    // Asked once, and not at each start.
    assert_eq!(asked(folder.path(), false, ""), (true, String::new()));
}

#[test]
fn the_flag_agrees_without_a_terminal_and_still_shows_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let (yes, shown) = asked(folder.path(), true, "");
    assert!(yes && shown.starts_with(TEXT) && given(folder.path()));
}

#[test]
fn a_consent_to_another_text_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let old = Consent { at: NOW.into(), how: "typed".into(), text: "an older text".into() };
    std::fs::write(folder.path().join("consent.json"), serde_json::to_vec(&old).unwrap()).unwrap();
    assert!(!given(folder.path()));
    std::fs::write(folder.path().join("consent.json"), "{}").unwrap();
    assert!(!given(folder.path()));
}
