//! The agent that talks with people outside for Relay: sealed off, with six tools and nothing else.
//! Its policy, which asks nobody, comes with the migration `keep_relay`.

use crate::domain::relay::CONTACT_PROFILE;
use crate::domain::{
    AnswersTo, Audience, CallsPerStep, Coaching, Context, DecidingWords, END_CONVERSATION, FailureWords, MARK_TODO_ITEM,
    PLACE_CALL, Profile, REQUEST_HUMAN_INTERVENTION, SCHEDULE_NEXT_HEARTBEAT, SEND_MESSAGE, TasksShown, Toolset, UserRole,
};

/// The tools, as `tools::contact` has them.
pub const CONTACT_TOOLS: &[&str] =
    &[SEND_MESSAGE, MARK_TODO_ITEM, END_CONVERSATION, SCHEDULE_NEXT_HEARTBEAT, PLACE_CALL, REQUEST_HUMAN_INTERVENTION];
/// The most tool calls of one answer that are made.
const MOST_CALLS: usize = 6;
/// The most model requests of a turn.
const STEPS: u32 = 8;

pub(super) fn profile() -> Profile {
    Profile {
        name: CONTACT_PROFILE,
        audience: Audience::Contact,
        open_to: UserRole::Owner,
        prompt: include_str!("prompts/contact.md"),
        tools: Toolset::Only(CONTACT_TOOLS),
        by_hand: Toolset::Only(&[]),
        context: Context::Transcript,
        tasks: TasksShown::DueSoon,
        completes_with: None,
        calls: CallsPerStep::Many(MOST_CALLS),
        answers: AnswersTo::Nowhere,
        coaching: Coaching::Off,
        answer_tokens: None,
        temperature: None,
        model: None,
        steps: Some(STEPS),
        words: DecidingWords::NONE,
        approval_expiry: None,
        counted: false,
        failures: FailureWords::Full,
        talked_over: false,
        operates: false,
    }
}
