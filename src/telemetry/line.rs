//! Lines of the log on their way out: each is held until it is whole, so that a value cannot pass
//! in two pieces.

use std::io::{self, Write};

use tracing_subscriber::fmt::MakeWriter;

use super::Scrubber;

/// Writes whole events to another writer, without the values of secrets.
pub struct Scrubbed<M> {
    scrubber: Scrubber,
    to: M,
}

impl<M> Scrubbed<M> {
    /// Puts `scrubber` before `to`.
    pub fn new(scrubber: Scrubber, to: M) -> Self {
        Self { scrubber, to }
    }
}

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for Scrubbed<M> {
    type Writer = ScrubbedLine<'a, M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        ScrubbedLine { scrubber: &self.scrubber, to: self.to.make_writer(), held: Vec::new() }
    }
}

/// One event; it is written when it is dropped.
pub struct ScrubbedLine<'a, W: Write> {
    scrubber: &'a Scrubber,
    to: W,
    held: Vec<u8>,
}

impl<W: Write> Write for ScrubbedLine<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Drop for ScrubbedLine<'_, W> {
    fn drop(&mut self) {
        // There is nowhere to report that the log cannot be written.
        let _ = self.to.write_all(&self.scrubber.clean_bytes(&self.held)).and_then(|()| self.to.flush());
    }
}

#[cfg(test)]
mod tests;
