//! Tests of `mcp::schema`.

use serde_json::json;

use super::*;

fn of(schema: Value) -> Result<Value, String> {
    read(schema.as_object().unwrap())
}

#[test]
fn references_inside_are_written_out_and_others_are_refused() {
    let schema = json!({"type": "object", "properties": {"at": {"$ref": "#/$defs/Place"}}, "$schema": "x",
            "$defs": {"Place": {"type": "string", "description": "Wh\u{200B}ere"}}});
    let read = of(schema).unwrap();
    assert_eq!(read, json!({"type": "object", "properties": {"at": {"type": "string", "description": "Where"}}}));
    for elsewhere in ["https://evil.example/schema.json", "file:///etc/passwd", "#/$defs/absent"] {
        let error = of(json!({"properties": {"a": {"$ref": elsewhere}}})).unwrap_err();
        assert!(error.contains("outside"), "{error}");
    }
}

#[test]
fn a_schema_that_runs_in_circles_explodes_or_hides_something_is_refused() {
    let node = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
    assert!(of(node).unwrap_err().contains("refers to itself"));
    let many = |name: &str| json!({"allOf": vec![json!({"$ref": format!("#/$defs/{name}")}); 100]});
    let defs = json!({"a": many("b"), "b": many("c"), "c": many("d"), "d": {"type": "string"}});
    assert!(of(json!({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": defs})).unwrap_err().contains("larger than"));
    assert!(of(json!({"properties": {"a\u{200B}": {}}})).unwrap_err().contains("nobody sees"));
    assert!(of(json!({"properties": {"a": {"enum": ["b\u{E0041}"]}}})).unwrap_err().contains("nobody sees"));
    assert!(of(json!({"type": "string"})).unwrap_err().contains("no object"));
    assert!(of(json!({"properties": {"a": {"type": "strin"}}})).unwrap_err().contains("not valid"));
    assert!(of(json!({"description": "x".repeat(9000), "title": "y"})).unwrap().to_string().len() < 1000);
    assert!(of(json!({"default": "x".repeat(20_000)})).unwrap_err().contains("larger than"));
}

#[test]
fn arguments_are_checked_and_what_is_wrong_is_named() {
    let schema = of(json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]})).unwrap();
    assert_eq!(fits(&schema, &json!({"n": 1})), Ok(()));
    let error = fits(&schema, &json!({"n": "x"})).unwrap_err();
    assert!(error.contains("`/n`") && error.contains("The parameters schema is"), "{error}");
}
