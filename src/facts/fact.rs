//! Readings of a fact: by replay, by clients, by the log of its turn, and by a person at the
//! command line.

use serde_json::Value;

use super::rows::{Change, Stamp};
use crate::wire::ServerFrame;

/// A kind of event.
pub(super) trait Fact {
    /// Answers a reading. A part that it leaves out is empty.
    fn read(&self, to: &mut Reading<'_>);
}

/// One reading: the part that is asked for, and what it needs besides the fact. The other parts are
/// not made.
pub(super) enum Reading<'a> {
    Rows(Stamp, &'a mut Vec<Change>),
    Frame(Stamp, &'a mut Option<ServerFrame>),
    /// With the words that the turn reacts to, if they are known.
    Log(Option<&'a str>, &'a mut Vec<LogLine>),
    Print(&'a mut Option<(String, String)>),
}

impl Reading<'_> {
    /// The rows that replay changes.
    pub(super) fn rows<R: IntoIterator<Item = Change>>(&mut self, rows: impl FnOnce(Stamp) -> R) -> &mut Self {
        if let Self::Rows(at, all) = self {
            all.extend(rows(*at));
        }
        self
    }

    /// The frame that clients see, if they see one.
    pub(super) fn frame<F: Into<Option<ServerFrame>>>(&mut self, frame: impl FnOnce(Stamp) -> F) -> &mut Self {
        if let Self::Frame(at, shown) = self {
            **shown = frame(*at).into();
        }
        self
    }

    /// The lines in the log of its turn.
    pub(super) fn log<L: IntoIterator<Item = LogLine>>(&mut self, lines: impl FnOnce(Option<&str>) -> L) -> &mut Self {
        if let Self::Log(input, all) = self {
            all.extend(lines(*input));
        }
        self
    }

    /// The heading and the text that the command line prints. Without these it prints kind and
    /// fields.
    pub(super) fn print<T: Into<String>>(&mut self, words: impl FnOnce() -> (String, T)) -> &mut Self {
        if let Self::Print(printed) = self {
            let (heading, text) = words();
            **printed = Some((heading, text.into()));
        }
        self
    }
}

/// A line in the log of a turn, without its place there.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    /// The word for it.
    pub event: &'static str,
    /// Its fields, for programs.
    pub body: Value,
    /// The same in a few words, for a person.
    pub words: String,
}

/// A line in the log.
pub(super) fn line(event: &'static str, body: Value, words: impl Into<String>) -> LogLine {
    LogLine { event, body, words: words.into() }
}
