//! Finds the programs `postgres` and `initdb` on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::EmbeddedError;

/// The oldest major version that will do.
const FLOOR: u32 = 15;

/// A kind of package, whose versions stand beside each other.
pub(super) struct Package {
    /// The folder that has one for each version.
    root: &'static str,
    /// The beginning of such a folder's name; the version is the rest.
    name: &'static str,
    /// The folder of the programs within it.
    bin: &'static str,
}

/// The kinds of packages that are looked for.
pub(super) const PACKAGES: [Package; 4] = [
    Package { root: "/usr/lib/postgresql", name: "", bin: "bin" },
    Package { root: "/usr", name: "pgsql-", bin: "bin" },
    Package { root: "/opt/homebrew/opt", name: "postgresql", bin: "bin" },
    Package { root: "/usr/local/opt", name: "postgresql", bin: "bin" },
];

/// Server binaries of one version.
#[derive(Debug, PartialEq)]
pub(super) struct Binaries {
    folder: PathBuf,
    major: u32,
    version: String,
}

impl Binaries {
    /// The path of one program, like `initdb`.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Its version, or the major one if it was not asked.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// The folder, without symlinks.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Finds binaries: those of `cluster`'s major version when there is a cluster, else the first that
/// are new enough, in the order `given` (and then nothing else), PATH, packaged versions with the
/// newest first.
pub(super) fn find(given: Option<&Path>, cluster: Option<(&Path, &str)>) -> Result<Binaries, EmbeddedError> {
    let candidates = match given {
        Some(given) => vec![given.to_owned()],
        None => path_folders().into_iter().chain(PACKAGES.iter().flat_map(packaged)).collect(),
    };
    let looked = || PACKAGES.map(|Package { root, name, bin }| format!("{root}/{name}*/{bin}")).join(", ");
    choose(&candidates, cluster).and_then(|found| {
        found.ok_or_else(|| match given {
            Some(given) => EmbeddedError::NotBinaries { given: given.to_owned() },
            None => EmbeddedError::NoBinaries { looked: looked() },
        })
    })
}

/// Chooses among folders; `None` when none holds binaries.
fn choose(candidates: &[PathBuf], cluster: Option<(&Path, &str)>) -> Result<Option<Binaries>, EmbeddedError> {
    if let Some((_, major)) = cluster
        && let Some(folder) = candidates.iter().filter_map(|candidate| resolve(candidate)).find(|folder| names(folder, major))
    {
        // Asking would take a sixth of a start. Should the path lie, Postgres itself refuses the
        // other version's cluster.
        let version = major.to_owned();
        return Ok(Some(Binaries { folder, major: major.parse().unwrap_or(FLOOR), version }));
    }
    let mut seen: Vec<Binaries> = Vec::new();
    for folder in candidates.iter().filter_map(|candidate| resolve(candidate)) {
        if seen.iter().any(|binaries| binaries.folder == folder) {
            continue;
        }
        let binaries = ask_version(folder)?;
        let fits = cluster.is_none_or(|(_, major)| binaries.major.to_string() == major);
        if fits && binaries.major >= FLOOR {
            return Ok(Some(binaries));
        }
        seen.push(binaries);
    }
    let Some(newest) = seen.iter().max_by_key(|binaries| binaries.major) else { return Ok(None) };
    if newest.major < FLOOR {
        return Err(EmbeddedError::TooOld { found: newest.version.clone(), folder: newest.folder.clone(), floor: FLOOR });
    }
    let (folder, major) = cluster.expect("without a cluster every version from the floor up was taken");
    let found = seen.iter().map(|binaries| binaries.version.as_str()).collect::<Vec<_>>().join(", ");
    Err(EmbeddedError::OtherMajor { folder: folder.to_owned(), cluster: major.to_owned(), found })
}

/// The folder that really holds both programs, reached from a folder of (perhaps) symlinks or from
/// `postgres` itself.
fn resolve(candidate: &Path) -> Option<PathBuf> {
    let server = if candidate.is_file() { candidate.to_owned() } else { candidate.join("postgres") };
    let server = fs::canonicalize(server).ok()?;
    let folder = server.parent()?;
    (folder.join("postgres").is_file() && folder.join("initdb").is_file()).then(|| folder.to_owned())
}

/// True if the path says that it holds version `major`, as in `/usr/lib/postgresql/15/bin`.
fn names(folder: &Path, major: &str) -> bool {
    let is_version = |part: std::path::Component| {
        let part = part.as_os_str().to_string_lossy();
        part == major || part.strip_prefix("pgsql-") == Some(major) || part.strip_prefix("postgresql@") == Some(major)
    };
    major.parse::<u32>().is_ok_and(|major| major >= FLOOR) && folder.components().any(is_version)
}

fn ask_version(folder: PathBuf) -> Result<Binaries, EmbeddedError> {
    let program = folder.join("postgres");
    let output = Command::new(&program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|source| EmbeddedError::Run { program: program.clone(), source })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (version, major) = parse_version(&text).ok_or_else(|| EmbeddedError::Run {
        program,
        source: std::io::Error::other(format!("`--version` printed `{}`", text.trim())),
    })?;
    Ok(Binaries { folder, major, version })
}

/// The major version that a program of Postgres says it has; `None` when it cannot be run.
pub(super) fn ask_program(program: &Path) -> Option<u32> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    parse_version(&String::from_utf8_lossy(&output.stdout)).map(|(_, major)| major)
}

/// Reads `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)` or `postgres (PostgreSQL) 18beta1`.
fn parse_version(text: &str) -> Option<(String, u32)> {
    let version = text.split_once("(PostgreSQL) ")?.1.split_whitespace().next()?;
    let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    Some((version.to_owned(), version[..digits].parse().ok()?))
}

#[expect(clippy::disallowed_methods, reason = "the system's search path for programs is no setting of this program")]
pub(super) fn path_folders() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// Folders of packaged versions, newest first.
pub(super) fn packaged(Package { root, name, bin }: &Package) -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let file_name = entry.file_name();
            let version = file_name.to_str()?.strip_prefix(name)?.trim_start_matches('@').to_owned();
            // Homebrew's folder without a version is an alias of one that has it.
            Some((version.parse().unwrap_or(0), entry.path().join(bin)))
        })
        .collect();
    versions.sort();
    versions.into_iter().rev().map(|(_, folder)| folder).collect()
}

#[cfg(test)]
mod tests;
