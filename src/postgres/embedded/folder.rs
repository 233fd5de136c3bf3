//! The data folder with its lock, and the folder of the socket.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::account::Account;
use super::error::{During, EmbeddedError};

/// The longest socket folder: the kernel's path of a socket holds about 100 bytes, of which the
/// file name takes 19.
const LONGEST_SOCKET_FOLDER: usize = 85;

/// Makes the data folder if it is missing, and returns its path without symlinks.
pub(super) fn make_data_dir(data_dir: &Path) -> Result<PathBuf, EmbeddedError> {
    // Under root another account must be able to pass through it; what lies in it is closed file by
    // file. SAFETY: geteuid has no preconditions and cannot fail.
    let mode = if unsafe { libc::geteuid() } == 0 { 0o711 } else { 0o700 };
    if let Some(parent) = data_dir.parent() {
        fs::create_dir_all(parent).during("make", parent)?;
    }
    match DirBuilder::new().mode(mode).create(data_dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error).during("make", data_dir),
        _ => {}
    }
    fs::canonicalize(data_dir).during("open", data_dir)
}

/// Takes the lock of the data folder. The kernel gives it back when the program ends, however it
/// ends.
pub(super) fn take_lock(data_dir: &Path) -> Result<File, EmbeddedError> {
    let path = data_dir.join("lock");
    let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path).during("open", &path)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(EmbeddedError::Busy { folder: data_dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(error).during("lock", &path),
    }
}

/// The folder for the socket of the cluster in `data_dir`: `run/` below it, or a folder in `short`
/// when that path is too long.
pub(super) fn socket(data_dir: &Path, short: &[PathBuf]) -> Result<PathBuf, EmbeddedError> {
    let near = data_dir.join("run");
    if near.as_os_str().len() <= LONGEST_SOCKET_FOLDER {
        return Ok(near);
    }
    let identity = fs::metadata(data_dir).during("read", data_dir)?;
    let name = format!("level3-{:x}-{:x}", identity.dev(), identity.ino());
    let mut far = short.iter().map(|folder| folder.join(&name));
    let fits = |folder: &PathBuf| folder.as_os_str().len() <= LONGEST_SOCKET_FOLDER;
    Ok(far.find(fits).unwrap_or_else(|| Path::new("/tmp").join(&name)))
}

/// Makes the socket folder, open to nobody but `account`. Postgres trusts whoever reaches the
/// socket, so this is its only fence.
pub(super) fn make_socket(folder: &Path, account: Account) -> Result<(), EmbeddedError> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => account.give(folder).during("change the owner of", folder)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).during("make", folder),
    }
    // In a temporary folder anyone may have made it first, or put a link in its place.
    let found = fs::symlink_metadata(folder).during("read", folder)?;
    let safe = found.is_dir() && found.uid() == account.uid();
    if !safe {
        let stranger = io::Error::other(format!("it belongs to user {}, not to {}", found.uid(), account.uid()));
        return Err(stranger).during("use", folder);
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).during("close to others", folder)
}

#[cfg(test)]
mod tests;
