//! A permit for calls that a test makes itself.

use std::collections::BTreeMap;

use level3::domain::{Effect, Mode, ToolCallId, Toolset};
use level3::governor::{Evidence, Permit, Policy, Proposal, Verdict, authorize};
use serde_json::json;

/// The law's permit for a call that only reads.
pub fn permit(call: ToolCallId) -> Permit {
    let policy = Policy { mode: Mode::Auto, governor: false, rules: BTreeMap::new(), tools: Toolset::Builder };
    let (arguments, effects) = (json!({}), [Effect::Read].into());
    let proposal = Proposal { call, tool: "mine".into(), arguments, effects, version: None, losses: Vec::new() };
    match authorize(&policy, &proposal, Evidence::default()) {
        Verdict::Allow(permit) => permit,
        other => panic!("{other:?}"),
    }
}
