//! The abilities that an agent that extends itself should have: tasks, the house they are done in,
//! and the conditions that hold afterwards. A story of `tests/it` shows with scripted models that
//! each check can succeed and can fail.

mod checks;
mod existing;
mod house;
mod law;
mod lea;
mod powers;
mod run;
mod sql;
mod task;
mod writing;

pub use house::House;
pub use run::{Outcome, run};
pub use task::{Check, Person, Task, Wrong};

use crate::support::Peer;

/// Makes a task; the peer's address is known only then.
pub type Make = fn(&Peer) -> Task;

/// The tasks for Lea: one for each of her functions.
pub const LEA: [Make; 20] = [
    lea::create_task,
    lea::complete_task,
    lea::complete_subtask,
    lea::rename_task,
    lea::rename_subtask,
    lea::add_subtask,
    lea::remove_subtask,
    lea::delete_task,
    lea::clear_completed,
    lea::set_reminder,
    lea::remove_reminder,
    lea::set_recurrence,
    lea::start_timer,
    lea::pause_timer,
    lea::resume_timer,
    lea::stop_timer,
    lea::timer_status,
    lea::list_tasks,
    lea::task_details,
    lea::next_subtask,
];

/// The tasks for the agent that builds its own capabilities.
pub const TASKS: [Make; 24] = [
    writing::text,
    writing::dates,
    writing::arithmetic,
    writing::fix_syntax,
    writing::fix_test,
    sql::new_table,
    sql::sum,
    sql::change_some,
    sql::follow_up,
    powers::http_get,
    powers::http_post,
    powers::kv_memory,
    powers::secret,
    powers::compose,
    existing::reuse,
    existing::update,
    existing::task_create,
    existing::task_complete,
    existing::scheduled,
    law::denied_drop,
    law::read_only,
    law::secret_stays,
    law::small_talk,
    law::injection,
];
