//! Lines of the log on their way out: each is held until it is whole, so that a value cannot pass in two pieces.

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
    type Writer = Line<'a, M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Line { scrubber: &self.scrubber, to: self.to.make_writer(), held: Vec::new() }
    }
}

/// One event; it is written when it is dropped.
pub struct Line<'a, W: Write> {
    scrubber: &'a Scrubber,
    to: W,
    held: Vec<u8>,
}

impl<W: Write> Write for Line<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Drop for Line<'_, W> {
    fn drop(&mut self) {
        // There is nowhere to report that the log cannot be written.
        let _ = self.to.write_all(&self.scrubber.clean_bytes(&self.held)).and_then(|()| self.to.flush());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_value_never_reaches_the_log() {
        let log = Shared::default();
        let scrubber = Scrubber::new(&[("API_KEY".into(), "ca\"nary-5f3a".into())]);
        let sink = log.clone();
        let writer = Scrubbed::new(scrubber, move || sink.clone());
        let subscriber = tracing_subscriber::fmt().with_writer(writer).with_ansi(false).finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(field = "ca\"nary-5f3a", "text ca\"nary-5f3a");
        });
        let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert!(log.contains("text [secret API_KEY] field=\"[secret API_KEY]\"") && !log.contains("nary-5f3a"), "{log}");
    }

    #[test]
    fn a_value_written_in_pieces_is_hidden() {
        let log = Shared::default();
        let writer = Scrubbed::new(Scrubber::new(&[("K".into(), "the-value".into())]), || log.clone());
        let mut line = writer.make_writer();
        line.write_all(b"the-va").and_then(|()| line.flush()).and_then(|()| line.write_all(b"lue\n")).unwrap();
        drop(line);
        assert_eq!(*log.0.lock().unwrap(), b"[secret K]\n");
    }
}
