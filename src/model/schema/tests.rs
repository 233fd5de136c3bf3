//! Tests of `model::schema`.

use super::*;
use serde_json::json;

#[test]
fn a_full_schema_only_gets_what_servers_miss() {
    let schema = json!({ "$schema": "x", "additionalProperties": false });
    let sent = json!({ "additionalProperties": false, "type": "object", "properties": {} });
    assert_eq!(parameters(&schema, SchemaForm::Full), Some(sent));
}

#[test]
fn a_plain_schema_has_one_type_for_each_value_and_nothing_outside_the_common_ground() {
    let schema = json!({
        "$schema": "x", "title": "T", "type": "object", "additionalProperties": false, "required": ["a"],
        "$defs": { "Kind": { "type": "string", "enum": ["x", "y"], "format": "f" } },
        "properties": {
            "a": { "type": ["integer", "null"], "format": "int64", "default": null, "description": "A." },
            "b": { "type": ["integer", "string"] },
            "c": { "$ref": "#/$defs/Kind" },
            "d": { "type": "array", "items": { "oneOf": [{ "const": "z" }, { "type": "number", "enum": [1] }] } },
        },
    });
    let plain = json!({
        "type": "object", "required": ["a"],
        "properties": {
            "a": { "type": "integer", "nullable": true, "description": "A." },
            "b": { "anyOf": [{ "type": "integer" }, { "type": "string" }] },
            "c": { "type": "string", "enum": ["x", "y"] },
            "d": { "type": "array", "items": { "anyOf": [{ "enum": ["z"] }, { "type": "number" }] } },
        },
    });
    assert_eq!(parameters(&schema, SchemaForm::Plain), Some(plain));
}

#[test]
fn a_tool_without_parameters_has_no_plain_schema_and_one_that_holds_itself_has_an_end() {
    assert_eq!(parameters(&json!({}), SchemaForm::Plain), None);
    let endless = json!({ "$defs": { "Tree": { "type": "object", "properties": { "left": { "$ref": "#/$defs/Tree" } } } },
            "properties": { "tree": { "$ref": "#/$defs/Tree" } } });
    assert!(parameters(&endless, SchemaForm::Plain).unwrap().to_string().len() < 10_000);
}
