//! Tests of `runner::turn_log::kept`.

use super::*;

fn log(folder: &Path, name: &str, bytes: u64, written: DateTime<Utc>) {
    let file = fs::File::create(folder.join(name)).unwrap();
    // The length alone is set; none of it is on the disk.
    file.set_len(bytes).unwrap();
    file.set_modified(written.into()).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn logs_are_kept_for_thirty_days_and_what_is_no_log_for_ever() {
    let place = tempfile::tempdir().unwrap();
    let now = DateTime::UNIX_EPOCH + TimeDelta::days(100);
    for (name, days) in [("turn-1.jsonl", 31), ("turn-2.jsonl", 29), ("positions.jsonl", 99), ("turn-x.jsonl", 99), ("notes", 99)]
    {
        log(place.path(), name, 10, now - TimeDelta::days(days));
    }
    let mut kept = FolderState::look(place.path(), now);
    assert_eq!(names(place.path()), ["notes", "positions.jsonl", "turn-2.jsonl", "turn-x.jsonl"]);
    assert_eq!(kept.bytes, 10);
    // It does not look for every file that begins.
    log(place.path(), "turn-3.jsonl", 10, now - TimeDelta::days(90));
    kept.begins(place.path(), now + TimeDelta::hours(23));
    assert_eq!(names(place.path()).len(), 5);
    kept.begins(place.path(), now + TimeDelta::hours(24));
    assert_eq!(names(place.path()), ["notes", "positions.jsonl", "turn-2.jsonl", "turn-x.jsonl"]);
}

#[test]
fn beyond_a_gibibyte_the_oldest_go_first() {
    let place = tempfile::tempdir().unwrap();
    let now = DateTime::UNIX_EPOCH + TimeDelta::days(100);
    // The order of the last lines is not that of the turns' numbers.
    for (turn, days) in [(4, 4), (3, 1), (2, 3), (1, 2)] {
        log(place.path(), &format!("turn-{turn}.jsonl"), MOST_BYTES / 4, now - TimeDelta::days(days));
    }
    let mut kept = FolderState::look(place.path(), now);
    assert_eq!((names(place.path()).len(), kept.bytes), (4, MOST_BYTES));
    kept.begins(place.path(), now);
    assert_eq!(names(place.path()).len(), 4);
    log(place.path(), "turn-5.jsonl", 1, now);
    kept.grew(1);
    kept.begins(place.path(), now);
    assert_eq!(names(place.path()), ["turn-1.jsonl", "turn-2.jsonl", "turn-3.jsonl", "turn-5.jsonl"]);
    assert_eq!(kept.bytes, MOST_BYTES / 4 * 3 + 1);
}
