//! A call of a function, read.

use serde_json::Value;

use super::parameters::{
    AddSubtask, ClearCompletedTasks, CreateTask, DeleteTask, ListTasks, NoParameters, RenameSubtask, RenameTask, SetRecurrence,
    SetReminder, StartTimer, SubtaskNamed, TaskNamed,
};
use crate::domain::todo::TodoFunction;
use crate::tools::tool::{ToolError, read};

/// A function with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FunctionCall {
    CreateTask(CreateTask),
    CompleteTask(TaskNamed),
    CompleteSubtask(SubtaskNamed),
    RenameTask(RenameTask),
    RenameSubtask(RenameSubtask),
    AddSubtask(AddSubtask),
    RemoveSubtask(SubtaskNamed),
    DeleteTask(DeleteTask),
    ClearCompletedTasks(ClearCompletedTasks),
    SetReminder(SetReminder),
    RemoveReminder(TaskNamed),
    SetRecurrence(SetRecurrence),
    StartTimer(StartTimer),
    PauseTimer(NoParameters),
    ResumeTimer(NoParameters),
    StopTimer(NoParameters),
    GetTimerStatus(NoParameters),
    ListTasks(ListTasks),
    GetTaskDetails(TaskNamed),
    GetNextSubtask(NoParameters),
}

impl FunctionCall {
    /// Reads the arguments of a function.
    pub(super) fn of(function: TodoFunction, arguments: Value) -> Result<Self, ToolError> {
        use TodoFunction as F;
        Ok(match function {
            F::CreateTask => Self::CreateTask(read(arguments)?),
            F::CompleteTask => Self::CompleteTask(read(arguments)?),
            F::CompleteSubtask => Self::CompleteSubtask(read(arguments)?),
            F::RenameTask => Self::RenameTask(read(arguments)?),
            F::RenameSubtask => Self::RenameSubtask(read(arguments)?),
            F::AddSubtask => Self::AddSubtask(read(arguments)?),
            F::RemoveSubtask => Self::RemoveSubtask(read(arguments)?),
            F::DeleteTask => Self::DeleteTask(read(arguments)?),
            F::ClearCompletedTasks => Self::ClearCompletedTasks(read(arguments)?),
            F::SetReminder => Self::SetReminder(read(arguments)?),
            F::RemoveReminder => Self::RemoveReminder(read(arguments)?),
            F::SetRecurrence => Self::SetRecurrence(read(arguments)?),
            F::StartTimer => Self::StartTimer(read(arguments)?),
            F::PauseTimer => Self::PauseTimer(read(arguments)?),
            F::ResumeTimer => Self::ResumeTimer(read(arguments)?),
            F::StopTimer => Self::StopTimer(read(arguments)?),
            F::GetTimerStatus => Self::GetTimerStatus(read(arguments)?),
            F::ListTasks => Self::ListTasks(read(arguments)?),
            F::GetTaskDetails => Self::GetTaskDetails(read(arguments)?),
            F::GetNextSubtask => Self::GetNextSubtask(read(arguments)?),
        })
    }
}
