//! Prints answers. Texts of models and capabilities are shown so that they cannot move the cursor,
//! hide a line or turn its direction.

use std::io::{self, Write};

use chrono::{DateTime, Utc};
use serde::Serialize;

/// The screen, file or pipe that answers are printed to.
pub struct Screen<'a> {
    /// The output.
    pub out: &'a mut dyn Write,
    /// True for JSON.
    pub json: bool,
    /// True when a person looks at it, false when it goes into a file or a pipe.
    pub terminal: bool,
}

impl Screen<'_> {
    /// One line.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn line(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        writeln!(self.out, "{}", plain(text.as_ref()))
    }

    /// A QR code as lines of half blocks. On a terminal they have colours of their own, which a
    /// camera needs on a light one.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn code(&mut self, lines: &[String]) -> io::Result<()> {
        for line in lines {
            let line = plain(line);
            if self.terminal {
                writeln!(self.out, "\u{1b}[97;40m{line}\u{1b}[0m")?;
            } else {
                writeln!(self.out, "{line}")?;
            }
        }
        Ok(())
    }

    /// A text of several lines under a heading; nothing when it is empty.
    pub(super) fn part(&mut self, heading: &str, text: &str) -> io::Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n{heading}:")?;
        for line in text.trim_end().lines() {
            writeln!(self.out, "  {}", plain(line))?;
        }
        Ok(())
    }

    /// A text for another program, exactly as it is, unless a person looks at it.
    pub(super) fn raw(&mut self, text: &str) -> io::Result<()> {
        if self.terminal {
            for line in text.lines() {
                self.line(line)?;
            }
            return Ok(());
        }
        self.out.write_all(text.as_bytes())
    }

    /// JSON, when it was asked for; tells whether it was.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn json(&mut self, value: &impl Serialize) -> io::Result<bool> {
        if self.json {
            self.value(value)?;
        }
        Ok(self.json)
    }

    /// A value as JSON, whether it was asked for or not. Every character that acts is written as
    /// JSON's own escape: a program reads the same value.
    pub(super) fn value(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut written = String::new();
        for c in serde_json::to_string_pretty(value)?.chars() {
            if acts(c) && c != '\n' {
                written.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
            } else {
                written.push(c);
            }
        }
        writeln!(self.out, "{written}")
    }

    /// Rows under headings, or a sentence when there are none.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn table<const N: usize>(&mut self, headings: [&str; N], rows: &[[String; N]], none: &str) -> io::Result<()> {
        if rows.is_empty() {
            return self.line(none);
        }
        let rows: Vec<[String; N]> = std::iter::once(headings.map(str::to_owned))
            .chain(rows.iter().map(|row| row.each_ref().map(|cell| plain(cell))))
            .collect();
        let widths: [usize; N] = std::array::from_fn(|n| rows.iter().map(|row| row[n].chars().count()).max().unwrap_or(0));
        let mut lines = String::new();
        for row in rows {
            let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            lines.push_str(cells.join("  ").trim_end());
            lines.push('\n');
        }
        self.out.write_all(lines.as_bytes())
    }
}

/// A time as people read it.
pub(super) fn time(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// The text with everything that acts on a terminal, or on the order of what is read, written out.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) { plain.extend(c.escape_default()) } else { plain.push(c) }
    }
    plain
}

/// True if a character acts on a terminal, or on the order of what is read.
fn acts(c: char) -> bool {
    c.is_control() && c != '\t'
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests;
