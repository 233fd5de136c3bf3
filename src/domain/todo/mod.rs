//! To-dos as people keep them with Lea and Law: the rules of titles, names, steps, timers, times,
//! recurrence and quotas. Pure: the time and a person's zone are arguments.

mod breakdown;
mod completion;
mod context;
mod fold;
mod function;
mod kept_timer;
mod list;
mod lookup;
mod meant;
mod next;
mod question;
mod quota;
mod recurrence;
mod time;
mod timer;
mod title;
mod todos;

pub use breakdown::{BREAKDOWN_PROMPT, BREAKDOWN_STEPS, Breakdown};
pub use completion::{CompletedTask, CompletionRefusal, NextOfTask, complete_subtask, complete_task, next_of};
pub use context::{TodosShown, told_of};
pub use function::TodoFunction;
pub use kept_timer::KeptTimer;
pub use list::{MOST_IN_CONTEXT, SubtaskView, TaskView, in_context};
pub use lookup::{Candidate, LookedUp, MOST_CANDIDATES, NamedKind, SaidBefore, look_up};
pub use meant::Meant;
pub use next::{NextSubtask, next_subtask};
pub use question::{Deletion, NOTHING_TO_CLEAR, question_to_create};
pub use quota::{
    LongMessage, MOST_INPUT_TOKENS, QuotaReached, TierLimits, fits_one_message, local_day, local_month, next_midnight,
};
pub use recurrence::{MOST_RULE_BYTES, Recurrence, RuleRefusal, is_no_rule};
pub use time::{
    TimeRefusal, UTC, at_the_hour_of, distance_of, instant_of, moment_at, reminder_time, wall_of, written_time, zone_named,
};
pub use timer::{FocusTimer, TIMER_MINUTES, TimerOperation, TimerRun, TimerTaken, minutes_allowed};
pub use title::{
    LONGEST_TITLE, MOST_OPEN_TASKS, MOST_SUBTASKS, TitleRefusal, TooMany, room_for_subtask, room_for_task, valid_title,
};
pub use todos::{LastNamed, Todos, Unfound};
