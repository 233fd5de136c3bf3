//! What a model is shown: the system prompt, then the conversation.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::json;

use crate::domain::{Task, TurnState};
use crate::model::Entry;
use crate::store::{CapabilitySummary, Exchange, HistoryEntry};

/// Tasks due within this time are in the prompt.
pub(super) const DUE_SOON: TimeDelta = TimeDelta::hours(1);
/// A tool result of more bytes is cut in the middle.
const RESULT_BYTES: usize = 24 * 1024;
const PROMPT: &str = include_str!("prompt.md");

/// The system prompt. It changes only when capabilities or due tasks do, and the time stands before the newest message instead: a
/// request then begins with what the last one began with, which providers and local servers need not read again.
pub(super) fn system_prompt(capabilities: &[CapabilitySummary], due: &[Task]) -> String {
    PROMPT
        .replace("{capabilities_section}", &capabilities_section(capabilities))
        .replace("{tasks_section}", &tasks_section(due))
        .trim_end()
        .to_owned()
}

fn capabilities_section(capabilities: &[CapabilitySummary]) -> String {
    if capabilities.is_empty() {
        return "You have no self-built capabilities yet.".to_owned();
    }
    // The descriptions are in the tool list already; saying them twice would cost twice.
    let names: Vec<_> = capabilities.iter().map(|capability| capability.name.as_str()).collect();
    format!("You have {} self-built capabilities, each a tool of its own: {}.", names.len(), names.join(", "))
}

fn tasks_section(due: &[Task]) -> String {
    if due.is_empty() { String::new() } else { format!("\nCurrent tasks due soon:\n{}", json!(due)) }
}

/// The conversation as entries. A turn that did not end with an answer is followed by a line that says so.
pub(super) fn entries(history: &[Exchange]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let newest = history.last().map(|exchange| exchange.turn);
    for exchange in history {
        for entry in &exchange.entries {
            entries.push(match entry {
                HistoryEntry::User(content, at) if Some(exchange.turn) == newest => Entry::User(with_time(content, *at)),
                HistoryEntry::User(content, _) => Entry::User(content.clone()),
                // An empty answer that was asked for again says nothing, and some providers refuse it.
                HistoryEntry::Assistant(content, calls) if calls.is_empty() && content.trim().is_empty() => continue,
                HistoryEntry::Assistant(content, calls) => Entry::Assistant { content: content.clone(), calls: calls.clone() },
                HistoryEntry::Tool(call_id, content) => Entry::Tool { call_id: call_id.clone(), content: cut_middle(content) },
            });
        }
        let reason = exchange.reason.as_deref().unwrap_or("no reason was given");
        match exchange.state {
            TurnState::Failed => entries.push(note(&format!("This turn failed: {reason}"))),
            TurnState::Aborted => entries.push(note("The user stopped this turn.")),
            TurnState::Queued | TurnState::Running | TurnState::AwaitingApproval | TurnState::Completed => {}
        }
    }
    entries
}

fn with_time(content: &str, at: DateTime<Utc>) -> String {
    format!("[{}] {content}", at.to_rfc3339_opts(SecondsFormat::Secs, true))
}

fn note(text: &str) -> Entry {
    Entry::Assistant { content: format!("[controller] {text}"), calls: Vec::new() }
}

/// The system prompt and the running turn; `None` when there is nothing to leave out.
pub(super) fn this_turn_only(entries: &[Entry]) -> Option<Vec<Entry>> {
    let (system, conversation) = entries.split_first()?;
    let start = conversation.iter().rposition(|entry| matches!(entry, Entry::User(text) if !text.starts_with("[controller]")))?;
    (start > 0).then(|| std::iter::once(system).chain(&conversation[start..]).cloned().collect())
}

/// What the controller says at the end of a turn that carried out a person's order: what the calls said themselves.
pub(super) fn what_came_of_it(history: &[Exchange]) -> String {
    let entries = history.last().map(|exchange| exchange.entries.as_slice()).unwrap_or_default();
    let said = entries.iter().filter_map(|entry| match entry {
        HistoryEntry::Tool(_, result) => Some(match serde_json::from_str::<serde_json::Value>(result) {
            Ok(told) => told["message"].as_str().map_or_else(|| result.clone(), str::to_owned),
            Err(_) => result.clone(),
        }),
        HistoryEntry::User(..) | HistoryEntry::Assistant(..) => None,
    });
    said.collect::<Vec<_>>().join("\n\n")
}

fn cut_middle(content: &str) -> String {
    if content.len() <= RESULT_BYTES {
        return content.to_owned();
    }
    let head = content.floor_char_boundary(RESULT_BYTES * 2 / 3);
    let tail = content.ceil_char_boundary(content.len() - RESULT_BYTES / 3);
    format!("{}\n[… {} bytes left out here …]\n{}", &content[..head], tail - head, &content[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::TurnId;

    fn exchange(state: TurnState, entries: Vec<HistoryEntry>) -> Exchange {
        Exchange { turn: TurnId(1), state, reason: Some("the model was not there".into()), entries }
    }

    #[test]
    fn the_prompt_is_filled_in_whole() {
        let prompt = system_prompt(&[], &[]);
        assert!(prompt.contains("You have no self-built capabilities yet."));
        assert!(!prompt.contains("_section}"), "{prompt}");
    }

    #[test]
    fn a_failed_turn_is_followed_by_what_failed() {
        let shown = entries(&[exchange(TurnState::Failed, vec![HistoryEntry::User("hi".into(), DateTime::UNIX_EPOCH)])]);
        assert_eq!(shown[0], Entry::User("[1970-01-01T00:00:00Z] hi".into()));
        let note = "[controller] This turn failed: the model was not there";
        assert_eq!(shown[1], Entry::Assistant { content: note.into(), calls: Vec::new() });
    }

    #[test]
    fn a_long_result_is_cut_in_the_middle_at_characters() {
        let long = "é".repeat(RESULT_BYTES);
        let cut = cut_middle(&long);
        assert!(cut.len() < RESULT_BYTES + 100 && cut.contains("bytes left out here"));
        assert_eq!(cut_middle("short"), "short");
    }

    #[test]
    fn a_conversation_too_long_is_shortened_to_the_running_turn() {
        let user = |text: &str| Entry::User(text.into());
        let all = [Entry::System("s".into()), user("old"), user("new"), user("[controller] again")];
        assert_eq!(this_turn_only(&all), Some(vec![all[0].clone(), all[2].clone(), all[3].clone()]));
        assert_eq!(this_turn_only(&all[..2]), None);
    }
}
