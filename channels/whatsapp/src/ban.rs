//! A temporary ban, kept beside the session: a program that is started again waits for its end,
//! too. An attempt to connect before that is what a ban punishes.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use whatsapp_rust::chrono::{DateTime, Utc};

/// A ban.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ban {
    /// When WhatsApp told of it, RFC 3339.
    pub at: String,
    /// Its end, RFC 3339; of one without an end, the next look at it.
    pub until: String,
    /// Why, in WhatsApp's words.
    pub reason: String,
}

impl Ban {
    /// Keeps it in this file, whole or not at all, and for nobody else to read.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, path: &Path) -> io::Result<()> {
        let renewed = path.with_extension("new");
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&renewed)?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        file.sync_all()?;
        std::fs::rename(&renewed, path)
    }

    /// The ban in this file with what is left of it; nothing if there is none, or none any more.
    pub fn read(path: &Path, now: DateTime<Utc>) -> Option<(Self, Duration)> {
        let ban: Self = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        let time = |text: &str| DateTime::parse_from_rfc3339(text).ok().map(|time| time.with_timezone(&Utc));
        // A clock that was set back makes it no longer than it was.
        let from = now.max(time(&ban.at)?);
        let left = (time(&ban.until)? - from).to_std().ok().filter(|left| !left.is_zero())?;
        Some((ban, left))
    }
}

#[cfg(test)]
mod tests;
