//! Tests of `domain::exact`.

use serde_json::json;

use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Outer {
    inner: Vec<Inner>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<Size>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Inner {
    name: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Size {
    Small,
}

#[test]
fn a_list_is_no_object_and_an_object_is_no_word() {
    let read = exact::<Outer>(&json!({"inner": [{"name": "a"}], "size": null}));
    assert_eq!(read, Ok(Outer { inner: vec![Inner { name: "a".to_owned() }], size: None }));
    for (written, why) in [
        (json!([[{"name": "a"}], null]), "expected an object, not a list"),
        (json!({"inner": [{"name": "a"}, ["b"]]}), "inner[1]: expected an object, not a list"),
        (json!({"inner": [], "size": {"small": null}}), "size: expected a text, not an object"),
        (json!({"inner": 1}), "invalid type: integer `1`, expected a sequence"),
    ] {
        assert_eq!(exact::<Outer>(&written), Err(why.to_owned()), "{written}");
    }
}

#[test]
fn a_field_that_stands_twice_is_named_wherever_it_stands() {
    for text in [r#"{"a": [{"b": 1, "b": 2}]}"#, r#"{"b": 1, "a": 1.5, "b": "x"}"#] {
        let why = undoubled(text).unwrap_err();
        assert!(why.starts_with("the field `b` stands twice at line 1"), "{why}");
    }
    assert_eq!(undoubled(r#"{"a": {"a": [true, null, -1, {"a": "a"}]}, "b": {"a": 1}}"#), Ok(()));
    let twice = exact_text::<Outer>(r#"{"inner": [{"name": "a", "name": "b"}]}"#).unwrap_err();
    assert!(twice.contains("the field `name` stands twice"), "{twice}");
}

#[test]
fn numbers_are_found_between_texts_and_not_in_them() {
    let json = r#"{"7": -1.5e+3, "a\"8": ["9", 10,{"b":0}], "c": true}"#;
    assert_eq!(numbers(json).map(|place| &json[place]).collect::<Vec<_>>(), ["-1.5e+3", "10", "0"]);
    assert_eq!(numbers("12").map(|place| (place.start, place.end)).collect::<Vec<_>>(), [(0, 2)]);
}

#[test]
fn a_text_that_no_value_says_the_same_as_stays_a_text() {
    assert_eq!(as_written(r#"{"a": [1.50, "x"]}"#), json!({"a": [1.5, "x"]}));
    for text in [r#"{"a": 1, "a": 2}"#, r#"{"n": 12345678901234567890123}"#, "{\"a\": ", ""] {
        assert_eq!(as_written(text), json!(text));
    }
}
