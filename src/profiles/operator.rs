//! The operator: takes orders from one number, one after the other, one action at a time. Its
//! policy comes with the migration `keep_operator`, and `level3 operator` sets its limits.

use chrono::TimeDelta;

use crate::domain::{
    AnswersTo, Audience, CREATE_SCRIPT, CallsPerStep, Coaching, Context, DecidingWords, EXECUTE_SCRIPT, FailureWords,
    LIST_SCRIPTS, Profile, TAKE_SCREENSHOT, TasksShown, Toolset, UPDATE_GLOBAL_CONTEXT, UPDATE_SCRIPT, UserRole,
};

/// Its name.
pub const NAME: &str = "operator";
/// The tools, as `tools::operator` has them.
pub const OPERATOR_TOOLS: &[&str] =
    &[LIST_SCRIPTS, EXECUTE_SCRIPT, CREATE_SCRIPT, UPDATE_SCRIPT, TAKE_SCREENSHOT, UPDATE_GLOBAL_CONTEXT];
/// The earlier messages that a model is shown; what is to last stands in the global context.
const HISTORY: usize = 6;
/// The most model requests of a turn, if its policy does not say otherwise.
const STEPS: u32 = 40;
/// How long a confirmation is waited for, in minutes.
const CONFIRM_MINUTES: i64 = 30;

pub(super) fn profile() -> Profile {
    Profile {
        name: NAME,
        audience: Audience::Owner,
        open_to: UserRole::Owner,
        prompt: include_str!("prompts/operator.md"),
        tools: Toolset::Only(OPERATOR_TOOLS),
        by_hand: Toolset::Only(&[]),
        context: Context::Conversation { history: Some(HISTORY), summaries: false },
        tasks: TasksShown::DueSoon,
        completes_with: None,
        calls: CallsPerStep::Many(1),
        answers: AnswersTo::Channel,
        coaching: Coaching::Truth,
        answer_tokens: None,
        temperature: None,
        model: None,
        steps: Some(STEPS),
        words: DecidingWords::HOUSE,
        approval_expiry: Some(TimeDelta::minutes(CONFIRM_MINUTES)),
        counted: false,
        failures: FailureWords::OfHome,
        talked_over: false,
        operates: true,
    }
}
