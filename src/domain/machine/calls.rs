//! How tool calls go: proposed, and ended once.

use super::{InvalidTransition, Machine};
use crate::domain::Outcome;
use crate::domain::turn::text_enum;

text_enum! {
    /// The state of a tool call.
    CallState {
        /// A model, or a person's order, asked for it; it has no outcome yet.
        Proposed = "proposed",
        /// It did its work.
        Done = "done",
        /// It was refused, failed, or was cut off.
        Failed = "failed",
    }
}

text_enum! {
    /// The inputs of a tool call.
    CallInput {
        /// A second model classifies it.
        Classify = "classify",
        /// Its outcome is good.
        Succeed = "succeed",
        /// Its outcome is a refusal or a failure.
        Fail = "fail",
        /// Its turn ends first.
        Cut = "cut",
    }
}

text_enum! {
    /// The actions that go with a tool call's transitions.
    CallAction {
        /// Each operation of the call that has no end takes `lose`.
        LoseOperations = "lose operations",
    }
}

impl Machine for CallState {
    type Input = CallInput;
    type Action = CallAction;

    const TABLE: &'static str = "tool_calls";
    const STATES: &'static [Self] = Self::ALL;
    const INPUTS: &'static [CallInput] = CallInput::ALL;
    const FIRST: Self = Self::Proposed;

    fn next(self, input: CallInput) -> Result<(Self, Vec<CallAction>), InvalidTransition> {
        use CallInput::{Classify, Cut, Fail, Succeed};
        match (self, input) {
            (Self::Proposed, Classify) => Ok((Self::Proposed, Vec::new())),
            (Self::Proposed, Succeed) => Ok((Self::Done, vec![CallAction::LoseOperations])),
            (Self::Proposed, Fail | Cut) => Ok((Self::Failed, vec![CallAction::LoseOperations])),
            (Self::Done | Self::Failed, Classify | Succeed | Fail | Cut) => Err(InvalidTransition::of(self, input)),
        }
    }
}

impl Outcome {
    /// The input that this outcome is for its call.
    pub fn input(&self) -> CallInput {
        if self.ok { CallInput::Succeed } else { CallInput::Fail }
    }
}
