//! Calls of functions by Vapi's side. Nothing of ours asks for them; those that come are orders of
//! the person's, under the same law.

use chrono::TimeDelta;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::domain::todo::TodoFunction;
use crate::domain::{CallRequest, Machine, MessageDoor};
use crate::http::visitor::Visitor;
use crate::store::{StoreError, VapiCall};

/// So long an order is waited for.
const PATIENCE: TimeDelta = TimeDelta::seconds(15);
/// How many calls of one message are carried out.
const MOST: usize = 20;

/// A call, in any of the published forms.
#[derive(Debug, PartialEq)]
struct AskedCall {
    id: String,
    name: String,
    arguments: Value,
}

/// The calls of a message.
fn calls(message: &Value) -> Vec<AskedCall> {
    let listed = ["toolCallList", "toolCalls"].iter().find_map(|name| message[*name].as_array());
    let read = |call: &Value| {
        let function = if call["function"].is_object() { &call["function"] } else { call };
        let given = ["arguments", "parameters"].iter().map(|name| &function[*name]).find(|given| !given.is_null());
        let arguments = match given {
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or(Value::Null),
            Some(other) => other.clone(),
            None => json!({}),
        };
        Some(AskedCall { id: call["id"].as_str()?.to_owned(), name: function["name"].as_str()?.to_owned(), arguments })
    };
    listed.into_iter().flatten().filter_map(read).take(MOST).collect()
}

/// Carries calls out, one after the other, each once: one that comes again has the same outcome.
pub(super) async fn results(visitor: &Visitor, call: &VapiCall, message: &Value) -> Result<Value, StoreError> {
    let mut results = Vec::new();
    for asked in calls(message) {
        let outcome = if !call.open { Err("the call is over".to_owned()) } else { carried_out(visitor, call, &asked).await? };
        let (field, text) = match &outcome {
            Ok(text) => ("result", text),
            Err(text) => ("error", text),
        };
        // Vapi reads one line.
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        results.push(json!({ "toolCallId": asked.id, "name": asked.name, field: line }));
    }
    Ok(json!({ "results": results }))
}

async fn carried_out(visitor: &Visitor, call: &VapiCall, asked: &AskedCall) -> Result<Result<String, String>, StoreError> {
    let Ok(function) = asked.name.parse::<TodoFunction>() else {
        return Ok(Err(format!("there is no function `{}`", asked.name)));
    };
    if !asked.arguments.is_object() {
        return Ok(Err("the arguments cannot be read: they must be a JSON object".to_owned()));
    }
    let request =
        CallRequest { id: "command".into(), name: function.as_str().to_owned(), arguments: asked.arguments.to_string() };
    let theirs = visitor.theirs();
    // It listens before it orders anything, so that it misses no event between.
    let mut events = theirs.events();
    // The id of a call comes from outside, and may be of any length.
    let digest = Sha256::digest(&asked.id);
    let id = MessageDoor::Vapi.id(format_args!("{}-tool-{}", call.call, hex::encode(&digest[..16])));
    let turn = theirs.queue_command_once(call.conversation, &id, function.as_str(), request, visitor.now()).await?;
    let until = visitor.now() + PATIENCE;
    loop {
        if let Some(report) = theirs.turn_report(turn).await? {
            if report.approval.is_some() {
                return Ok(Err("it waits for a yes: say “go ahead” to do it, or “no”".to_owned()));
            }
            if let Some(done) = report.results.into_iter().next_back() {
                return Ok(if done.ok { Ok(done.result) } else { Err(done.result) });
            }
            if report.state.is_over() {
                return Ok(Err(report.reason.unwrap_or_else(|| "it was not carried out".to_owned())));
            }
        }
        tokio::select! {
            () = visitor.shutdown().cancelled() => return Ok(Err("the server restarts; ask again in a moment".to_owned())),
            () = visitor.clock().sleep_until(until) => return Ok(Err("it takes longer; its outcome will be in the chat".to_owned())),
            _ = events.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests;
