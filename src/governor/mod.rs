//! The one door: every tool call is judged here, and only here is a [`Permit`] made.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::domain::{ToolCallId, valid_name};

/// A tool call as it is judged.
#[derive(Clone, Debug, Serialize)]
pub struct Proposal {
    /// The call.
    pub call: ToolCallId,
    /// The tool asked for.
    pub tool: String,
    /// The exact arguments.
    pub arguments: Value,
}

impl Proposal {
    /// sha256 of the canonical JSON (object keys sorted), which is what a permit is bound to.
    pub fn sha256(&self) -> [u8; 32] {
        // serde_json keeps the keys of its maps sorted, so equal proposals have equal text.
        let text = serde_json::to_string(&serde_json::to_value(self).unwrap_or_default()).unwrap_or_default();
        Sha256::digest(text.as_bytes()).into()
    }
}

/// What a profile may do.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The tools that exist for it now, built in and built by itself.
    pub tools: BTreeSet<String>,
}

/// What the law says to a proposal.
#[derive(Debug)]
pub enum Verdict {
    /// It may run.
    Allow(Permit),
    /// It may not; the reason is written for the model to act on.
    Deny(String),
}

/// Proof that exactly one proposal may run. Only [`authorize`] makes one, and it cannot be copied.
#[derive(Debug)]
pub struct Permit {
    call: ToolCallId,
    proposal_sha256: [u8; 32],
}

impl Permit {
    /// The call that may run.
    pub fn call(&self) -> ToolCallId {
        self.call
    }

    /// What it is bound to, see [`Proposal::sha256`].
    pub fn proposal_sha256(&self) -> &[u8; 32] {
        &self.proposal_sha256
    }
}

/// Judges a proposal. A pure function: the same policy and proposal give the same verdict.
pub fn authorize(policy: &Policy, proposal: &Proposal) -> Verdict {
    if !policy.tools.contains(&proposal.tool) {
        return Verdict::Deny(unknown_tool(policy, &proposal.tool));
    }
    Verdict::Allow(Permit { call: proposal.call, proposal_sha256: proposal.sha256() })
}

fn unknown_tool(policy: &Policy, tool: &str) -> String {
    let tools: Vec<_> = policy.tools.iter().map(String::as_str).collect();
    let list = tools.join(", ");
    if !valid_name(tool) {
        return format!("There is no tool `{tool}`. The tools are: {list}. To make a new one, call write_capability.");
    }
    format!(
        "There is no tool `{tool}` yet. The tools are: {list}. To make it, call write_capability with name \"{tool}\", a description, \
         code \"export default async function {tool}(params) {{ ... }}\" and parameters_schema; then call it."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn policy() -> Policy {
        Policy { tools: ["execute_sql", "restart"].map(String::from).into() }
    }

    fn proposal(tool: &str, arguments: Value) -> Proposal {
        Proposal { call: ToolCallId(1), tool: tool.into(), arguments }
    }

    #[test]
    fn a_known_tool_is_allowed_and_its_permit_is_bound_to_the_content() {
        let first = proposal("execute_sql", json!({"query": "SELECT 1", "a": 1}));
        let Verdict::Allow(permit) = authorize(&policy(), &first) else { panic!("denied") };
        assert_eq!(permit.proposal_sha256(), &proposal("execute_sql", json!({"a": 1, "query": "SELECT 1"})).sha256());
        assert_ne!(permit.proposal_sha256(), &proposal("execute_sql", json!({"a": 2, "query": "SELECT 1"})).sha256());
    }

    #[test]
    fn an_unknown_tool_is_denied_with_the_list_and_the_way_to_make_one() {
        let Verdict::Deny(reason) = authorize(&policy(), &proposal("send_email", json!({}))) else { panic!("allowed") };
        assert!(
            reason.starts_with("There is no tool `send_email` yet. The tools are: execute_sql, restart. To make it, call"),
            "{reason}"
        );
        assert!(reason.contains("export default async function send_email(params)"), "{reason}");
        let Verdict::Deny(reason) = authorize(&policy(), &proposal("Send Email", json!({}))) else { panic!("allowed") };
        assert!(reason.ends_with("To make a new one, call write_capability."), "{reason}");
    }
}
