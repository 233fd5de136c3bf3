//! Tests of `ban`.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn time(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap().with_timezone(&Utc)
}

fn ban(reason: &str) -> Ban {
    Ban { at: "2026-11-23T08:00:00Z".into(), until: "2026-11-23T08:10:00Z".into(), reason: reason.into() }
}

#[test]
fn a_ban_that_was_kept_lasts_to_its_end_and_is_nobody_elses_to_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ban.json");
    assert!(Ban::read(&path, time("2026-11-23T08:00:00Z")).is_none());
    for reason in ["too many messages", "too many groups"] {
        ban(reason).keep(&path).unwrap();
        assert_eq!(Ban::read(&path, time("2026-11-23T08:00:00Z")), Some((ban(reason), Duration::from_secs(600))));
    }
    assert_eq!(Ban::read(&path, time("2026-11-23T08:09:59Z")).unwrap().1, Duration::from_secs(1));
    for over in ["2026-11-23T08:10:00Z", "2026-11-24T00:00:00Z"] {
        assert!(Ban::read(&path, time(over)).is_none(), "{over}");
    }
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["ban.json"], "it is renamed into its place, and nothing is left of the way there");
}

#[test]
fn a_clock_that_was_set_back_makes_no_ban_longer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ban.json");
    ban("too many messages").keep(&path).unwrap();
    assert_eq!(Ban::read(&path, time("1970-01-01T00:00:00Z")).unwrap().1, Duration::from_secs(600));
}

#[test]
fn a_file_that_is_no_ban_bans_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ban.json");
    for wrong in ["", "{", "{}", r#"{"at":"now","until":"later","reason":"none"}"#] {
        std::fs::write(&path, wrong).unwrap();
        assert!(Ban::read(&path, time("2026-11-23T08:00:00Z")).is_none(), "{wrong}");
    }
}
