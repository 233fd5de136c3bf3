//! How turns go: queued, taken up, sometimes waiting for a decision, ended once.

use super::{InvalidTransition, Machine};
use crate::domain::TurnState;
use crate::domain::turn::text_enum;

text_enum! {
    /// The inputs of a turn.
    TurnInput {
        /// A runner takes it up: the first time, or after another runner gave it back or died.
        Claim = "claim",
        /// The runner that holds it writes something, or gives it back.
        Write = "write",
        /// A person says something into it.
        Steer = "steer",
        /// A person has to decide first.
        Ask = "ask",
        /// The decision came.
        Resume = "resume",
        /// Its last step is stored.
        Answer = "answer",
        /// The controller says something by itself; no runner takes this up.
        Announce = "announce",
        /// A person ends it.
        Stop = "stop",
        /// A person's no, silence, or a limit ends a task of the operator.
        Abort = "abort",
        /// No model can give an answer.
        Fail = "fail",
    }
}

text_enum! {
    /// The actions that go with a turn's transitions.
    TurnAction {
        /// Each message said into the turn that no answer has seen becomes a turn of its own.
        MoveUnseen = "move unseen",
        /// Each pending approval of the turn takes `void`.
        VoidApprovals = "void approvals",
        /// Each open tool call of the turn takes `cut`.
        CutCalls = "cut calls",
    }
}

impl Machine for TurnState {
    type Input = TurnInput;
    type Action = TurnAction;

    const TABLE: &'static str = "turns";
    const STATES: &'static [Self] = Self::ALL;
    const INPUTS: &'static [TurnInput] = TurnInput::ALL;
    const FIRST: Self = Self::Queued;

    fn next(self, input: TurnInput) -> Result<(Self, Vec<TurnAction>), InvalidTransition> {
        use TurnAction::{CutCalls, MoveUnseen, VoidApprovals};
        use TurnInput::{Abort, Announce, Answer, Ask, Claim, Fail, Resume, Steer, Stop, Write};
        use TurnState::{Aborted, AwaitingApproval, Completed, Failed, Queued, Running};
        match (self, input) {
            (Queued | Running, Claim) | (Running, Write) => Ok((Running, Vec::new())),
            (Queued | Running | AwaitingApproval, Steer) => Ok((self, Vec::new())),
            // An earlier approval was about other circumstances.
            (Running, Ask) => Ok((AwaitingApproval, vec![VoidApprovals])),
            (AwaitingApproval, Resume) => Ok((Queued, Vec::new())),
            (Running, Answer) => Ok((Completed, vec![VoidApprovals, CutCalls])),
            (Queued, Announce) => Ok((Completed, Vec::new())),
            (Queued | Running | AwaitingApproval, Stop) => Ok((Aborted, vec![VoidApprovals, CutCalls])),
            // A stop drops what waits. An abort is about one task, and a further order is another.
            (Running, Abort) => Ok((Aborted, vec![MoveUnseen, VoidApprovals, CutCalls])),
            (Running, Fail) => Ok((Failed, vec![MoveUnseen, VoidApprovals, CutCalls])),
            (Queued, Write | Ask | Resume | Answer | Abort | Fail)
            | (Running, Resume | Announce)
            | (AwaitingApproval, Claim | Write | Ask | Answer | Announce | Abort | Fail)
            | (Completed | Aborted | Failed, Claim | Write | Steer | Ask | Resume | Answer | Announce | Stop | Abort | Fail) => {
                Err(InvalidTransition::of(self, input))
            }
        }
    }
}
