//! The questions before something is made from a conversation, or deleted, and their answers.

use super::list::TaskView;

/// The answer if no task is completed.
pub const NOTHING_TO_CLEAR: &str = "There are no completed tasks to clear.";

/// The question before a task is made.
pub fn question_to_create(title: &str) -> String {
    format!("Should I create a task called “{title}”?")
}

/// Something that is about to be deleted. A task that is not active goes with the completed ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The words for it: its title, or the number of tasks.
    subject: String,
    subtasks: usize,
}

impl Deletion {
    /// One task.
    pub fn of(task: &TaskView) -> Self {
        Self { subject: format!("the task “{}”", task.title), subtasks: task.subtasks.len() }
    }

    /// All tasks that are over; `None` if there are none.
    pub fn of_completed(tasks: &[TaskView]) -> Option<Self> {
        let over = || tasks.iter().filter(|task| !task.status.is_active());
        let subtasks = over().map(|task| task.subtasks.len()).sum();
        let many = over().count();
        (many > 0).then(|| Self { subject: counted(many, "completed task"), subtasks })
    }

    /// The question before.
    pub fn question(&self) -> String {
        format!("Should I delete {}{}?", self.subject, self.with_subtasks())
    }

    /// The answer afterwards.
    pub fn done(&self) -> String {
        format!("Deleted {}{}.", self.subject, self.with_subtasks())
    }

    fn with_subtasks(&self) -> String {
        match self.subtasks {
            0 => String::new(),
            many => format!(" with {}", counted(many, "subtask")),
        }
    }
}

/// A number with its noun: “1 subtask”, “2 subtasks”.
pub(super) fn counted(many: usize, noun: &str) -> String {
    if many == 1 { format!("1 {noun}") } else { format!("{many} {noun}s") }
}

#[cfg(test)]
mod tests;
