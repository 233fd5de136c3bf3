//! The answer to the end of a connection with WhatsApp: how long to wait, whether the session is
//! any good, whether a person is needed. A pure function, for the stakes are an account: a client
//! that comes back too soon after a lock makes it worse.

use std::time::Duration;

/// How a connection came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// level3 closed our input.
    Closed,
    /// level3 ordered a logout.
    Logout,
    /// The phone, or WhatsApp, removed this device.
    LoggedOut {
        /// WhatsApp's code.
        code: String,
    },
    /// WhatsApp locked the account.
    Locked,
    /// WhatsApp banned the account for a time.
    Banned {
        /// For how long.
        expire: Duration,
        /// Why, in WhatsApp's words.
        reason: String,
    },
    /// WhatsApp takes no client of this version.
    Outdated {
        /// WhatsApp's code.
        code: String,
        /// The version of WhatsApp Web that our client gave as its own.
        web: String,
    },
    /// Another program connected with the same session.
    Replaced,
    /// Nobody scanned any QR code.
    Unscanned,
    /// The session's file cannot be opened.
    Unreadable,
    /// WhatsApp, or the library, ended it with a code that asks for nothing else.
    Failed {
        /// The code, or a word.
        code: String,
    },
}

/// The next thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// End the program.
    Leave,
    /// Delete the session and wait for the end.
    Forget,
    /// Put the session aside and show a QR code.
    Anew,
    /// Connect again after a pause.
    Pause(Duration),
    /// Do nothing until level3 ends the program: only a person can help.
    Rest,
}

/// Ends of the same sad kind in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row(u32);

/// A minute.
const MINUTE: Duration = Duration::from_secs(60);

/// A day.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest ban that is waited for to its end.
const LONGEST_BAN: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// The pauses after locks in a row: 5, 15, 60 minutes, and 60 from then on.
fn pause(row: Row) -> Duration {
    MINUTE * [5, 15, 60][(row.0 as usize).min(2)]
}

/// The answer to an end, and how long the row is afterwards. `online` is true if the connection
/// that ended had been online.
pub fn next(row: Row, online: bool, end: &End) -> (Row, Next) {
    let row = if online { Row(0) } else { row };
    match end {
        End::Closed => (row, Next::Leave),
        End::Logout => (Row(0), Next::Forget),
        End::LoggedOut { .. } => (Row(0), Next::Anew),
        End::Locked | End::Replaced | End::Unreadable | End::Failed { .. } => (Row(row.0 + 1), Next::Pause(pause(row))),
        // A little later than the end of the ban: clocks differ. A ban without end is looked at
        // once a day.
        End::Banned { expire, .. } => {
            let wait = if *expire > LONGEST_BAN { DAY } else { (*expire).max(5 * MINUTE) };
            (row, Next::Pause(wait + MINUTE / 6))
        }
        End::Outdated { .. } | End::Unscanned => (row, Next::Rest),
    }
}

#[cfg(test)]
mod tests;
