//! Finds the programs `postgres` and `initdb` on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::EmbeddedError;

/// The oldest major version that will do.
const FLOOR: u32 = 15;

/// Folders of packaged versions: what stands before and after the part that names the version.
pub(super) const PACKAGES: [(&str, &str, &str); 4] = [
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr", "pgsql-", "bin"),
    ("/opt/homebrew/opt", "postgresql", "bin"),
    ("/usr/local/opt", "postgresql", "bin"),
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

/// Finds binaries: those of `cluster`'s major version when there is a cluster, else the first that are new enough, in the order
/// `given` (and then nothing else), PATH, packaged versions with the newest first.
pub(super) fn find(given: Option<&Path>, cluster: Option<(&Path, &str)>) -> Result<Binaries, EmbeddedError> {
    let candidates = match given {
        Some(given) => vec![given.to_owned()],
        None => path_folders().into_iter().chain(PACKAGES.iter().flat_map(packaged)).collect(),
    };
    let looked = || PACKAGES.map(|(root, name, bin)| format!("{root}/{name}*/{bin}")).join(", ");
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
        // Asking would take a sixth of a start. Should the path lie, Postgres itself refuses the other version's cluster.
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

/// The folder that really holds both programs, reached from a folder of (perhaps) symlinks or from `postgres` itself.
fn resolve(candidate: &Path) -> Option<PathBuf> {
    let server = if candidate.is_file() { candidate.to_owned() } else { candidate.join("postgres") };
    let server = fs::canonicalize(server).ok()?;
    let folder = server.parent()?;
    (folder.join("postgres").is_file() && folder.join("initdb").is_file()).then(|| folder.to_owned())
}

/// Whether the path says that it holds version `major`, as in `/usr/lib/postgresql/15/bin`.
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
pub(super) fn packaged((root, name, bin): &(&str, &str, &str)) -> Vec<PathBuf> {
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
mod tests {
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
}
