//! Tests of `model::rescue::lenient`.

use super::*;
use serde_json::json;

#[test]
fn what_json_does_not_know_is_null_and_strings_are_left_alone() {
    let text = r#"{"a": NaN, "b": [-Infinity, 1e999, -2.5, true], "NaN": "Infinity \" NaN", "c": undefined}"#;
    let read = json!({ "a": null, "b": [null, null, -2.5, true], "NaN": "Infinity \" NaN", "c": null });
    assert_eq!(parse(text).unwrap(), read);
}

#[test]
fn half_a_character_is_marked_and_a_whole_one_stays() {
    for (text, read) in [
        (r#""a\ud83d""#, "a\u{fffd}"),
        (r#""\ude00b""#, "\u{fffd}b"),
        (r#""\ud83d\u0041\\ud83d""#, "\u{fffd}A\\ud83d"),
        (r#"["\ud83d\ude00", NaN]"#, "😀"),
    ] {
        let value = parse(text).unwrap();
        assert_eq!(value.as_str().or(value[0].as_str()), Some(read), "{text}");
    }
}

#[test]
fn what_is_cut_or_broken_stays_so() {
    for text in ["", "{", "{\"a\": Na", "{\"a\": NaN", "\"\\", "\"\\u12", "{\"a\":1}}", "{\"a\" 1}", "\u{fffd}", "[NaN", "\\é"] {
        assert!(parse(text).is_err(), "{text}");
    }
    assert!(parse(&"[".repeat(10_000)).is_err());
    assert!(parse(&format!("{}NaN{}", "[".repeat(10_000), "]".repeat(10_000))).is_err());
}
