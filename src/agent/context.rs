//! What a model is shown: the system prompt, then the conversation.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde_json::json;

use super::truth;
use crate::domain::{CallRequest, ConversationId, Task, TurnState};
use crate::model::Entry;
use crate::store::{CapabilitySummary, Exchange, HistoryEntry};

/// Tasks due within this time are in the prompt.
pub(super) const DUE_SOON: TimeDelta = TimeDelta::hours(1);
/// A tool result of more bytes is cut in the middle.
const RESULT_BYTES: usize = 24 * 1024;
/// The words that stand where something was cut take no more than this.
const CUT_NOTE_BYTES: usize = 64;
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
        for (place, entry) in exchange.entries.iter().enumerate() {
            entries.push(match entry {
                HistoryEntry::User(content, at) if Some(exchange.turn) == newest => Entry::User(with_time(content, *at)),
                HistoryEntry::User(content, _) => Entry::User(content.clone()),
                // An empty answer that was asked for again says nothing, and some providers refuse it.
                HistoryEntry::Assistant(content, calls) if calls.is_empty() && content.trim().is_empty() => continue,
                HistoryEntry::Assistant(content, calls) => Entry::Assistant { content: content.clone(), calls: calls.clone() },
                HistoryEntry::Tool(call_id, content) => {
                    Entry::Tool { call_id: call_id.clone(), content: cut_middle(content, RESULT_BYTES) }
                }
            });
            if exchange.unproven.contains(&place) {
                let shown = place + 1 == exchange.entries.len() && exchange.state == TurnState::Completed;
                entries.push(if shown { note(truth::MARKED) } else { Entry::User(truth::TAKE_BACK.to_owned()) });
            }
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

/// How much of a conversation a request shows, from all of it to the least. What is left out stays in the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Extent {
    /// Everything.
    #[default]
    Whole,
    /// The newer half of what was before this turn, and this turn.
    Recent,
    /// This turn alone.
    Turn,
    /// This turn, with long results and arguments cut.
    Cut,
    /// This turn, with hardly more of its results than that they came.
    Least,
}

impl Extent {
    const ALL: [Self; 5] = [Self::Whole, Self::Recent, Self::Turn, Self::Cut, Self::Least];

    /// The most bytes of a result.
    fn result_bytes(self) -> usize {
        match self {
            Self::Whole | Self::Recent | Self::Turn => RESULT_BYTES,
            Self::Cut => 2 * 1024,
            Self::Least => 256,
        }
    }
}

/// The entries within an extent. Where something is left out, the model is told where it finds it.
pub(super) fn within(extent: Extent, entries: &[Entry], conversation: ConversationId) -> Vec<Entry> {
    let Some((system, rest)) = entries.split_first() else { return Vec::new() };
    let turn = rest.iter().rposition(begins_turn).unwrap_or(0);
    let from = match extent {
        Extent::Whole => 0,
        Extent::Recent => {
            let half = size(&rest[..turn]) / 2;
            (0..turn).find(|at| begins_turn(&rest[*at]) && size(&rest[*at..turn]) <= half).unwrap_or(turn)
        }
        Extent::Turn | Extent::Cut | Extent::Least => turn,
    };
    let system = match system {
        Entry::System(prompt) if from > 0 => Entry::System(format!(
            "{prompt}\n\nThe beginning of this conversation is left out here, since it is too long for you. It is kept; where you need \
             it: SELECT role, content FROM shared.messages WHERE conversation_id = {conversation} ORDER BY message_id"
        )),
        system => system.clone(),
    };
    std::iter::once(system).chain(rest[from..].iter().map(|entry| cut(entry, extent.result_bytes()))).collect()
}

/// The next extent that really leaves out something, and its entries; `None` when nothing is left to leave out.
pub(super) fn shorter(extent: Extent, entries: &[Entry], conversation: ConversationId) -> Option<(Extent, Vec<Entry>)> {
    // The system prompt, to which a note may be added, does not count.
    let length = |entries: &[Entry]| size(entries.get(1..).unwrap_or_default());
    let now = length(&within(extent, entries, conversation));
    let after = Extent::ALL.into_iter().skip_while(|other| *other != extent).skip(1);
    after.map(|extent| (extent, within(extent, entries, conversation))).find(|(_, entries)| length(entries) < now)
}

fn begins_turn(entry: &Entry) -> bool {
    matches!(entry, Entry::User(text) if !text.starts_with("[controller]"))
}

