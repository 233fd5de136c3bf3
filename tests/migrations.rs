//! The rules of the migrations: forward only, each says why, and none can fail on existing rows.

use std::fs;
use std::path::{Path, PathBuf};

fn migrations() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "the rules were applied to nothing");
    files
        .into_iter()
        .map(|file| (file.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(file).unwrap()))
        .collect()
}

#[test]
fn names_are_a_time_and_what_is_done() {
    for (name, _) in migrations() {
        let (time, rest) = name.split_once('_').expect("an underscore after the time");
        assert!(time.len() == 14 && time.bytes().all(|b| b.is_ascii_digit()), "{name}: begins with YYYYMMDDHHMMSS");
        let words = rest.strip_suffix(".sql").expect("ends with .sql");
        assert!(
            words.split('_').count() >= 2 && words.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
            "{name}: verb_object"
        );
    }
}

#[test]
fn the_first_line_says_why() {
    for (name, text) in migrations() {
        assert!(text.lines().next().is_some_and(|line| line.starts_with("-- ") && line.len() > 30), "{name}");
    }
}

#[test]
fn nothing_is_taken_away_and_no_column_is_added_that_old_rows_cannot_have() {
    for (name, text) in migrations() {
        let text = text.to_ascii_uppercase();
        for gone in ["DROP TABLE", "DROP COLUMN", "TRUNCATE"] {
            assert!(!text.contains(gone), "{name}: forward only, and data stays: {gone}");
        }
        for line in text.lines().filter(|line| line.contains("ADD COLUMN") && line.contains("NOT NULL")) {
            assert!(line.contains("DEFAULT"), "{name}: rows that are there already have no value for `{}`", line.trim());
        }
    }
}
