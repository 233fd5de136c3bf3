//! The assistant that builds its own capabilities.

use crate::domain::{
    AnswersTo, Audience, CallsPerStep, Coaching, Context, DEFAULT_PROFILE, DecidingWords, FailureWords, MANAGE_TASKS, Profile,
    TasksShown, Toolset, UserRole,
};

/// The most tool calls of one answer that are made.
const MOST_CALLS: usize = 128;

pub(super) fn profile() -> Profile {
    Profile {
        name: DEFAULT_PROFILE,
        audience: Audience::Owner,
        open_to: UserRole::Owner,
        prompt: include_str!("prompts/builder.md"),
        tools: Toolset::Builder,
        by_hand: Toolset::Builder,
        context: Context::Conversation { history: None, summaries: true },
        tasks: TasksShown::DueSoon,
        completes_with: Some(MANAGE_TASKS),
        calls: CallsPerStep::Many(MOST_CALLS),
        answers: AnswersTo::Page,
        coaching: Coaching::Full,
        answer_tokens: None,
        temperature: None,
        model: None,
        steps: None,
        words: DecidingWords::HOUSE,
        approval_expiry: None,
        counted: false,
        failures: FailureWords::Full,
        talked_over: true,
        operates: false,
    }
}