/// The bytes that are sent of entries.
fn size(entries: &[Entry]) -> usize {
    let size = |entry: &Entry| match entry {
        Entry::System(text) | Entry::User(text) => text.len(),
        Entry::Assistant { content, calls } => {
            content.len() + calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>()
        }
        Entry::Tool { content, .. } => content.len(),
    };
    entries.iter().map(size).sum()
}

fn cut(entry: &Entry, most: usize) -> Entry {
    match entry {
        Entry::Tool { call_id, content } => Entry::Tool { call_id: call_id.clone(), content: cut_middle(content, most) },
        Entry::Assistant { content, calls } if most < RESULT_BYTES => {
            let arguments = |arguments: &str| match arguments.len() {
                length if length > most => json!({ "left_out": format!("{length} bytes") }).to_string(),
                _ => arguments.to_owned(),
            };
            let calls = calls.iter().map(|call| CallRequest { arguments: arguments(&call.arguments), ..call.clone() });
            Entry::Assistant { content: cut_middle(content, most), calls: calls.collect() }
        }
        other => other.clone(),
    }
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

fn cut_middle(content: &str, most: usize) -> String {
    // Cut once more, it would say twice that something is missing.
    if content.len() <= most + CUT_NOTE_BYTES {
        return content.to_owned();
    }
    let head = content.floor_char_boundary(most * 2 / 3);
    let tail = content.ceil_char_boundary(content.len() - most / 3);
    format!("{}\n[… {} bytes left out here …]\n{}", &content[..head], tail - head, &content[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::TurnId;

    fn exchange(state: TurnState, entries: Vec<HistoryEntry>) -> Exchange {
        Exchange { turn: TurnId(1), state, reason: Some("the model was not there".into()), entries, unproven: Vec::new() }
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
        let cut = cut_middle(&long, RESULT_BYTES);
        assert!(cut.len() <= RESULT_BYTES + CUT_NOTE_BYTES && cut.contains("bytes left out here"));
        assert_eq!(cut_middle(&cut, RESULT_BYTES), cut);
        assert_eq!(cut_middle("short", RESULT_BYTES), "short");
    }

    fn user(text: &str) -> Entry {
        Entry::User(text.into())
    }

    fn result(bytes: usize) -> Entry {
        Entry::Tool { call_id: "c".into(), content: "x".repeat(bytes) }
    }

    fn shortened(entries: &[Entry]) -> Vec<(Extent, Vec<Entry>)> {
        let next = |extent| shorter(extent, entries, ConversationId(7));
        std::iter::successors(next(Extent::Whole), |(extent, _)| next(*extent)).collect()
    }

    #[test]
    fn a_conversation_too_long_is_shortened_to_its_newer_half_and_then_to_the_running_turn() {
        let all = [Entry::System("s".into()), user("old"), user("mid"), user("new"), user("[controller] again")];
        let steps = shortened(&all);
        assert_eq!(steps.iter().map(|(extent, _)| *extent).collect::<Vec<_>>(), [Extent::Recent, Extent::Turn]);
        assert_eq!(steps[0].1[1..], all[2..]);
        assert_eq!(steps[1].1[1..], all[3..]);
        let Entry::System(prompt) = &steps[1].1[0] else { panic!("no prompt") };
        assert!(prompt.starts_with("s\n") && prompt.contains("conversation_id = 7"), "{prompt}");
    }

    #[test]
    fn a_turn_too_long_is_shortened_by_its_longest_results() {
        let calls =
            vec![CallRequest { id: "c".into(), name: "x".into(), arguments: json!({ "a": "y".repeat(3000) }).to_string() }];
        let all = [
            Entry::System("s".into()),
            user("q"),
            Entry::Assistant { content: String::new(), calls },
            result(20_000),
            result(300),
        ];
        let steps = shortened(&all);
        assert_eq!(steps.iter().map(|(extent, _)| *extent).collect::<Vec<_>>(), [Extent::Cut, Extent::Least]);
        assert_eq!((&steps[0].1[0], &steps[0].1[1], &steps[0].1[4]), (&all[0], &all[1], &all[4]));
        assert!(size(&steps[0].1) < 2600 && size(&steps[1].1) < 800, "{} {}", size(&steps[0].1), size(&steps[1].1));
    }

    #[test]
    fn where_nothing_can_be_left_out_nothing_is_tried() {
        assert_eq!(shortened(&[Entry::System("s".into()), user(&"long ".repeat(100_000))]), []);
        assert_eq!(shortened(&[]), []);
    }
}
