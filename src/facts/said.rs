//! The outcome of a call in one sentence for a person. The sentence follows from the event alone,
//! so old events have one as well, and better words reach all of them. No model reads it.

use serde_json::Value;

use crate::domain::todo::TodoFunction;
use crate::domain::{CallFault, EXECUTE_SQL, MANAGE_TASKS, Outcome, RESTART, Refusal, RefusalCode, WRITE_CAPABILITY};

/// The longest result that is read for the sentence, in bytes. Those that say what was done are
/// short.
const READ: usize = 16 << 10;

/// The most of a fault that stands in the sentence, in bytes; all of it stands beside the sentence.
const LONGEST_REASON: usize = 240;

/// The sentence on a call that may have done something and did not say so.
const UNCERTAIN: &str = "It may or may not have happened; nobody knows. It is not done again by itself.";

/// The sentence on a call of this tool. A call without a verdict was never judged: its turn ended
/// first. That of a call that was cut ended in the middle of it.
pub(super) fn said(tool: &str, outcome: &Outcome, verdict: Option<&str>) -> String {
    if let Some(message) = of_function(tool, outcome) {
        return message;
    }
    match (outcome.ok, outcome.refusal) {
        (true, _) if outcome.account.uncertain => format!("{} A part of it may or may not have happened.", done(tool, outcome)),
        (true, _) => done(tool, outcome),
        (false, _) if outcome.account.uncertain => UNCERTAIN.to_owned(),
        (false, Some(code)) => reasoned(refused(code), outcome.account.fault.as_deref()),
        (false, None) if verdict.is_none() || outcome.account.cut => "The turn ended before this was done.".to_owned(),
        (false, None) => format!("`{tool}` did not succeed."),
    }
}

/// The sentence on the kind of a failure, with the first line of the fault's own words.
fn reasoned(kind: &str, fault: Option<&CallFault>) -> String {
    let first = fault.and_then(|fault| fault.message.lines().map(str::trim).find(|line| !line.is_empty()));
    let Some(first) = first else { return kind.to_owned() };
    let shown = &first[..first.floor_char_boundary(LONGEST_REASON)];
    let end = match first.ends_with(['.', '!', '?']) {
        _ if shown.len() < first.len() => "…",
        true => "",
        false => ".",
    };
    format!("{kind} The reason: {shown}{end}")
}

/// The sentence that a function over to-dos gives for its person.
fn of_function(tool: &str, outcome: &Outcome) -> Option<String> {
    tool.parse::<TodoFunction>().ok().filter(|_| outcome.result.len() <= READ)?;
    let told: Value = serde_json::from_str(&outcome.result).ok()?;
    told["message"].as_str().filter(|_| told["success"].is_boolean()).map(str::to_owned)
}

fn done(tool: &str, outcome: &Outcome) -> String {
    let result = Some(&outcome.result).filter(|result| result.len() <= READ);
    let told: Value = result.and_then(|result| serde_json::from_str(result).ok()).unwrap_or_default();
    match (tool, outcome.account.version) {
        (EXECUTE_SQL, _) => ran(&told, outcome.account.total),
        (MANAGE_TASKS, _) => tasks(&told),
        (WRITE_CAPABILITY, _) => match (told["installed"].as_str(), told["version"].as_i64()) {
            (Some(name), Some(version)) => format!("Version {version} of the capability `{name}` is live."),
            _ => "The capability was written.".to_owned(),
        },
        (RESTART, _) if told["reloaded"].is_array() => "Every capability was loaded afresh.".to_owned(),
        (RESTART, _) => "The server restarts.".to_owned(),
        (capability, Some(version)) => format!("`{capability}` was called, version {version}."),
        (other, None) => format!("`{other}` was called."),
    }
}

/// The sentence on statements that ran.
fn ran(told: &Value, total: Option<i64>) -> String {
    let rows = |number: i64| if number == 1 { "1 row".to_owned() } else { format!("{number} rows") };
    if let Some(total) = total {
        return format!("It gave {}.", rows(total));
    }
    if let Some(changed) = told["row_count"].as_i64() {
        return format!("It changed {}.", rows(changed));
    }
    match (told.as_array(), told["results"].as_array().map(Vec::len)) {
        (Some(given), _) => format!("It gave {}.", rows(i64::try_from(given.len()).unwrap_or(i64::MAX))),
        (None, Some(several @ 2..)) => format!("{several} statements ran."),
        (None, _) => "The statement ran.".to_owned(),
    }
}

