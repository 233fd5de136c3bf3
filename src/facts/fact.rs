//! The meaning of a fact: how replay reads it, and how it is told to clients and to persons.

use serde_json::Value;

use super::rows::{Change, Stamp};
use crate::wire::ServerFrame;

/// All that a kind of event has to say. Without a method of its own, it is in no frame and in no log, and printed as JSON.
pub(super) trait Fact {
    /// The rows it changes.
    fn changes(&self, at: &Stamp) -> Vec<Change>;

    /// The frame that clients see.
    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        None
    }

    /// The lines in the log of its turn. `input` is what the turn reacts to, if that is known.
    fn log(&self, _input: Option<&str>) -> Vec<LogLine> {
        Vec::new()
    }

    /// The heading and the text that the command line prints.
    fn headline(&self) -> Option<(String, String)> {
        None
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

impl LogLine {
    pub(super) fn new(event: &'static str, body: Value, words: impl Into<String>) -> Self {
        Self { event, body, words: words.into() }
    }
}
