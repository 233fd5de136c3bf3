//! The data folder: one server at a time holds it, and it keeps that server's name.

use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::clock::Random;
use crate::lasting::Lasting;

/// The lock of the server that holds the folder.
const LOCK: &str = "server.lock";
/// The mode of a file that is this account's alone.
const CLOSED: u32 = 0o600;
/// How long a server waits for the lock. A command that only looks has it for a moment.
const LOCK_LIMIT: Duration = Duration::from_millis(200);

/// A data folder that no other server holds. Dropping it and its clones gives it back.
#[derive(Clone)]
pub struct DataFolder {
    path: PathBuf,
    server_id: String,
    _lock: Arc<File>,
}

/// The reason why the data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another server holds it.
    #[error(
        "another level3 uses the data folder {0}: a server, a backup or a restore; stop it or wait for its end, or set LEVEL3_DATA_DIR to \
         another folder"
    )]
    Taken(PathBuf),
    /// A restore into it was begun and not ended.
    #[error("a restore into {0} was begun and never ended; remove what it left there and restore again")]
    HalfRestored(PathBuf),
    /// It cannot be read or written.
    #[error("the data folder {path} cannot be used; set LEVEL3_DATA_DIR to a folder this user may write")]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl Lasting for FolderError {
    fn lasts(&self) -> bool {
        match self {
            Self::Unusable { source, .. } => source.lasts(),
            Self::Taken(_) | Self::HalfRestored(_) => true,
        }
    }
}

impl DataFolder {
    /// Takes the folder, and makes it if it does not exist.
    ///
    /// # Errors
    /// If another server holds it, or it cannot be used.
    pub fn take(path: &Path, random: &dyn Random) -> Result<Self, FolderError> {
        let folder = Self::take_for_restore(path, random)?;
        if folder.unfinished().exists() {
            return Err(FolderError::HalfRestored(folder.path));
        }
        Ok(folder)
    }

    /// The same for a restore, whose own mark does not keep it out.
    ///
    /// # Errors
    /// If another server holds it, or it cannot be used.
    pub fn take_for_restore(path: &Path, random: &dyn Random) -> Result<Self, FolderError> {
        let unusable = |source| FolderError::Unusable { path: path.to_owned(), source };
        // Other accounts may pass through and not look around: an embedded Postgres may run under
        // one and must reach its folder.
        DirBuilder::new().recursive(true).mode(0o711).create(path).map_err(unusable)?;
        let path = path.canonicalize().map_err(unusable)?;
        // An account that can open the lock can hold it.
        let lock =
            File::options().create(true).write(true).truncate(false).mode(CLOSED).open(path.join(LOCK)).map_err(unusable)?;
        close(&lock);
        let Some(lock) = locked(lock).map_err(unusable)? else { return Err(FolderError::Taken(path)) };
        let server_id = server_id(&path.join("server-id"), random).map_err(unusable)?;
        Ok(Self { path, server_id, _lock: Arc::new(lock) })
    }

    /// True if a server may run on this folder: one has its lock, or no server ever ran on a folder
    /// of this name here.
    pub fn may_be_held(path: &Path) -> bool {
        !File::open(path.join(LOCK)).is_ok_and(|lock| lock.try_lock_shared().is_ok())
    }

    /// The name of this server in its leases. It stays the same after a restart, so that the server
    /// can take its own turns up at once.
    pub fn server_id(&self) -> &str {
        &self.server_id
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder with the marks of capabilities' calls under way.
    pub fn calls(&self) -> PathBuf {
        self.path.join("calls")
    }

    /// The folder with the logs of turns.
    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// A file that exists while a restore is under way.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.path.join("restore-unfinished")
    }

    /// The folder with the files of contacts.
    pub fn media(&self) -> PathBuf {
        self.path.join("media")
    }

    /// The folder with the recordings of risky actions.
    pub fn recordings(&self) -> PathBuf {
        self.path.join("recordings")
    }

    /// The folder of a channel program.
    pub fn channel(&self, name: &str) -> PathBuf {
        self.path.join("channels").join(name)
    }

    /// The folder with compiled code; losing it costs a second.
    pub fn cache(&self) -> PathBuf {
        self.path.join("cache")
    }
}

/// Closes a file to other accounts that an earlier version left open to them. Another's file stays
/// as it is.
fn close(file: &File) {
    if file.metadata().is_ok_and(|facts| facts.permissions().mode() & 0o077 != 0) {
        let _ = file.set_permissions(Permissions::from_mode(CLOSED));
    }
}

/// The lock, taken; `None` if another server has it.
fn locked(lock: File) -> io::Result<Option<File>> {
    match lock.try_lock() {
        Ok(()) => return Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let (told, taken) = mpsc::channel();
    // A thread that still waits then ends with the process, and gives back what it gets before.
    thread::spawn(move || drop(told.send(lock.lock().map(|()| lock))));
    taken.recv_timeout(LOCK_LIMIT).map_or(Ok(None), |taken| taken.map(Some))
}

fn server_id(file: &Path, random: &dyn Random) -> io::Result<String> {
    match fs::read_to_string(file) {
        Ok(id) if id.len() == 32 => return Ok(id),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut bytes = [0; 16];
    random.fill(&mut bytes);
    let id = hex::encode(bytes);
    File::options().create(true).write(true).truncate(true).mode(CLOSED).open(file)?.write_all(id.as_bytes())?;
    Ok(id)
}

#[cfg(test)]
mod tests;
