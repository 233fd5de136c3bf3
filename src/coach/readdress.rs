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
        Ok(mut given) if makes(&given, &call.name) && crate::model::helps("readdress") => {
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
mod tests;
