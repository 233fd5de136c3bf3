//! The course of a supervisor after its server has ended: nothing, or starting it again, after a
//! pause that grows with each crash.

use std::time::Duration;

/// The exit code of a server that asks to be started again.
const RESTART: i32 = 42;
/// The exit code of one that cannot start until a person changes something.
const LASTING: i32 = 78;
/// The pause after the first crash; it doubles with each one.
const FIRST: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(30);
/// After a run of this length earlier crashes are forgotten.
const STEADY: Duration = Duration::from_secs(60);
/// After so many crashes in a row of a server that had been ready it starts without capabilities.
const SAFE_AFTER: u32 = 3;

/// How one run of the server ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServerRunEnd {
    /// Its exit code; `None` if a signal ended it.
    pub(super) code: Option<i32>,
    /// True if it had been ready.
    pub(super) was_ready: bool,
    /// How long it ran.
    pub(super) ran: Duration,
}

/// The deed that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextRun {
    /// The supervisor ends, too.
    End,
    /// The server is started again.
    Again {
        /// After this pause.
        pause: Duration,
        /// Without capabilities.
        safe: bool,
    },
}

/// The crashes so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course {
    crashes: u32,
    of_ready: u32,
}

impl Course {
    /// The deed that follows on the end of a run.
    pub(super) fn after(&mut self, end: ServerRunEnd) -> NextRun {
        match end.code {
            Some(0 | LASTING) => return NextRun::End,
            Some(RESTART) => {
                *self = Self::default();
                return NextRun::Again { pause: Duration::ZERO, safe: false };
            }
            _ => {}
        }
        if end.ran >= STEADY {
            *self = Self::default();
        }
        self.of_ready += u32::from(end.was_ready);
        // 2^5 seconds are more than the longest pause.
        let pause = (FIRST * 2_u32.pow(self.crashes.min(5))).min(LONGEST);
        self.crashes += 1;
        NextRun::Again { pause, safe: self.of_ready >= SAFE_AFTER }
    }
}

#[cfg(test)]
mod tests;
