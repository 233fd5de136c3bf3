//! Reads server-sent events as they are really sent: any line ends, comments, missing blank lines,
//! split anywhere, not always UTF-8.

use serde_json::Value;

use super::rescue::lenient;

/// The things a reader finds in a stream.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// One JSON object.
    Object(Value),
    /// `[DONE]`.
    Done,
}

/// The faults of a stream that no reader can make sense of.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(super) enum StreamError {
    /// A line that does not end.
    #[error("one line is longer than {0} bytes")]
    LineTooLong(usize),
    /// Data that begins like an object and is none; skipping it would lose a piece of the answer.
    #[error("a piece of it is broken JSON")]
    BrokenJson,
}

/// Takes bytes as they come and gives events. Its work is in proportion to the bytes, whatever they
/// are.
pub(super) struct EventReader {
    line: Vec<u8>,
    data: String,
    max_line: usize,
    after_cr: bool,
    /// An object over several lines is tried again when it is this long, and at its blank line.
    try_at: usize,
}

impl EventReader {
    /// A reader that refuses lines and events longer than `max_line` bytes.
    pub(super) fn new(max_line: usize) -> Self {
        Self { line: Vec::new(), data: String::new(), max_line, after_cr: false, try_at: 0 }
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8], found: &mut Vec<Found>) -> Result<(), StreamError> {
        if std::mem::take(&mut self.after_cr) && bytes.first() == Some(&b'\n') {
            bytes = &bytes[1..];
        }
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n' || byte == b'\r') {
            self.take(&bytes[..end])?;
            self.end_line(found)?;
            let crlf = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
            self.after_cr = bytes[end] == b'\r' && end + 1 == bytes.len();
            bytes = &bytes[end + 1 + usize::from(crlf)..];
        }
        self.take(bytes)
    }

    /// True while a line is coming in that holds a piece of an answer; a comment or a `ping` is
    /// none.
    pub(super) fn inside_object(&self) -> bool {
        let Some(data) = self.line.strip_prefix(b"data:") else { return false };
        data.iter().take(8).find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
    }

    /// Tells that there is no more: a last line may lack its end.
    pub(super) fn end(&mut self, found: &mut Vec<Found>) -> Result<(), StreamError> {
        self.end_line(found)?;
        // An object that is still open was cut in the middle, which the missing finish_reason tells
        // better.
        let _whole = self.try_object(found);
        self.data.clear();
        Ok(())
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), StreamError> {
        if self.line.len() + self.data.len() + bytes.len() > self.max_line {
            return Err(StreamError::LineTooLong(self.max_line));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, found: &mut Vec<Found>) -> Result<(), StreamError> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
        if line.is_empty() {
            return if self.data.is_empty() || self.try_object(found) { Ok(()) } else { Err(StreamError::BrokenJson) };
        }
        let Some(data) = line.strip_prefix("data:") else { return Ok(()) };
        let mut data = data.strip_prefix(' ').unwrap_or(data);
        if self.data.is_empty() {
            data = data.trim_start();
            if data.trim_end() == "[DONE]" {
                found.push(Found::Done);
            }
            if !data.starts_with('{') {
                // Nothing, `ping` and the like.
                return Ok(());
            }
        } else {
            self.data.push('\n');
        }
        self.data.push_str(data);
        // An object that is whole is an event, even when the blank line after it is missing.
        if data.trim_end().ends_with('}') && self.data.len() >= self.try_at {
            self.try_object(found);
        }
        Ok(())
    }

    /// Takes what has come as an object, if it is one.
    fn try_object(&mut self, found: &mut Vec<Found>) -> bool {
        match lenient::parse(&self.data) {
            Ok(object @ Value::Object(_)) => {
                self.data.clear();
                self.try_at = 0;
                found.push(Found::Object(object));
                true
            }
            _ => {
                self.try_at = self.data.len().saturating_mul(2);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests;
