//! Other agents that call capabilities over MCP. Each call is an order, and no model is asked about
//! it; they are offered the tools that can be ordered here. A model answers only a person who
//! writes into such a conversation.

use crate::domain::{
    AnswersTo, Audience, CallsPerStep, Coaching, Context, DecidingWords, FailureWords, MANAGE_TASKS, Profile, TasksShown,
    Toolset, UserRole, WRITE_CAPABILITY,
};

/// Its name.
pub const NAME: &str = "mcp";

pub(super) fn profile() -> Profile {
    Profile {
        name: NAME,
        audience: Audience::Machine,
        open_to: UserRole::Owner,
        prompt: include_str!("prompts/mcp.md"),
        tools: Toolset::Builder,
        by_hand: Toolset::Capabilities(&[WRITE_CAPABILITY]),
        context: Context::Conversation { history: None, summaries: true },
        tasks: TasksShown::DueSoon,
        completes_with: Some(MANAGE_TASKS),
        calls: CallsPerStep::Many(1),
        answers: AnswersTo::Page,
        coaching: Coaching::Truth,
        answer_tokens: None,
        temperature: None,
        model: None,
        steps: None,
        words: DecidingWords::NONE,
        approval_expiry: None,
        counted: false,
        failures: FailureWords::Full,
        talked_over: false,
        operates: false,
    }
}
