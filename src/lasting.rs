//! Failures to start that last, and those that pass. A person is told of one that lasts, and the
//! program does not try again; any other may pass, so the program does.

use std::io::{self, ErrorKind};

use crate::config::ConfigError;

/// A failure that knows whether starting again can help.
pub trait Lasting {
    /// True when starting again cannot help: a person has to change something first. So it is with
    /// every failure that does not say otherwise.
    fn lasts(&self) -> bool {
        true
    }
}

impl Lasting for ConfigError {}

/// Of files and processes: what is short now may be there in a moment.
impl Lasting for io::Error {
    fn lasts(&self) -> bool {
        !matches!(
            self.kind(),
            ErrorKind::Interrupted
                | ErrorKind::TimedOut
                | ErrorKind::WouldBlock
                | ErrorKind::ResourceBusy
                | ErrorKind::OutOfMemory
                | ErrorKind::StorageFull
                | ErrorKind::QuotaExceeded
        )
    }
}
