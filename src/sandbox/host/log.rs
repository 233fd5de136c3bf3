//! `log`: the lines of a capability are kept with its call, up to a limit.

use wasmtime::Result;

use super::HostState;
use super::bindings::level3::capability::log;

impl log::Host for HostState {
    fn log(&mut self, level: log::Level, message: String) -> Result<()> {
        self.logs.add(
            match level {
                log::Level::Debug => "debug: ",
                log::Level::Info => "",
                log::Level::Warn => "warning: ",
                log::Level::Error => "error: ",
            },
            &message,
        );
        Ok(())
    }
}

/// The lines a call logged, bounded.
pub(in crate::sandbox) struct Logs {
    entries: Vec<String>,
    left: usize,
    limit: usize,
    cut: usize,
}

impl Logs {
    pub(in crate::sandbox) fn new(limit: usize) -> Self {
        Self { entries: Vec::new(), left: limit, limit, cut: 0 }
    }

    pub(in crate::sandbox) fn add(&mut self, prefix: &str, message: &str) {
        let size = prefix.len() + message.len() + 1; // an empty entry takes room, too
        if self.cut > 0 || size > self.left {
            if self.cut == 0 && self.left > prefix.len() + 1 {
                let end = message.floor_char_boundary(self.left - prefix.len() - 1);
                self.entries.push(format!("{prefix}{}", &message[..end]));
            }
            self.cut += 1;
            return;
        }
        self.left -= size;
        self.entries.push(format!("{prefix}{message}"));
    }

    /// The entries, and a note if some were cut.
    pub(in crate::sandbox) fn into_entries(mut self) -> Vec<String> {
        if self.cut > 0 {
            let (limit, cut) = (self.limit, self.cut);
            self.entries.push(format!("[log cut at {limit} bytes: the last {cut} entries are missing or incomplete]"));
        }
        self.entries
    }
}

#[cfg(test)]
mod tests;
