//! Tests of `journal`.

use super::*;

#[test]
fn what_was_noted_is_known_to_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut journal = Journal::open(&path).unwrap();
    assert!(!journal.was_tried("A"));
    journal.tried("A").unwrap();
    journal.tried("A").unwrap();
    journal.acknowledged("A").unwrap();
    journal.accepted("+49", "B").unwrap();
    journal.part("P").unwrap();
    journal.tried("P").unwrap();
    drop(journal);
    let journal = Journal::open(&path).unwrap();
    assert!(journal.was_tried("A") && journal.was_acknowledged("A") && journal.was_accepted("+49", "B"));
    assert!(!journal.was_accepted("+48", "B") && !journal.was_tried("B"));
    assert!(journal.is_ours("A") && journal.was_tried("P") && !journal.is_ours("P"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "tried A\nacknowledged A\naccepted +49 B\npart P\ntried P\n");
}

#[test]
fn the_oldest_facts_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let lines: String = (0..KEPT + 5).map(|n| format!("tried {n}\n")).collect();
    std::fs::write(&path, lines).unwrap();
    let journal = Journal::open(&path).unwrap();
    assert!(!journal.was_tried("4") && journal.was_tried("5"));
}

#[test]
fn a_torn_last_line_hurts_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    std::fs::write(&path, b"tried A\ntri\xff").unwrap();
    assert!(Journal::open(&path).unwrap().was_tried("A"));
}
