//! How approvals go: pending, decided once; an approved one is used once.

use super::{InvalidTransition, Machine};
use crate::domain::ApprovalState;
use crate::domain::turn::text_enum;

text_enum! {
    /// The inputs of an approval.
    ApprovalInput {
        /// A person allows it.
        Approve = "approve",
        /// A person refuses it.
        Deny = "deny",
        /// The time to decide is over.
        Expire = "expire",
        /// Its turn ends, or asks about something else.
        Void = "void",
        /// The outcome that it allowed is recorded.
        Use = "use",
    }
}

text_enum! {
    /// The actions that go with an approval's transitions.
    ApprovalAction {
        /// The turn that waits takes `resume`.
        ResumeTurn = "resume turn",
    }
}

impl Machine for ApprovalState {
    type Input = ApprovalInput;
    type Action = ApprovalAction;

    const TABLE: &'static str = "approvals";
    const STATES: &'static [Self] = Self::ALL;
    const INPUTS: &'static [ApprovalInput] = ApprovalInput::ALL;
    const FIRST: Self = Self::Pending;

    fn next(self, input: ApprovalInput) -> Result<(Self, Vec<ApprovalAction>), InvalidTransition> {
        use ApprovalInput::{Approve, Deny, Expire, Use, Void};
        match (self, input) {
            (Self::Pending, Approve) => Ok((Self::Approved, vec![ApprovalAction::ResumeTurn])),
            (Self::Pending, Deny) => Ok((Self::Denied, vec![ApprovalAction::ResumeTurn])),
            (Self::Pending, Expire) => Ok((Self::Expired, vec![ApprovalAction::ResumeTurn])),
            (Self::Pending, Void) => Ok((Self::Void, Vec::new())),
            (Self::Approved, Use) => Ok((Self::Approved, Vec::new())),
            (Self::Pending, Use)
            | (Self::Approved, Approve | Deny | Expire | Void)
            | (Self::Denied | Self::Expired | Self::Void, Approve | Deny | Expire | Void | Use) => {
                Err(InvalidTransition::of(self, input))
            }
        }
    }
}
