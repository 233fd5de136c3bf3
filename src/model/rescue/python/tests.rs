//! Tests of `model::rescue::python`.

use super::*;
use serde_json::json;

#[test]
fn literals_of_python_and_json_are_read() {
    for (text, value) in [
        ("{'a': 'it''s', }", None),
        (
            "{'a': 'it\\'s', \"b\": [1, -2.5, 1e3,], 'c': (True, None), }",
            Some(json!({ "a": "it's", "b": [1, -2.5, 1000.0], "c": [true, null] })),
        ),
        ("'''two\nlines \\u00e9\\x41 \\d'''", Some(json!("two\nlines éA \\d"))),
        ("{\"a\": {\"b\": false}}", Some(json!({ "a": { "b": false } }))),
        ("7", Some(json!(7))),
        ("seven", None),
        ("{'a': open('x')}", None),
        ("{'a': 1", None),
        ("1 2", None),
        ("'a", None),
        ("", None),
    ] {
        assert_eq!(literal(text), value, "{text}");
    }
    assert_eq!(literal(&"[".repeat(100_000)), None);
}

#[test]
fn calls_have_names_and_named_arguments_and_nothing_else() {
    let one = calls("a.call(x=1, y='b'), c()").unwrap();
    assert_eq!(
        one,
        [("a.call".to_owned(), json!({ "x": 1, "y": "b" }).as_object().unwrap().clone()), ("c".to_owned(), Map::new())]
    );
    for text in ["a", "a(1)", "a(x=1", "a(x=1) b(y=2)", "a(x=y)", "(x=1)", "a(x=1),", "1(x=1)", ""] {
        assert_eq!(calls(text), None, "{text}");
    }
}
