//! The truth ledger: if an answer says that something was done, or is about to be, a record has to
//! stand behind it: after its last answer a turn does no more. An answer without one is taken back
//! once, so that the model can do it or say it otherwise; the next one is shown as it is, with a
//! mark. Everything follows from what is stored, so a turn taken up again goes on where it was.

use super::claims::{self, Claim};
use crate::domain::Exchange;
use crate::model::Answer;

/// The words for the model after an answer that was taken back.
pub const TAKE_BACK: &str = "[controller] Your last answer says that something was done or will be done, or gave a result, but nothing \
     recorded in this turn shows it, so the user has not got that answer. If it is still to be done, do it now with a tool call. If not, answer \
     again and say only what the results above show.";
/// The words behind an answer that was shown with a mark, in later requests.
pub const MARKED: &str = "\n\n[controller] Nothing recorded in this turn shows what is claimed here.";

/// The judgement on an answer without tool calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It is shown.
    Shown,
    /// It is not the last word; the model is asked once more.
    TakenBack,
    /// It is shown with a mark.
    Marked,
}

impl Truth {
    /// The same judgement if the model has no step left.
    pub fn for_good(self) -> Self {
        match self {
            Self::TakenBack => Self::Marked,
            other => other,
        }
    }
}

/// A claim, and the calls that may prove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    claim: Claim,
    /// True if the model called something in the running turn.
    called: bool,
    /// True if an answer of the running turn was taken back already.
    taken_back: bool,
    /// True if calls of earlier turns prove it, too: the person asked what was done before.
    pub earlier: bool,
}

/// The record of a call that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// It can have changed something.
    pub changes: bool,
    /// It can have sent something to somebody.
    pub sends: bool,
}

/// The claim of an answer that ends the turn, the last one of the history.
pub(super) fn claimed(answer: &Answer, turn: Option<&Exchange>) -> Option<Claimed> {
    let content = answer.calls.is_empty().then_some(&*answer.content)?;
    let asked = turn.and_then(Exchange::input).unwrap_or_default();
    let remembers = claims::claims_to_remember(content, asked).then_some(Claim::Announced);
    let claim = claims::claim(content).max(remembers)?;
    Some(Claimed {
        claim,
        called: turn.is_some_and(Exchange::has_called),
        taken_back: turn.is_some_and(|turn| !turn.unproven.is_empty()),
        earlier: claims::asks_about_the_past(asked),
    })
}

impl Claimed {
    /// The judgement on the answer, if these calls were made. `deeds`: each tool says of itself
    /// whether it changes something, so looking something up does not make anything done.
    pub fn judged(self, done: &[Made], deeds: bool) -> Truth {
        let proven = match self.claim {
            Claim::Sent => done.iter().any(|call| call.sends),
            Claim::Changed => done.iter().any(|call| call.changes),
            Claim::Finished => done.iter().any(|call| call.changes || !deeds),
            Claim::Worked | Claim::Announced => !done.is_empty(),
            Claim::Gave => !done.is_empty() || !self.called,
        };
        let truth = match (proven, self.taken_back) {
            (true, _) => Truth::Shown,
            (false, false) => Truth::TakenBack,
            (false, true) => Truth::Marked,
        };
        if truth != Truth::Shown {
            super::helped("truth");
            tracing::info!(claim = ?self.claim, ?truth, "an answer claims what nothing recorded in its turn shows");
        }
        truth
    }
}

#[cfg(test)]
mod tests;
