//! The program's own words in a model request: all of it that does not follow from a campaign's
//! state. They are recorded, so that a cycle can be made again by a program that says something
//! else.

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
    /// How a snapshot is laid out, see [`LAYOUT`]. A program that recorded none had the first.
    #[serde(default = "first_layout", skip_serializing_if = "is_first")]
    pub layout: u32,
}

/// The layout of a snapshot by this program. Since 2, all that comes from pages stands within a
/// fence, and leads that a task names are shown; since 3, what came of the last proposals is shown;
/// since 4, the log is the audit, and no condition, name of a tool or cut can end a fence.
pub const LAYOUT: u32 = 4;

fn first_layout() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_first(layout: &u32) -> bool {
    *layout == first_layout()
}

impl ProgramWords {
    /// Those of this program, which offers these tools.
    pub fn of(proposals: String) -> Self {
        Self { rules: RULES.to_owned(), proposals, tools: tool_lines(), layout: LAYOUT }
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
