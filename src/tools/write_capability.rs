//! `write_capability`: checks a draft, keeps it, makes it live.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::arguments::refusal;
use super::plain_schema::plain_schema;
use super::prepare::{Unprepared, Written};
use super::{BUILT_IN, Recorder, Tools};
use crate::domain::{Draft, Grants, Language, Outcome, Power, TestCase, ToolSpec};
use crate::failpoint::{self, Point};
use crate::sandbox::teaching;
use crate::store::{Built, StoreError};

const DESCRIPTION: &str = "Write a new tool for yourself, or a new version of one. The JavaScript is checked, built into a \
     sandboxed WASM component, kept, and callable in this same turn. It must define a function with the capability's name that takes \
     one params object and returns a string or JSON value.";

/// The tool as a model is offered it. How grants are written comes from the WIT.
pub(super) fn spec() -> ToolSpec {
    let mut spec = super::spec::<WriteCapability>("write_capability", DESCRIPTION);
    if let Some(Value::String(description)) = spec.parameters.pointer_mut("/properties/grants/description") {
        description.push(' ');
        description.push_str(teaching::grants());
    }
    spec
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct WriteCapability {
    /// Snake_case name for the capability, becomes the function name
    name: String,
    /// What this capability does, shown to the LLM as tool description
    description: String,
    /// Full JavaScript source: `export default async function NAME(params) { ... }`
    code: String,
    /// JSON Schema for the tool parameters (OpenAI function calling format)
    #[serde(deserialize_with = "object_or_text")]
    #[schemars(schema_with = "of_parameters")]
    parameters_schema: Value,
    /// Optional calls that must succeed before it is kept, with results you are sure of: [{"params": {...}, "expect": result}]
    #[serde(default)]
    #[schemars(schema_with = "of_tests")]
    tests: Vec<TestCase>,
    /// "javascript" (default) or "wat"
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    language: Option<String>,
    /// Powers it needs beyond computing, each only as wide as needed; the user approves them. All there are:
    #[serde(default)]
    #[schemars(schema_with = "of_grants")]
    grants: Option<Map<String, Value>>,
}

// What a model's server knows of the form it can hold the model to: where an object may have any member, a small model writes on and on.

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

/// Models write a schema as an object or as its text.
fn object_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => serde_json::from_str(&text)
            .map_err(|error| serde::de::Error::custom(format!("`parameters_schema` is not valid JSON: {error}"))),
        value => Ok(value),
    }
}

impl WriteCapability {
    pub(super) fn into_draft(self) -> Result<Draft, String> {
        if BUILT_IN.contains(&self.name.as_str()) {
            let message = format!("`{}` is one of the tools you begin with; choose another name", self.name);
            return Err(json!({ "error": "invalid_name", "message": message }).to_string());
        }
        let language = match self.language.as_deref() {
            None | Some("" | "js") => Language::JavaScript,
            Some(language) => language.parse().map_err(|error: String| refusal(&format!("`language`: {error}")))?,
        };
        let grants = match &self.grants {
            None => Grants::harmless(),
            Some(written) => {
                let mut grants = Grants::from_json(written)
                    .map_err(|error| json!({ "error": "unknown_grant", "message": error.to_string() }).to_string())?;
                // Whoever asks for a host takes the time and a log for granted. Other languages import exactly what they say.
                if language == Language::JavaScript {
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

/// Refuses a draft that asks to call tools that no capability may call.
pub(super) fn known_tools(draft: &Draft) -> Result<(), Unprepared> {
    match draft.grants.tools.iter().find(|tool| ["write_capability", "restart"].contains(&tool.as_str())) {
        None => Ok(()),
        Some(tool) => {
            let message = format!("`{tool}` is for the agent itself; no capability can be granted it");
            Err(Unprepared::Refused(json!({ "error": "unknown_grant", "message": message }).to_string()))
        }
    }
}

/// Installs what was checked and allowed.
pub(super) async fn run(tools: &Tools, record: &Recorder<'_>, written: Written) -> Result<(), StoreError> {
    let differences = tools.differences(&written).await?;
    let Written { draft, checked, live, trial } = written;
    let mut unit = record.store.begin(record.now).await?;
    let built = Built { component: &checked.component, sha256: &checked.sha256, engine: &checked.engine };
    let version = unit.install_capability(record.lease.conversation, &draft, built, live.as_ref()).await?;
    let mut told = json!({
        "installed": draft.name,
        "version": version,
        "tests_passed": draft.tests.len(),
        "what_now": format!("`{}` is live: call it with the arguments that were asked for.", draft.name),
    });
    if let Some(trial) = trial {
        told["trial"] = trial.into();
    }
    if !differences.is_empty() {
        told["earlier_calls_that_now_give_something_else"] = json!(differences);
    }
    failpoint::hit(Point::MidCapability).map_err(StoreError::broken)?;
    unit.end_call(record.lease, record.end(Outcome::ok(told.to_string()))).await?;
    unit.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(change: impl FnOnce(&mut Value)) -> Value {
        let mut request = json!({
            "name": "add", "description": "Adds.", "code": "export default (p) => p.a + p.b",
            "parameters_schema": {"type": "object", "properties": {"a": {"type": "number"}}},
        });
        change(&mut request);
        request
    }

    fn draft(request: Value) -> Result<Draft, String> {
        serde_json::from_value::<WriteCapability>(request).map_err(|error| error.to_string())?.into_draft()
    }

    #[test]
    fn a_schema_may_come_as_text() {
        let plain = json!({"type": "object", "properties": {"a": {"type": "number"}}});
        for written in [plain.clone(), Value::from(plain.to_string()), json!({"type": plain})] {
            assert_eq!(draft(request(|r| r["parameters_schema"] = written.clone())).unwrap().parameters, plain, "{written}");
        }
    }

    #[test]
    fn the_tool_shows_every_grant_there_is_in_the_form_it_takes() {
        let spec = spec();
        let told = spec.parameters["properties"]["grants"]["description"].as_str().unwrap();
        let grants: Value = serde_json::from_str(&told[told.find('{').unwrap()..]).unwrap();
        let asked = draft(request(|r| r["grants"] = grants)).unwrap().grants;
        assert_eq!(asked.powers().collect::<Vec<_>>(), crate::domain::Power::ALL);
    }

    #[test]
    fn the_first_tools_cannot_be_replaced() {
        let refused = draft(request(|r| r["name"] = json!("execute_sql"))).unwrap_err();
        assert!(refused.contains("invalid_name"), "{refused}");
    }

    #[test]
    fn a_power_that_does_not_exist_is_refused_by_name() {
        let refused = draft(request(|r| r["grants"] = json!({"network": {}}))).unwrap_err();
        assert!(refused.contains("unknown_grant") && refused.contains("no power `network`"), "{refused}");
    }

    #[test]
    fn a_language_nobody_speaks_is_refused_with_the_list() {
        let refused = draft(request(|r| r["language"] = json!("python"))).unwrap_err();
        assert!(refused.contains("javascript, wat"), "{refused}");
    }
}
