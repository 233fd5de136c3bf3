//! Tests of `postgres::embedded::binaries`.

use super::*;
use std::os::unix::fs::PermissionsExt;

/// A folder with programs that only say their version.
fn fake(root: &Path, name: &str, version: &str) -> PathBuf {
    let folder = root.join(name);
    fs::create_dir(&folder).unwrap();
    for program in ["postgres", "initdb"] {
        let path = folder.join(program);
        fs::write(&path, format!("#!/bin/sh\necho '{program} (PostgreSQL) {version}'\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::canonicalize(folder).unwrap()
}

#[test]
fn versions_are_read_as_packages_print_them() {
    assert_eq!(parse_version("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"), Some(("15.18".into(), 15)));
    assert_eq!(parse_version("postgres (PostgreSQL) 18beta1"), Some(("18beta1".into(), 18)));
    assert_eq!(parse_version("zsh: no such file"), None);
}

#[test]
fn a_cluster_gets_the_binaries_of_its_own_major_version() {
    let root = tempfile::tempdir().unwrap();
    let folders = [fake(root.path(), "a", "17.2"), fake(root.path(), "b", "15.1")];
    let chosen = |cluster| choose(&folders, cluster).unwrap().unwrap().version;
    assert_eq!(chosen(None), "17.2");
    assert_eq!(chosen(Some((Path::new("/data/postgres"), "15"))), "15.1");
    let error = choose(&folders, Some((Path::new("/data/postgres"), "16"))).unwrap_err().to_string();
    assert!(error.contains("made by Postgres 16") && error.contains("only 17.2, 15.1 is here"), "{error}");
}

#[test]
fn a_path_that_names_the_version_is_believed() {
    for (folder, major, says) in [
        ("/usr/lib/postgresql/15/bin", "15", true),
        ("/usr/lib/postgresql/15/bin", "16", false),
        ("/usr/pgsql-17/bin", "17", true),
        ("/opt/homebrew/Cellar/postgresql@16/16.4/bin", "16", true),
        ("/usr/lib/postgresql/14/bin", "14", false),
    ] {
        assert_eq!(names(Path::new(folder), major), says, "{folder} {major}");
    }
}

#[test]
fn a_version_below_the_floor_is_passed_over_and_refused_when_alone() {
    let root = tempfile::tempdir().unwrap();
    let (old, new) = (fake(root.path(), "old", "14.9"), fake(root.path(), "new", "16.0"));
    assert_eq!(choose(&[old.clone(), new], None).unwrap().unwrap().major, 16);
    let error = choose(&[old], None).unwrap_err().to_string();
    assert!(error.contains("14.9") && error.contains("needs 15 or newer"), "{error}");
}

#[test]
fn symlinks_lead_to_the_folder_that_holds_everything() {
    let root = tempfile::tempdir().unwrap();
    let real = fake(root.path(), "real", "15.1");
    let links = root.path().join("links");
    fs::create_dir(&links).unwrap();
    std::os::unix::fs::symlink(real.join("postgres"), links.join("postgres")).unwrap();
    assert_eq!(choose(&[links], None).unwrap().unwrap().folder, real);
    assert_eq!(choose(&[real.join("postgres")], None).unwrap().unwrap().folder, real);
}

#[test]
fn a_named_folder_without_binaries_is_named_in_the_error() {
    let root = tempfile::tempdir().unwrap();
    let error = find(Some(root.path()), None).unwrap_err().to_string();
    assert!(error.contains("LEVEL3_POSTGRES_BIN") && error.contains(&root.path().display().to_string()), "{error}");
}

#[test]
fn nothing_found_says_how_to_install() {
    assert!(choose(&[PathBuf::from("/nonexistent")], None).unwrap().is_none());
    let error = EmbeddedError::NoBinaries { looked: String::new() }.to_string();
    for word in ["apt-get install", "dnf install", "brew install", "LEVEL3_POSTGRES_BIN", "DATABASE_URL"] {
        assert!(error.contains(word), "{word} is missing in: {error}");
    }
}
