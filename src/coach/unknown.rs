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
mod tests {
    use super::*;

    fn told(tool: &str, arguments: &Value) -> String {
        lesson(&["execute_sql", "write_capability"], tool, &arguments.to_string()).unwrap()
    }

    fn call_in(refusal: &str) -> Value {
        let (begin, end) = (refusal.find('{').unwrap(), refusal.rfind('}').unwrap());
        serde_json::from_str(&refusal[begin..=end]).unwrap_or_else(|error| panic!("{error}: {refusal}"))
    }

    #[test]
    fn the_call_that_makes_the_tool_is_written_out() {
        let told = told("gcd", &json!({"a": 1071, "b": 462.5, "how": "fast", "of": [3], "-": 1}));
        assert!(told.starts_with("Make it yourself, the user cannot."), "{told}");
        let properties = json!({"a": {"type": "integer"}, "b": {"type": "number"}, "how": {"type": "string"},
            "of": {"type": "array", "items": {"type": "integer"}}});
        assert_eq!(
            call_in(&told),
            json!({
                "name": "gcd",
                "description": "...",
                "code": "export default async function gcd(params) { const { a, b, how, of } = params; ... return result; }",
                "parameters_schema": {"type": "object", "properties": properties, "required": ["a", "b", "how", "of"]},
            })
        );
    }

    #[test]
    fn a_schema_given_for_arguments_is_the_schema() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]});
        assert_eq!(call_in(&told("double", &schema))["parameters_schema"], schema);
        let none = json!({"type": "object", "properties": {}, "required": []});
        for nothing in [json!({}), none.clone()] {
            let call = call_in(&told("visits", &nothing));
            assert_eq!(call["parameters_schema"], none);
            assert_eq!(call["code"], "export default async function visits(params) { ... return result; }");
        }
    }

    #[test]
    fn what_cannot_be_a_name_is_not_shown_as_one() {
        assert_eq!(told("Send Email", &json!({})), "To make a new one, call write_capability.");
    }

    #[test]
    fn who_cannot_make_tools_is_not_told_to() {
        assert_eq!(lesson(&["restart"], "gcd", "{}"), None);
    }

    #[test]
    fn a_parameter_called_params_is_not_declared_twice() {
        let told = told("set_stock", &json!({ "params": { "stock": 0 } }));
        assert!(told.contains("set_stock(params) { ... return result; }"), "{told}");
    }
}