fn tasks(told: &Value) -> String {
    if let Some(title) = told["deleted"]["title"].as_str() {
        return format!("The task “{title}” was deleted.");
    }
    match (told["title"].as_str(), told["status"].as_str()) {
        (Some(title), Some("done")) => format!("The task “{title}” is done."),
        (Some(title), Some("in_progress")) => format!("The task “{title}” is in progress."),
        (Some(title), Some("cancelled")) => format!("The task “{title}” is cancelled."),
        (Some(title), _) => format!("The task “{title}” is on the list."),
        (None, _) => "The tasks were looked at.".to_owned(),
    }
}

/// The failure of a call for a person who reads of it later: the words of code that threw, and
/// else the sentence on its kind. `result` is the text for the model, which says more.
pub fn failure(code: Option<RefusalCode>, result: &str) -> String {
    let Some(code) = code else { return "It did not succeed.".to_owned() };
    let threw = matches!(code, RefusalCode::CapabilityFailed | RefusalCode::CapabilityFault);
    let told: Value = if threw { serde_json::from_str(result).unwrap_or_default() } else { Value::Null };
    told["message"].as_str().map_or_else(|| refused(code).to_owned(), Refusal::thrown_on)
}

/// The sentence on a call that was not carried out, or failed.
fn refused(code: RefusalCode) -> &'static str {
    match code {
        RefusalCode::InvalidArguments => "The arguments did not fit, so nothing was done.",
        RefusalCode::InvalidName => "A capability cannot have this name.",
        RefusalCode::InvalidSchema => "The parameters of the capability cannot be read.",
        RefusalCode::UnknownGrant => "It asks for a power that does not exist, or in words that cannot be read.",
        RefusalCode::MissingGrant => "The code uses a power that it did not ask for.",
        RefusalCode::NotDefined => "The code uses a name that is not defined.",
        RefusalCode::TooLarge => "The source is too long, or it brings too many tests.",
        RefusalCode::SyntaxError => "The source cannot be read as a program.",
        RefusalCode::ImportError => "The code fails while it loads.",
        RefusalCode::MissingFunction => "The code does not define its function.",
        RefusalCode::TestFailed => "One of the capability's own tests failed, so it was not installed.",
        RefusalCode::SqlError => "The database refused the statement; nothing of it was kept.",
        RefusalCode::SqlForbidden => "The database does not allow this statement; nothing of it was kept.",
        RefusalCode::CapabilityFailed => "The capability failed.",
        RefusalCode::CapabilityFault => "The capability failed: its code has a fault.",
        RefusalCode::LimitExceeded => "The capability came to a limit of its call and was ended.",
        RefusalCode::CapabilityUnusable => "The capability cannot be used.",
        RefusalCode::Taken => "The name is taken.",
        RefusalCode::Disabled => "The capability is disabled.",
        RefusalCode::Gone => "It is not there any more.",
        RefusalCode::McpServer => "The external server did not carry it out.",
        RefusalCode::NotFound => "There is nothing with this number.",
        RefusalCode::Refused => "This may not be done here.",
        RefusalCode::Timeout => "It took too long and was ended.",
        RefusalCode::Busy => "Others were using what it needs, so nothing was done.",
        RefusalCode::Quota => "The agent's tables have all the room they may have.",
        RefusalCode::DiskFull => "The disk has no room left for the agent's tables.",
        RefusalCode::TooMuch => "The result is too large; nothing was kept.",
        RefusalCode::TooMany => "There are as many of them as there may be, so nothing was done.",
        RefusalCode::TooManyCalls => "The answer asked for more calls than one answer may make; this one was not made.",
        RefusalCode::UnknownTool => "There is no such tool.",
        RefusalCode::Forbidden => "The rules do not allow it, so nothing was done.",
        RefusalCode::Denied => "It was not allowed, so nothing was done.",
        RefusalCode::Expired => "Nobody decided in time, so nothing was done.",
    }
}

#[cfg(test)]
mod tests;
