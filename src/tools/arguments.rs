//! Arguments as models write them, and the schemas that models read.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::ReplaceBoolSchemas;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::domain::{Refusal, held, shortened, undoubled};

/// The most bytes of an argument's name that a refusal repeats.
const LONGEST_NAME: usize = 64;

/// Reads the arguments' text as a JSON object; an empty text counts as an empty object.
pub(super) fn parse(text: &str) -> Result<Value, Refusal> {
    match text.trim() {
        "" | "null" => Ok(Value::Object(Map::new())),
        text => match serde_json::from_str(text) {
            Ok(mut arguments @ Value::Object(_)) => {
                // A person would decide about the last of the two alone.
                undoubled(text).map_err(|why| Refusal::arguments(format!("the arguments are not valid JSON: {why}")))?;
                held(text).map_err(Refusal::arguments)?;
                without_zeros(&mut arguments);
                Ok(arguments)
            }
            Ok(_) => Err(Refusal::arguments("the arguments must be one JSON object")),
            Err(error) if error.is_eof() => {
                Err(Refusal::arguments(format!("the arguments are not valid JSON, they seem to be cut off: write less. {error}")))
            }
            Err(error) => Err(Refusal::arguments(format!("the arguments are not valid JSON: {error}"))),
        },
    }
}

/// Replaces zero characters, which Postgres' text cannot hold, before anything depends on the
/// arguments.
fn without_zeros(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', "\u{FFFD}"),
        Value::Array(items) => items.iter_mut().for_each(without_zeros),
        Value::Object(members) => {
            if members.keys().any(|name| name.contains('\0')) {
                *members =
                    std::mem::take(members).into_iter().map(|(name, value)| (name.replace('\0', "\u{FFFD}"), value)).collect();
            }
            members.values_mut().for_each(without_zeros);
        }
        _ => {}
    }
}

/// Reads arguments into a tool's parameters. Models write `null` for a field that they leave out.
/// A refusal names the field at fault.
pub(super) fn read<T: DeserializeOwned>(mut arguments: Value) -> Result<T, Refusal> {
    if let Some(object) = arguments.as_object_mut() {
        object.retain(|_, value| !value.is_null());
    }
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let (path, fault) = (error.path().to_string(), error.inner());
        Refusal::arguments(if path == "." { fault.to_string() } else { format!("`{path}`: {fault}") })
    })
}

/// Refuses arguments that a tool does not know. A `null` is as good as none. `hidden`: one that it
/// knows, and of which no model is told.
pub(super) fn only(known: &[&str], hidden: &str, arguments: &Value) -> Result<(), Refusal> {
    let given = arguments.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let unknown: Vec<_> = given.map(|(name, _)| name.as_str()).filter(|name| *name != hidden && !known.contains(name)).collect();
    let Some(first) = unknown.first() else { return Ok(()) };
    let told = format!("there is no argument `{}`; the arguments are: {}", shortened(first, LONGEST_NAME), known.join(", "));
    Err(Refusal::arguments(told).with("unknown", unknown.iter().map(|name| shortened(name, LONGEST_NAME)).collect::<Vec<_>>()))
}

/// The JSON Schema of a tool's parameters, without references or dialect, in the form that models
/// know.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    // Servers of llama.cpp refuse every request with a schema that is just `true`.
    let settings = settings.with_transform(ReplaceBoolSchemas::default());
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
    }
    spelled_out(&mut schema);
    schema
}

/// Writes the schema `true`, which allows anything, as a list of all types: llama.cpp's server
/// refuses every request that holds a `true`. That no other fields are allowed is `false`: the
/// same server refuses `{"not": {}}` in its place.
pub(super) fn spelled_out(schema: &mut Value) {
    let anything = || json!({ "type": ["string", "number", "boolean", "null", "array", "object"] });
    let spell = |schema: &mut Value| match schema {
        Value::Bool(true) => *schema = anything(),
        schema => spelled_out(schema),
    };
    let Some(object) = schema.as_object_mut() else { return };
    for (word, inner) in object {
        match (word.as_str(), inner) {
            ("properties" | "$defs" | "definitions", Value::Object(named)) => named.values_mut().for_each(spell),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(several)) => several.iter_mut().for_each(spell),
            ("items", inner) => spell(inner),
            ("additionalProperties", inner) if *inner == json!({ "not": {} }) => *inner = json!(false),
            ("additionalProperties", inner @ Value::Object(_)) => spelled_out(inner),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
