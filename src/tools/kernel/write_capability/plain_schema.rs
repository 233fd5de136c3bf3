//! Small models know a capability's parameters, and not quite how a JSON Schema says them. A schema
//! with only one possible meaning is read so; any other stays as it is, and is refused with its
//! reason.

use serde_json::{Map, Value, json};

/// The object schema that a model means. Models wrap it as tools are listed
/// (`{"type":"function","function":{"parameters":…}}`) or in its own `type`, write the properties
/// alone, leave out `"type": "object"`, and write `required` as an object or inside the properties,
/// as early drafts of JSON Schema did.
pub(super) fn plain_schema(schema: Value) -> Value {
    let inner = schema
        .pointer("/function/parameters")
        .or_else(|| (schema.get("type") == Some(&json!("function"))).then(|| schema.get("parameters")).flatten())
        .or_else(|| schema.get("type").filter(|inner| inner.get("properties").is_some_and(Value::is_object)));
    let mut schema = match inner.cloned().unwrap_or(schema) {
        Value::Object(schema) => schema,
        other => return other,
    };
    if are_properties(&schema) {
        let names: Vec<_> = schema.keys().cloned().collect();
        schema = Map::from_iter([("properties".to_owned(), schema.into()), ("required".to_owned(), names.into())]);
    }
    if !schema.contains_key("type") && (schema.is_empty() || schema.contains_key("properties")) {
        schema.insert("type".to_owned(), json!("object"));
        schema.entry("properties").or_insert_with(|| json!({}));
    }
    list_required(&mut schema);
    Value::Object(schema)
}

/// True for `{"a": {"type": "string"}, …}`.
fn are_properties(schema: &Map<String, Value>) -> bool {
    !schema.is_empty() && !schema.contains_key("properties") && schema.values().all(|one| one.get("type").is_some())
}

/// Turns `required` into a list of names.
fn list_required(schema: &mut Map<String, Value>) {
    let mut names = Vec::new();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties {
            let Some(property) = property.as_object_mut() else { continue };
            if let Some(Value::Bool(required)) = property.get("required").cloned() {
                property.remove("required");
                names.extend(required.then(|| name.clone()));
            }
        }
    }
    match schema.get("required") {
        Some(Value::Object(required)) => names.extend(required.keys().cloned()),
        None if !names.is_empty() => {}
        _ => return,
    }
    names.sort();
    names.dedup();
    schema.insert("required".to_owned(), names.into());
}

#[cfg(test)]
mod tests;
