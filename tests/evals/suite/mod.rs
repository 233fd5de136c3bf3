//! The abilities that an agent that extends itself should have: tasks, the house they are done in,
//! and the conditions that hold afterwards. A story of `tests/it` shows with scripted models that
//! each check can succeed and can fail.

mod checks;
mod existing;
mod house;
mod law;
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

/// Every task.
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
