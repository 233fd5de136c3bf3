//! The truth ledger: an answer that says that something was done has to have something recorded behind it. One that has not is taken back
//! once, so that the model can do it or say it otherwise; the next one is shown as it is, with a mark. Everything follows from what is
//! stored, so a turn that is taken up again goes on where it was.

use super::claims::{self, Claim};
use super::{Agent, Answer, Exchange, HistoryEntry, Lease, Model, StoreError};

/// What the model is told after an answer that was taken back.
pub(super) const TAKE_BACK: &str = "[controller] Your last answer says that something was done, or gave a result, but nothing recorded \
     in this turn shows it, so the user has not got that answer. If it is still to be done, do it now with a tool call. If not, answer \
     again and say only what the results above show.";
/// What stands in a later request behind an answer that was shown with a mark.
pub(super) const MARKED: &str = "\n\n[controller] Nothing recorded in this turn shows what is claimed here.";

/// What is to become of an answer without tool calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    /// It is shown.
    Shown,
    /// It is not the last word; the model is asked once more.
    TakenBack,
    /// It is shown with a mark.
    Marked,
}

impl Truth {
    /// The same where nothing can be said any more.
    pub(super) fn for_good(self) -> Self {
        match self {
            Self::TakenBack => Self::Marked,
            other => other,
        }
    }
}

impl Agent {
    /// Looks whether what an answer claims is recorded. The tour says nothing but what it did.
    pub(super) async fn truth(
        &self,
        lease: &Lease,
        history: &[Exchange],
        answer: &Answer,
        model: &dyn Model,
    ) -> Result<Truth, StoreError> {
        if !answer.calls.is_empty() || model.info().kind == "tour" {
            return Ok(Truth::Shown);
        }
        let Some(claim) = claims::claim(&answer.content) else { return Ok(Truth::Shown) };
        let asked = history.last().and_then(input).unwrap_or_default();
        // Whoever asks what was done before is told of earlier turns.
        let done = self.store.calls_done(lease, claims::asks_about_the_past(asked)).await?;
        let proven = match claim {
            Claim::Sent => done.iter().any(|call| self.tools.may_send(call)),
            Claim::Changed => done.iter().any(|call| self.tools.changes(call)),
            Claim::Worked => !done.is_empty(),
            Claim::Gave => !done.is_empty() || !history.last().is_some_and(called),
        };
        let taken_back = history.last().is_some_and(|turn| !turn.unproven.is_empty());
        let truth = match (proven, taken_back) {
            (true, _) => Truth::Shown,
            (false, false) => Truth::TakenBack,
            (false, true) => Truth::Marked,
        };
        if truth != Truth::Shown {
            tracing::info!(?claim, ?truth, "an answer claims what nothing recorded in its turn shows");
        }
        Ok(truth)
    }
}

/// Whether anything was called in a turn.
fn called(turn: &Exchange) -> bool {
    turn.entries.iter().any(|entry| matches!(entry, HistoryEntry::Tool(..)))
}

/// What a turn reacts to.
pub(super) fn input(turn: &Exchange) -> Option<&str> {
    turn.entries.iter().find_map(|entry| match entry {
        HistoryEntry::User(content, _) => Some(content.as_str()),
        HistoryEntry::Steered(..) | HistoryEntry::Images(..) | HistoryEntry::Assistant(..) | HistoryEntry::Tool(..) => None,
    })
}
