//! Tests of `telemetry::line`.

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
