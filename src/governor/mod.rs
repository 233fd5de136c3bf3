//! The one door: every tool call is judged here, and only here is a [`Permit`] made.

mod budget;
mod policy;
pub mod sql;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::domain::{
    ApprovalId, ApprovalState, Classification, Denial, Effect, Mode, Refusal, RefusalCode, RowLoss, Rule, ToolCallId, Toolset,
};

pub use budget::{Exceeded, RepeatedCall, STOP_AT, Scope, What, check, repeated_call};

/// A tool call as the law judges it.
#[derive(Clone, Debug, Serialize)]
pub struct Proposal {
    /// The call.
    pub call: ToolCallId,
    /// The tool that the model asked for.
    pub tool: String,
    /// The exact arguments.
    pub arguments: Value,
    /// Its effects, as the tool declares them.
    pub effects: BTreeSet<Effect>,
    /// The version of the capability that is called or replaced, if there is one. A proposal about
    /// another version is another proposal.
    pub version: Option<i32>,
    /// The rows that it lost when it was tried. A proposal that loses others is another proposal.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<RowLoss>,
}

impl Proposal {
    /// sha256 of the canonical JSON (object keys sorted). Permits and approvals are bound to it.
    pub fn sha256(&self) -> [u8; 32] {
        // serde_json keeps the keys of its maps sorted, so equal proposals have equal text.
        let text = serde_json::to_string(&serde_json::to_value(self).unwrap_or_default()).unwrap_or_default();
        Sha256::digest(text.as_bytes()).into()
    }
}

/// A profile's policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// How much a call may do without a person.
    pub mode: Mode,
    /// True if a second model classifies proposals; [`Evidence::opinion`] is its judgement.
    pub governor: bool,
    /// The rules for single tools.
    pub rules: BTreeMap<String, Rule>,
    /// The tools that exist for it.
    pub tools: Toolset,
}

/// The law's answer to a proposal.
#[derive(Debug)]
pub enum Verdict {
    /// The call may run.
    Allow(Permit),
    /// A person has to decide; the reason, in words for that person.
    Ask(String),
    /// The call may not run.
    Deny(Refusal),
}

impl Verdict {
    /// The verdict in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Allow(_) => "allow",
            Self::Ask(_) => "ask",
            Self::Deny(_) => "deny",
        }
    }
}

/// Proof that exactly one proposal may run. Only [`authorize`] makes one, and it cannot be copied.
#[derive(Debug)]
pub struct Permit {
    call: ToolCallId,
    proposal_sha256: [u8; 32],
    approval: Option<ApprovalId>,
    context: Option<i64>,
    begun: bool,
    tools: Toolset,
}

impl Permit {
    /// The call that may run.
    pub fn call(&self) -> ToolCallId {
        self.call
    }

    /// The proposal that it is bound to, see [`Proposal::sha256`].
    pub fn proposal_sha256(&self) -> &[u8; 32] {
        &self.proposal_sha256
    }

    /// The approval that is used up with it.
    pub fn approval(&self) -> Option<ApprovalId> {
        self.approval
    }

    /// The approval context of a campaign that allows it, and is counted down with it.
    pub fn context(&self) -> Option<i64> {
        self.context
    }

    /// The tools of the model that made the call: advice to it names no other.
    pub fn tools(&self) -> Toolset {
        self.tools
    }

    /// The same of a call whose beginning is recorded.
    #[must_use]
    pub fn begun(self) -> Self {
        Self { begun: true, ..self }
    }

    /// True if the beginning of the call is recorded as an event of its own.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// The word that the audit keeps: `ask` if a person allowed it, else `allow`.
    pub fn verdict(&self) -> &'static str {
        if self.approval.is_some() { "ask" } else { "allow" }
    }
}

/// A recorded decision about a proposal of this call.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The approval.
    pub approval: ApprovalId,
    /// The decision.
    pub state: ApprovalState,
    /// The proposal that the person decided about.
    pub proposal_sha256: Vec<u8>,
    /// True if its effect is recorded.
    pub used: bool,
    /// The person's reason.
    pub reason: Option<String>,
}

