//! Reads what a weak model nearly wrote: calls that it wrote as text, JSON that is none, an answer
//! that only repeats itself.
//!
//! Text becomes a call only if nothing else can be meant: the form is one that models are trained
//! on, the tool named was offered, and the arguments fit its schema. Otherwise the text stays text.
//! If later calls name a tool that is yet to be made, those before them are made, and the model
//! goes on from their results.

pub(super) mod lenient;
mod notations;
pub(super) mod repetition;

use serde_json::Value;

use super::aside::behind_thoughts;
use super::assemble::MAX_CALLS;
use super::{Answer, Request};
use crate::domain::{CallRequest, ToolSpec};

/// Text longer than this is no tool call, in bytes.
const LONGEST: usize = 256 << 10;

/// Takes thoughts out of the text of an answer, and turns it into tool calls if it is some, if the
/// request wants that; the words around them stay.
pub(super) fn rescue(answer: &mut Answer, request: &Request) {
    if request.literal {
        return;
    }
    let said = behind_thoughts(&answer.content);
    if said.len() < answer.content.len() {
        answer.content = said.to_owned();
    }
    if !answer.calls.is_empty() {
        return;
    }
    let Some((written, around)) = written_calls(&answer.content) else { return };
    let there = |call: &&CallRequest| request.tools.iter().any(|tool| tool.name == call.name);
    let first = written.iter().take_while(there).count();
    let calls = written.into_iter().take(first).enumerate().map(|(number, call)| {
        let arguments = fitting(&call.arguments, request.tools.iter().find(|tool| tool.name == call.name)?)?;
        Some(CallRequest { id: format!("call_{}", number + 1), name: call.name, arguments })
    });
    if let Some(calls) = calls.collect::<Option<Vec<_>>>().filter(|calls| !calls.is_empty()) {
        tracing::debug!(target: "level3::help", rule = "rescue");
        answer.calls = calls;
        answer.content = around;
    }
}

/// The call that a text consists of, or the first of them, whether there is such a tool or not. It
/// is not to be run; it tells what was meant.
pub fn written_call(content: &str) -> Option<CallRequest> {
    let (written, around) = written_calls(content)?;
    written.into_iter().next().filter(|_| around.is_empty())
}

/// The calls in a text, and the words around them; `None` if one of them is no call.
fn written_calls(content: &str) -> Option<(Vec<CallRequest>, String)> {
    if content.len() > LONGEST {
        return None;
    }
    let (written, around) = notations::written_calls(behind_thoughts(content))?;
    let calls = written.iter().map(named).collect::<Option<Vec<_>>>().filter(|calls| calls.len() <= MAX_CALLS);
    Some((calls?, around))
}

/// The call that this value is, if it has a name and arguments.
fn named(call: &Value) -> Option<CallRequest> {
    let call = call.get("function").filter(|inner| inner.is_object()).unwrap_or(call);
    let name = ["name", "function", "function_name"].iter().find_map(|field| call.get(field))?.as_str()?;
    let arguments = ["arguments", "parameters"].iter().find_map(|field| call.get(field))?;
    let arguments = match arguments {
        Value::String(text) => serde_json::from_str(text).ok()?,
        given => given.clone(),
    };
    arguments.is_object().then(|| CallRequest { id: String::new(), name: name.to_owned(), arguments: arguments.to_string() })
}

/// The arguments, if they fit the tool's schema. Between tags a number is written as a text is.
fn fitting(arguments: &str, tool: &ToolSpec) -> Option<String> {
    let mut arguments: Value = serde_json::from_str(arguments).ok()?;
    for (name, value) in arguments.as_object_mut()? {
        let text = tool.parameters["properties"][name]["type"].to_string().contains("string");
        if !text && let Some(read) = value.as_str().and_then(|text| serde_json::from_str(text.trim()).ok()) {
            *value = read;
        }
    }
    let fits = jsonschema::validator_for(&tool.parameters).is_ok_and(|schema| schema.is_valid(&arguments));
    fits.then(|| arguments.to_string())
}

#[cfg(test)]
mod tests;
