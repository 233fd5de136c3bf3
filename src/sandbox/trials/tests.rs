//! Tests of `sandbox::trials`.

use super::*;
use serde_json::json;

#[test]
fn results_are_compared_as_a_caller_would_see_them() {
    assert!(same("XIV", &json!("XIV")));
    assert!(same("1.0", &json!(1)));
    assert!(same(r#"{"b":[1,null],"a":2}"#, &json!({"a": 2.0, "b": [1, null]})));
    assert!(same("42", &json!("42")));
    // The text "5" and the number 5 reach a caller as the same text.
    assert!(same("5", &json!(5)) && same("5", &json!("5")));
    assert!(same("null", &json!(null)) && !same("5", &json!(null)));
    assert!(!same("XV", &json!("XIV")));
    assert!(!same(r#"{"a":2}"#, &json!({"a": 2, "b": 3})));
    assert!(!same("[1,2]", &json!([2, 1])));
}
