//! Errors, in words a model can act on. The JSON of an error has `error` (which one), `message`
//! (what to do), and the place if one is known: `line` and `offset`, both counted from 1.

use serde::Serialize;
use serde_json::{Value, json};

/// The sandbox could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// wasmtime refused its settings or the machine.
    #[error("this machine cannot run WebAssembly")]
    Engine(#[source] wasmtime::Error),
    /// The thread that counts time could not be started.
    #[error("the sandbox could not start a thread")]
    Thread(#[source] std::io::Error),
}

/// A place in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub offset: u32,
}

/// Why a draft is not accepted.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize)]
#[error("{message}")]
pub struct CheckError {
    /// The kind of fault; its JSON is one word of [`CheckErrorKind`].
    #[serde(rename = "error")]
    pub kind: CheckErrorKind,
    /// The fault, and how to put it right.
    pub message: String,
    /// The place of the fault in the source.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The text of the source around that place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
    /// The test that failed.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub test: Option<Box<FailedTest>>,
}

/// The kinds of [`CheckError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckErrorKind {
    /// The name does not follow the rule.
    InvalidName,
    /// The parameters are not a JSON Schema of an object.
    InvalidSchema,
    /// The source is too long.
    TooLarge,
    /// The source cannot be parsed.
    SyntaxError,
    /// It fails while loading, or imports something it was not granted.
    ImportError,
    /// It does not define the function.
    MissingFunction,
    /// One of its own tests fails.
    TestFailed,
}

/// Which test failed and how.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailedTest {
    /// Counts from 1.
    pub case: usize,
    /// The result the author expected; absent when success was enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// The result; absent when the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub got: Option<Value>,
    /// The lines the capability logged until then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
}

impl CheckError {
    pub(super) fn new(kind: CheckErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), place: None, near: None, test: None }
    }

    pub(super) fn at(mut self, place: Option<Place>) -> Self {
        self.place = place;
        self
    }

    /// The JSON that the model reads.
    pub fn to_json(&self) -> Value {
        json!(self)
    }
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// The arguments do not fit the parameters schema; the capability was not run.
    #[error("{0}")]
    InvalidArguments(String),
    /// The code threw.
    #[error("{name}: {message}")]
    Threw {
        /// The error's name, `Error` when something else was thrown.
        name: String,
        /// Its message.
        message: String,
        /// The place in the source that threw it.
        place: Option<Place>,
    },
    /// It ran into one of [`super::Limits`].
    #[error("{0}")]
    Limit(String),
    /// The component cannot be loaded, or broke.
    #[error("the capability cannot be used: {0}")]
    Unusable(String),
}

/// Errors that are faults of the code and not of what it met.
const FAULTS: [&str; 4] = ["TypeError", "ReferenceError", "SyntaxError", "RangeError"];
const CORRECT_IT: &str = "a fault in the code: correct it with write_capability under the same name, then call it again";

impl CallError {
    /// The JSON that the model reads.
    pub fn to_json(&self) -> Value {
        match self {
            Self::InvalidArguments(_) => json!({"error": "invalid_arguments", "message": self.to_string()}),
            Self::Threw { name, message, place } => {
                let mut told = json!({"error": "capability_failed", "name": name, "message": message});
                if let Some(place) = place {
                    (told["line"], told["offset"]) = (place.line.into(), place.offset.into());
                }
                if FAULTS.contains(&name.as_str()) {
                    told["hint"] = json!(CORRECT_IT);
                }
                told
            }
            Self::Limit(_) => json!({"error": "limit_exceeded", "message": self.to_string()}),
            Self::Unusable(_) => json!({"error": "capability_unusable", "message": self.to_string()}),
        }
    }

    pub(super) fn place(&self) -> Option<Place> {
        match self {
            Self::Threw { place, .. } => *place,
            Self::InvalidArguments(_) | Self::Limit(_) | Self::Unusable(_) => None,
        }
    }
}

impl Serialize for CallError {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}
