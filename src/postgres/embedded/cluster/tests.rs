//! Tests of `postgres::embedded::cluster`.

use super::*;

#[test]
fn a_folder_with_other_files_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let cluster = root.path().join("postgres");
    fs::create_dir(&cluster).unwrap();
    fs::write(cluster.join("diary.txt"), "mine").unwrap();
    let binaries = super::super::binaries::find(None, None).unwrap();
    let error = make(&cluster, &binaries, Account::Own).unwrap_err().to_string();
    assert!(error.contains("no Postgres cluster"), "{error}");
    assert!(cluster.join("diary.txt").exists());
}
