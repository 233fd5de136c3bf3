//! Approvals: proposals that wait for a person, and what the person decides.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Words;
use super::policy::Effect;
use super::turn::text_enum;

text_enum! {
    /// Where an approval stands. It is decided once, and an approved one is used once.
    ApprovalState {
        /// A person has not decided yet.
        Pending = "pending",
        /// A person allowed it.
        Approved = "approved",
        /// A person refused it.
        Denied = "denied",
        /// Nobody decided in time, which is a refusal.
        Expired = "expired",
        /// What was shown is no longer what would happen, or its turn has ended; it counts for nothing.
        Void = "void",
    }
}

text_enum! {
    /// The way a decision came in. None of them can be reached by a model or a capability.
    Channel {
        /// A button of the page.
        Page = "page",
        /// The command line, or another client of the HTTP interface.
        Api = "api",
        /// A word in the conversation itself.
        Words = "words",
        /// Something else that was said in the conversation: a no.
        Instead = "instead",
        /// Nobody: the time was over.
        Clock = "clock",
    }
}

impl Channel {
    /// Who decides through it.
    pub fn decider(self) -> &'static str {
        match self {
            Self::Page | Self::Api | Self::Words | Self::Instead => "user",
            Self::Clock => "clock",
        }
    }
}

/// What a person decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// It may happen.
    Approve {
        /// From now on calls of this capability need no approval, as long as it gets no wider grants.
        #[serde(default)]
        always: bool,
    },
    /// It may not.
    Deny {
        /// Why, for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// What the person who decides is shown. A decision holds for exactly the proposal behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// The tool.
    pub tool: String,
    /// Its exact arguments.
    pub arguments: Value,
    /// What will happen, in words, a sentence each.
    pub what: Vec<String>,
    /// Why it is asked.
    pub why: String,
    /// True when [`Decision::Approve::always`] means something here.
    #[serde(default)]
    pub can_always: bool,
    /// The words that decide it in its conversation.
    #[serde(default)]
    pub words: Words,
    /// For a capability that is written or replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<ShownCapability>,
    /// The effects that the call turned out to have when it was tried. The next try begins with this, so that it is judged as it was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<Finding>,
}

/// What a call turned out to do while it ran, beyond what its text had said. All of it was undone; the law judges it anew.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it would do.
    pub effects: BTreeSet<Effect>,
    /// What was seen, in sentences for the person who decides.
    pub why: Vec<String>,
    /// True when they say that all that is lost can be put back. It has to be so when the call is run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
}

impl Finding {
    /// One effect, with what was seen of it.
    pub fn of(effect: Effect, why: impl Into<String>) -> Self {
        Self { effects: [effect].into(), why: vec![why.into()], kept: false }
    }

    /// Adds what was found later; each sentence stays once.
    pub fn unite(&mut self, later: Self) {
        self.effects.extend(later.effects);
        self.kept |= later.kept;
        for why in later.why {
            if !self.why.contains(&why) {
                self.why.push(why);
            }
        }
    }

    /// True when nothing was found.
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }
}

/// A capability as it is shown before it is installed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownCapability {
    /// Its name.
    pub name: String,
    /// Its language.
    pub language: String,
    /// The source that will run.
    pub source: String,
    /// The live version that it replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<i32>,
    /// The difference to that version's source, as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The grants as written.
    pub grants: Value,
    /// The grants in words.
    pub grants_in_words: Vec<String>,
    /// Recorded calls that the new version answers otherwise than the old one did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Value>,
}
