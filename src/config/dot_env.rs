//! The file `.env` of the working folder. The words about a fault in it name the line and the
//! variable and never repeat the text: it may be a key.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, Read};

use super::ConfigError;

/// The mark that some editors put at the beginning of a file.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The settings in the text of the file.
pub(super) fn read(text: &str) -> Result<HashMap<String, String>, ConfigError> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let handed = Cell::new(0);
    let mut entries = dotenvy::from_read_iter(LineByLine { rest: text.as_bytes(), handed: &handed });
    let mut settings = HashMap::new();
    loop {
        let before = handed.get();
        match entries.next() {
            None => return Ok(settings),
            Some(Ok((name, value))) => drop(settings.insert(name, value)),
            Some(Err(_)) => return Err(fault(&text.lines().skip(before).collect::<Vec<_>>(), before)),
        }
    }
}

/// A file `.env` that is there and cannot be used.
pub(super) fn unusable(problem: String) -> ConfigError {
    ConfigError { variable: "the file", value: ".env".to_owned(), problem }
}

/// The fault in the first of these lines that says anything. `before` lines stand before them.
fn fault(lines: &[&str], before: usize) -> ConfigError {
    let says_something = |line: &&str| !matches!(line.trim_start().chars().next(), None | Some('#'));
    let at = lines.iter().position(says_something).unwrap_or_default();
    let line = lines.get(at).copied().unwrap_or_default().trim_start();
    let number = before + at + 1;
    let is_name = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.is_empty();
    let name = line.split_once('=').map(|(name, _)| name.strip_prefix("export ").unwrap_or(name).trim());
    unusable(match name.filter(is_name) {
        Some(name) => format!(
            "line {number}: the value of {name} cannot be read; put it into single quotes if it has blanks, quotes or #, and close every quote"
        ),
        None => format!("line {number} cannot be read; expected a setting as NAME=value, or a comment that begins with #"),
    })
}

/// A text that is handed out line by line, so that a reader takes none before it needs it.
struct LineByLine<'a> {
    rest: &'a [u8],
    /// The lines that were handed out.
    handed: &'a Cell<usize>,
}

impl Read for LineByLine<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let line = self.rest.iter().position(|byte| *byte == b'\n').map_or(self.rest.len(), |end| end + 1);
        let (now, rest) = self.rest.split_at(line.min(into.len()));
        into[..now.len()].copy_from_slice(now);
        if now.ends_with(b"\n") {
            self.handed.set(self.handed.get() + 1);
        }
        self.rest = rest;
        Ok(now.len())
    }
}

#[cfg(test)]
mod tests;
