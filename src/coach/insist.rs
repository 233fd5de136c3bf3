//! Holds a model to a call of a tool, in place of talk. Small models that did something wrong tell
//! the user how it would be done right; held to a call, they mostly do it. The same holds for
//! models that claimed a deed they had not done. One that only announced it may have been asked for
//! a plan, so it stays free to talk.

use std::collections::HashSet;

use super::claims::{self, Claim};
use crate::domain::{Exchange, HistoryEntry, RefusalCode};

/// After more failed steps in a row than this, the model may say that it cannot be done.
const MOST: usize = 3;

/// True if everything in the turn's last steps went wrong in a way that its author can put right,
/// and not too often already. True also after an answer that was taken back because nothing
/// recorded shows its claim. `there` says whether there is a tool of a name.
pub(super) fn insists(turn: &Exchange, there: impl Fn(&str) -> bool) -> bool {
    let taken_back = match (turn.unproven.last(), turn.entries.last()) {
        (Some(place), Some(HistoryEntry::Assistant(text, _))) if place + 1 == turn.entries.len() => {
            claims::claim(text) != Some(Claim::Announced)
        }
        _ => false,
    };
    taken_back || (1..=MOST).contains(&failed_steps(turn, there))
}

/// The number of steps at the turn's end in which every call was a mistake that the model can put
/// right.
fn failed_steps(turn: &Exchange, there: impl Fn(&str) -> bool) -> usize {
    let mut failed = 0;
    let mut wrong = HashSet::new();
    for entry in turn.entries.iter().rev() {
        match entry {
            HistoryEntry::Tool(id, .., refusal) => {
                if refusal.is_some_and(RefusalCode::can_be_put_right) {
                    wrong.insert(id.as_str());
                }
            }
            HistoryEntry::Assistant(_, calls) if !calls.is_empty() => {
                if !calls.iter().all(|call| wrong.contains(call.id.as_str()) || !there(&call.name)) {
                    break;
                }
                failed += 1;
                wrong.clear();
            }
            _ => break,
        }
    }
    failed
}

#[cfg(test)]
mod tests;
