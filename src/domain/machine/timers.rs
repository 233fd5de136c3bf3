//! How a person's focus timer goes: idle, running, paused. It begins again and again, and is never
//! over.

use super::{InvalidTransition, Machine};
use crate::domain::turn::text_enum;

text_enum! {
    /// The state of a person's timer.
    TimerState {
        /// Nothing is measured.
        Idle = "idle",
        /// Time runs towards an end that is known.
        Running = "running",
        /// Time stands still, and the rest is known.
        Paused = "paused",
    }
}

text_enum! {
    /// The inputs of a timer.
    TimerInput {
        /// The person starts it.
        Start = "start",
        /// The person pauses it.
        Pause = "pause",
        /// The person lets it go on.
        Resume = "resume",
        /// The person stops it.
        Stop = "stop",
        /// Its time is over.
        Finish = "finish",
    }
}

text_enum! {
    /// The actions that go with a timer's transitions.
    TimerAction {
        /// A wake-up is put at its end.
        PlanEnd = "plan end",
        /// The wake-up at its end is taken away.
        DropEnd = "drop end",
        /// The person hears that the time is over.
        TellEnd = "tell end",
    }
}

impl Machine for TimerState {
    type Input = TimerInput;
    type Action = TimerAction;

    const TABLE: &'static str = "timers";
    const STATES: &'static [Self] = Self::ALL;
    const INPUTS: &'static [TimerInput] = TimerInput::ALL;
    const FIRST: Self = Self::Idle;

    fn next(self, input: TimerInput) -> Result<(Self, Vec<TimerAction>), InvalidTransition> {
        use TimerAction::{DropEnd, PlanEnd, TellEnd};
        use TimerInput::{Finish, Pause, Resume, Start, Stop};
        match (self, input) {
            (Self::Idle, Start) | (Self::Paused, Resume) => Ok((Self::Running, vec![PlanEnd])),
            (Self::Running, Pause) => Ok((Self::Paused, vec![DropEnd])),
            (Self::Running, Stop) => Ok((Self::Idle, vec![DropEnd])),
            (Self::Idle | Self::Paused, Stop) => Ok((Self::Idle, Vec::new())),
            (Self::Running, Finish) => Ok((Self::Idle, vec![DropEnd, TellEnd])),
            (Self::Idle, Pause | Resume | Finish) | (Self::Running, Start | Resume) | (Self::Paused, Start | Pause | Finish) => {
                Err(InvalidTransition::of(self, input))
            }
        }
    }
}
