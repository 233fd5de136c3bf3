//! Tests of `http::api::reply`.

use super::*;
use crate::wire::api::PolicyChange;

#[test]
fn a_zero_character_is_found_and_its_letters_are_not() {
    for json in [r#"{"a": "\u0000"}"#, r#"{"\\\u0000": 1}"#] {
        assert!(holds_zero(json.as_bytes()), "{json}");
    }
    for json in [r#"{"a": "\\u0000"}"#, r#"{"a": "\u0001"}"#, r#""\"#] {
        assert!(!holds_zero(json.as_bytes()), "{json}");
    }
}

#[test]
fn a_value_that_does_not_fit_is_told_without_a_place_in_the_text() {
    let read = |json: &str| unread(&serde_json::from_str::<PolicyChange>(json).unwrap_err());
    let told = read(r#"{"budgets": {"tasks": {"percent_of_day": 101}}}"#);
    assert_eq!(told, "the body cannot be taken: `tasks`: percent_of_day is 100 at most");
    let told = read(r#"{"budgets" 1}"#);
    assert!(told.starts_with("the body cannot be read: expected `:` at line 1 column"), "{told}");
}
