//! Other agents that call capabilities over MCP. Each call is an order, and no model is asked about
//! it. A model answers only a person who writes into such a conversation.

use crate::domain::{AnswersTo, Audience, CallsPerStep, Coaching, Context, DecidingWords, Profile, Toolset};

/// Its name.
pub const NAME: &str = "mcp";

pub(super) fn profile() -> Profile {
    Profile {
        name: NAME,
        audience: Audience::Machine,
        prompt: include_str!("prompts/mcp.md"),
        tools: Toolset::Builder,
        context: Context::Conversation { history: None, summaries: true },
        calls: CallsPerStep::Many(1),
        answers: AnswersTo::Page,
        coaching: Coaching::Truth,
        answer_tokens: None,
        temperature: None,
        steps: None,
        words: DecidingWords::NONE,
        approval_expiry: None,
        talked_over: false,
    }
}
