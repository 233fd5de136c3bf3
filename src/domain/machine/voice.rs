//! How a call with Law goes: idle, connecting, active, idle again, or an error.

use super::{InvalidTransition, Machine};
use crate::domain::turn::text_enum;

text_enum! {
    /// The state of a call by voice.
    VoiceState {
        /// Nobody talks; a call that has ended is idle.
        Idle = "idle",
        /// The person called, and nothing can be heard yet.
        Connecting = "connecting",
        /// Both can talk, and seconds count.
        Active = "active",
        /// It broke, and the page said so.
        Error = "error",
    }
}

text_enum! {
    /// The inputs of a call.
    VoiceInput {
        /// The person calls.
        Call = "call",
        /// The page says that the call goes on.
        Beat = "beat",
        /// It ends: somebody hung up, fell silent, or the time is over.
        End = "end",
        /// The page says that it cannot go on.
        Fail = "fail",
    }
}

text_enum! {
    /// The actions that go with a call's transitions.
    VoiceAction {
        /// Seconds count from now on.
        StartCounting = "start counting",
        /// The seconds since the last count go to the person's month.
        CountSeconds = "count seconds",
    }
}

impl Machine for VoiceState {
    type Input = VoiceInput;
    type Action = VoiceAction;

    const TABLE: &'static str = "voice_calls";
    const STATES: &'static [Self] = Self::ALL;
    const INPUTS: &'static [VoiceInput] = VoiceInput::ALL;
    const FIRST: Self = Self::Idle;

    fn next(self, input: VoiceInput) -> Result<(Self, Vec<VoiceAction>), InvalidTransition> {
        use VoiceAction::{CountSeconds, StartCounting};
        use VoiceInput::{Beat, Call, End, Fail};
        match (self, input) {
            (Self::Idle, Call) => Ok((Self::Connecting, Vec::new())),
            (Self::Connecting, Beat) => Ok((Self::Active, vec![StartCounting])),
            (Self::Active, Beat) => Ok((Self::Active, vec![CountSeconds])),
            (Self::Connecting, End) => Ok((Self::Idle, Vec::new())),
            (Self::Active, End) => Ok((Self::Idle, vec![CountSeconds])),
            (Self::Connecting, Fail) => Ok((Self::Error, Vec::new())),
            (Self::Active, Fail) => Ok((Self::Error, vec![CountSeconds])),
            (Self::Idle, Beat | End | Fail)
            | (Self::Connecting | Self::Active, Call)
            | (Self::Error, Call | Beat | End | Fail) => Err(InvalidTransition::of(self, input)),
        }
    }
}

#[cfg(test)]
mod tests;
