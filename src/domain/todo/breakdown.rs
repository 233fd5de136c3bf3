//! A task broken down into steps, as a model answers it.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Deserialize;

use super::fold::folded;
use super::title::valid_title;

/// The system prompt by which a model breaks a task down.
pub const BREAKDOWN_PROMPT: &str = include_str!("breakdown.md");
/// How many steps a task is broken down into.
pub const BREAKDOWN_STEPS: RangeInclusive<usize> = 3..=7;

/// The steps of a task, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Breakdown {
    /// The titles of the steps.
    #[schemars(description = "3 to 7 short steps, in order", length(min = 3, max = 7), inner(length(min = 1, max = 200)))]
    pub subtasks: Vec<String>,
}

impl Breakdown {
    /// Reads a model's answer: one JSON object, in a code fence or not.
    ///
    /// # Errors
    /// If it is something else, in words for the model.
    pub fn read(answer: &str) -> Result<Self, String> {
        let answer = answer.trim();
        let fenced = answer.strip_prefix("```json").or(answer.strip_prefix("```")).and_then(|inner| inner.strip_suffix("```"));
        let read: Self =
            serde_json::from_str(fenced.unwrap_or(answer)).map_err(|error| format!("this is not the JSON object: {error}"))?;
        let many = read.subtasks.len();
        if !BREAKDOWN_STEPS.contains(&many) {
            return Err(format!("there are {many} subtasks; give {} to {}", BREAKDOWN_STEPS.start(), BREAKDOWN_STEPS.end()));
        }
        let titles: Result<Vec<_>, _> = read.subtasks.iter().map(|title| valid_title(title)).collect();
        let subtasks = titles.map_err(|refused| refused.to_string())?;
        let mut seen = BTreeSet::new();
        if let Some(again) = subtasks.iter().find(|title| !seen.insert(folded(title))) {
            return Err(format!("`{again}` stands there twice"));
        }
        Ok(Self { subtasks })
    }
}

#[cfg(test)]
mod tests;
