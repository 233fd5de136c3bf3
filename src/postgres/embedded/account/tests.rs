//! Tests of `postgres::embedded::account`.

use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_closed_parent_keeps_others_out_and_lets_its_owner_in() {
    let root = tempfile::tempdir().unwrap();
    let inner = root.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let owner = fs::metadata(&inner).unwrap();
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(can_enter(&inner, owner.uid(), owner.gid()));
    assert!(!can_enter(&inner, 54_321, 54_321));
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o710)).unwrap();
    assert!(can_enter(root.path(), 54_321, owner.gid()));
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o711)).unwrap();
    assert!(can_enter(&inner, 54_321, 54_321));
}

#[test]
fn accounts_are_looked_up() {
    assert!(look_up_name("root").is_some_and(|(uid, _)| uid == 0));
    assert_eq!(look_up_name("nobody of that name"), None);
    assert!(look_up_uid(0).is_some());
    assert!(look_up_uid(3_999_999_999).is_none());
}
