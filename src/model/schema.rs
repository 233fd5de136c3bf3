//! Parameters of a tool in the form a provider takes.

use serde_json::{Map, Value};

use crate::domain::SchemaForm;

/// How deep a schema is followed; what lies deeper is left out.
const DEEPEST: usize = 32;

/// The schema as it is sent; `None` if the provider wants none because there is nothing in it.
pub(super) fn parameters(schema: &Value, form: SchemaForm) -> Option<Value> {
    let mut object = schema.as_object().cloned().unwrap_or_default();
    object.remove("$schema");
    // An object schema always has `type` and `properties`; several servers refuse one without.
    object.entry("type").or_insert_with(|| "object".into());
    object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    match form {
        SchemaForm::Full => Some(Value::Object(object)),
        SchemaForm::Plain => {
            let definitions = ["$defs", "definitions"].into_iter().find_map(|field| schema.get(field)).unwrap_or(&Value::Null);
            let plain = plain(&Value::Object(object), definitions, 0);
            plain["properties"].as_object().is_some_and(|properties| !properties.is_empty()).then_some(plain)
        }
    }
}

/// The words that every dialect of JSON Schema has.
const KEPT: [&str; 12] = [
    "type",
    "description",
    "enum",
    "properties",
    "required",
    "items",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "nullable",
    "anyOf",
];

fn plain(schema: &Value, definitions: &Value, depth: usize) -> Value {
    if depth > DEEPEST {
        return Value::Object(Map::from_iter([("type".into(), "string".into())]));
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return plain(&definitions[name], definitions, depth + 1);
    }
    let Some(fields) = schema.as_object() else { return Value::Object(Map::new()) };
    let mut plainer: Map<String, Value> = fields
        .iter()
        .filter(|(name, _)| KEPT.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(constant) = fields.get("const") {
        plainer.insert("enum".into(), vec![constant.clone()].into());
    }
    if let Some(choices) = fields.get("oneOf") {
        plainer.insert("anyOf".into(), choices.clone());
    }
    one_type(&mut plainer);
    if let Some(Value::Object(properties)) = plainer.get_mut("properties") {
        properties.values_mut().for_each(|of| *of = plain(of, definitions, depth + 1));
    }
    if let Some(items) = plainer.get_mut("items") {
        *items = plain(items, definitions, depth + 1);
    }
    if let Some(Value::Array(choices)) = plainer.get_mut("anyOf") {
        choices.iter_mut().for_each(|of| *of = plain(of, definitions, depth + 1));
    }
    // Only texts are enumerated there.
    let texts = plainer.get("enum").is_some_and(|all| all.as_array().is_some_and(|all| all.iter().all(Value::is_string)));
    if !texts {
        plainer.remove("enum");
    }
    Value::Object(plainer)
}

/// `["string", "null"]` is `string` that may be null; of more types the choice is left open.
fn one_type(schema: &mut Map<String, Value>) {
    let Some(Value::Array(types)) = schema.get("type") else { return };
    let nullable = types.iter().any(|of| of == "null");
    let others: Vec<Value> = types.iter().filter(|of| *of != "null").cloned().collect();
    match others.as_slice() {
        [one] => {
            let one = one.clone();
            schema.insert("type".into(), one);
        }
        several => {
            let several = several.iter().map(|of| Value::Object(Map::from_iter([("type".into(), of.clone())]))).collect();
            schema.remove("type");
            schema.insert("anyOf".into(), several);
        }
    }
    if nullable {
        schema.insert("nullable".into(), true.into());
    }
}

#[cfg(test)]
mod tests;
