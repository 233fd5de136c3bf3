//! The program's own words in a model request: all of it that does not follow from a campaign's state. They are recorded, so that a cycle can be
//! made again by a program that says something else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::judge::TOOLS;
use super::page::BROWSER_TOOLS;
use super::sha256;

/// The rules, which come from this file of the program and from nowhere else.
pub const RULES: &str = include_str!("rules.md");

/// The words of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramWords {
    /// The rules.
    pub rules: String,
    /// The eight tools as they are offered, in JSON, byte for byte.
    pub proposals: String,
    /// The tools of `execute_tool`, with a line for each.
    pub tools: BTreeMap<String, String>,
}

impl ProgramWords {
    /// Those of this program, which offers these tools.
    pub fn of(proposals: String) -> Self {
        Self { rules: RULES.to_owned(), proposals, tools: tool_lines() }
    }

    /// Their fingerprint.
    pub fn sha256(&self) -> String {
        sha256(json!(self).to_string().as_bytes())
    }
}

/// The tools of `execute_tool` as this program describes them.
pub fn tool_lines() -> BTreeMap<String, String> {
    TOOLS.iter().chain(BROWSER_TOOLS).map(|(name, what)| ((*name).to_owned(), (*what).to_owned())).collect()
}
