//! The arguments of `write_capability`, and the draft in them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::plain_schema::plain_schema;
use crate::domain::{Draft, Grants, Power, Refusal, RefusalCode, SourceLanguage, TestCase};

#[derive(Deserialize, JsonSchema)]
pub(super) struct DraftArguments {
    /// Snake_case name for the capability, becomes the function name
    name: String,
    #[schemars(description = "What this capability does, shown to the LLM as tool description")]
    description: String,
    /// Full JavaScript source: `export default async function NAME(params) { ... }`
    code: String,
    /// JSON Schema for the tool parameters (OpenAI function calling format)
    #[schemars(schema_with = "of_parameters")]
    parameters_schema: Value,
    #[serde(default)]
    #[schemars(
        schema_with = "of_tests",
        description = "Optional calls that must succeed before it is kept, with results you are sure of: \
                       [{\"params\": {...}, \"expect\": result}]"
    )]
    tests: Vec<TestCase>,
    /// "javascript" (default) or "wat"
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    language: Option<String>,
    #[serde(default)]
    #[schemars(
        schema_with = "of_grants",
        description = "Powers it needs beyond computing, each only as wide as needed; the user approves them. All there are:"
    )]
    grants: Option<Map<String, Value>>,
}

// A model's server can hold the model to the form that the schema tells. If an object may have any
// member, a small model writes on and on.

fn of_parameters(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["object"]},
            "properties": {"type": "object", "additionalProperties": {"type": "object"}},
            "required": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["type", "properties"],
    })
}

fn of_tests(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "params": {"type": "object"},
                "expect": true,
                "answers": {"type": "array", "items": {"type": "object"}},
            },
            "required": ["params"],
        },
    })
}

fn of_grants(_: &mut SchemaGenerator) -> Schema {
    let powers: Map<_, _> = Power::ALL.iter().map(|power| (power.to_string(), json!({ "type": "object" }))).collect();
    json_schema!({ "type": ["object", "null"], "properties": powers })
}

/// The arguments with JSON in place of its text: models write an object or a list either way. A
/// blank text stands for nothing.
///
/// # Errors
/// If the text is no JSON.
pub(super) fn out_of_text(mut arguments: Value) -> Result<Value, Refusal> {
    for field in ["parameters_schema", "tests", "grants"] {
        let Some(Value::String(text)) = arguments.get(field) else { continue };
        let read = if text.trim().is_empty() { Ok(Value::Null) } else { serde_json::from_str(text) };
        arguments[field] =
            read.map_err(|error| Refusal::arguments(format!("`{field}` is a text that is no JSON: {error}; write it as JSON")))?;
    }
    Ok(arguments)
}

impl DraftArguments {
    /// The draft that the arguments mean.
    ///
    /// # Errors
    /// If the language does not exist, or the grants cannot be read.
    pub(super) fn into_draft(self) -> Result<Draft, Refusal> {
        let language = match self.language.as_deref() {
            None | Some("" | "js") => SourceLanguage::JavaScript,
            Some(language) => language.parse().map_err(|error: String| Refusal::arguments(format!("`language`: {error}")))?,
        };
        let grants = match &self.grants {
            None => Grants::harmless(),
            Some(written) => {
                let mut grants =
                    Grants::from_json(written).map_err(|error| Refusal::new(RefusalCode::UnknownGrant, error.to_string()))?;
                // An author who asks for a host takes the time and a log for granted. Components in
                // other languages import exactly the powers they name.
                if language == SourceLanguage::JavaScript {
                    grants.harmless = Grants::harmless().harmless;
                }
                grants
            }
        };
        Ok(Draft {
            name: self.name,
            description: self.description,
            language,
            source: self.code,
            parameters: plain_schema(self.parameters_schema),
            grants,
            tests: self.tests,
        })
    }
}

#[cfg(test)]
mod tests;
