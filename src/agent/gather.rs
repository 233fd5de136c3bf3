//! The first part of a step: reads all that the step needs to know.

use chrono::{DateTime, Utc};

use super::pictures::Pictures;
use super::{Agent, context};
use crate::domain::{CallsPerStep, Exchange, History, Task};
use crate::executor::RunningTurn;
use crate::store::{StoreError, Summaries};
use crate::tools::Offered;

/// All that a step needs to know.
pub(super) struct Gathered {
    /// The time of reading.
    pub(super) now: DateTime<Utc>,
    /// The part of the conversation that the profile is shown.
    pub(super) history: History,
    /// The summaries of older turns.
    pub(super) summaries: Summaries,
    /// The tools there are for the profile.
    pub(super) offered: Offered,
    /// The tasks that are due soon.
    pub(super) due: Vec<Task>,
    /// True if a call of the turn did something already.
    pub(super) acted: bool,
    /// The images for the model; none until the model is chosen.
    pub(super) pictures: Pictures,
}

impl Gathered {
    /// The conversation, turn by turn; the running turn is the last.
    pub(super) fn exchanges(&self) -> &[Exchange] {
        &self.history.exchanges
    }
}

impl Agent {
    /// Reads what there is to know before the next step, and tells the law how much is used up.
    pub(super) async fn gather(&self, turn: &mut RunningTurn<'_>) -> Result<Gathered, StoreError> {
        let (now, lease, profile) = (self.clock.now(), turn.lease, &turn.law.profile);
        let acted = async {
            match profile.calls {
                CallsPerStep::ExactlyOne => self.store.calls_done(lease, false).await.map(|calls| !calls.is_empty()),
                CallsPerStep::Many(_) => Ok(false),
            }
        };
        let (history, summaries, offered, due, acted, used) = tokio::try_join!(
            self.history(turn),
            self.store.summaries_of(lease.conversation, lease.turn),
            self.tools.offered(profile),
            self.store.tasks_due_before(now + context::DUE_SOON),
            acted,
            self.store.usage_of(lease, &turn.law.budgets, now),
        )?;
        turn.law.used = used;
        Ok(Gathered { now, history, summaries, offered, due, acted, pictures: Pictures::default() })
    }

    /// The part of the conversation that the profile is shown.
    async fn history(&self, turn: &RunningTurn<'_>) -> Result<History, StoreError> {
        let history = self.store.history(turn.lease.conversation, turn.lease.turn, turn.law.history).await?;
        // A snapshot says all there is to know: nothing is missing before it.
        Ok(History { more: history.more && turn.law.remembers, ..history })
    }

    /// Shows the model the steering that waits. Only now is it sure that a model will be asked.
    pub(super) async fn show_steering(&self, turn: &RunningTurn<'_>, gathered: &mut Gathered) -> Result<(), StoreError> {
        if gathered.exchanges().last().is_some_and(|exchange| exchange.waits) {
            self.store.show_steering(turn.lease, turn.steps, gathered.now).await?;
            gathered.history = self.history(turn).await?;
        }
        Ok(())
    }
}
