//! Wake-ups: things that are due at a time.

use super::turn::text_enum;

text_enum! {
    /// The subject of a wake-up.
    WakeUpKind {
        /// A task falls due.
        Task = "task",
        /// The time to decide an approval is over.
        Approval = "approval",
        /// The rows that a call lost were kept long enough.
        Kept = "kept",
        /// A person is reminded of a task.
        Reminder = "reminder",
        /// The time of a person's timer is over.
        Timer = "timer",
        /// A contact was silent for long.
        FollowUp = "follow_up",
        /// A campaign has waited long enough.
        Campaign = "campaign",
        /// Nobody was heard in a call for long, or its minutes are used up.
        Voice = "voice",
    }
}

impl WakeUpKind {
    /// True if a turn begins when it is settled, so that a model is asked. Such a wake-up may have
    /// to wait for the limit of the hour.
    pub fn asks_model(self) -> bool {
        match self {
            Self::Task | Self::FollowUp | Self::Campaign => true,
            Self::Approval | Self::Kept | Self::Reminder | Self::Timer | Self::Voice => false,
        }
    }
}
