//! Tests of `store::things::operations`.

use serde_json::json;

use super::*;

#[test]
fn zero_characters_are_replaced_wherever_they_stand() {
    assert_eq!(shown(&json!({"a\0": ["b\0", 1, null]})), json!({"a\u{FFFD}": ["b\u{FFFD}", 1, null]}));
}
