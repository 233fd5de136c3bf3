//! Capabilities: tools that the agent wrote, as data.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::Grants;
use super::turn::text_enum;

text_enum! {
    /// The language of a capability's source.
    SourceLanguage {
        /// An ES module, run by the shared engine.
        JavaScript = "javascript",
        /// The text of a whole component that exports `run`.
        Wat = "wat",
        /// The bytes of such a component, in base64.
        Wasm = "wasm",
    }
}

/// An example the author gave: these parameters must give this result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// The arguments of the call.
    pub params: Value,
    /// The expected result, compared as JSON; if absent, the call only has to succeed. `null` is a
    /// result like any other.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub expect: Option<Value>,
    /// The answers to its operations (requests, SQL, kept values, calls of tools), in the order in
    /// which they start: `{"ok": …}` with the answer, or `{"error": "message"}`. A test reaches
    /// nothing else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Value>,
}

/// Reads a field that is there, `null` included; serde takes `null` for an absent one.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A capability as its author handed it in, before any check.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// snake_case; also the name of the function.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// The language of the source.
    pub language: SourceLanguage,
    /// The source.
    pub source: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// The powers that it asks for.
    pub grants: Grants,
    /// Examples that must hold.
    pub tests: Vec<TestCase>,
}

/// A checked version of a capability, as it is kept and called.
#[derive(Clone, Debug, PartialEq)]
pub struct CapabilityVersion {
    /// snake_case, unique.
    pub name: String,
    /// Counts from 1 for each name.
    pub version: i32,
    /// The description for the model.
    pub description: String,
    /// The language of the source.
    pub language: SourceLanguage,
    /// The source, from which the component was made.
    pub source: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// The powers it has.
    pub grants: Grants,
    /// Examples that held when it was written.
    pub tests: Vec<TestCase>,
    /// The component's bytes.
    pub component: Vec<u8>,
    /// sha256 of `component`, in hexadecimal.
    pub sha256: String,
    /// The engine that it was made for, for example `level3-js-engine-v2`; empty if the component
    /// brings its own code.
    pub engine: String,
}

/// The rule a capability's name must keep, in words.
pub const NAME_RULE: &str = "a name is snake_case: a lower-case letter, then lower-case letters, digits or `_`, 64 at most";

/// True if `name` keeps [`NAME_RULE`].
pub fn valid_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests;
