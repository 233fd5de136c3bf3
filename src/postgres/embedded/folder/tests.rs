//! Tests of `postgres::embedded::folder`.

use super::*;

#[test]
fn a_long_path_moves_the_socket_to_a_short_one() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(socket(root.path(), &[]).unwrap(), root.path().join("run"));
    let long = root.path().join("x".repeat(90));
    fs::create_dir(&long).unwrap();
    let far = socket(&long, &[root.path().join("y".repeat(90)), PathBuf::from("/short")]).unwrap();
    assert_eq!(far.parent(), Some(Path::new("/short")));
    assert_eq!(far, socket(&long, &[PathBuf::from("/short")]).unwrap());
    assert_eq!(socket(&long, &[]).unwrap().parent(), Some(Path::new("/tmp")));
}

#[test]
fn a_link_in_the_place_of_the_socket_folder_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let link = root.path().join("run");
    std::os::unix::fs::symlink("/tmp", &link).unwrap();
    assert!(make_socket(&link, Account::Own).is_err());
}

#[test]
fn the_socket_folder_is_closed_to_others() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("run");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    make_socket(&folder, Account::Own).unwrap();
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
}
