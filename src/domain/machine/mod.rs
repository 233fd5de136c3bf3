//! The one pattern of state machines: a state takes an input, becomes another state, and says which
//! actions go with that. No I/O: the store asks the machine and carries the actions out.
//! `docs/states.md` draws each machine.

mod approvals;
mod calls;
mod operations;
mod timers;
mod turns;
mod voice;

use std::fmt::Display;

pub use approvals::{ApprovalAction, ApprovalInput};
pub use calls::{CallAction, CallInput, CallState};
pub use operations::OperationInput;
pub use timers::{TimerAction, TimerInput, TimerState};
pub use turns::{TurnAction, TurnInput};
pub use voice::{VoiceAction, VoiceInput, VoiceState};

/// A state of some machine.
pub trait Machine: Copy + Eq + Display + 'static {
    /// The inputs that its states take.
    type Input: Copy + Display + 'static;
    /// The actions that belong to a transition, in the same transaction.
    type Action: Display;

    /// The table whose column `state`, or `status`, holds it.
    const TABLE: &'static str;
    /// Every state, in the order of a life.
    const STATES: &'static [Self];
    /// Every input.
    const INPUTS: &'static [Self::Input];
    /// The state in which everything begins.
    const FIRST: Self;

    /// The state after an input, and the actions that go with it, in order.
    ///
    /// # Errors
    /// If the state does not take the input.
    fn next(self, input: Self::Input) -> Result<(Self, Vec<Self::Action>), InvalidTransition>;

    /// The states that take an input, in the database's words: for `state = ANY($n)`.
    fn before(input: Self::Input) -> Vec<String> {
        Self::STATES.iter().filter(|state| state.next(input).is_ok()).map(ToString::to_string).collect()
    }

    /// The state that an input leads to from everywhere; `None` if it leaves states as they are.
    fn after(input: Self::Input) -> Option<Self> {
        let mut reached = Self::STATES.iter().filter_map(|state| Some((*state, state.next(input).ok()?.0)));
        let (_, first) = reached.clone().find(|(from, to)| from != to)?;
        reached.all(|(_, to)| to == first).then_some(first)
    }

    /// True if the state takes no input: nothing will happen any more.
    fn is_over(self) -> bool {
        Self::INPUTS.iter().all(|input| self.next(*input).is_err())
    }
}

/// An input that the state does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{table}: what is {state} does not take `{input}`")]
pub struct InvalidTransition {
    table: &'static str,
    state: String,
    input: String,
}

impl InvalidTransition {
    pub(in crate::domain) fn of<M: Machine>(state: M, input: M::Input) -> Self {
        Self { table: M::TABLE, state: state.to_string(), input: input.to_string() }
    }
}

#[cfg(test)]
mod tests;
