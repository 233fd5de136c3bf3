//! Wake-ups: what is due at a time.

use super::turn::text_enum;

text_enum! {
    /// What a wake-up is about.
    WakeUpKind {
        /// A task falls due.
        Task = "task",
        /// The time to decide an approval is over.
        Approval = "approval",
        /// What a call lost was kept long enough.
        Kept = "kept",
    }
}

impl WakeUpKind {
    /// True if settling it begins a turn, so that a model is asked. Such a wake-up may have to wait for the limit of the hour.
    pub fn asks_model(self) -> bool {
        match self {
            Self::Task => true,
            Self::Approval | Self::Kept => false,
        }
    }
}
