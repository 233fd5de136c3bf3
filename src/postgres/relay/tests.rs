//! Tests of `postgres::relay`.

use super::*;

#[test]
fn one_folder_is_made_in_the_first_home_that_will_do_and_none_elsewhere() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let long = first.path().join("x".repeat(LONGEST_FOLDER));
    fs::create_dir(&long).unwrap();
    let homes = [Path::new("/nowhere"), long.as_path(), first.path(), second.path()];
    let folder = make_folder_in(&homes).unwrap();
    assert_eq!(folder.parent(), Some(fs::canonicalize(first.path()).unwrap().as_path()));
    let made = |home: &Path| fs::read_dir(home).unwrap().count();
    assert_eq!([&*long, second.path()].map(made), [0, 0]);
    assert!(make_folder_in(&homes[..2]).unwrap_err().to_string().contains("short enough"));
}
