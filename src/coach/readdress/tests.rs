//! Tests of `coach::readdress`.

use super::*;
use serde_json::json;

fn call(name: &str, arguments: &Value) -> CallRequest {
    CallRequest { id: "c".into(), name: name.into(), arguments: arguments.to_string() }
}

fn made(name: &str, arguments: &Value) -> (String, Value) {
    let call = readdressed(call(name, arguments), |name| ["there", WRITE_CAPABILITY].contains(&name));
    (call.name, serde_json::from_str(&call.arguments).unwrap())
}

#[test]
fn a_call_with_all_that_makes_the_tool_makes_it() {
    let parts = json!({"code": "export default …", "description": "d", "parameters_schema": {"type": "object"}});
    let mut whole = parts.clone();
    whole["name"] = "gcd".into();
    assert_eq!(made("gcd", &parts), ("write_capability".into(), whole.clone()));
    assert_eq!(made("gcd", &whole), ("write_capability".into(), whole));
}

#[test]
fn any_other_call_stays_what_it_is() {
    let parts = json!({"code": "c", "description": "d", "parameters_schema": {"type": "object"}});
    assert_eq!(made("there", &parts).0, "there", "it exists");
    let sealed = readdressed(call("gcd", &parts), |name| name == "there");
    assert_eq!(sealed.name, "gcd", "who may not write capabilities is not made to");
    for (field, value) in [("code", json!(null)), ("parameters_schema", json!("{}")), ("name", json!("other"))] {
        let mut other = parts.clone();
        other[field] = value;
        assert_eq!(made("gcd", &other).0, "gcd", "{other}");
    }
    assert_eq!(made("gcd", &json!({"a": 1071, "b": 462})).0, "gcd");
    let unreadable = CallRequest { id: "c".into(), name: "gcd".into(), arguments: "{".into() };
    assert_eq!(readdressed(unreadable.clone(), |_| false), unreadable);
}
