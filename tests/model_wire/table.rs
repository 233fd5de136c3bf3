//! Keeps docs/models-faults.md true: every test it names is there.

use std::collections::BTreeSet;
use std::path::Path;

/// The folders in which the tests it names may stand.
const FOLDERS: [&str; 6] = ["tests/model_wire", "tests/it", "src/model", "src/agent", "src/coach", "src/executor"];

/// The names in backticks in the last column of each row, with the fault in the first.
fn rows(document: &str) -> Vec<(String, Vec<String>)> {
    let rows = document.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---")).skip(1);
    let row = |line: &str| {
        let cells: Vec<_> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 4, "a row has fault, what is seen, what is recorded and test: {line}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "an empty cell: {line}");
        (cells[0].to_owned(), cells[3].split('`').skip(1).step_by(2).map(str::to_owned).collect())
    };
    rows.map(row).collect()
}

/// The names of all tests.
fn tests() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    FOLDERS.iter().flat_map(|folder| sources(&root.join(folder))).flat_map(|source| names(&source)).collect()
}

/// The sources in a folder and those below it.
fn sources(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder of tests").map(|entry| entry.unwrap().path());
    let source = |path: std::path::PathBuf| match path.extension() {
        _ if path.is_dir() => sources(&path),
        Some(end) if end == "rs" => vec![std::fs::read_to_string(path).unwrap()],
        _ => Vec::new(),
    };
    entries.flat_map(source).collect()
}

/// The functions that directly follow a `#[test]` or `#[tokio::test]`.
fn names(source: &str) -> Vec<String> {
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    let test = |two: &[&str]| {
        let marked = two[0] == "#[test]" || two[0].starts_with("#[tokio::test");
        let name = two[1].trim_start_matches("async ").strip_prefix("fn ").and_then(|rest| rest.split('(').next());
        name.filter(|_| marked).map(str::to_owned)
    };
    lines.windows(2).filter_map(test).collect()
}

#[test]
fn every_test_named_in_the_table_of_faults_exists() {
    let rows = rows(include_str!("../../docs/models-faults.md"));
    assert!(rows.len() >= 40, "only {} rows were seen", rows.len());
    let tests = tests();
    for (fault, named) in rows {
        assert!(!named.is_empty(), "no test is named for: {fault}");
        for name in named {
            assert!(tests.contains(&name), "`{name}`, named for “{fault}”, is no test");
        }
    }
}

#[test]
fn a_function_that_is_no_test_does_not_count() {
    let source = "#[test]\nfn a() {}\nfn b() {}\n#[tokio::test]\nasync fn c() {}\n// #[test]\nfn d() {}\n";
    assert_eq!(names(source), ["a", "c"]);
}
