//! The score of a lead: a pure function of a config's version and the lead, in integers.

use serde::{Deserialize, Serialize};

use super::lead::{Lead, RulePoints, ScoreBreakdown};

/// The largest weight, and the largest score, either way.
const MOST: i64 = 1_000_000;
/// The most rules of a config.
const MOST_RULES: usize = 200;

/// The content of a `lead_scoring_config`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoringConfig {
    /// The score of a lead to which no rule applies.
    #[serde(default)]
    pub base: i64,
    /// The rules, all of which count.
    pub rules: Vec<ScoringRule>,
    /// The least score.
    #[serde(default)]
    pub min: Option<i64>,
    /// The largest score.
    #[serde(default)]
    pub max: Option<i64>,
}

/// A rule of a config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoringRule {
    /// The attribute that is looked at; `full_name` and `profile_url` too.
    pub attribute: String,
    /// It is this, without regard to capitals.
    #[serde(default)]
    pub equals: Option<String>,
    /// It holds this, without regard to capitals.
    #[serde(default)]
    pub contains: Option<String>,
    /// It is a whole number of this size at least.
    #[serde(default)]
    pub at_least: Option<i64>,
    /// The points.
    pub weight: i64,
}

impl ScoringConfig {
    /// Reads and checks a config.
    ///
    /// # Errors
    /// A sentence with the place and what is expected.
    pub fn read(content: &str) -> Result<Self, String> {
        let expected = r#"expected like {"base": 0, "rules": [{"attribute": "title", "contains": "CTO", "weight": 10}], "min": 0, "max": 100}"#;
        let config: Self = serde_json::from_str(content).map_err(|error| format!("content: {error}; {expected}"))?;
        if config.rules.len() > MOST_RULES {
            return Err(format!("content.rules: has {} rules; at most {MOST_RULES}", config.rules.len()));
        }
        for (n, rule) in config.rules.iter().enumerate() {
            let tests =
                usize::from(rule.equals.is_some()) + usize::from(rule.contains.is_some()) + usize::from(rule.at_least.is_some());
            if tests != 1 {
                return Err(format!("content.rules[{n}]: has {tests} tests; give exactly one of equals, contains, at_least"));
            }
            if rule.weight.abs() > MOST {
                return Err(format!("content.rules[{n}].weight: is {}; it is between -{MOST} and {MOST}", rule.weight));
            }
        }
        let limits = [Some(config.base), config.min, config.max];
        if limits.into_iter().flatten().any(|number| number.abs() > MOST) {
            return Err(format!("content: base, min and max are between -{MOST} and {MOST}"));
        }
        if config.min.zip(config.max).is_some_and(|(min, max)| min > max) {
            return Err("content.min: is larger than max".to_owned());
        }
        Ok(config)
    }

    /// The score of a lead by this config in its version, and how it came about.
    pub fn score(&self, version: i32, lead: &Lead) -> (i64, ScoreBreakdown) {
        let value = |attribute: &str| match attribute {
            "full_name" => Some(&lead.full_name),
            "profile_url" => Some(&lead.profile_url),
            other => lead.attributes.get(other),
        };
        let applies = |rule: &ScoringRule| {
            let Some(value) = value(&rule.attribute) else { return false };
            let (value, lower) = (value.trim(), value.trim().to_lowercase());
            rule.equals.as_ref().is_some_and(|wanted| wanted.trim().to_lowercase() == lower)
                || rule.contains.as_ref().is_some_and(|wanted| lower.contains(&wanted.trim().to_lowercase()))
                || rule.at_least.is_some_and(|least| value.parse::<i64>().is_ok_and(|number| number >= least))
        };
        let given = self.rules.iter().enumerate().filter(|(_, rule)| applies(rule));
        let points: Vec<_> = given.map(|(rule, ScoringRule { weight, .. })| RulePoints { rule, weight: *weight }).collect();
        let sum = points.iter().fold(self.base, |sum, given| sum.saturating_add(given.weight));
        let score = sum.max(self.min.unwrap_or(i64::MIN)).min(self.max.unwrap_or(i64::MAX));
        (score, ScoreBreakdown { version, points, sum })
    }
}
