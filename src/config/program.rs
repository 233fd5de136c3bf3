//! A program that a setting names: it is started in another folder than this one.

use std::iter;
use std::path::{Path, PathBuf};

/// The program of this name, whole, as it is found from the folder of the start. A name alone is
/// looked for in `path`, a `PATH`, as well. `None` if it is not there.
pub fn program_at(named: &Path, path: Option<&str>) -> Option<PathBuf> {
    let is_name = named.components().count() == 1;
    let folders = path.filter(|_| is_name).unwrap_or_default().split(':');
    let in_path = folders.map(|folder| Path::new(folder).join(named));
    let program = iter::once(named.to_owned()).chain(in_path).find(|program| program.is_file())?;
    program.canonicalize().ok()
}

#[cfg(test)]
mod tests;
