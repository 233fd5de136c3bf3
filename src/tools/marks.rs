//! A mark for each capability's call under way. It stands in a file as long as the call lasts, and
//! is wiped out when the call ends, however it ends, unless the process ends with it. A mark that
//! stands there at a start is of a call that a crash cut. It is a file and not a row: it need not
//! survive the machine, whose end no capability causes. The files stay for the next calls, so a
//! mark is two writes into the system's memory, and no file is made or removed for it.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};

use crate::store::{Crash, Store, StoreError};

/// The end of a mark in its file. Nothing before it is no mark.
const END: u8 = 0;

/// The folder of the marks. Cheap to clone.
#[derive(Clone)]
pub struct Marks(Arc<Folder>);

struct Folder {
    path: PathBuf,
    /// The files that no call uses: as many as calls were ever under way at once.
    free: Mutex<Vec<File>>,
}

/// The mark of one call; dropping it says that the call has ended.
pub(super) struct Mark {
    file: Option<File>,
    folder: Arc<Folder>,
}

impl Marks {
    /// The marks in `folder`, which is made if it is missing. No other server may use it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(folder: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        Ok(Self(Arc::new(Folder { path: folder.to_owned(), free: Mutex::default() })))
    }

    /// Marks a call as under way. If the mark cannot be written, the call is made all the same.
    pub(super) fn set(&self, crash: &Crash) -> Option<Mark> {
        let set = self.0.free_file(crash).and_then(|file| {
            let mut mark = serde_json::to_vec(crash).expect("plain data");
            mark.push(END);
            file.write_all_at(&mark, 0)?;
            Ok(file)
        });
        match set {
            Ok(file) => Some(Mark { file: Some(file), folder: Arc::clone(&self.0) }),
            Err(error) => {
                tracing::warn!(%error, "a call is not marked; if it ends the process, no crash is counted");
                None
            }
        }
    }

    fn left_over(&self) -> io::Result<Vec<(PathBuf, Option<Crash>)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.0.path)? {
            let path = entry?.path();
            let written = fs::read(&path)?;
            // A mark that a crash cut while it was written belongs to a call that had not begun.
            let crash = written.split(|byte| *byte == END).next().and_then(|mark| serde_json::from_slice(mark).ok());
            found.push((path, crash));
        }
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(found)
    }
}

impl Folder {
    /// A file for a mark. A new one is named by the call that needs it, so no two have one name.
    fn free_file(&self, Crash { call, fence, .. }: &Crash) -> io::Result<File> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.map_or_else(|| File::create(self.path.join(format!("{call}-{fence}.json"))), Ok)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else { return };
        match file.write_all_at(&[END], 0) {
            Ok(()) => self.folder.free.lock().unwrap_or_else(PoisonError::into_inner).push(file),
            Err(error) => tracing::warn!(%error, "the mark of a call cannot be wiped out; it will be taken for a crash"),
        }
    }
}

impl Marks {
    /// Counts the calls that the end of the last process cut; a version with `limit` such crashes
    /// in a row is disabled. Call this before any capability is called.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn settle(&self, store: &Store, limit: u32, now: DateTime<Utc>) -> Result<(), StoreError> {
        let left = self.left_over().unwrap_or_else(|error| {
            tracing::warn!(%error, "the marks of calls cannot be read");
            Vec::new()
        });
        for (path, crash) in left {
            if let Some(crash) = crash {
                let disabled = store.record_crash(&crash, limit, now).await?;
                let Crash { name, version, call, .. } = crash;
                tracing::warn!(capability = name, version, %call, disabled, "the process ended in the middle of a capability's call");
            }
            // The crash counts once even if this fails: the database knows the attempt.
            if let Err(error) = fs::remove_file(&path) {
                tracing::warn!(%error, "a mark that was settled cannot be removed");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
