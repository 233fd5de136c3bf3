//! The files of the logs: `turn-N.jsonl` for each turn, and `positions.jsonl`, which says how far
//! each conversation is written. The last line of a turn's file tells of a crash between the two,
//! so no line is missing and none is written twice.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::kept::FolderState;
use super::lines::TurnLogLine;
use crate::domain::{ConversationId, TurnId};

/// At a start with so many lines for each conversation, the positions are written afresh.
const STALE: usize = 4;
/// How much of a file's end is read at a time in search of its last line.
const PIECE: u64 = 64 << 10;

/// The folder of the logs.
pub(super) struct LogFolder {
    path: PathBuf,
    positions: HashMap<ConversationId, i64>,
    journal: File,
    /// Number and part of the last line, for turns that were written to and are not over.
    newest: HashMap<TurnId, (i64, usize)>,
    /// `None` if every file is kept.
    kept: Option<FolderState>,
}

#[derive(Serialize, Deserialize)]
struct Position {
    conversation: ConversationId,
    seq: i64,
}

/// The part of a line that is read back.
#[derive(Deserialize)]
struct Mark {
    seq: i64,
    part: usize,
}

impl LogFolder {
    /// Opens the folder, and makes it if it is missing; if `all` files are kept, none is removed.
    /// Blocks.
    pub(super) fn open(path: &Path, now: DateTime<Utc>, all: bool) -> io::Result<Self> {
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let file = path.join("positions.jsonl");
        let text = match fs::read(&file) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut positions = HashMap::new();
        // A line that a crash cut is no JSON; then the line before it holds.
        for Position { conversation, seq } in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            positions.insert(conversation, seq);
        }
        if text.lines().count() > STALE * positions.len() || !(text.is_empty() || text.ends_with('\n')) {
            let fresh = path.join("positions.new");
            let lines: String = positions.iter().map(|(conversation, seq)| position(*conversation, *seq)).collect();
            fs::write(&fresh, lines)?;
            fs::rename(&fresh, &file)?;
        }
        let journal = appending(&file)?;
        let kept = (!all).then(|| FolderState::look(path, now));
        Ok(Self { path: path.to_owned(), positions, journal, newest: HashMap::new(), kept })
    }

    /// The number of the newest event of a conversation that is done; 0 if there is none.
    pub(super) fn position(&self, conversation: ConversationId) -> i64 {
        self.positions.get(&conversation).copied().unwrap_or(0)
    }

    /// Remembers that everything up to `seq` is done. Blocks.
    pub(super) fn pass(&mut self, conversation: ConversationId, seq: i64) -> io::Result<()> {
        self.journal.write_all(position(conversation, seq).as_bytes())?;
        self.positions.insert(conversation, seq);
        Ok(())
    }

    /// Appends the lines of one event that its turn's file does not have yet, and returns those.
    /// Blocks.
    pub(super) fn append(&mut self, lines: Vec<TurnLogLine>, over: bool, now: DateTime<Utc>) -> io::Result<Vec<TurnLogLine>> {
        let Some(turn) = lines.first().map(|line| line.turn) else { return Ok(lines) };
        let path = self.path.join(format!("turn-{turn}.jsonl"));
        let newest = match self.newest.get(&turn) {
            Some(newest) => *newest,
            None if path.exists() => mend(&path)?,
            None => {
                if let Some(kept) = &mut self.kept {
                    kept.begins(&self.path, now);
                }
                (0, 0)
            }
        };
        let new: Vec<_> = lines.into_iter().filter(|line| (line.seq, line.part) > newest).collect();
        let mut text = String::new();
        for line in &new {
            text += &serde_json::to_string(line)?;
            text.push('\n');
        }
        // If anything fails from here on, the file's end is read again before the next line.
        self.newest.remove(&turn);
        if let Some(last) = new.last() {
            let mut file = appending(&path)?;
            file.write_all(text.as_bytes())?;
            // The clock that judges the age of a log also sets it.
            file.set_modified(now.into())?;
            if let Some(kept) = &mut self.kept {
                kept.grew(text.len());
            }
            if !over {
                self.newest.insert(turn, (last.seq, last.part));
            }
        }
        Ok(new)
    }
}

fn position(conversation: ConversationId, seq: i64) -> String {
    serde_json::to_string(&Position { conversation, seq }).expect("numbers") + "\n"
}

fn appending(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// Cuts off a broken last line; returns number and part of the last whole line, or zeros.
fn mend(path: &Path) -> io::Result<(i64, usize)> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let length = file.metadata()?.len();
    let mut tail = Vec::new();
    loop {
        let from = length.saturating_sub(tail.len() as u64 + PIECE);
        file.seek(SeekFrom::Start(from))?;
        tail.clear();
        (&mut file).take(length - from).read_to_end(&mut tail)?;
        let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let begin = tail[..whole.saturating_sub(1)].iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        if begin.is_none() && from > 0 {
            continue;
        }
        let end = from + whole as u64;
        if end < length {
            file.set_len(end)?;
        }
        let line = &tail[begin.unwrap_or(0)..whole];
        if line.is_empty() {
            return Ok((0, 0));
        }
        // Another program wrote this whole line. A line that is logged twice is better than one
        // that is lost.
        return Ok(serde_json::from_slice(line).map_or((0, 0), |Mark { seq, part }| (seq, part)));
    }
}

#[cfg(test)]
mod tests;
