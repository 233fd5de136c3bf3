//! How much room the agent's tables may take, and how much of the device they leave to the server.

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Store, StoreError};
use crate::domain::{Refusal, RefusalCode};

const MEBIBYTE: u64 = 1 << 20;
/// How much more a statement that makes room may write if there is none left: Postgres logs its
/// work before it does it.
const SLACK: u64 = 16 * MEBIBYTE;
/// How often the program looks at a statement that writes.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The first words of statements that make room. If there is none, every other statement that
/// writes is refused.
const MAKE_ROOM: &[&str] = &["DROP", "TRUNCATE", "DELETE"];

/// The room for the agent's tables.
#[derive(Clone, Debug)]
pub struct Room {
    /// Bytes of the schema `agent`.
    pub quota: u64,
    /// Bytes of the device that the agent's statements leave to the server.
    pub reserve: u64,
    /// A folder on the device of the database; `None` if that is on another machine.
    pub folder: Option<PathBuf>,
}

impl Room {
    /// No bounds, until they are set.
    pub(super) fn endless() -> Self {
        Self { quota: u64::MAX, reserve: 0, folder: None }
    }

    /// The device, if less than this is free on it.
    fn less_than(&self, bytes: u64) -> Option<(u64, &Path)> {
        let folder = self.folder.as_deref()?;
        free(folder).filter(|free| *free < bytes).map(|free| (free, folder))
    }

    /// Says that the device is full for the server too: three quarters of its own reserve are gone.
    fn full(&self) -> Option<String> {
        let (free, folder) = self.less_than(self.reserve / 4)?;
        Some(format!(
            "no space left on the device: {} MiB are free where {} is, and the server needs {} MiB to go on. Make room there, or give it \
             more; nothing that was said before is lost",
            free / MEBIBYTE,
            folder.display(),
            (self.reserve / 4).div_ceil(MEBIBYTE)
        ))
    }

    /// The words for a model whose statement would take the server's reserve.
    fn kept_for_the_server(&self) -> Option<Refusal> {
        let (free, _) = self.less_than(self.reserve)?;
        let message = format!(
            "no space left on the device for your tables: {} MiB are free, and the server keeps {} MiB for itself; nothing was kept. DROP \
             or TRUNCATE what is not needed, and tell the person that the disk of the server is full",
            free / MEBIBYTE,
            self.reserve / MEBIBYTE
        );
        Some(Refusal::new(RefusalCode::DiskFull, message))
    }

    /// The words for a model whose tables have used up their quota.
    fn used_up(&self, bytes: Option<u64>) -> Refusal {
        let have = bytes.map_or(String::new(), |bytes| format!(" (they have {} MiB)", bytes / MEBIBYTE));
        let message = format!(
            "your tables in the schema `agent` may have {} MiB together{have}; nothing was kept. DROP or TRUNCATE what is not needed; the \
             room of rows that you DELETE can be used again a while later. A person can allow more: LEVEL3_AGENT_QUOTA",
            self.quota / MEBIBYTE
        );
        Refusal::new(RefusalCode::Quota, message)
    }
}

/// Bytes that are free for everybody on the device of this folder; `None` if the system does not
/// say.
fn free(folder: &Path) -> Option<u64> {
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    let mut found = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path ends with zero and lives through the call, which fills `found` where it
    // gives 0.
    let found = unsafe {
        if libc::statvfs(path.as_ptr(), found.as_mut_ptr()) != 0 {
            return None;
        }
        found.assume_init()
    };
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

impl Store {
    /// The same database, in which the agent's tables have this room from now on.
    pub fn within(mut self, room: Room) -> Self {
        self.room = room.into();
        self
    }

    /// Why the server accepts nothing more: the device is full. In words for a person.
    pub fn full(&self) -> Option<String> {
        self.room.full()
    }

    /// Refuses work for which the device has no room to the end.
    ///
    /// # Errors
    /// [`StoreError::Full`] if the device is full.
    pub(super) fn has_room(&self) -> Result<(), StoreError> {
        self.full().map_or(Ok(()), |told| Err(StoreError::Full(told)))
    }

    /// How many bytes statements with these first words may write, or the refusal for their author.
    pub(super) async fn room_for(&self, mut first_words: impl Iterator<Item = &str>) -> Result<Result<u64, Refusal>, StoreError> {
        let make_room = first_words.all(|word| MAKE_ROOM.contains(&word));
        if let Some(told) = self.room.kept_for_the_server() {
            return Ok(if make_room { Ok(SLACK) } else { Err(told) });
        }
        let used = sqlx::query_scalar!(r#"SELECT agent_size() AS "size!""#).fetch_one(&self.pool).await;
        let used = match used.map_err(StoreError::from) {
            Ok(used) => u64::try_from(used).unwrap_or_default(),
            // Another statement of the agent holds a table, so that its size cannot be read.
            Err(StoreError::Database(error)) if super::agent_sql::is_code(&error, "55P03") => {
                let message = "another statement holds one of your tables for itself; nothing was run; try again";
                return Ok(Err(Refusal::new(RefusalCode::Busy, message)));
            }
            Err(error) => return Err(error),
        };
        let left = self.room.quota.saturating_sub(used);
        Ok(match left {
            0 if make_room => Ok(SLACK),
            0 => Err(self.room.used_up(Some(used))),
            left => Ok(left),
        })
    }

    /// Completes if a running statement has taken more than this, or the server's reserve, with the
    /// refusal for its author.
    #[expect(clippy::disallowed_methods, reason = "nothing tells how a file grows")]
    pub(super) async fn outgrown(&self, left: u64) -> Refusal {
        let mut begun = None;
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            // A statement that makes room may go on into it.
            if left > SLACK
                && let Some(told) = self.room.kept_for_the_server()
            {
                return told;
            }
            // Others see nothing in the catalogue of the things a transaction makes; but the files
            // are there.
            let size = sqlx::query_scalar!(r#"SELECT pg_database_size(current_database()) AS "size!""#).fetch_one(&self.pool);
            let Ok(size) = size.await else { continue };
            if u64::try_from(size - *begun.get_or_insert(size)).unwrap_or_default() > left {
                return self.room.used_up(None);
            }
        }
    }
}

#[cfg(test)]
mod tests;
