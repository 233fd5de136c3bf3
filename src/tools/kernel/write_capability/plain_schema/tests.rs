//! Tests of `tools::kernel::write_capability::plain_schema`.

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
