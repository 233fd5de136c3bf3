//! The assistant that builds its own capabilities.

use crate::domain::{AnswersTo, Audience, CallsPerStep, Coaching, Context, DEFAULT_PROFILE, DecidingWords, Profile, Toolset};

/// The most tool calls of one answer that are made.
const MOST_CALLS: usize = 128;

pub(super) fn profile() -> Profile {
    Profile {
        name: DEFAULT_PROFILE,
        audience: Audience::Owner,
        prompt: include_str!("prompts/builder.md"),
        tools: Toolset::Builder,
        context: Context::Conversation { history: None, summaries: true },
        calls: CallsPerStep::Many(MOST_CALLS),
        answers: AnswersTo::Page,
        coaching: Coaching::Full,
        answer_tokens: None,
        temperature: None,
        steps: None,
        words: DecidingWords::HOUSE,
        approval_expiry: None,
        talked_over: true,
    }
}
