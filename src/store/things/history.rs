//! The part of a conversation that a model is shown, made of its rows.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::domain::{
    CallRequest, Exchange, History, HistoryEntry, Image, MessageId, RefusalCode, Role, ToolCallId, TurnId, TurnState,
};

/// A message, with what belongs to it. A field that it does not have is left out.
#[derive(Debug, Deserialize)]
pub(in crate::store) struct Message {
    pub(super) turn_id: TurnId,
    pub(super) message_id: MessageId,
    state: TurnState,
    reason: Option<String>,
    role: Role,
    content: String,
    created_at: DateTime<Utc>,
    #[serde(default)]
    steered: bool,
    from_step: Option<i32>,
    #[serde(default)]
    images: Vec<Image>,
    tool_call_id: Option<ToolCallId>,
    request_id: Option<String>,
    undone_at: Option<DateTime<Utc>>,
    refusal: Option<RefusalCode>,
    /// The number of lines that the call logged.
    #[serde(default)]
    logged: usize,
    #[serde(default)]
    unproven: bool,
    /// The calls that the step asked for.
    calls: Option<Vec<CallRequest>>,
    #[serde(skip)]
    cleaned: Cleaned,
}

/// The outcome of the last search of a text for the values of secrets: their edition, and the text
/// without them if it held some. A message that is kept in memory is shown at each step.
#[derive(Debug, Default)]
struct Cleaned(Mutex<Option<(u64, Option<String>)>>);

impl Message {
    /// The text without the values of secrets, of which there is this edition.
    fn cleaned(&self, edition: u64, clean: impl Fn(&str) -> Cow<'_, str>) -> String {
        let mut last = self.cleaned.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref().is_none_or(|(of, _)| *of != edition) {
            let text = match clean(&self.content) {
                Cow::Borrowed(_) => None,
                Cow::Owned(text) => Some(text),
            };
            *last = Some((edition, text));
        }
        last.as_ref().and_then(|(_, text)| text.as_ref()).unwrap_or(&self.content).clone()
    }

    /// The bytes of its text and of the calls that it asks for.
    pub(super) fn bytes(&self) -> usize {
        let calls = self.calls.iter().flatten().map(|call| call.name.len() + call.arguments.len());
        self.content.len() + calls.sum::<usize>()
    }
}

/// The words for a model on a call that a person undid.
fn undone(at: DateTime<Utc>) -> String {
    let at = at.format("%Y-%m-%dT%H:%M:%SZ");
    format!("[The user undid this call at {at}: the rows it had deleted or overwritten are as they were before it.]")
}

/// The messages, in order, grouped by turn: `limit` of turns before `turn` and one more if there is
/// one, and all of `turn` itself. If only a part of a turn fits, the turn is left out: half of one
/// would show calls without results. Each text is as `clean` gives it, which takes the values of
/// secrets out; a text is not searched again for the same `edition` of them.
pub(in crate::store) fn of(
    rows: &[Arc<Message>],
    turn: TurnId,
    limit: usize,
    edition: u64,
    clean: impl Fn(&str) -> Cow<'_, str>,
) -> History {
    let earlier = rows.iter().filter(|row| row.turn_id != turn).count();
    let partial = (earlier > limit).then(|| rows[0].turn_id);
    let mut exchanges: Vec<Exchange> = Vec::new();
    for row in rows.iter().filter(|row| Some(row.turn_id) != partial) {
        if row.turn_id == turn && row.steered && row.from_step.is_none() {
            // These come last, behind at least the turn's input.
            exchanges.iter_mut().for_each(|exchange| exchange.waits = exchange.turn == turn);
            continue;
        }
        // A secret may have been set after somebody wrote its value here.
        let content = row.cleaned(edition, &clean);
        let entry = match row.role {
            Role::User if row.steered => HistoryEntry::Steered(content, row.created_at),
            Role::User => HistoryEntry::User(content, row.created_at),
            Role::Assistant => HistoryEntry::Assistant(content, row.calls.clone().unwrap_or_default()),
            Role::Tool => {
                let call = row.tool_call_id.unwrap_or(ToolCallId(0));
                let content = match row.undone_at {
                    Some(at) => format!("{content}\n\n{}", undone(at)),
                    None => content,
                };
                HistoryEntry::Tool(row.request_id.clone().unwrap_or_default(), content, call, row.logged, row.refusal)
            }
        };
        // The picture that a call took is shown to its own task alone, from the folder of media.
        let came = row.role != Role::Tool && !row.images.is_empty();
        let images = came.then(|| HistoryEntry::Images(row.images.clone()));
        if exchanges.last().is_none_or(|last| last.turn != row.turn_id) {
            exchanges.push(Exchange {
                turn: row.turn_id,
                state: row.state,
                reason: row.reason.clone(),
                entries: Vec::new(),
                waits: false,
                unproven: Vec::new(),
            });
        }
        if let Some(last) = exchanges.last_mut() {
            if row.unproven {
                last.unproven.push(last.entries.len());
            }
            last.entries.extend([entry].into_iter().chain(images));
        }
    }
    History { exchanges, more: partial.is_some(), ..History::default() }
}

#[cfg(test)]
mod tests;
