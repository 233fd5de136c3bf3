//! The functions that need a person's yes: the question, and exactly what the yes is for.

use serde_json::{Value, json};

use super::order::FunctionCall;
use super::result::FunctionResult;
use crate::domain::todo::{Deletion, NOTHING_TO_CLEAR, Todos, question_to_create, room_for_task, valid_title};

/// A question to a person.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PersonAsked {
    /// The words.
    pub(super) question: String,
    /// The thing that a yes allows. It stands in the proposal, so that a yes is for this and
    /// nothing else.
    pub(super) target: Value,
}

/// The question before a call, as the to-dos are now; `None` if the call needs none.
///
/// # Errors
/// The result, if the call cannot be carried out or has nothing to do: then nobody is asked.
pub(super) fn asking(call: &FunctionCall, todos: &Todos) -> Result<Option<PersonAsked>, FunctionResult> {
    match call {
        FunctionCall::CreateTask(asked) => {
            let title =
                valid_title(&asked.description).map_err(|refused| FunctionResult::refused("title", refused.to_string()))?;
            room_for_task(todos.active()).map_err(|full| FunctionResult::refused("too_many", full.to_string()))?;
            Ok(Some(PersonAsked { question: question_to_create(&title), target: json!({ "title": title }) }))
        }
        FunctionCall::DeleteTask(asked) => {
            let task =
                todos.find_task(&asked.task_name).map_err(|unfound| FunctionResult::refused(unfound.error, unfound.message))?;
            let target = json!({ "id": task.id, "title": task.title, "subtasks": task.subtasks.len() });
            Ok(Some(PersonAsked { question: Deletion::of(task).question(), target }))
        }
        FunctionCall::ClearCompletedTasks(_) => {
            let Some(deletion) = Deletion::of_completed(&todos.tasks) else { return Err(FunctionResult::done(NOTHING_TO_CLEAR)) };
            let over = todos.tasks.iter().filter(|task| !task.status.is_active());
            let mut tasks: Vec<_> = over.clone().map(|task| task.id).collect();
            tasks.sort_unstable();
            let subtasks: usize = over.map(|task| task.subtasks.len()).sum();
            Ok(Some(PersonAsked { question: deletion.question(), target: json!({ "tasks": tasks, "subtasks": subtasks }) }))
        }
        _ => Ok(None),
    }
}
