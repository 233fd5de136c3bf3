//! Approvals: proposals that wait for a person, and the person's decisions.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Words;
use super::policy::Effect;
use super::turn::text_enum;

text_enum! {
    /// The state of an approval. A person decides it once, and an approved one is used once.
    ApprovalState {
        /// A person has not decided yet.
        Pending = "pending",
        /// A person allowed it.
        Approved = "approved",
        /// A person refused it.
        Denied = "denied",
        /// Nobody decided in time, which is a refusal.
        Expired = "expired",
        /// Its proposal has changed or its turn has ended, so no decision counts.
        Void = "void",
    }
}

text_enum! {
    /// The way a decision came in. No model and no capability can use any of them.
    Channel {
        /// A button of the page.
        Page = "page",
        /// The command line, or another client of the HTTP interface.
        Api = "api",
        /// A word in the conversation itself.
        Words = "words",
        /// A word that was spoken in a call.
        Voice = "voice",
        /// Other words in the conversation, which mean no.
        Instead = "instead",
        /// Nobody: the time was over.
        Clock = "clock",
    }
}

impl Channel {
    /// The one who decides through it.
    pub fn decider(self) -> &'static str {
        match self {
            Self::Page | Self::Api | Self::Words | Self::Voice | Self::Instead => "user",
            Self::Clock => "clock",
        }
    }
}

/// A person's decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// The call may run.
    Approve {
        /// From now on calls of this capability need no approval, as long as it gets no wider
        /// grants.
        #[serde(default)]
        always: bool,
    },
    /// The call may not run.
    Deny {
        /// The person's reason, for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// The card that the deciding person sees. A decision holds for exactly the proposal behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// The tool.
    pub tool: String,
    /// Its exact arguments.
    pub arguments: Value,
    /// The effects in words, a sentence each.
    pub what: Vec<String>,
    /// The question, if a character puts it in words of its own: these are then said in place of
    /// the card, and are all that the person hears.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Why a person is asked.
    pub why: String,
    /// True if [`Decision::Approve::always`] means something here.
    #[serde(default)]
    pub can_always: bool,
    /// True if a refusal ends the turn that waits: it is a task of the operator.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aborts: bool,
    /// The words that decide it in its conversation; none if its order came by a channel.
    #[serde(default)]
    pub words: Words,
    /// The words that decide it by the channel from which its order came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel_words: Option<Words>,
    /// The capability that the call writes or replaces, if it is such a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<ShownCapability>,
    /// The effects that the call had when it was tried. The next try begins with these, so that the
    /// law judges the call as the person saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<Finding>,
}

impl Shown {
    /// The words that decide it if the one who ordered says them.
    pub fn words_of_sender(&self) -> &Words {
        self.channel_words.as_ref().unwrap_or(&self.words)
    }

    /// The question in one text, for a person who sees no card.
    pub fn in_words(&self) -> &str {
        self.question.as_deref().unwrap_or(&self.why)
    }
}

/// Effects that a call had while it ran, beyond those its text told of. All of it was undone; the
/// law judges the call anew.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The effects.
    pub effects: BTreeSet<Effect>,
    /// The evidence, in sentences for the person who decides.
    pub why: Vec<String>,
    /// True if the sentences promise that all lost rows can be put back. The run has to keep that
    /// promise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// The rows that it lost. A person's yes holds for no more than these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<CountedLosses>,
}

/// The rows that a run lost, as they were counted before they were put back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CountedLosses {
    /// Each table that lost some.
    pub tables: Vec<RowLoss>,
    /// The same in sentences for the person who decides.
    pub why: Vec<String>,
}

/// The rows that one table lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowLoss {
    /// The table.
    pub table: String,
    /// Its number in the database: its name may be another table's by the time of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<i64>,
    /// How many rows were deleted.
    pub deleted: i64,
    /// How many rows were overwritten.
    pub overwritten: i64,
}

impl RowLoss {
    /// True if it is no more than `shown` says of this table. A row that is overwritten may stand
    /// for one that would have been deleted.
    pub fn is_within(&self, shown: &[Self]) -> bool {
        let all = |loss: &Self| loss.deleted + loss.overwritten;
        let same = |shown: &Self| shown.table == self.table && (shown.relation.is_none() || shown.relation == self.relation);
        shown.iter().any(|shown| same(shown) && self.deleted <= shown.deleted && all(self) <= all(shown))
    }
}

impl Finding {
    /// One effect with its evidence.
    pub fn of(effect: Effect, why: impl Into<String>) -> Self {
        Self { effects: [effect].into(), why: vec![why.into()], ..Self::default() }
    }

    /// Adds a later finding; each sentence stays once, and a later count of lost rows takes the
    /// place of an earlier one.
    pub fn unite(&mut self, later: Self) {
        self.effects.extend(later.effects);
        if later.lost.is_some() {
            (self.lost, self.kept) = (later.lost, later.kept);
        }
        for why in later.why {
            if !self.why.contains(&why) {
                self.why.push(why);
            }
        }
    }

    /// All its sentences.
    pub fn sentences(&self) -> impl Iterator<Item = &String> {
        self.why.iter().chain(self.lost.iter().flat_map(|lost| &lost.why))
    }

    /// The rows that it lost; none if they were not counted.
    pub fn losses(&self) -> &[RowLoss] {
        match &self.lost {
            Some(lost) => &lost.tables,
            None => &[],
        }
    }

    /// True if the run found nothing.
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }
}

/// A capability as a person sees it before it is installed.
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
