//! How operations go: intended, and over once.

use std::convert::Infallible;

use super::{InvalidTransition, Machine};
use crate::domain::OperationState;
use crate::domain::turn::text_enum;

text_enum! {
    /// The inputs of an operation.
    OperationInput {
        /// It happened.
        Succeed = "succeed",
        /// It did not happen, or the peer refused it.
        Fail = "fail",
        /// Nobody knows whether it happened.
        Lose = "lose",
    }
}

impl Machine for OperationState {
    type Input = OperationInput;
    /// An operation's end brings its event, and no action.
    type Action = Infallible;

    const TABLE: &'static str = "operations";
    const STATES: &'static [Self] = Self::ALL;
    const INPUTS: &'static [OperationInput] = OperationInput::ALL;
    const FIRST: Self = Self::Intended;

    fn next(self, input: OperationInput) -> Result<(Self, Vec<Infallible>), InvalidTransition> {
        use OperationInput::{Fail, Lose, Succeed};
        match (self, input) {
            (Self::Intended, Succeed) => Ok((Self::Done, Vec::new())),
            (Self::Intended, Fail) => Ok((Self::Failed, Vec::new())),
            (Self::Intended, Lose) => Ok((Self::Unknown, Vec::new())),
            (Self::Done | Self::Failed | Self::Unknown, Succeed | Fail | Lose) => Err(InvalidTransition::of(self, input)),
        }
    }
}
