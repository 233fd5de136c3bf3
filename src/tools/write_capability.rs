//! `write_capability`: checks a draft, keeps it, makes it live.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::arguments::refusal;
use super::{BUILT_IN, Recorder};
use crate::domain::{Draft, Grants, Language, Outcome, TestCase};
use crate::sandbox::Sandbox;
use crate::store::{Built, StoreError};

pub(super) const DESCRIPTION: &str = "Write a new tool for yourself, or a new version of one. The JavaScript is checked, built into a \
     sandboxed WASM component, kept, and callable in this same turn. It must define a function with the capability's name that takes \
     one params object and returns a string or JSON value.";

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
    #[schemars(with = "Map<String, Value>")]
    parameters_schema: Value,
    /// Calls that must succeed before it is kept: [{"params": {...}, "expect": result}]
    #[serde(default)]
    #[schemars(with = "Vec<Map<String, Value>>")]
    tests: Vec<TestCase>,
    /// "javascript" (default) or "wat"
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    language: Option<String>,
    /// Powers asked for, by name; left out: log, clock and random
    #[serde(default)]
    #[schemars(skip)]
    grants: Option<Map<String, Value>>,
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
    fn into_draft(self) -> Result<Draft, String> {
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
            Some(written) => Grants::from_json(written)
                .map_err(|error| json!({ "error": "unknown_grant", "message": error.to_string() }).to_string())?,
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

/// The object schema itself, where a model wrapped it the way tools are listed: `{"type":"function","function":{"parameters":…}}`.
fn plain_schema(schema: Value) -> Value {
    let inner = schema
        .pointer("/function/parameters")
        .or_else(|| (schema.get("type") == Some(&json!("function"))).then(|| schema.get("parameters")).flatten());
    match inner {
        Some(inner) => inner.clone(),
        None if schema.as_object().is_some_and(Map::is_empty) => json!({ "type": "object", "properties": {} }),
        None => schema,
    }
}

pub(super) async fn run(record: &Recorder<'_>, sandbox: &Sandbox, request: WriteCapability) -> Result<(), StoreError> {
    let mut draft = match request.into_draft() {
        Ok(draft) => draft,
        Err(refused) => return record.outcome(Outcome::failed(refused)).await,
    };
    let checked = match sandbox.check(&draft).await {
        Ok(checked) => checked,
        Err(error) => return record.outcome(Outcome::failed(json!(error).to_string())).await,
    };
    draft.source = checked.source;
    let mut unit = record.store.begin(record.now).await?;
    let built = Built { component: &checked.component, sha256: &checked.sha256, engine: &checked.engine };
    let version = unit.install_capability(record.lease.conversation, &draft, built).await?;
    let told = json!({
        "installed": draft.name,
        "version": version,
        "tests_passed": draft.tests.len(),
        "message": format!("`{}` is live: call it now like any other tool.", draft.name),
    });
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
    fn a_schema_may_come_as_text_or_wrapped_as_a_function() {
        let plain = json!({"type": "object", "properties": {"a": {"type": "number"}}});
        for written in [
            plain.clone(),
            Value::from(plain.to_string()),
            json!({"type": "function", "function": {"name": "add", "parameters": plain}}),
            json!({"type": "function", "parameters": plain}),
        ] {
            assert_eq!(draft(request(|r| r["parameters_schema"] = written.clone())).unwrap().parameters, plain, "{written}");
        }
        assert_eq!(draft(request(|r| r["parameters_schema"] = json!({}))).unwrap().parameters["type"], "object");
    }

    #[test]
    fn the_first_tools_cannot_be_replaced() {
        let refused = draft(request(|r| r["name"] = json!("execute_sql"))).unwrap_err();
        assert!(refused.contains("invalid_name"), "{refused}");
    }

    #[test]
    fn a_power_that_does_not_exist_is_refused_by_name() {
        let refused = draft(request(|r| r["grants"] = json!({"http": {"hosts": ["example.com"]}}))).unwrap_err();
        assert!(refused.contains("unknown_grant") && refused.contains("no power `http`"), "{refused}");
    }

    #[test]
    fn a_language_nobody_speaks_is_refused_with_the_list() {
        let refused = draft(request(|r| r["language"] = json!("python"))).unwrap_err();
        assert!(refused.contains("javascript, wat"), "{refused}");
    }
}
