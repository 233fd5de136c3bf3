//! Tests of `sandbox::trials`.

use super::*;
use serde_json::json;

#[test]
fn results_are_compared_as_a_caller_would_see_them() {
    assert!(same("XIV", &json!("XIV")));
    assert!(same("1.0", &json!(1)));
    assert!(same(r#"{"b":[1,null],"a":2}"#, &json!({"a": 2.0, "b": [1, null]})));
    assert!(same("42", &json!("42")));
    assert!(!same("XV", &json!("XIV")));
    assert!(!same(r#"{"a":2}"#, &json!({"a": 2, "b": 3})));
    assert!(!same("[1,2]", &json!([2, 1])));
}