impl Recorded {
    /// True if it decides about one proposal more: it was taken, and its effect is still to come.
    fn holds(&self) -> bool {
        !self.used && matches!(self.state, ApprovalState::Approved | ApprovalState::Denied | ApprovalState::Expired)
    }
}

/// The second model's opinion of a proposal. If it gave none, the law is as strict as with the
/// strictest, and says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// Its own judgement.
    Given(Classification),
    /// It was asked, and gave no answer that could be read.
    Unread,
    /// It was not asked: the call seemed to need no review.
    NotAsked,
}

/// The law's knowledge of a proposal besides the proposal itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// The second model's opinion, if the policy wants one.
    pub opinion: Option<Opinion>,
    /// The person's decision about this call, if one was asked.
    pub decision: Option<&'a Recorded>,
    /// The person's word for things of this kind in a campaign, if there is one: the number of the
    /// approval context.
    pub context: Option<i64>,
}

/// Judges a proposal. A pure function: the same policy, proposal and knowledge give the same
/// verdict.
pub fn authorize(policy: &Policy, proposal: &Proposal, known: Evidence<'_>) -> Verdict {
    if let Toolset::Only(tools) = policy.tools
        && !policy.tools.has(&proposal.tool)
    {
        return Verdict::Deny(Refusal::unknown_tool(&proposal.tool, tools));
    }
    let permit = |approval| {
        let (call, proposal_sha256, tools) = (proposal.call, proposal.sha256(), policy.tools);
        Permit { call, proposal_sha256, approval, context: None, begun: false, tools }
    };
    // Only what campaigns do is ever allowed by a word for several things.
    let by_word =
        |effect: &Effect| matches!(effect, Effect::Persist | Effect::Interact | Effect::Script | Effect::Read | Effect::Write);
    let asks = match policy::judge(policy, proposal, known.opinion) {
        policy::TableVerdict::Deny(denial, reason) => return Verdict::Deny(Refusal::denied(denial, reason)),
        policy::TableVerdict::Ask(why) => Some(why),
        policy::TableVerdict::Allow => None,
    };
    // A proposal that names no effect does not count as harmless.
    let only_reads = !proposal.effects.is_empty() && proposal.effects.iter().all(|effect| *effect == Effect::Read);
    let decision = known.decision.filter(|decision| decision.holds());
    // A no is about the call, whatever it would do by now and whatever else allows it.
    if let Some(no) = decision.and_then(|decision| refusal_by(decision.state, decision.reason.as_deref())) {
        return Verdict::Deny(no);
    }
    match (decision, asks) {
        // A yes holds once, and for exactly the proposal that the person saw.
        (Some(yes), asks) if yes.proposal_sha256 == proposal.sha256() => Verdict::Allow(permit(asks.map(|_| yes.approval))),
        // A word for several things is none for the one that a person saw as another.
        (None, Some(_)) if known.context.is_some() && proposal.effects.iter().all(by_word) => {
            Verdict::Allow(Permit { context: known.context, ..permit(None) })
        }
        (_, Some(why)) => Verdict::Ask(why),
        // A person who approved a call is asked about the one that it has become, even if that one
        // is allowed unasked.
        (Some(_), None) if !only_reads => Verdict::Ask(CHANGED.to_owned()),
        (_, None) => Verdict::Allow(permit(None)),
    }
}

/// The reason for a question about a call that a person approved as it was before.
const CHANGED: &str = "It would do something else now than when it was decided about.";

const EXPIRED: &str = "Nobody decided about this in time, which counts as no.";

/// The refusal that follows from a decision: a person's no, with their reason if they gave one, or
/// that nobody decided in time. `None` if it refuses nothing.
pub fn refusal_by(decision: ApprovalState, reason: Option<&str>) -> Option<Refusal> {
    match (decision, reason) {
        (ApprovalState::Denied, Some(reason)) => {
            Some(Refusal::new(RefusalCode::Denied, format!("The user refused this: {reason}")))
        }
        (ApprovalState::Denied, None) => Some(Refusal::denied(Denial::PlainNo, "The user refused this.")),
        (ApprovalState::Expired, _) => Some(Refusal::denied(Denial::TooLate, EXPIRED)),
        (ApprovalState::Pending | ApprovalState::Approved | ApprovalState::Void, _) => None,
    }
}

#[cfg(test)]
mod tests;
