//! Licences that a manifest does not tell: `cargo deny` reads what a package says of itself, and a
//! file in it may say something else. A GPL header in one file is enough to bind a program that has
//! it inside. ADR 60 has the story.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Endings of files that a build may take in.
const SOURCES: [&str; 16] =
    ["rs", "c", "h", "cc", "cpp", "cxx", "hpp", "inc", "s", "S", "asm", "js", "mjs", "py", "proto", "wit"];

/// A header stands in the first bytes of a file.
const HEADER: usize = 4096;

/// The names under which the family's licences are written out.
const NAMES: [&str; 4] = [
    "GNU General Public License",
    "GNU Affero General Public License",
    "GNU Lesser General Public License",
    "GNU Library General Public License",
];

/// A package that a lock file names.
#[derive(Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// True for the package whose lock file it is, and not for a dependency.
    pub ours: bool,
    licence: String,
    folder: PathBuf,
}

impl Package {
    /// A sample for a test of the rule.
    #[cfg(test)]
    pub fn sample(licence: &str, folder: &Path) -> Self {
        Self { name: "sample".into(), ours: false, licence: licence.into(), folder: folder.into() }
    }

    /// The parts of this package that are under the GPL or one of its family, with no other licence
    /// to choose.
    pub fn copyleft(&self) -> Vec<String> {
        let mut found = Vec::new();
        if binds(&self.licence) {
            found.push(format!("{}: the manifest says {}", self.name, self.licence));
        }
        search(&self.folder, &mut |path, header| {
            if let Some(line) = bound(header) {
                found.push(format!("{}: {} says {line}", self.name, path.display()));
            }
        });
        found
    }
}

/// True in CI, which fetches all sources before it tests.
#[expect(clippy::disallowed_methods, reason = "a test has no settings of its own")]
pub fn is_ci() -> bool {
    std::env::var_os("CI").is_some()
}

/// Tells that sources were not read. The harness keeps the words of a test that passes to itself,
/// so these go past it.
///
/// # Panics
/// If `all_are_here`: then they have to be read.
pub fn not_read(told: &str, all_are_here: bool) {
    assert!(!all_are_here, "{told}");
    // Nobody is left to be told if standard error is closed.
    let _ = writeln!(std::io::stderr(), "{told}");
}

/// Every package of a lock file, with its sources; an error if those that this system builds are
/// not all on this machine.
pub fn packages(manifest: &Path) -> Result<Vec<Package>, String> {
    let metadata = metadata(manifest, &[]).or_else(|_| {
        // A build gets the sources for its own system alone; `cargo fetch` gets all.
        let told = format!("NOT READ, the sources for other systems are not on this machine: {}", manifest.display());
        not_read(&told, is_ci());
        metadata(manifest, &["--filter-platform", &host()?])
    })?;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().into_iter().flatten().map(|package| Package {
        name: text(&package["name"]),
        ours: package["source"].is_null(),
        licence: text(&package["license"]),
        folder: Path::new(&text(&package["manifest_path"])).parent().map(Path::to_path_buf).unwrap_or_default(),
    });
    Ok(packages.collect())
}

fn metadata(manifest: &Path, more: &[&str]) -> Result<serde_json::Value, String> {
    let path = manifest.to_string_lossy();
    let common = ["metadata", "--offline", "--locked", "--format-version", "1", "--manifest-path", &path];
    serde_json::from_str(&cargo(&[&common[..], more].concat())?).map_err(|error| error.to_string())
}

/// The system that cargo builds for here.
fn host() -> Result<String, String> {
    let version = cargo(&["-vV"])?;
    let line = version.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).ok_or_else(|| format!("cargo does not say for which system it builds: {version}"))
}

fn cargo(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(env!("CARGO")).args(arguments).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// True if each choice of this expression is under the GPL or one of its family. `MIT OR LGPL-2.1`
/// is not: MIT may be chosen.
fn binds(expression: &str) -> bool {
    let expression = expression.replace(['(', ')'], " ").replace('/', " OR ");
    expression.split(" OR ").all(|choice| choice.contains("GPL"))
}

/// The line of a header that puts a file under such a licence.
fn bound(header: &str) -> Option<&str> {
    header.lines().map(str::trim).find(|line| match line.split_once("SPDX-License-Identifier:") {
        Some((_, expression)) => binds(expression),
        None => NAMES.iter().any(|name| line.contains(name)),
    })
}

fn search(folder: &Path, each: &mut impl FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            // Built files of a package of ours; in a published one there are none.
            if entry.file_name() != "target" {
                search(&path, each);
            }
            continue;
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if SOURCES.contains(&ending) || name.starts_with("LICENSE") || name.starts_with("LICENCE") || name.starts_with("COPYING")
        {
            each(&path, &head(&path));
        }
    }
}

/// The first bytes of a file, as text.
fn head(path: &Path) -> String {
    use std::io::Read;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEADER as u64).read_to_end(&mut bytes));
    read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_choice_with_a_free_licence_binds_nobody() {
    for free in [
        "MIT",
        "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
        "MIT/GPL-2.0",
        " (MIT OR GPL-3.0-only) ",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(!binds(free), "{free}");
    }
    for bound in ["AGPL-3.0-only", "GPL-2.0-only", "LGPL-3.0-or-later", "GPL-2.0 OR AGPL-3.0", "MIT AND GPL-3.0"] {
        assert!(binds(bound), "{bound}");
    }
}

#[test]
fn a_header_in_one_file_is_found_though_the_manifest_says_mit() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("free.rs", "// SPDX-License-Identifier: MIT OR GPL-2.0-only\n");
    write("data.bin", "SPDX-License-Identifier: GPL-2.0-only");
    write("late.rs", &format!("{}// SPDX-License-Identifier: GPL-2.0-only\n", " \n".repeat(HEADER)));
    assert_eq!(Package::sample("MIT", folder.path()).copyleft(), Vec::<String>::new());
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    write("deep/signal.rs", "//\n// Copyright\n// SPDX-License-Identifier: AGPL-3.0-only\n//\n");
    write("deep/old.c", "/* under the terms of the GNU General Public License version 2 */\n");
    write("COPYING", "GNU GENERAL PUBLIC LICENSE\n\nThe GNU General Public License is a free licence\n");
    assert_eq!(Package::sample("MIT", folder.path()).copyleft().len(), 3);
    assert_eq!(Package::sample("GPL-3.0-only", folder.path()).copyleft().len(), 4);
}

#[test]
#[should_panic(expected = "NOT READ, they are elsewhere")]
fn sources_that_are_not_read_fail_a_test_where_all_are_fetched() {
    not_read("NOT READ, they are elsewhere", true);
}

#[test]
fn the_system_is_known_for_which_cargo_builds() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let all = metadata(&manifest, &["--filter-platform", &host().unwrap()]).unwrap();
    assert!(all["packages"].as_array().unwrap().len() > 300);
    assert!(metadata(&manifest, &["--filter-platform", "no-such-system"]).is_err());
}
