//! Tests of `secrets::key`.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::clock::SeededRandom;

#[test]
fn a_key_is_made_once_and_for_this_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    assert!(read(&path).unwrap().is_none());
    let first = make(&path, &SeededRandom::new(1)).unwrap();
    let second = make(&path, &SeededRandom::new(2)).unwrap();
    assert_eq!(first.bytes(), second.bytes());
    assert_eq!(read(&path).unwrap().unwrap().bytes(), first.bytes());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_key_that_others_may_read_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    make(&path, &SeededRandom::new(1)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let error = read(&path).err().expect("refused").to_string();
    assert!(error.contains("chmod 600") && error.contains(FILE), "{error}");
}

#[test]
fn a_file_that_is_no_key_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    fs::write(&path, "something else").unwrap();
    let error = read(&path).err().expect("refused").to_string();
    assert!(error.contains("restore it from your backup"), "{error}");
    assert!(make(&path, &SeededRandom::new(1)).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "something else");
}
