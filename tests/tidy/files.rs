//! The files of the project, and what is found wrong in one.

use std::fmt;
use std::path::Path;

/// The folders that are searched, besides the files at the top.
const FOLDERS: [&str; 12] = [
    "src",
    "crates",
    "tests",
    "benches",
    "static",
    "capabilities",
    "channels",
    "migrations",
    "scripts",
    "docs",
    "examples",
    ".ci",
];

/// Other people's files, and files that a program writes.
const NOT_OURS: [&str; 4] = ["static/vendor/", "tests/page/vendor/", "capabilities/engine/vendor/", "channels/whatsapp/target/"];

/// Endings of text files written here.
const TEXT: [&str; 16] =
    ["rs", "js", "mjs", "py", "html", "css", "sh", "sql", "wit", "wat", "c", "h", "toml", "md", "yml", "yaml"];

/// Files without an ending that are text written here.
const SCRIPTS: [&str; 4] = [".ci/run", "Justfile", "scripts/peers", "scripts/prepare-queries"];

/// One file.
pub struct Source {
    /// The path inside the project, with `/`.
    pub path: String,
    /// Its content.
    pub text: String,
}

impl Source {
    /// A sample for a test of a rule.
    #[cfg(test)]
    pub fn sample(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// True for Rust.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// True for code, as opposed to prose, settings and the C between the engine and the host.
    pub fn is_code(&self) -> bool {
        let ending = self.path.rsplit('.').next().unwrap_or_default();
        SCRIPTS.contains(&self.path.as_str()) || !["toml", "md", "yml", "yaml", "c", "h"].contains(&ending)
    }

    /// The file with a finding at this line, counted from 1.
    pub fn finding(&self, line: usize, what: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, what: what.into() }
    }
}

/// Something that breaks a rule.
#[derive(Debug, PartialEq)]
pub struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Every text file of the project that was written here.
pub fn project() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(root).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if root.join(&name).is_file() {
            paths.push(name);
        }
    }
    for folder in FOLDERS {
        collect(root, folder, &mut paths);
    }
    paths.retain(|path| !NOT_OURS.iter().any(|prefix| path.starts_with(prefix)));
    paths.retain(|path| SCRIPTS.contains(&path.as_str()) || TEXT.iter().any(|ending| path.ends_with(&format!(".{ending}"))));
    paths.sort();
    let read = |path: String| {
        let text = std::fs::read_to_string(root.join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        Source { path, text }
    };
    paths.into_iter().map(read).collect()
}

fn collect(root: &Path, folder: &str, paths: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(root.join(folder)) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().into_string().unwrap());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => collect(root, &path, paths),
            kind if kind.is_file() => paths.push(path),
            _ => {}
        }
    }
}

#[test]
fn the_files_of_the_project_are_seen_and_those_of_others_are_not() {
    let project = project();
    for path in ["src/domain/mod.rs", "tests/tidy/files.rs", "run.sh", ".ci/run", "ARCHITECTURE.md"] {
        assert!(project.iter().any(|file| file.path == path), "{path} is not seen");
    }
    assert!(project.iter().all(|file| !file.path.starts_with("target/") && !file.path.starts_with("static/vendor/")));
}

#[test]
fn a_finding_names_file_and_line() {
    assert_eq!(Source::sample("src/a.rs", "").finding(3, "wrong").to_string(), "src/a.rs:3: wrong");
}
