//! The meaning of names in a turn. A call that comes twice must not do to a second thing, unasked,
//! the thing that it did to a first: so words that have named something name nothing else until the
//! turn ends, or until a call gives them to something new.

use serde::Deserialize;
use serde_json::Value;

use super::fold::folded;
use super::lookup::NamedKind;
use crate::domain::TaskId;

/// The words of a call, and the thing that they meant or were given to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meant {
    /// The kind of thing.
    pub kind: NamedKind,
    /// The words, as names are compared.
    pub words: Vec<String>,
    /// The number of the thing, which may be gone.
    pub number: i64,
    /// The task, if the thing is a subtask.
    pub of: Option<TaskId>,
}

/// The numbers in what a function found or changed.
#[derive(Default, Deserialize)]
struct Found {
    #[serde(default)]
    data: FoundData,
}

#[derive(Default, Deserialize)]
struct FoundData {
    /// Of a task that was deleted.
    id: Option<i64>,
    task: Option<Numbered>,
    subtask: Option<Numbered>,
}

#[derive(Deserialize)]
struct Numbered {
    id: i64,
}

impl Meant {
    /// The names in the arguments of a call that did what was asked, by its result.
    pub fn by(arguments: &str, result: &str) -> Vec<Self> {
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        let Found { data } = serde_json::from_str(result).unwrap_or_default();
        let task = data.task.map(|task| task.id).or(data.id);
        let subtask = data.subtask.map(|subtask| subtask.id);
        let (task, subtask) = ((NamedKind::Task, task), (NamedKind::Subtask, subtask));
        let renamed = if arguments["subtaskName"].is_null() { task } else { subtask };
        let names = [("taskName", task), ("subtaskName", subtask), ("description", task), ("newName", renamed)];
        let meant = |(name, (kind, number)): (&str, (NamedKind, Option<i64>))| {
            let of = task.1.map(TaskId).filter(|_| kind == NamedKind::Subtask);
            Some(Self { kind, words: folded(arguments[name].as_str()?), number: number?, of })
        };
        names.into_iter().filter_map(meant).collect()
    }
}

#[cfg(test)]
mod tests;
