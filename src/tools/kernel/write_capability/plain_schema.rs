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
mod tests {
    use super::*;

    #[test]
    fn what_wraps_a_schema_is_taken_off() {
        let plain = json!({"type": "object", "properties": {"a": {"type": "number"}}});
        for written in [
            plain.clone(),
            json!({"properties": {"a": {"type": "number"}}}),
            json!({"type": "function", "function": {"name": "add", "parameters": plain}}),
            json!({"type": "function", "parameters": plain}),
            json!({"type": plain}),
            json!({"type": {"properties": {"a": {"type": "number"}}}}),
        ] {
            assert_eq!(plain_schema(written.clone()), plain, "{written}");
        }
        assert_eq!(plain_schema(json!({})), json!({"type": "object", "properties": {}}));
    }

    #[test]
    fn properties_alone_are_all_wanted() {
        let alone = json!({"a": {"type": "number"}, "type": {"type": "string"}});
        assert_eq!(plain_schema(alone.clone()), json!({"type": "object", "properties": alone, "required": ["a", "type"]}));
        // A property may be called `type`.
        let named = json!({"type": "object", "properties": {"type": {"type": "string"}}});
        assert_eq!(plain_schema(json!({"properties": {"type": {"type": "string"}}})), named);
    }

    #[test]
    fn required_becomes_a_list_of_names() {
        let with = |required: Value, a: Value| json!({"type": "object", "properties": {"a": a, "b": {"type": "string"}}, "required": required});
        let number = json!({"type": "number"});
        let plain = with(json!(["a"]), number.clone());
        assert_eq!(plain_schema(with(json!({"a": "number"}), number.clone())), plain);
        assert_eq!(plain_schema(with(json!(["a"]), json!({"type": "number", "required": true}))), plain);
        let mut without = with(json!(null), json!({"type": "number", "required": true}));
        without.as_object_mut().unwrap().remove("required");
        assert_eq!(plain_schema(without), plain);
    }

    #[test]
    fn what_could_mean_anything_stays_as_it_is() {
        for written in [json!([]), json!("a"), json!(true), json!({"type": "array"}), json!({"a": "a number"})] {
            assert_eq!(plain_schema(written.clone()), written);
        }
    }
}
