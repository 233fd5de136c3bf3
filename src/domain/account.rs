//! The part of a call's outcome that is for a person, and the use of models by a turn. No model
//! reads either.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The facts of a call that a person is shown beside its result. Absent ones are not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallAccount {
    /// How long it was carried out, in milliseconds of real time, without the time a person took to
    /// decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<i64>,
    /// The version of the capability that was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// The capability that was called, if its tool has another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// The columns of its rows, if it is one statement that gives rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<ShownColumn>,
    /// How many rows there are, those that are not shown among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
    /// The fault of a failed call in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Box<CallFault>>,
    /// True if something that it did elsewhere may or may not have happened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncertain: bool,
    /// True if its beginning is an event of its own, so that the log does not tell of it again with
    /// its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub begun: bool,
    /// True if its turn ended in the middle of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl CallAccount {
    /// True if it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The same of a call that was carried out for so long.
    #[must_use]
    pub fn took(self, time: Duration) -> Self {
        Self { ms: i64::try_from(time.as_millis()).ok(), ..self }
    }
}

/// The fault of a call in its own words, without advice to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFault {
    /// The words of the code that threw, or of the program.
    pub message: String,
    /// The line of the code that threw, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// A column of rows that a person is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownColumn {
    /// Its name, as the rows have it.
    pub name: String,
    /// Its type in Postgres' word, in small letters: `int8`, `timestamptz`, `text[]`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// The requests to models, summed up, and their cost. Requests of the governor and of summaries
/// count, and answers that broke off; words of the controller's own do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// How often.
    pub requests: u64,
    /// Tokens read, as the providers counted.
    pub input_tokens: u64,
    /// Tokens written, likewise.
    pub output_tokens: u64,
    /// Millionths of a dollar; `None` if the price of a request is not known.
    pub cost_micros: Option<u64>,
}
