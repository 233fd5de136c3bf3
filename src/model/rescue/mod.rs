//! Reads what a weak model nearly wrote: calls that it wrote as text, JSON that is none, an answer that only repeats itself.
//!
//! Small local models write calls as text if their server does not know their notation.
//!
//! Text becomes a call only when nothing else can be meant: the notation is one that models are
//! trained on, the tool named was offered, and the arguments fit its schema. Otherwise the text
//! stays text. If later calls name a tool that is yet to be made, those before them are made, and
//! the model goes on from their results.

pub(super) mod lenient;
mod notations;
mod python;
pub(super) mod repetition;

use serde_json::Value;

use super::assemble::MAX_CALLS;
use super::{Answer, Request};
use crate::domain::{CallRequest, ToolSpec};

use notations::{Written, written_calls};

/// Text longer than this is no tool call, in bytes.
const LONGEST: usize = 256 << 10;

/// Turns the text of an answer into tool calls if it is some, and the request wants that; the words around them stay.
pub(super) fn rescue(answer: &mut Answer, request: &Request) {
    let tools = &request.tools;
    if request.literal || !answer.calls.is_empty() || tools.is_empty() || answer.content.len() > LONGEST {
        return;
    }
    let Some((written, around)) = written_calls(&answer.content) else { return };
    if written.is_empty() || written.len() > MAX_CALLS {
        return;
    }
    let offered = |call: &&Written| named(&call.call).is_none_or(|(name, _)| tools.iter().any(|tool| tool.name == name));
    let (all, first) = (written.len(), written.iter().take_while(offered).count());
    if first < all && first > 0 && !super::helps("rescue.first") {
        return;
    }
    let calls = written.into_iter().take(first).enumerate().map(|(number, call)| {
        let (name, arguments) = call_of(call, tools)?;
        Some(CallRequest { id: format!("call_{}", number + 1), name, arguments })
    });
    if let Some(calls) = calls.collect::<Option<Vec<_>>>().filter(|calls| !calls.is_empty() && super::helps("rescue")) {
        answer.calls = calls;
        answer.content = around;
    }
}

/// The call that a text consists of, or the first of them, whether there is such a tool or not. It is not to be run; it tells what was
/// meant.
pub fn written_call(content: &str) -> Option<CallRequest> {
    if content.len() > LONGEST {
        return None;
    }
    let (written, around) = written_calls(content)?;
    let (Some(first), true) = (written.first(), around.trim().is_empty()) else { return None };
    let (name, arguments) = named(&first.call)?;
    Some(CallRequest { id: String::new(), name: name.to_owned(), arguments: arguments.to_string() })
}

/// Name and arguments, when this is a call in the plainest form.
fn named(call: &Value) -> Option<(&str, &Value)> {
    let arguments =
        ["arguments", "parameters"].into_iter().find_map(|field| call.get(field)).filter(|given| given.is_object())?;
    Some((call.get("name")?.as_str()?, arguments))
}

/// Name and arguments, when this names a tool that was offered and the arguments fit.
fn call_of(written: Written, tools: &[ToolSpec]) -> Option<(String, String)> {
    let Written { call: Value::Object(mut outer), texts } = written else { return None };
    let mut inner = match outer.remove("function") {
        Some(Value::Object(inner)) => inner,
        Some(name @ Value::String(_)) => {
            outer.insert("name".into(), name);
            outer
        }
        _ => outer,
    };
    let name = ["name", "function_name", "tool_name"].into_iter().find_map(|field| inner.get(field))?.as_str()?.to_owned();
    let tool = tools.iter().find(|tool| tool.name == name)?;
    let arguments = ["arguments", "parameters"].into_iter().find_map(|field| inner.remove(field))?;
    let arguments = match arguments {
        Value::String(text) => serde_json::from_str(&text).ok()?,
        other => other,
    };
    let arguments = if texts { typed(arguments, &tool.parameters) } else { arguments };
    let fits =
        arguments.is_object() && jsonschema::validator_for(&tool.parameters).is_ok_and(|schema| schema.is_valid(&arguments));
    fits.then(|| (name, arguments.to_string()))
}

/// Texts as what the schema wants them to be: between tags, a number is written as a text is.
fn typed(mut arguments: Value, schema: &Value) -> Value {
    let Some(fields) = arguments.as_object_mut() else { return arguments };
    for (name, value) in fields {
        let kind = &schema["properties"][name]["type"];
        let text = kind == "string" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "string"));
        if !text && super::helps("rescue.typed") && let Some(read) = value.as_str().and_then(|text| python::literal(text.trim())) {
            *value = read;
        }
    }
    arguments
}

#[cfg(test)]
mod tests;
