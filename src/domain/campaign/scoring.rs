//! The score of a lead: a pure function of a config's version and the lead, in integers.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::lead::{Lead, MOST_NAME, RulePoints, ScoreBreakdown, on_a_line};
use crate::domain::exact_text;

/// The largest weight, and the largest score, either way.
const MOST: i64 = 1_000_000;
/// The most rules of a config.
const MOST_RULES: usize = 200;
/// So many are the best of a ranking, which a person is shown.
const BEST: usize = 20;

/// True if a weight or a score is as large as one may be.
fn is_in_bounds(number: i64) -> bool {
    (-MOST..=MOST).contains(&number)
}

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

/// The name of a config's version.
#[derive(Clone, Copy, Debug)]
pub struct ConfigVersion<'a> {
    /// Its key.
    pub key: &'a str,
    /// Its version.
    pub version: i32,
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
        let config: Self = exact_text(content).map_err(|error| format!("content: {error}; {expected}"))?;
        if config.rules.len() > MOST_RULES {
            return Err(format!("content.rules: has {} rules; at most {MOST_RULES}", config.rules.len()));
        }
        for (n, rule) in config.rules.iter().enumerate() {
            let tests =
                usize::from(rule.equals.is_some()) + usize::from(rule.contains.is_some()) + usize::from(rule.at_least.is_some());
            if tests != 1 {
                return Err(format!("content.rules[{n}]: has {tests} tests; give exactly one of equals, contains, at_least"));
            }
            if !is_in_bounds(rule.weight) {
                return Err(format!("content.rules[{n}].weight: is {}; it is between -{MOST} and {MOST}", rule.weight));
            }
        }
        let limits = [Some(config.base), config.min, config.max];
        if !limits.into_iter().flatten().all(is_in_bounds) {
            return Err(format!("content: base, min and max are between -{MOST} and {MOST}"));
        }
        if config.min.zip(config.max).is_some_and(|(min, max)| min > max) {
            return Err("content.min: is larger than max".to_owned());
        }
        Ok(config)
    }

    /// The score of a lead by this config, whose name is this, and how it came about.
    pub fn score(&self, named: ConfigVersion<'_>, lead: &Lead) -> (i64, ScoreBreakdown) {
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
        (score, ScoreBreakdown { key: Some(named.key.to_owned()), version: named.version, points, sum })
    }

    /// The changes that this config makes in the ranking of a campaign's leads, in lines for a
    /// person: counts, the best by the new score, and those that leave the best.
    pub fn ranking(&self, named: ConfigVersion<'_>, leads: &[Lead]) -> Vec<String> {
        if leads.is_empty() {
            return vec!["There are no leads yet that it would score.".to_owned()];
        }
        let scored = leads.iter().map(|lead| RankedLead { lead, score: self.score(named, lead).0, old: 0, new: 0 });
        let mut all: Vec<_> = scored.collect();
        all.sort_by_key(|ranked| (Reverse(ranked.lead.weight_score), ranked.lead.id));
        for (rank, ranked) in (1..).zip(&mut all) {
            ranked.old = rank;
        }
        all.sort_by_key(|ranked| (Reverse(ranked.score), ranked.lead.id));
        for (rank, ranked) in (1..).zip(&mut all) {
            ranked.new = rank;
        }
        let scores = all.iter().filter(|ranked| ranked.score != ranked.lead.weight_score).count();
        let ranks = all.iter().filter(|ranked| ranked.old != ranked.new).count();
        let mut lines = vec![
            format!("Scores the {} leads anew: {scores} get another score, {ranks} another rank.", all.len()),
            format!(
                "The best {BEST} by it, and those that leave the best {BEST}: old rank → new rank, name, old score → new score."
            ),
        ];
        lines.extend(all.iter().filter(|ranked| ranked.old.min(ranked.new) <= BEST).map(RankedLead::line));
        lines
    }
}

/// A lead with its places in the ranking as it is and as it would be.
struct RankedLead<'a> {
    lead: &'a Lead,
    score: i64,
    old: usize,
    new: usize,
}

impl RankedLead<'_> {
    fn line(&self) -> String {
        let (name, before) = (on_a_line(&self.lead.full_name, MOST_NAME), self.lead.weight_score);
        format!("{} → {}, {name}, {before} → {}", self.old, self.new, self.score)
    }
}
