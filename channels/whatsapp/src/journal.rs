//! The memory of this program between two runs, in a file that only grows: which ids it has sent,
//! which WhatsApp acknowledged, and which incoming messages level3 accepted. It keeps nothing of
//! what was said.

use std::collections::{HashSet, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// How many facts are kept when the file is read. A message of ours that comes back, or one that
/// comes twice, does so within days.
const KEPT: usize = 10_000;

/// The open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    facts: HashSet<String>,
}

impl Journal {
    /// Reads the journal, drops the oldest facts, and opens it for more.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let text = match std::fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut facts: VecDeque<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        facts.drain(..facts.len().saturating_sub(KEPT));
        let renewed = path.with_extension("new");
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&renewed)?;
        for fact in &facts {
            writeln!(file, "{fact}")?;
        }
        file.sync_all()?;
        std::fs::rename(&renewed, path)?;
        Ok(Self { file, facts: facts.into_iter().map(str::to_owned).collect() })
    }

    /// Notes that a message is about to leave under this id.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn tried(&mut self, id: &str) -> std::io::Result<()> {
        self.note(format!("tried {id}"))
    }

    /// Notes that an id is that of a part of a longer message, which level3 does not know by it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn part(&mut self, id: &str) -> std::io::Result<()> {
        self.note(format!("part {id}"))
    }

    /// Notes that WhatsApp's server has acknowledged this id.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn acknowledged(&mut self, id: &str) -> std::io::Result<()> {
        self.note(format!("acknowledged {id}"))
    }

    /// Notes that level3 has accepted a message.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn accepted(&mut self, from: &str, id: &str) -> std::io::Result<()> {
        self.note(format!("accepted {from} {id}"))
    }

    /// True if a message left, or may have left, under this id.
    pub fn was_tried(&self, id: &str) -> bool {
        self.facts.contains(&format!("tried {id}"))
    }

    /// True if a whole message left, or may have left, under this id: level3 knows it.
    pub fn is_ours(&self, id: &str) -> bool {
        self.was_tried(id) && !self.facts.contains(&format!("part {id}"))
    }

    /// True if WhatsApp's server has acknowledged this id.
    pub fn was_acknowledged(&self, id: &str) -> bool {
        self.facts.contains(&format!("acknowledged {id}"))
    }

    /// True if level3 has accepted this message.
    pub fn was_accepted(&self, from: &str, id: &str) -> bool {
        self.facts.contains(&format!("accepted {from} {id}"))
    }

    fn note(&mut self, fact: String) -> std::io::Result<()> {
        if !self.facts.contains(&fact) {
            // One write, so that a process that is killed leaves a whole line or none.
            self.file.write_all(format!("{fact}\n").as_bytes())?;
            self.facts.insert(fact);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
