//! A lesson for a model that called a tool that does not exist. Small models do that first if a
//! person asks them to make one, and they follow a call that is written out far more often than a
//! description of it.

use serde_json::{Map, Value, json};

use crate::domain::{WRITE_CAPABILITY, valid_name};

/// The lesson beside the refusal: the call that makes the tool, as far as the refused call shows
/// how the tool is meant. There is none for a model that cannot make tools.
pub(super) fn lesson(tools: &[&str], tool: &str, arguments: &str) -> Option<String> {
    if !tools.contains(&WRITE_CAPABILITY) {
        return None;
    }
    if !valid_name(tool) {
        return Some("To make a new one, call write_capability.".to_owned());
    }
    let arguments = serde_json::from_str(arguments).unwrap_or_default();
    let parameters = parameters_of(&arguments);
    // A parameter called `params` cannot be taken out of `params` under its name.
    let names = parameters["properties"].as_object().into_iter().flat_map(Map::keys);
    let names: Vec<_> = names.filter(|name| *name != "params").cloned().collect();
    let take = if names.is_empty() { String::new() } else { format!("const {{ {} }} = params; ", names.join(", ")) };
    let call = json!({
        "name": tool,
        "description": "...",
        "code": format!("export default async function {tool}(params) {{ {take}... return result; }}"),
        "parameters_schema": parameters,
    });
    Some(format!(
        "Make it yourself, the user cannot. Your next answer is a call of write_capability with {call}, the dots filled in; after that \
         call `{tool}`."
    ))
}

/// Parameters that these arguments would fit. Some models send the schema itself as arguments.
fn parameters_of(arguments: &Value) -> Value {
    if arguments["properties"].is_object() {
        let required = arguments["required"].as_array().cloned().unwrap_or_default();
        return json!({ "type": "object", "properties": arguments["properties"], "required": required });
    }
    let given = arguments.as_object().into_iter().flatten();
    // JavaScript cannot take these names apart, so no capability can have them.
    let (names, properties): (Vec<_>, Map<_, _>) = given
        .filter(|(name, _)| valid_name(&name.to_lowercase()))
        .map(|(name, value)| (name.clone(), (name.clone(), schema_of(value))))
        .unzip();
    json!({ "type": "object", "properties": properties, "required": names })
}

fn schema_of(value: &Value) -> Value {
    match value.get(0) {
        Some(first) => json!({ "type": "array", "items": { "type": type_of(first) } }),
        None => json!({ "type": type_of(value) }),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::String(_) | Value::Null => "string",
    }
}

#[cfg(test)]
mod tests;
