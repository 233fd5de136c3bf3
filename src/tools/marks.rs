//! A mark for each capability's call under way. It is a file that goes when the call ends, however
//! it ends, unless the process ends with it. A mark that lies there at a start is of a call that a
//! crash cut. It is a file and not a row: it costs microseconds, and need not survive the machine,
//! whose end no capability causes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::store::{Crash, Store, StoreError};

/// The folder of the marks. Cheap to clone.
#[derive(Clone)]
pub struct Marks(Arc<Path>);

/// The mark of one call; dropping it says that the call has ended.
pub(super) struct Mark(PathBuf);

impl Marks {
    /// The marks in `folder`, which is made if it is missing. No other server may use it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self(folder.into()))
    }

    /// Marks a call as under way. If the mark cannot be written, the call is made all the same.
    pub(super) fn set(&self, crash: &Crash) -> Option<Mark> {
        let path = self.0.join(format!("{}-{}.json", crash.call, crash.fence));
        match fs::write(&path, serde_json::to_vec(crash).expect("plain data")) {
            Ok(()) => Some(Mark(path)),
            Err(error) => {
                tracing::warn!(%error, "a call is not marked; if it ends the process, no crash is counted");
                None
            }
        }
    }

    fn left_over(&self) -> io::Result<Vec<(PathBuf, Option<Crash>)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let path = entry?.path();
            // A mark that a crash cut while it was written belongs to a call that had not begun.
            let crash = serde_json::from_slice(&fs::read(&path)?).ok();
            found.push((path, crash));
        }
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(found)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0) {
            tracing::warn!(%error, "the mark of a call cannot be removed; it will be taken for a crash");
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
            drop(Mark(path));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
