//! The proposer of campaigns: it is shown the state of its campaign and nothing else, and each
//! answer is one proposal. A worker of its own, in `faces::campaigns`, has the place of the agent.

use crate::domain::campaign::words::RULES;
use crate::domain::campaign::{CAMPAIGN_PROFILE, ProposalKind};
use crate::domain::{
    AnswersTo, Audience, CallsPerStep, Coaching, Context, DecidingWords, FailureWords, Profile, TasksShown, Toolset, UserRole,
};

/// The most tokens of a proposal.
const ANSWER: u32 = 4_096;

pub(super) fn profile() -> Profile {
    Profile {
        name: CAMPAIGN_PROFILE,
        audience: Audience::Machine,
        open_to: UserRole::Owner,
        prompt: RULES,
        tools: Toolset::Only(ProposalKind::names()),
        by_hand: Toolset::Only(&[]),
        context: Context::Worker,
        tasks: TasksShown::DueSoon,
        completes_with: None,
        operates: false,
        calls: CallsPerStep::ExactlyOne,
        answers: AnswersTo::Nowhere,
        coaching: Coaching::Off,
        answer_tokens: Some(ANSWER),
        temperature: Some(0.0),
        model: None,
        steps: None,
        words: DecidingWords::NONE,
        approval_expiry: None,
        counted: false,
        failures: FailureWords::Full,
        talked_over: false,
    }
}
