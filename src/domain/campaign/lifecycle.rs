//! The lifecycle of a campaign: five states, and five transitions of the document. docs/states.md
//! draws them.

use crate::domain::machine::{InvalidTransition, Machine};
use crate::domain::turn::text_enum;

text_enum! {
    /// The state of a campaign.
    CampaignStatus {
        /// It is being set up.
        Initializing = "initializing",
        /// It works, or waits for something.
        Active = "active",
        /// A person lets it rest.
        Paused = "paused",
        /// All its tasks are done.
        Completed = "completed",
        /// Something that must hold does not.
        Error = "error",
    }
}

text_enum! {
    /// The inputs of a campaign.
    CampaignInput {
        /// Environment and database were checked.
        Start = "start",
        /// A person lets it rest.
        Pause = "pause",
        /// A person lets it go on.
        Resume = "resume",
        /// All tasks are done.
        Complete = "complete",
        /// An invariant does not hold.
        Break = "break",
    }
}

text_enum! {
    /// The actions that go with a campaign's transitions.
    CampaignAction {
        /// Its turns are stopped.
        StopTurns = "stop turns",
        /// Its approval contexts hold no more.
        VoidContexts = "void contexts",
    }
}

impl Machine for CampaignStatus {
    type Input = CampaignInput;
    type Action = CampaignAction;

    const TABLE: &'static str = "campaigns";
    const STATES: &'static [Self] = Self::ALL;
    const INPUTS: &'static [CampaignInput] = CampaignInput::ALL;
    const FIRST: Self = Self::Initializing;

    fn next(self, input: CampaignInput) -> Result<(Self, Vec<CampaignAction>), InvalidTransition> {
        use CampaignAction::{StopTurns, VoidContexts};
        use CampaignInput as I;
        use CampaignStatus::{Active, Completed, Error, Initializing, Paused};
        Ok(match (self, input) {
            (Initializing, I::Start) | (Paused, I::Resume) => (Active, vec![]),
            (Active, I::Pause) => (Paused, vec![StopTurns, VoidContexts]),
            (Active, I::Complete) => (Completed, vec![VoidContexts]),
            (Initializing | Active | Paused | Completed, I::Break) => (Error, vec![StopTurns, VoidContexts]),
            (Initializing, I::Pause | I::Resume | I::Complete)
            | (Active, I::Start | I::Resume)
            | (Paused, I::Start | I::Pause | I::Complete)
            | (Completed, I::Start | I::Pause | I::Resume | I::Complete)
            | (Error, I::Start | I::Pause | I::Resume | I::Complete | I::Break) => {
                return Err(InvalidTransition::of(self, input));
            }
        })
    }
}
