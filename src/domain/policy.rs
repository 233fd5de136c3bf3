//! A profile's rights, and a proposal's effects, as words. `governor` holds the law itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::budget::Budgets;
use super::turn::text_enum;

text_enum! {
    /// How much a profile may do without a person. In every mode that allows grants at all, a
    /// person is asked about them.
    Mode {
        /// Everything within the grants is allowed.
        Auto = "auto",
        /// A harmless call is allowed; a person is asked about one that they would want to see
        /// first.
        Smart = "smart",
        /// A person is asked about everything but reading.
        Ask = "ask",
        /// Only reading is allowed.
        ReadOnly = "read_only",
    }
}

text_enum! {
    /// An operator's or a person's rule for one tool. It never widens what grants allow.
    Rule {
        /// Allowed without asking.
        Always = "always",
        /// A person is asked each time.
        Ask = "ask",
        /// Refused.
        Never = "never",
    }
}

text_enum! {
    /// An effect of a proposal, as its tool declares it.
    Effect {
        /// Looks at something.
        Read = "read",
        /// Changes rows of the agent's own, or tasks.
        Write = "write",
        /// Makes or changes definitions in the agent's own schema.
        Define = "define",
        /// Drops something, deletes a task, or loses more rows than a person lets go unasked.
        Delete = "delete",
        /// Nobody can tell what it does; the law takes it as the worst.
        Opaque = "opaque",
        /// Makes a capability live that has no powers beyond those of its live version, or none at
        /// all.
        Install = "install",
        /// Makes a capability live that has new or wider powers.
        Grant = "grant",
        /// Calls a capability within its grants.
        Call = "call",
        /// Loads capabilities afresh, or restarts the process.
        Restart = "restart",
        /// Calls a tool of another's server, which may do anything there.
        External = "external",
        /// Sends words to somebody, who cannot be made to forget them.
        Send = "send",
        /// Needs a person's confirmation each time, whatever else is set.
        Confirm = "confirm",
        /// Keeps something in a campaign.
        Persist = "persist",
        /// Touches a page in a person's browser.
        Interact = "interact",
        /// Runs a script of a campaign.
        Script = "script",
    }
}

impl Effect {
    /// True if only a person's decision about this very proposal allows it: no mode does, and no
    /// rule.
    pub fn needs_decision(self) -> bool {
        match self {
            Self::Grant | Self::Confirm | Self::Persist | Self::Interact | Self::Script => true,
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
        /// The things it names.
        Local = "local",
        /// More than the things it names.
        Systemic = "systemic",
    }
}

/// A profile's policy. The default is for a profile without any settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfilePolicy {
    /// How much a call may do without a person.
    pub mode: Mode,
    /// True if a second model classifies proposals.
    pub governor: bool,
    /// The budgets.
    pub budgets: Budgets,
    /// The rules for single tools.
    pub rules: BTreeMap<String, Rule>,
    /// The models that work for it, as `provider/model`, of which the first that is up answers. If
    /// there are none, the server's setting holds.
    #[serde(default)]
    pub models: Vec<String>,
}

impl Default for ProfilePolicy {
    fn default() -> Self {
        Self { mode: Mode::Smart, governor: false, budgets: Budgets::default(), rules: BTreeMap::new(), models: Vec::new() }
    }
}

/// A second model's judgement of a proposal. It can only make a verdict stricter.
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
    /// True if a person should see it first.
    #[schemars(description = "Whether a person should see it first.")]
    pub requires_confirmation: bool,
}

impl Classification {
    /// The strictest of all; stands for a classification that no model gave.
    pub const STRICTEST: Self =
        Self { complexity: Grade::High, risk: Grade::High, impact: Impact::Systemic, requires_confirmation: true };
}
