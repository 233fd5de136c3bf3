//! The words with which other agents hear of their calls.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, CustomRequest, ErrorCode, InitializeRequestParams, MetaObject,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::domain::{TurnId, without_middle};
use crate::wire::api::{Approval, TurnReport};

/// The longest result, in bytes; a longer one is cut in the middle.
const MAX_RESULT_BYTES: usize = 256 << 10;

/// The longest name of a client, in characters.
const MAX_CLIENT: usize = 80;

/// The code of an error without an answer. Nothing here is an internal error of the protocol: with
/// that code the transport of a client says that it lost the answer (`cli::bridge`).
pub(super) const UNANSWERED: ErrorCode = ErrorCode(-32000);

pub(super) const SAFE_MODE: &str = "level3 runs in safe mode: capabilities are off until it is started without LEVEL3_SAFE_MODE.";
pub(super) const TOO_MANY_WAIT: &str =
    "Too many of your calls wait for a person already. Nothing was begun; try again when some are decided.";
pub(super) const RESTARTS: &str = "level3 is being stopped or restarted. The call is kept: call again with the same arguments in a moment, and you \
     get its outcome. Nothing happens twice.";
pub(super) const GONE: &str = "The call is not known any more; call again.";
pub(super) const FULL: &str = "too many MCP clients are connected";
pub(super) const BATCH: &str = "level3 takes no batches: send each message by itself";
pub(super) const NO_MESSAGE: &str = "this is no message of JSON-RPC 2.0: it has `jsonrpc`, which is \"2.0\", and `method`; a request also has an `id`, \
     which is a text or a whole number";

/// The method of the request with which a client greets.
pub(super) const GREETING: &str = "initialize";

/// An answer with the reason why there is no outcome, or with a failure.
pub(super) fn failed(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

pub(super) fn unknown(tool: &str, names: &[&str]) -> String {
    let tool: String = tool.chars().take(MAX_CLIENT).filter(|c| !c.is_control()).collect();
    format!("Unknown tool: {tool}. The tools are: {}.", names.join(", "))
}

/// The error for a request that fits none of the protocol's: its method is not there, or its
/// parameters are none.
pub(super) fn unread(request: &CustomRequest) -> ErrorData {
    let (wrong, form) = match request.method.as_str() {
        "tools/call" => (fault::<CallToolRequestParams>(request), "`name` is a text, `arguments` an object"),
        GREETING => {
            let form = "`protocolVersion` is a text, `capabilities` an object, `clientInfo` an object with the texts `name` and `version`";
            (fault::<InitializeRequestParams>(request), form)
        }
        method => return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_owned(), None),
    };
    ErrorData::invalid_params(format!("The parameters of `{}` cannot be read: {wrong}. {form}.", request.method), None)
}

/// The fault of a request's parameters.
fn fault<T: DeserializeOwned>(request: &CustomRequest) -> String {
    let wrong = request.params_as::<T>().err();
    wrong.map_or_else(|| "there are none".to_owned(), |error| error.to_string())
}

pub(super) fn still_at_work(tool: &str) -> CallToolResult {
    failed(format!("`{tool}` is still at work. Call it again with the same arguments to get its outcome; nothing happens twice."))
}

/// The outcome of a turn that is over; `limit` holds the turn's last words if a limit ended it.
pub(super) fn outcome(report: TurnReport, limit: Option<String>) -> CallToolResult {
    let last = report.results.into_iter().next_back();
    match (last, limit) {
        (Some(call), _) if call.ok => {
            let text = without_middle(call.result, MAX_RESULT_BYTES);
            let mut result = CallToolResult::success(vec![ContentBlock::text(text.clone())]);
            result.structured_content = serde_json::from_str(&text).ok().filter(Value::is_object);
            result
        }
        (_, Some(limit)) => failed(without_middle(limit, MAX_RESULT_BYTES)),
        (Some(call), None) => failed(without_middle(call.result, MAX_RESULT_BYTES)),
        (None, None) => failed(report.reason.unwrap_or_else(|| "The call ended without an outcome.".to_owned())),
    }
}

/// A call that waits for a person.
pub(super) fn waits(approval: &Approval, tool: &str, host: &str) -> CallToolResult {
    let shown = &approval.shown;
    let text = format!(
        "`{tool}` was not run yet: a person has to decide about it first (approval {id}, until {until}). {why} What would happen: {what}\n\
         The person decides in the page at http://{host}/, or with `level3 approvals show {id}` and `level3 approvals approve {id}`. Once it \
         is decided, call `{tool}` again with the same arguments: you get the outcome of this same call, and nothing happens twice.",
        id = approval.id,
        until = approval.expires_at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        why = shown.why,
        what = shown.what.join(" "),
    );
    let mut result = failed(without_middle(text, MAX_RESULT_BYTES));
    result.meta.get_or_insert_with(MetaObject::new).0.insert("level3/approval".into(), json!(approval.id));
    result
}

/// Names the turn of a result, and says whether the client had asked for it before.
pub(super) fn about(mut result: CallToolResult, turn: TurnId, joined: bool) -> CallToolResult {
    let meta = &mut result.meta.get_or_insert_with(MetaObject::new).0;
    meta.insert("level3/turn".into(), json!(turn));
    meta.insert("level3/joined".into(), json!(joined));
    result
}

/// A client's name in the form that is kept: on one line, without blanks around it.
///
/// # Errors
/// Words for the client, if the name is too long. Cut, it would be the name of others too, and they
/// would get each other's outcomes.
pub(super) fn client(name: Option<&str>) -> Result<String, ErrorData> {
    let name: String = name.unwrap_or_default().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let name = name.trim();
    let many = name.chars().count();
    if many > MAX_CLIENT {
        let told = format!("the client's name (`clientInfo`) has {many} characters; {MAX_CLIENT} is the most");
        return Err(ErrorData::invalid_params(told, None));
    }
    Ok(if name.is_empty() { "unnamed" } else { name }.to_owned())
}

#[cfg(test)]
mod tests;
