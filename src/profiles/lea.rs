//! Lea, who keeps a person's to-dos in writing.

use std::sync::LazyLock;

use chrono::TimeDelta;

use crate::domain::todo::TodoFunction;
use crate::domain::{
    AnswersTo, Audience, CallsPerStep, Coaching, Context, DecidingWords, FailureWords, MANAGE_TASKS, Profile, TasksShown,
    Toolset, UserRole,
};

/// The messages before the running turn that a model is shown.
const HISTORY: usize = 10;
/// The most tool calls of one answer that are made.
const MOST_CALLS: usize = 20;

/// How Lea and Law, and whatever is asked of a model on their behalf, are written.
#[derive(Clone, Copy, Debug)]
pub struct Talking {
    /// The model whose function calls are good and cheap, if its key is set.
    pub model: Option<&'static str>,
    /// The most tokens of an answer.
    pub answer_tokens: Option<u32>,
    /// How freely it is written.
    pub temperature: Option<f64>,
}

/// As the document has it.
pub const TALKING: Talking =
    Talking { model: Some("groq/llama-3.3-70b-versatile"), answer_tokens: Some(1_024), temperature: Some(0.7) };

/// A press in the list of tasks is an order of [`MANAGE_TASKS`], which no model of these profiles
/// has.
fn by_hand() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| [TodoFunction::names(), &[MANAGE_TASKS]].concat());
    &NAMES
}

pub(super) fn profile() -> Profile {
    Profile {
        name: "lea",
        audience: Audience::Owner,
        open_to: UserRole::Member,
        prompt: include_str!("prompts/lea.md"),
        tools: Toolset::Only(TodoFunction::names()),
        by_hand: Toolset::Only(by_hand()),
        context: Context::Conversation { history: Some(HISTORY), summaries: false },
        tasks: TasksShown::Todos,
        completes_with: None,
        calls: CallsPerStep::Many(MOST_CALLS),
        answers: AnswersTo::Page,
        coaching: Coaching::Full,
        answer_tokens: TALKING.answer_tokens,
        temperature: TALKING.temperature,
        model: TALKING.model,
        steps: None,
        words: DecidingWords::TALK,
        approval_expiry: Some(TimeDelta::minutes(15)),
        counted: true,
        failures: FailureWords::Short,
        talked_over: true,
        operates: false,
    }
}
