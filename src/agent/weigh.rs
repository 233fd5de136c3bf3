//! The fourth part of a step: weighs an answer. It says whether the answer ends the turn, and how
//! the answer is shown.

use super::Agent;
use super::decide::Asking;
use crate::coach::{Made, Truth};
use crate::domain::operator::no_action;
use crate::domain::{CallsPerStep, Toolset};
use crate::executor::RunningTurn;
use crate::model::{Answer, REPETITION};
use crate::store::StoreError;

/// The result of weighing an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Weighed {
    /// Its text, with a note if it was cut.
    pub(super) content: String,
    /// True if it ends the turn.
    pub(super) last: bool,
    /// True if it claims something that nothing recorded in its turn shows.
    pub(super) unproven: bool,
    /// The controller's words for the person behind it, if there are any.
    pub(super) note: Option<String>,
}

impl Agent {
    /// Weighs an answer.
    pub(super) async fn weigh(
        &self,
        turn: &RunningTurn<'_>,
        asking: &Asking<'_>,
        answer: &Answer,
    ) -> Result<Weighed, StoreError> {
        let truth = self.truth(turn, asking, answer).await?;
        // The model can say it otherwise only if the turn has a step left.
        let once_more = turn.law.used_up(turn.steps + 1).is_none();
        let truth = if once_more { truth } else { truth.for_good() };
        let last = answer.calls.is_empty()
            && turn.law.profile.calls != CallsPerStep::ExactlyOne
            && truth != Truth::TakenBack
            && !asking.owes
            && !asking.conversation.coach().asks_again(&answer.content);
        let note = if last { self.note(turn).await? } else { None };
        Ok(Weighed { content: shown(answer, last), last, unproven: truth != Truth::Shown, note })
    }

    /// The note behind the answer that ends a task of the operator in which no call was carried
    /// out. A weak model hides that nothing happened, and does not say what it could do.
    async fn note(&self, turn: &RunningTurn<'_>) -> Result<Option<String>, StoreError> {
        let profile = &turn.law.profile;
        if !profile.operates || self.store.has_carried_out(turn.lease.turn).await? {
            return Ok(None);
        }
        let catalogue = self.store.catalogue(None).await?;
        Ok(Some(no_action(&self.tools.for_person(profile, &catalogue))))
    }

    /// Checks whether the claim of an answer is recorded. The tour is not checked: it says nothing
    /// but what it did.
    async fn truth(&self, turn: &RunningTurn<'_>, asking: &Asking<'_>, answer: &Answer) -> Result<Truth, StoreError> {
        let claimed = asking.conversation.coach().claimed(answer).filter(|_| asking.model.info().kind != "tour");
        let Some(claimed) = claimed else { return Ok(Truth::Shown) };
        let done = self.store.calls_done(turn.lease, claimed.earlier).await?;
        let profile = &turn.law.profile;
        let made = |call| Made { changes: self.tools.changes(profile, call), sends: self.tools.may_send(profile, call) };
        let deeds = profile.tools != Toolset::Builder;
        Ok(claimed.judged(&done.iter().map(made).collect::<Vec<_>>(), deeds))
    }
}

/// The text of an answer as it is shown.
fn shown(answer: &Answer, last: bool) -> String {
    let cut = match &*answer.finish_reason {
        "length" if last => "the model reached its limit of tokens",
        REPETITION if last => "the model only repeated itself",
        _ => return answer.content.clone(),
    };
    format!("{}\n\n*(cut: {cut})*", answer.content)
}
