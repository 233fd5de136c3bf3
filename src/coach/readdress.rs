//! Small models know what to write and not whom to call: if they are asked for a capability `gcd`,
//! they call `gcd`, with its code as an argument. They mean a call of `write_capability`, and the
//! law judges it as such.

use serde_json::{Map, Value};

use crate::domain::{CallRequest, WRITE_CAPABILITY};

/// If the call is of a tool that is not `offered`, has all that makes a capability of that name,
/// and the tool that makes capabilities is offered: the call that makes it. Any other call stays as
/// it is.
pub(super) fn readdressed(call: CallRequest, offered: impl Fn(&str) -> bool) -> CallRequest {
    if offered(&call.name) || !offered(WRITE_CAPABILITY) {
        return call;
    }
    match serde_json::from_str::<Map<String, Value>>(&call.arguments) {
        Ok(mut given) if makes(&given, &call.name) => {
            given.insert("name".into(), call.name.into());
            CallRequest { id: call.id, name: WRITE_CAPABILITY.into(), arguments: Value::from(given).to_string() }
        }
        _ => call,
    }
}

fn makes(given: &Map<String, Value>, name: &str) -> bool {
    let is = |field: &str, kind: fn(&Value) -> bool| given.get(field).is_some_and(kind);
    is("code", Value::is_string)
        && is("description", Value::is_string)
        && is("parameters_schema", Value::is_object)
        && given.get("name").is_none_or(|given| given == name)
}

#[cfg(test)]
mod tests {
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
}
