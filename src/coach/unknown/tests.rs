//! Tests of `coach::unknown`.

use super::*;

fn lesson_for(tool: &str, arguments: &Value) -> String {
    lesson(&["execute_sql", "write_capability"], tool, &arguments.to_string()).unwrap()
}

fn call_in(refusal: &str) -> Value {
    let (begin, end) = (refusal.find('{').unwrap(), refusal.rfind('}').unwrap());
    serde_json::from_str(&refusal[begin..=end]).unwrap_or_else(|error| panic!("{error}: {refusal}"))
}

#[test]
fn the_call_that_makes_the_tool_is_written_out() {
    let told = lesson_for("gcd", &json!({"a": 1071, "b": 462.5, "how": "fast", "of": [3], "-": 1}));
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
    assert_eq!(call_in(&lesson_for("double", &schema))["parameters_schema"], schema);
    let none = json!({"type": "object", "properties": {}, "required": []});
    for nothing in [json!({}), none.clone()] {
        let call = call_in(&lesson_for("visits", &nothing));
        assert_eq!(call["parameters_schema"], none);
        assert_eq!(call["code"], "export default async function visits(params) { ... return result; }");
    }
}

#[test]
fn what_cannot_be_a_name_is_not_shown_as_one() {
    assert_eq!(lesson_for("Send Email", &json!({})), "To make a new one, call write_capability.");
}

#[test]
fn who_cannot_make_tools_is_not_told_to() {
    assert_eq!(lesson(&["restart"], "gcd", "{}"), None);
}

#[test]
fn a_parameter_called_params_is_not_declared_twice() {
    let told = lesson_for("set_stock", &json!({ "params": { "stock": 0 } }));
    assert!(told.contains("set_stock(params) { ... return result; }"), "{told}");
}
