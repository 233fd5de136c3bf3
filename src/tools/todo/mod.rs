//! The functions of Lea and Law over a person's to-dos: what models see of them, the questions
//! before some, and what each does in its transaction.

mod asking;
mod breakdown;
mod functions;
mod order;
mod parameters;
mod result;
mod round;
mod subtasks;
mod tasks;
mod times;
mod tool;
mod work;

use std::sync::Arc;

use super::tool::Tool;
use crate::domain::todo::TodoFunction;
use crate::model::choice::ModelSource;

pub use functions::spec_of;
pub use parameters::{
    AddSubtask, ClearCompletedTasks, CreateTask, DeleteTask, ListTasks, NoParameters, RenameSubtask, RenameTask, SetRecurrence,
    SetReminder, StartTimer, SubtaskNamed, TaskFilter, TaskNamed,
};
pub use result::FunctionResult;
pub use round::{comes_round, make_next};

/// All of them, for the profiles that name them. A model of `models` breaks tasks down.
pub fn tools(models: &Arc<ModelSource>) -> Vec<Arc<dyn Tool>> {
    let tool = |function: &TodoFunction| -> Arc<dyn Tool> {
        Arc::new(tool::TodoTool { function: *function, models: Arc::clone(models) })
    };
    TodoFunction::ALL.iter().map(tool).collect()
}
