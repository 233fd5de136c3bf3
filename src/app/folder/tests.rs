//! Tests of `app::folder`.

use super::*;
use crate::clock::SeededRandom;

#[test]
fn a_folder_is_taken_once_and_keeps_its_name() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("data");
    let first = DataFolder::take(&path, &SeededRandom::new(1)).unwrap();
    let id = first.server_id().to_owned();
    let taken = DataFolder::take(&path, &SeededRandom::new(2)).err().expect("taken");
    assert!(taken.to_string().contains("LEVEL3_DATA_DIR"), "{taken}");
    drop(first);
    assert_eq!(DataFolder::take(&path, &SeededRandom::new(3)).unwrap().server_id(), id);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let error = DataFolder::take(Path::new("/proc/nothing/here"), &SeededRandom::new(1)).err().expect("unusable");
    assert!(error.to_string().contains("/proc/nothing/here"), "{error}");
}

#[test]
fn a_folder_may_be_held_while_a_server_has_it_and_when_there_is_none_here() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("data");
    assert!(DataFolder::may_be_held(&path));
    let held = DataFolder::take(&path, &SeededRandom::new(1)).unwrap();
    assert!(DataFolder::may_be_held(&path));
    drop(held);
    assert!(!DataFolder::may_be_held(&path));
}

#[test]
fn no_other_account_can_open_the_lock_also_of_a_folder_of_an_earlier_version() {
    let parent = tempfile::tempdir().unwrap();
    let mode = |name: &str| parent.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
    drop(DataFolder::take(parent.path(), &SeededRandom::new(1)).unwrap());
    assert_eq!([mode(LOCK), mode("server-id")], [0o600; 2]);
    fs::set_permissions(parent.path().join(LOCK), Permissions::from_mode(0o644)).unwrap();
    drop(DataFolder::take(parent.path(), &SeededRandom::new(1)).unwrap());
    assert_eq!(mode(LOCK), 0o600);
}
