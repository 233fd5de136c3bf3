//! The JSON of `/api/policy`, `/api/rates` and `/api/usage`.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::domain::{Budgets, Mode, ProfilePolicy, Rate, Rule};

pub use crate::domain::Requests;

/// `GET /api/policy/{profile}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedPolicy {
    /// The profile.
    pub profile: String,
    /// Its policy.
    #[serde(flatten)]
    pub policy: ProfilePolicy,
}

/// Body of `PUT /api/policy/{profile}`; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyChange {
    /// The mode from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// True if a second model classifies proposals from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<bool>,
    /// All budgets from now on; a limit not mentioned gets its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budgets: Option<Budgets>,
    /// The models that work for it from now on; an empty list means those set for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<Vec<String>>,
}

/// Body of `PUT /api/policy/{profile}/rules/{tool}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleChange {
    /// The rule; `null`, which must be written, takes it away.
    #[serde(deserialize_with = "Option::deserialize")]
    pub rule: Option<Rule>,
}

/// `GET /api/rates`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Model → its price. A model that is not here costs an unknown amount.
    pub rates: BTreeMap<String, Rate>,
}

/// `GET /api/usage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsageReport {
    /// Since midnight, UTC.
    pub today: Span,
    /// The last 30 days on which anything was used, the newest first.
    pub days: Vec<Day>,
    /// Each model of these days, the most asked first.
    pub models: Vec<ModelUsage>,
    /// Since the beginning.
    pub total: Span,
}

/// The use in one span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Of models.
    #[serde(flatten)]
    pub model: Requests,
    /// Of tools.
    pub tool_calls: CallCounts,
}

/// Tool calls by what became of them, on the day they were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallCounts {
    /// Those that succeeded.
    pub done: u64,
    /// Those that were refused or failed.
    pub failed: u64,
    /// Those without an outcome yet.
    pub open: u64,
}

/// One day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Day {
    /// The day, UTC.
    pub day: NaiveDate,
    /// The use of it.
    #[serde(flatten)]
    pub usage: Span,
}

/// One model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelUsage {
    /// Its name.
    pub model: String,
    /// How long half of its newest answers took at most, in milliseconds; `None` if it gave none
    /// lately.
    pub p50_ms: Option<i64>,
    /// The requests to it.
    #[serde(flatten)]
    pub usage: Requests,
}
