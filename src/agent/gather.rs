//! The first part of a step: reads all that the step needs to know.

use chrono::{DateTime, Utc};

use super::Agent;
use super::pictures::Pictures;
use crate::domain::operator;
use crate::domain::todo::told_of;
use crate::domain::{CallsPerStep, Context, DueTasks, Exchange, History, HistoryEntry, Image, Origin, TaskId};
use crate::executor::RunningTurn;
use crate::store::{FiredTasks, Standing, StoreError, Summaries};
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
    pub(super) due: DueTasks,
    /// The tasks that began the turn, if tasks did.
    pub(super) fired: FiredTasks,
    /// The person's to-dos in words, if the profile is shown these.
    pub(super) todos: Option<String>,
    /// All that is known of a contact's conversation, if it is one.
    pub(super) contact: Option<Contact>,
    /// The operator's scripts and global context, if it is the operator's turn.
    pub(super) operator: Option<String>,
    /// True if a call of the turn did something already, and no other is to be made.
    pub(super) acted: bool,
    /// The images for the model; none until the model is chosen.
    pub(super) pictures: Pictures,
}

/// A contact's conversation, as a step is shown it.
pub(super) struct Contact {
    /// The order, for the system prompt.
    pub(super) order: String,
    /// The transcript behind its mark, for the user's role.
    pub(super) transcript: String,
    /// The newest images of the transcript.
    pub(super) images: Vec<Image>,
    /// True if the turn has still to write or to end.
    pub(super) owes: bool,
    /// True if nothing more is done in the conversation.
    pub(super) rests: bool,
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
        let now = self.clock.now();
        let standing = self.executor.standing(turn).await?;
        // The number was read with all else: what is offered is not older.
        let catalogue = self.store.catalogue(Some(standing.catalogue)).await?;
        let Standing { history, summaries, due, todos, acted, .. } = standing;
        let offered = self.tools.offered(&turn.law.profile, &catalogue);
        let todos = todos.map(|todos| told_of(&todos, now));
        let contact = match turn.law.profile.context {
            Context::Transcript => Some(self.contact(turn, now).await?),
            Context::Conversation { .. } | Context::Snapshot(_) | Context::Worker => None,
        };
        let operator = match turn.law.profile.operates {
            true => {
                let context = self.store.operator_context().await?;
                Some(operator::known(catalogue.capabilities().map(|listed| &*listed.summary.name), &context))
            }
            false => None,
        };
        let fired = match turn.lease.origin {
            Origin::Task => self.store.fired_tasks(turn.lease).await?,
            Origin::Message | Origin::Command | Origin::FollowUp | Origin::Cycle => FiredTasks::default(),
        };
        let history = shown(turn, history, &fired.settled);
        let acted = acted && turn.law.profile.calls == CallsPerStep::ExactlyOne;
        let pictures = Pictures::default();
        Ok(Gathered { now, history, summaries, offered, due, fired, todos, contact, operator, acted, pictures })
    }

    /// Reads a contact's conversation. The first step of a turn takes up what the contact wrote;
    /// nothing of it stands in the conversation itself.
    async fn contact(&self, turn: &RunningTurn<'_>, now: DateTime<Utc>) -> Result<Contact, StoreError> {
        let briefing = self.store.brief_contact_turn(turn.lease, turn.steps == 1, now).await?;
        // Nobody outside knows the server's key, so nobody can write this line.
        let mark = self.store.derived_key(&format!("fence of turn {}", turn.lease.turn));
        let mark: String = mark.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        Ok(Contact {
            order: briefing.order(now, self.store.relay_settings().zone),
            transcript: briefing.transcript(&format!("=== {mark} ===")),
            images: briefing.images(),
            owes: briefing.owes(turn.lease.turn),
            rests: briefing.rests(),
        })
    }

    /// Shows the model the steering that waits. Only now is it sure that a model will be asked.
    pub(super) async fn show_steering(&self, turn: &mut RunningTurn<'_>, gathered: &mut Gathered) -> Result<(), StoreError> {
        if gathered.exchanges().last().is_some_and(|exchange| exchange.waits) {
            self.store.show_steering(turn.lease, turn.steps, gathered.now).await?;
            let standing = self.executor.standing(turn).await?;
            gathered.history = shown(turn, standing.history, &gathered.fired.settled);
        }
        Ok(())
    }
}

/// The history as the profile is shown it. A snapshot says all there is to know: nothing is missing
/// before it. The input of a turn that tasks began names all of them, so the `settled` ones are
/// named behind it.
fn shown(turn: &RunningTurn<'_>, mut history: History, settled: &[TaskId]) -> History {
    let running = history.exchanges.last_mut().and_then(|running| running.entries.first_mut());
    if let (Some(HistoryEntry::User(input, _)), false) = (running, settled.is_empty()) {
        let named: Vec<_> = settled.iter().map(|task| format!("task {task}")).collect();
        input.push_str(&format!("\n[controller] Done, moved or deleted since: {}. Do nothing about these.", named.join(", ")));
    }
    History { more: history.more && turn.law.remembers, ..history }
}
