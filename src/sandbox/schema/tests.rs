//! Tests of `sandbox::schema`.

use super::*;
use serde_json::json;

fn refused(schema: Value) -> String {
    let error = check(&schema).unwrap_err();
    assert_eq!(error.kind, RefusalCode::InvalidSchema);
    error.message
}

#[test]
fn a_schema_must_describe_an_object() {
    assert!(check(&json!({"type": "object"})).is_ok());
    assert!(refused(json!("n")).contains("must be a JSON Schema, an object; for example {"));
    assert!(refused(json!({"n": {"type": "integer"}})).contains("\"type\": \"object\" at the top"));
}

#[test]
fn what_is_wrong_in_a_schema_is_named() {
    let message = refused(json!({"type": "object", "properties": {"n": {"type": "int"}}}));
    assert!(message.contains("/properties/n/type") && message.contains("int"), "{message}");
    let message = refused(json!({"type": "object", "properties": {"n": {"type": "string", "pattern": "(a"}}}));
    assert!(message.contains("(a"), "{message}");
}

#[test]
fn a_pattern_that_cannot_be_used_says_why() {
    for (pattern, why) in [
        ("(?<=x)y", "look-around, including look-ahead and look-behind, is not supported"),
        (r"(a)\1", "backreferences are not supported"),
        ("(a", "unclosed group"),
        ("((a{1,100}){1,100}){1,100}", "more than 1048576 bytes once it is compiled; repeat less"),
    ] {
        let at = format!("at `/properties/s/pattern`: the pattern `{pattern}` cannot be used: ");
        let message = refused(json!({"type": "object", "properties": {"s": {"type": "string", "pattern": pattern}}}));
        assert!(message.contains(&at) && message.contains(why), "{message}");
    }
    let message = refused(json!({"type": "object", "patternProperties": {"(?=x)": {}}}));
    assert!(message.contains("look-around"), "{message}");
}

#[test]
fn a_property_that_is_not_allowed_is_named() {
    let told = |schema: Value, params: Value| {
        Validators::default().validate(&schema, &params).unwrap_err().refusal().fault.unwrap().message
    };
    let none = json!({"type": "object", "additionalProperties": false});
    assert_eq!(told(none.clone(), json!({"a": 1, "b": 2})), "the arguments: no properties are allowed, and there is 'a', 'b'.");
    let deep = json!({"type": "object", "properties": {"at": none, "never": false}});
    assert_eq!(told(deep.clone(), json!({"at": {"x": 1}})), "`/at`: no properties are allowed, and there is 'x'.");
    assert_eq!(told(deep, json!({"never": {"x": 1}})), "`/never`: nothing is allowed here; leave it out.");
}

#[test]
fn references_are_refused_because_they_can_loop() {
    let message = refused(json!({"type": "object", "allOf": [{"$ref": "#"}]}));
    assert!(message.contains("`/allOf/0/$ref`"), "{message}");
    assert!(check(&json!({"type": "object", "properties": {"$ref": {"type": "string"}}})).is_ok());
}

#[test]
fn a_wrong_argument_is_named_with_its_path_and_what_was_expected() {
    let schema = json!({
        "type": "object", "properties": {"n": {"type": "integer"}, "to": {"enum": ["a", "b"]}}, "required": ["n", "to"],
    });
    assert_eq!(Validators::default().validate(&schema, &json!({"n": 3, "to": "a"})), Ok(()));
    let error = Validators::default().validate(&schema, &json!({"n": "x"})).unwrap_err().to_string();
    assert!(error.contains("`/n`: \"x\" is not of type \"integer\""), "{error}");
    assert!(error.contains("\"to\" is a required property"), "{error}");
    assert!(error.contains("The parameters schema is: {"), "{error}");
    let fault = Validators::default().validate(&schema, &json!({"n": "x", "to": "a"})).unwrap_err().refusal().fault.unwrap();
    assert_eq!(fault.message, "`/n`: \"x\" is not of type \"integer\".");
}

#[test]
fn a_pattern_cannot_backtrack() {
    let schema = json!({"type": "object", "properties": {"s": {"type": "string", "pattern": "^(a+)+$"}}});
    let text = format!("{}b", "a".repeat(50_000));
    assert!(Validators::default().validate(&schema, &json!({ "s": text })).is_err());
}
