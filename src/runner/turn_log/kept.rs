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
pub(super) struct Kept {
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

impl Kept {
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
mod tests {
    use super::*;

    fn log(folder: &Path, name: &str, bytes: u64, written: DateTime<Utc>) {
        let file = fs::File::create(folder.join(name)).unwrap();
        // The length alone is set; none of it is on the disk.
        file.set_len(bytes).unwrap();
        file.set_modified(written.into()).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn logs_are_kept_for_thirty_days_and_what_is_no_log_for_ever() {
        let place = tempfile::tempdir().unwrap();
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(100);
        for (name, days) in
            [("turn-1.jsonl", 31), ("turn-2.jsonl", 29), ("positions.jsonl", 99), ("turn-x.jsonl", 99), ("notes", 99)]
        {
            log(place.path(), name, 10, now - TimeDelta::days(days));
        }
        let mut kept = Kept::look(place.path(), now);
        assert_eq!(names(place.path()), ["notes", "positions.jsonl", "turn-2.jsonl", "turn-x.jsonl"]);
        assert_eq!(kept.bytes, 10);
        // It does not look for every file that begins.
        log(place.path(), "turn-3.jsonl", 10, now - TimeDelta::days(90));
        kept.begins(place.path(), now + TimeDelta::hours(23));
        assert_eq!(names(place.path()).len(), 5);
        kept.begins(place.path(), now + TimeDelta::hours(24));
        assert_eq!(names(place.path()), ["notes", "positions.jsonl", "turn-2.jsonl", "turn-x.jsonl"]);
    }

    #[test]
    fn beyond_a_gibibyte_the_oldest_go_first() {
        let place = tempfile::tempdir().unwrap();
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(100);
        // The order of the last lines is not that of the turns' numbers.
        for (turn, days) in [(4, 4), (3, 1), (2, 3), (1, 2)] {
            log(place.path(), &format!("turn-{turn}.jsonl"), MOST_BYTES / 4, now - TimeDelta::days(days));
        }
        let mut kept = Kept::look(place.path(), now);
        assert_eq!((names(place.path()).len(), kept.bytes), (4, MOST_BYTES));
        kept.begins(place.path(), now);
        assert_eq!(names(place.path()).len(), 4);
        log(place.path(), "turn-5.jsonl", 1, now);
        kept.grew(1);
        kept.begins(place.path(), now);
        assert_eq!(names(place.path()), ["turn-1.jsonl", "turn-2.jsonl", "turn-3.jsonl", "turn-5.jsonl"]);
        assert_eq!(kept.bytes, MOST_BYTES / 4 * 3 + 1);
    }
}
