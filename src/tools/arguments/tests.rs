//! Tests of `tools::arguments`.

use super::*;

#[test]
fn nothing_counts_as_an_empty_object() {
    for text in ["", " ", "null", "{}"] {
        assert_eq!(parse(text), Ok(json!({})), "{text:?}");
    }
}

#[test]
fn what_allows_anything_is_spelled_out_wherever_a_schema_may_stand() {
    let mut schema = json!({"type": "object", "properties": {"a": true, "b": {"type": "array", "items": true}, "items": {"default": true}},
            "additionalProperties": true, "anyOf": [true, {"const": true}]});
    spelled_out(&mut schema);
    let any = json!({"type": ["string", "number", "boolean", "null", "array", "object"]});
    let expected = json!({"type": "object", "properties": {"a": any, "b": {"type": "array", "items": any}, "items": {"default": true}},
            "additionalProperties": true, "anyOf": [any, {"const": true}]});
    assert_eq!(schema, expected);
}

#[test]
fn no_other_fields_is_written_as_false() {
    let mut schema = json!({"type": "object", "additionalProperties": {"not": {}},
            "properties": {"a": {"type": "object", "additionalProperties": {"not": {}}}}});
    spelled_out(&mut schema);
    let expected = json!({"type": "object", "additionalProperties": false, "properties": {"a": {"type": "object", "additionalProperties": false}}});
    assert_eq!(schema, expected);
}

#[test]
fn zero_characters_are_replaced_wherever_they_stand() {
    let text = r#"{"a\u0000": ["x\u0000y", {"b": "\u0000"}], "c": "\\u0000"}"#;
    let replaced = json!({"a\u{FFFD}": ["x\u{FFFD}y", {"b": "\u{FFFD}"}], "c": "\\u0000"});
    assert_eq!(parse(text), Ok(replaced));
}

#[test]
fn what_is_no_object_is_refused_with_the_reason() {
    for (text, reason) in [
        ("[1]", "must be one JSON object"),
        ("{\"a\":", "cut off: write less. EOF while parsing a value at line 1"),
        (r#"{"a": 1, "b": {"c": 1, "c": 2}}"#, "not valid JSON: the field `c` stands twice at line 1"),
        ("{oops}", "not valid JSON: key must be a string at line 1"),
    ] {
        let refused = parse(text).unwrap_err();
        assert!(refused.message.contains(reason), "{refused:?}");
    }
}

#[test]
fn a_number_that_would_become_another_is_refused() {
    for number in ["12345678901234567890123", "-18446744073709551617", "0.12345678901234567890123", "1e-999"] {
        let refused = parse(&format!(r#"{{"params": ["\"7", {{"a": {number}}}]}}"#)).unwrap_err();
        assert!(refused.message.starts_with(&format!("the number {number} has more digits")), "{refused:?}");
    }
    let whole = ["18446744073709551615", "-9223372036854775808", "100000000000000000000", "1E5"];
    for number in whole.into_iter().chain(["0.10", "-0.0", "1.5e-7", "0.30000000000000004"]) {
        assert!(parse(&format!(r#"{{"a": "12345678901234567890123\\", "b": {number}}}"#)).is_ok(), "{number}");
    }
}
