//! The part of a conversation that a model is shown, made of its rows.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::{
    CallRequest, ConversationId, Exchange, History, HistoryEntry, Image, RefusalCode, Role, ToolCallId, TurnId, TurnState,
};

/// A message, with what belongs to it.
#[derive(Debug, Deserialize)]
pub(in crate::store) struct Message {
    message_id: i64,
    turn_id: TurnId,
    state: TurnState,
    reason: Option<String>,
    role: Role,
    content: String,
    created_at: DateTime<Utc>,
    steered: bool,
    from_step: Option<i32>,
    images: Vec<Image>,
    tool_call_id: Option<ToolCallId>,
    request_id: Option<String>,
    undone_at: Option<DateTime<Utc>>,
    refusal: Option<RefusalCode>,
    /// The number of lines that the call logged.
    logged: usize,
    unproven: bool,
    /// The calls that the step asked for.
    calls: Option<Vec<CallRequest>>,
}

/// The words for a model on a call that a person undid.
fn undone(at: DateTime<Utc>) -> String {
    let at = at.format("%Y-%m-%dT%H:%M:%SZ");
    format!("[The user undid this call at {at}: the rows it had deleted or overwritten are as they were before it.]")
}

/// The messages, in order, grouped by turn: `limit` of turns before `turn` and one more if there is
/// one, and all of `turn` itself. If only a part of a turn fits, the turn is left out: half of one
/// would show calls without results. Each text is as `clean` gives it.
pub(in crate::store) fn of(rows: &[Arc<Message>], turn: TurnId, limit: usize, clean: impl Fn(&str) -> String) -> History {
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
        let content = clean(&row.content);
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
        let images = (!row.images.is_empty()).then(|| HistoryEntry::Images(row.images.clone()));
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

/// So many conversations are kept.
const CONVERSATIONS: usize = 16;
/// The most bytes of text that are kept of one.
const BYTES: usize = 256 * 1024;

/// The messages of the turns before one, as a step has read them. They hold as long as no event of the conversation is about an earlier turn, or
/// about none: the statement that reads the next step says whether they do.
#[derive(Debug)]
pub(in crate::store) struct Known {
    turn: TurnId,
    /// The events that the conversation had then.
    sequence: i64,
    /// So many messages of earlier turns were asked for.
    limit: usize,
    rows: Vec<Arc<Message>>,
}

impl Known {
    /// The place of these messages, for the statement.
    pub(in crate::store) fn place(&self) -> Value {
        json!({ "turn": self.turn, "sequence": self.sequence })
    }
}

/// The messages of the conversations that were read last, the newest at the end.
#[derive(Clone, Debug, Default)]
pub(in crate::store) struct KnownMessages(Arc<Mutex<Newest>>);

type Newest = VecDeque<(ConversationId, Arc<Known>)>;

impl KnownMessages {
    /// Those of a conversation, of which a step of `turn` wants `limit`.
    pub(in crate::store) fn of(&self, conversation: ConversationId, turn: TurnId, limit: usize) -> Option<Arc<Known>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, known) = all.iter().find(|(of, _)| *of == conversation)?;
        (known.turn <= turn && known.limit == limit).then(|| Arc::clone(known))
    }

    /// Keeps what a step of `turn` was shown, as it was when the conversation had so many events.
    pub(in crate::store) fn keep(
        &self,
        (conversation, turn): (ConversationId, TurnId),
        sequence: i64,
        limit: usize,
        shown: &[Arc<Message>],
    ) {
        let rows: Vec<_> = shown.iter().filter(|row| row.turn_id != turn).cloned().collect();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(of, _)| *of != conversation);
        if rows.iter().map(|row| row.content.len()).sum::<usize>() <= BYTES {
            all.push_back((conversation, Arc::new(Known { turn, sequence, limit, rows })));
            let over = all.len().saturating_sub(CONVERSATIONS);
            all.drain(..over);
        }
    }
}

/// The messages that a step of `turn` is shown, of those that were known and those that were read: of earlier turns the newest, one more than `limit`.
pub(in crate::store) fn together(known: Option<&Known>, read: Vec<Message>, turn: TurnId, limit: usize) -> Vec<Arc<Message>> {
    let kept = known.map(|known| known.rows.iter().cloned()).into_iter().flatten();
    let rows: Vec<_> = kept.chain(read.into_iter().map(Arc::new)).collect();
    let most = limit.saturating_add(1);
    let mut ids: Vec<_> = rows.iter().filter(|row| row.turn_id != turn).map(|row| row.message_id).collect();
    if ids.len() <= most {
        return rows;
    }
    ids.sort_unstable_by(|a, b| b.cmp(a));
    let oldest = ids[most - 1];
    rows.into_iter().filter(|row| row.turn_id == turn || row.message_id >= oldest).collect()
}

#[cfg(test)]
mod tests;
