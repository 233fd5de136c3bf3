//! Reads out of a request all that the tour needs: the speakers, the calls of this turn and their
//! results, and the time.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::domain::{CallRequest, RefusalCode};
use crate::model::{Entry, Request};

/// A tool call of this turn with its result.
pub(super) struct PastCall<'a> {
    pub(super) call: &'a CallRequest,
    /// `None` when no result is recorded.
    pub(super) result: Option<&'a str>,
    /// The kind of refusal, if it is one.
    pub(super) refusal: Option<RefusalCode>,
}

impl<'a> PastCall<'a> {
    fn open(call: &'a CallRequest) -> Self {
        Self { call, result: None, refusal: None }
    }

    /// True when it did not do its work: it was refused, or its result is an object that tells of
    /// an error.
    pub(super) fn failed(&self) -> bool {
        let told = self.result.and_then(|result| serde_json::from_str::<Value>(result).ok()).unwrap_or_default();
        let has_error = told.get("error").is_some_and(|error| !error.is_null());
        self.refusal.is_some() || has_error || told.get("ok") == Some(&Value::Bool(false))
    }
}

/// A request as the tour sees it.
pub(super) struct Scene<'a> {
    request: &'a Request,
    /// The words this turn reacts to.
    pub(super) input: &'a str,
    /// The calls of this turn, oldest first.
    pub(super) done: Vec<PastCall<'a>>,
    /// The time the newest message tells.
    pub(super) now: Option<DateTime<Utc>>,
    /// How many calls the whole conversation shows.
    calls_so_far: usize,
}

impl<'a> Scene<'a> {
    /// Reads a request.
    pub(super) fn of(request: &'a Request) -> Self {
        let entries = &request.entries;
        let last = entries.iter().rposition(|entry| matches!(entry, Entry::User(_)));
        let input = match last.map(|last| &entries[last]) {
            Some(Entry::User(text)) => timed(text).map_or(text.as_str(), |(_, said)| said).trim(),
            _ => "",
        };
        let mut done: Vec<PastCall> = Vec::new();
        for entry in entries.iter().skip(last.map_or(0, |last| last + 1)) {
            match entry {
                Entry::Assistant { calls, .. } => done.extend(calls.iter().map(PastCall::open)),
                Entry::Tool { call_id, content, refusal } => {
                    let open = done.iter_mut().rev().find(|done| done.call.id == *call_id && done.result.is_none());
                    if let Some(open) = open {
                        (open.result, open.refusal) = (Some(content.as_str()), *refusal);
                    }
                }
                Entry::System(_) | Entry::User(_) | Entry::UserWithImages { .. } => {}
            }
        }
        let calls = |entry: &Entry| if let Entry::Assistant { calls, .. } = entry { calls.len() } else { 0 };
        Self { request, input, done, now: entries.iter().rev().find_map(time), calls_so_far: entries.iter().map(calls).sum() }
    }

    /// The system text.
    pub(super) fn system(&self) -> &'a str {
        match self.request.entries.first() {
            Some(Entry::System(text)) => text,
            _ => "",
        }
    }

    /// True when tasks that fell due began the turn.
    pub(super) fn woken(&self) -> bool {
        self.request.woken
    }

    /// True when the assistant said something before this turn.
    pub(super) fn has_spoken(&self) -> bool {
        self.request.entries.iter().any(|entry| matches!(entry, Entry::Assistant { .. }))
    }

    /// True when the tool may be called now.
    pub(super) fn offers(&self, tool: &str) -> bool {
        self.request.tools.iter().any(|offered| offered.name == tool)
    }

    /// True when the tool takes this argument.
    pub(super) fn takes(&self, tool: &str, argument: &str) -> bool {
        let offered = self.request.tools.iter().find(|offered| offered.name == tool);
        offered.is_some_and(|offered| offered.parameters["properties"].get(argument).is_some())
    }

    /// A call; `nth` counts from 0 inside one answer.
    pub(super) fn call(&self, nth: usize, tool: &str, arguments: &Value) -> CallRequest {
        CallRequest { id: format!("tour_{}", self.calls_so_far + nth + 1), name: tool.into(), arguments: arguments.to_string() }
    }

    /// True when one of the words of the input begins with one of these.
    pub(super) fn says(&self, beginnings: &[&str]) -> bool {
        let input = self.input.to_lowercase();
        let mut words = input.split(|c: char| !c.is_alphanumeric());
        words.any(|word| beginnings.iter().any(|beginning| word.starts_with(beginning)))
    }

    /// The first whole number in the input.
    pub(super) fn number(&self) -> Option<i64> {
        self.input.split(|c: char| !c.is_ascii_digit()).find_map(|digits| digits.parse().ok())
    }
}

/// The time that the agent puts before each message, and the message:
/// `[2026-11-20T06:30:00Z] hello`. The person's to-dos may stand before both, in lines of their
/// own.
pub(super) fn timed(text: &str) -> Option<(DateTime<Utc>, &str)> {
    let begins = if text.starts_with('[') { 0 } else { text.find("\n\n[")? + 2 };
    let (time, said) = text[begins..].strip_prefix('[')?.split_once("] ")?;
    Some((DateTime::parse_from_rfc3339(time).ok()?.to_utc(), said))
}

fn time(entry: &Entry) -> Option<DateTime<Utc>> {
    let Entry::User(text) = entry else { return None };
    timed(text).map(|(time, _)| time)
}

/// A result short enough to quote in a sentence; of one with a message, the message.
pub(super) fn quoted(result: &str) -> String {
    let parsed = serde_json::from_str::<Value>(result).unwrap_or_default();
    let message = ["message", "error"].into_iter().find_map(|name| parsed[name].as_str());
    let said = message.or(parsed.as_str()).unwrap_or(result).trim().trim_end_matches('.');
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
    match line.char_indices().nth(400) {
        Some((cut, _)) => format!("`{}…`", &line[..cut]),
        None => format!("`{line}`"),
    }
}

/// The numbers of the tasks that a heartbeat names, one in each line like `- task 3, due …`. Titles
/// and details are a person's own words: a number in them names nothing.
pub(super) fn task_numbers(text: &str) -> Vec<i64> {
    let number = |line: &str| line.strip_prefix("- task ")?.split(',').next()?.parse().ok();
    text.lines().filter_map(number).collect()
}

#[cfg(test)]
mod tests;
