//! What a profile may do, and what a proposal would do, as words. The law itself is in `governor`.

use serde::{Deserialize, Serialize};

use super::turn::text_enum;

text_enum! {
    /// How much a profile may do without a person. Grants are asked for in every mode that allows them at all.
    Mode {
        /// Everything that is within the grants.
        Auto = "auto",
        /// What cannot hurt is allowed, what a person would want to see first is asked.
        Smart = "smart",
        /// Everything but reading is asked.
        Ask = "ask",
        /// Only reading.
        ReadOnly = "read_only",
    }
}

text_enum! {
    /// What an operator or a person set for one tool. It never widens what grants allow.
    Rule {
        /// Allowed without asking.
        Always = "always",
        /// Asked each time.
        Ask = "ask",
        /// Refused.
        Never = "never",
    }
}

text_enum! {
    /// What a proposal would do, as its tool declares.
    Effect {
        /// Looks at something.
        Read = "read",
        /// Changes rows of the agent's own, or tasks.
        Write = "write",
        /// Makes or changes definitions in the agent's own schema.
        Define = "define",
        /// Deletes a table, all rows of one, or a task.
        Delete = "delete",
        /// What it does cannot be told; taken as the worst.
        Opaque = "opaque",
        /// Makes a capability live that has no powers, or none that its live version does not have.
        Install = "install",
        /// Makes a capability live that has new or wider powers.
        Grant = "grant",
        /// Calls a capability within its grants.
        Call = "call",
        /// Loads capabilities afresh, or restarts the process.
        Restart = "restart",
        /// Calls a tool of somebody else's server, which may do anything there.
        External = "external",
        /// Says something to somebody, who cannot be made to forget it.
        Send = "send",
        /// Does what a person confirms each time, whatever else was set.
        Confirm = "confirm",
    }
}

impl Effect {
    /// True if only a person's decision about this very proposal allows it: no mode does, and no rule.
    pub fn needs_decision(self) -> bool {
        match self {
            Self::Grant | Self::Confirm => true,
            Self::Read
            | Self::Write
            | Self::Define
            | Self::Delete
            | Self::Opaque
            | Self::Install
            | Self::Call
            | Self::Restart
            | Self::External
            | Self::Send => false,
        }
    }
}

text_enum! {
    /// A grade in a [`Classification`].
    Grade {
        /// Not worth a thought.
        Low = "low",
        /// Worth one.
        High = "high",
    }
}

text_enum! {
    /// How far a proposal reaches.
    Impact {
        /// What it names.
        Local = "local",
        /// More than what it names.
        Systemic = "systemic",
    }
}

/// What a second model says of a proposal. It can only make a verdict stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Classification {
    /// How hard it is to say what will happen.
    #[schemars(with = "String")]
    pub complexity: Grade,
    /// How much can go wrong.
    #[schemars(with = "String")]
    pub risk: Grade,
    /// How far it reaches.
    #[schemars(with = "String")]
    pub impact: Impact,
    /// Whether a person should see it first.
    pub requires_confirmation: bool,
}

impl Classification {
    /// The strictest there is; stands for one that could not be had.
    pub const STRICTEST: Self =
        Self { complexity: Grade::High, risk: Grade::High, impact: Impact::Systemic, requires_confirmation: true };
}
