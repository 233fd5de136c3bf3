//! Finds Postgres' own programs for dumps, `pg_dump` and `pg_restore`: a server is dumped by a
//! program at least as new as itself.

use std::path::{Path, PathBuf};

use super::binaries::{PACKAGES, ask_program, packaged, path_folders};

/// `pg_dump` and `pg_restore` of one version.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The folder they are in.
    pub folder: PathBuf,
    /// Their major version.
    pub major: u32,
}

/// Finds programs of a major version from `least` up: in `given` if it is given, else of packaged
/// versions and in PATH.
pub fn find(given: Option<&Path>, least: u32) -> Option<Programs> {
    let candidates = match given {
        Some(given) => vec![given.to_owned()],
        // Packages first: what lies in PATH may be a script that picks a version of its own.
        None => PACKAGES.iter().flat_map(packaged).chain(path_folders()).collect(),
    };
    candidates.into_iter().find_map(|folder| {
        let (dump, restore) = (folder.join("pg_dump"), folder.join("pg_restore"));
        let major = if dump.is_file() && restore.is_file() { ask_program(&dump)? } else { return None };
        (major >= least).then_some(Programs { folder, major })
    })
}

#[cfg(test)]
mod tests;
