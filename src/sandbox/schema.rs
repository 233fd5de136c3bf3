//! Parameters schemas: the ones that a draft may declare, and the arguments of calls checked
//! against them. Schemas come from a model, so nothing in one may make validation loop or explode:
//! there are no references, and patterns run on an engine that cannot backtrack.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use regex::RegexBuilder;
use serde_json::Value;

use super::{CallError, CheckError, explain};
use crate::domain::RefusalCode;

/// Size of a schema as JSON text, in bytes.
const LONGEST: usize = 32 * 1024;

/// Size of a pattern once it is compiled, in bytes.
const LARGEST_PATTERN: usize = 1 << 20;

/// How many wrong arguments one error names.
const NAMED: usize = 5;

const EXAMPLE: &str = r#"for example {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#;

/// Says whether a draft's parameters can be used.
pub(super) fn check(parameters: &Value) -> Result<(), CheckError> {
    let invalid = |message: String| Err(CheckError::new(RefusalCode::InvalidSchema, message));
    let Some(object) = parameters.as_object() else {
        return invalid(format!("the parameters must be a JSON Schema, an object; {EXAMPLE}"));
    };
    if object.get("type") != Some(&Value::from("object")) {
        return invalid(format!("the parameters must be a JSON Schema with \"type\": \"object\" at the top; {EXAMPLE}"));
    }
    if parameters.to_string().len() > LONGEST {
        return invalid(format!("the parameters schema is longer than {LONGEST} bytes; describe less"));
    }
    if let Some(path) = reference(parameters, String::new()) {
        return invalid(format!("the parameters schema has a reference at `{path}`; write the schema out there instead"));
    }
    match validator(parameters) {
        Ok(_) => Ok(()),
        Err(problem) => invalid(format!("the parameters are not a valid JSON Schema: {problem}")),
    }
}

/// How many schemas are kept, ready to check arguments against.
const KEPT: usize = 64;

/// The schemas that arguments were checked against lately, by their text.
#[derive(Default)]
pub(super) struct Validators(Mutex<HashMap<String, Arc<Validator>>>);

impl Validators {
    fn get(&self, parameters: &Value) -> Result<Arc<Validator>, String> {
        let text = parameters.to_string();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = kept.get(&text) {
            return Ok(Arc::clone(ready));
        }
        let ready = Arc::new(validator(parameters)?);
        if kept.len() == KEPT {
            kept.clear();
        }
        kept.insert(text, Arc::clone(&ready));
        Ok(ready)
    }

    /// Says whether a call's arguments fit.
    pub(super) fn validate(&self, parameters: &Value, params: &Value) -> Result<(), CallError> {
        let validator = self.get(parameters).map_err(CallError::Unusable)?;
        validated(&validator, parameters, params)
    }
}

fn validated(validator: &Validator, parameters: &Value, params: &Value) -> Result<(), CallError> {
    let mut problems = validator.iter_errors(params).map(|error| {
        let path = error.instance_path().to_string();
        let place = if path.is_empty() { "the arguments".to_owned() } else { format!("`{path}`") };
        format!("{place}: {}", explain::clip(&fault_of(&error, params)))
    });
    let named: Vec<_> = problems.by_ref().take(NAMED).collect();
    if named.is_empty() {
        return Ok(());
    }
    let more = if problems.next().is_some() { "; and more" } else { "" };
    let fault = format!("{}{more}", named.join("; "));
    let schema = explain::clip(&parameters.to_string());
    Err(CallError::InvalidArguments { fault, advice: format!(". The parameters schema is: {schema}") })
}

/// The fault of an argument. The validator's own words for the schema `false` name no property.
fn fault_of(error: &ValidationError<'_>, params: &Value) -> String {
    if !matches!(error.kind(), ValidationErrorKind::FalseSchema) {
        return error.to_string();
    }
    let object = params.pointer(error.instance_path().as_str()).and_then(Value::as_object);
    match object.filter(|_| error.schema_path().as_str().ends_with("/additionalProperties")) {
        Some(object) => {
            let names: Vec<_> = object.keys().take(NAMED).map(|name| format!("'{name}'")).collect();
            format!("no properties are allowed, and there is {}", names.join(", "))
        }
        None => "nothing is allowed here; leave it out".to_owned(),
    }
}

fn validator(parameters: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::regex().size_limit(LARGEST_PATTERN);
    jsonschema::options().with_pattern_options(patterns).build(parameters).map_err(|error| {
        let fault = fault_of_pattern(&error).unwrap_or_else(|| error.to_string());
        let path = error.instance_path().as_str();
        let place = if path.is_empty() { String::new() } else { format!("at `{path}`: ") };
        explain::clip(&format!("{place}{fault}"))
    })
}

/// The fault of a pattern. The validator's own words say only that it is none.
fn fault_of_pattern(error: &ValidationError<'_>) -> Option<String> {
    let error = match error.kind() {
        ValidationErrorKind::PropertyNames { error } => error.as_ref(),
        _ => error,
    };
    let is_pattern = matches!(error.kind(), ValidationErrorKind::Format { format } if format == "regex");
    let pattern = error.instance().as_str().filter(|_| is_pattern)?;
    let why = match RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).build() {
        Ok(_) => return None,
        Err(regex::Error::CompiledTooBig(_)) => {
            format!(
                "it has more than {LARGEST_PATTERN} bytes once it is compiled; repeat less, for example by smaller numbers in {{…}}"
            )
        }
        Err(error) => {
            let told = error.to_string();
            told.rsplit_once("error: ").map_or(told.as_str(), |(_, why)| why).trim().to_owned()
        }
    };
    Some(format!("the pattern `{pattern}` cannot be used: {why}"))
}

/// The path of the first reference in a schema, to another part of itself or elsewhere.
fn reference(schema: &Value, path: String) -> Option<String> {
    match schema {
        Value::Object(object) => object.iter().find_map(|(key, value)| {
            let path = format!("{path}/{key}");
            let refers = matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef") && value.is_string();
            if refers { Some(path) } else { reference(value, path) }
        }),
        Value::Array(items) => items.iter().enumerate().find_map(|(place, item)| reference(item, format!("{path}/{place}"))),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests;
