//! Tests of `http::api::reply`.

use super::*;

#[test]
fn a_zero_character_is_found_and_its_letters_are_not() {
    for json in [r#"{"a": "\u0000"}"#, r#"{"\\\u0000": 1}"#] {
        assert!(holds_zero(json.as_bytes()), "{json}");
    }
    for json in [r#"{"a": "\\u0000"}"#, r#"{"a": "\u0001"}"#, r#""\"#] {
        assert!(!holds_zero(json.as_bytes()), "{json}");
    }
}
