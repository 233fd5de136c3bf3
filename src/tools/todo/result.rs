//! The result of a function, as a model reads it.

use serde::Serialize;
use serde_json::{Value, json};

use crate::domain::Outcome;

/// The result of a function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionResult {
    /// True if it did what was asked.
    pub success: bool,
    /// The things that it found or changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The reason why it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// A sentence for the person, to be said as it is or in other words.
    pub message: String,
}

impl FunctionResult {
    /// It did what was asked.
    pub fn done(message: impl Into<String>) -> Self {
        Self { success: true, data: None, error: None, message: message.into() }
    }

    /// It did not; `error` is a word for the reason.
    pub fn refused(error: &str, message: impl Into<String>) -> Self {
        Self { success: false, data: None, error: Some(error.to_owned()), message: message.into() }
    }

    /// The same with what was found or changed.
    pub fn with(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// The outcome to record.
    pub fn outcome(&self) -> Outcome {
        let result = json!(self).to_string();
        if self.success { Outcome::ok(result) } else { Outcome::failed(result) }
    }
}
