//! The table of the functions: what a model reads of each.

use super::parameters::{
    AddSubtask, ClearCompletedTasks, CreateTask, DeleteTask, ListTasks, NoParameters, RenameSubtask, RenameTask, SetRecurrence,
    SetReminder, StartTimer, SubtaskNamed, TaskNamed,
};
use crate::domain::ToolSpec;
use crate::domain::todo::TodoFunction;
use crate::tools::tool::spec;

/// A function as a model is offered it.
pub fn spec_of(function: TodoFunction) -> ToolSpec {
    use TodoFunction as F;
    let name = function.as_str();
    match function {
        F::CreateTask => {
            spec::<CreateTask>(name, "Create a new task with AI-generated subtasks. The app asks the user to confirm.")
        }
        F::CompleteTask => spec::<TaskNamed>(name, "Mark a task as completed (all subtasks must be done)."),
        F::CompleteSubtask => spec::<SubtaskNamed>(name, "Mark a subtask as completed."),
        F::RenameTask => spec::<RenameTask>(name, "Rename a task."),
        F::RenameSubtask => spec::<RenameSubtask>(name, "Rename a subtask."),
        F::AddSubtask => spec::<AddSubtask>(name, "Add a subtask to a task."),
        F::RemoveSubtask => spec::<SubtaskNamed>(name, "Remove a subtask."),
        F::DeleteTask => spec::<DeleteTask>(name, "Delete a task. The app asks the user to confirm."),
        F::ClearCompletedTasks => {
            spec::<ClearCompletedTasks>(name, "Delete all completed tasks. The app asks the user to confirm.")
        }
        F::SetReminder => spec::<SetReminder>(name, "Remind the user of a task at a time."),
        F::RemoveReminder => spec::<TaskNamed>(name, "Remove the reminder of a task."),
        F::SetRecurrence => spec::<SetRecurrence>(name, "Make a task repeat."),
        F::StartTimer => spec::<StartTimer>(name, "Start the focus timer."),
        F::PauseTimer => spec::<NoParameters>(name, "Pause the focus timer."),
        F::ResumeTimer => spec::<NoParameters>(name, "Resume the focus timer."),
        F::StopTimer => spec::<NoParameters>(name, "Stop the focus timer."),
        F::GetTimerStatus => spec::<NoParameters>(name, "Tell whether the focus timer runs and how much time is left."),
        F::ListTasks => spec::<ListTasks>(name, "List the user's tasks."),
        F::GetTaskDetails => spec::<TaskNamed>(name, "Show a task with its subtasks, reminder and recurrence."),
        F::GetNextSubtask => spec::<NoParameters>(name, "What's next: the subtask to do now."),
    }
}

#[cfg(test)]
mod tests;
