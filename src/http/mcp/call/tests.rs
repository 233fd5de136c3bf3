//! Tests of `http::mcp::call`.

use super::*;

#[test]
fn a_call_is_known_by_tool_arguments_and_a_key_of_the_clients_own() {
    let of = |arguments: &str, key: Option<Value>| {
        fingerprint("count", &serde_json::from_str(arguments).unwrap(), key.as_ref()).unwrap()
    };
    let plain = of(r#"{"a": 1, "b": 2}"#, None);
    assert_eq!(plain, of(r#"{"b": 2, "a": 1}"#, Some(Value::Null)));
    assert_ne!(plain, of(r#"{"b": 2, "a": 3}"#, None));
    let (first, second) = (of("{}", Some("1".into())), of("{}", Some("2".into())));
    assert!(first != second && first != of("{}", None) && first == of("{}", Some("1".into())));
    for wrong in [json!(""), json!(7), json!("x".repeat(256))] {
        assert!(fingerprint("count", &json!({}), Some(&wrong)).unwrap_err().contains("255"), "{wrong}");
    }
}
