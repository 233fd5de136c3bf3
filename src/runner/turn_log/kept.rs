//! Which logs are kept: those of the last 30 days, and of them the newest that fit into 1 GiB.
//! Nothing wakes up for that: the program looks when it opens the folder, and when a file begins.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chrono::{DateTime, TimeDelta, Utc};

/// How long a log is kept after its last line.
const AGE: TimeDelta = TimeDelta::days(30);
/// How many bytes all logs may take.
const MOST_BYTES: u64 = 1 << 30;
/// A look that finds more leaves so many, so that the next file does not need another look.
const LEFT_BYTES: u64 = MOST_BYTES / 16 * 15;
/// How often the program looks at the ages.
const LOOK_EVERY: TimeDelta = TimeDelta::days(1);

/// The state of the folder since the last look.
pub(super) struct FolderState {
    looked: DateTime<Utc>,
    bytes: u64,
}

/// One log. The order is that of their ages.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Log {
    written: SystemTime,
    turn: i64,
    bytes: u64,
    path: PathBuf,
}

impl FolderState {
    /// Looks at the folder, and removes the logs that are not kept.
    pub(super) fn look(folder: &Path, now: DateTime<Utc>) -> Self {
        // If an old log cannot be removed, new ones are written all the same.
        let bytes = tidy(folder, now).unwrap_or_else(|error| {
            tracing::warn!(%error, "old logs of turns cannot be removed");
            0
        });
        Self { looked: now, bytes }
    }

    /// A file is about to begin.
    pub(super) fn begins(&mut self, folder: &Path, now: DateTime<Utc>) {
        if self.bytes > MOST_BYTES || now - self.looked >= LOOK_EVERY {
            *self = Self::look(folder, now);
        }
    }

    /// So many bytes were written.
    pub(super) fn grew(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }
}

/// Removes logs that are too old, and if all are too large, the oldest; returns the bytes of the
/// rest.
fn tidy(folder: &Path, now: DateTime<Utc>) -> io::Result<u64> {
    let mut logs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Some(turn) = entry.file_name().to_str().and_then(turn_of) else { continue };
        let about = entry.metadata()?;
        logs.push(Log { written: about.modified()?, turn, bytes: about.len(), path: entry.path() });
    }
    logs.sort_unstable();
    let mut bytes: u64 = logs.iter().map(|log| log.bytes).sum();
    let most = if bytes > MOST_BYTES { LEFT_BYTES } else { MOST_BYTES };
    let oldest = SystemTime::from(now - AGE);
    for log in logs {
        if log.written >= oldest && bytes <= most {
            break;
        }
        fs::remove_file(&log.path)?;
        bytes -= log.bytes;
    }
    Ok(bytes)
}

/// The number in a log's name. Any other file in the folder is not ours.
fn turn_of(name: &str) -> Option<i64> {
    name.strip_prefix("turn-")?.strip_suffix(".jsonl")?.parse().ok()
}

#[cfg(test)]
mod tests;
