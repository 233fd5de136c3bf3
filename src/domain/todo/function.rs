//! The functions that Lea and Law call, by their names.

use std::sync::LazyLock;

use crate::domain::Effect;
use crate::domain::turn::text_enum;

text_enum! {
    /// A function over a person's to-dos.
    TodoFunction {
        /// Makes a task, broken down into subtasks.
        CreateTask = "createTask",
        /// Completes a task.
        CompleteTask = "completeTask",
        /// Completes a subtask.
        CompleteSubtask = "completeSubtask",
        /// Gives a task another name.
        RenameTask = "renameTask",
        /// Gives a subtask another name.
        RenameSubtask = "renameSubtask",
        /// Puts a subtask at the end.
        AddSubtask = "addSubtask",
        /// Takes a subtask away.
        RemoveSubtask = "removeSubtask",
        /// Deletes a task with its subtasks.
        DeleteTask = "deleteTask",
        /// Deletes the tasks that are completed or given up.
        ClearCompletedTasks = "clearCompletedTasks",
        /// Reminds of a task at a time.
        SetReminder = "setReminder",
        /// Takes the reminder away.
        RemoveReminder = "removeReminder",
        /// Makes a task come round.
        SetRecurrence = "setRecurrence",
        /// Starts the timer.
        StartTimer = "startTimer",
        /// Pauses it.
        PauseTimer = "pauseTimer",
        /// Lets it go on.
        ResumeTimer = "resumeTimer",
        /// Stops it.
        StopTimer = "stopTimer",
        /// Says how it stands.
        GetTimerStatus = "getTimerStatus",
        /// Lists tasks.
        ListTasks = "listTasks",
        /// Shows all of one task.
        GetTaskDetails = "getTaskDetails",
        /// Says what to do next.
        GetNextSubtask = "getNextSubtask",
    }
}

impl TodoFunction {
    /// The names of all, for a profile that has them and nothing else.
    pub fn names() -> &'static [&'static str] {
        static NAMES: LazyLock<Vec<&str>> =
            LazyLock::new(|| TodoFunction::ALL.iter().map(|function| function.as_str()).collect());
        &NAMES
    }

    /// Its name in words for a person: "Set reminder".
    pub fn in_words(self) -> String {
        let mut words = String::new();
        for letter in self.as_str().chars() {
            if letter.is_ascii_uppercase() {
                words.push(' ');
            }
            words.push(letter.to_ascii_lowercase());
        }
        if let Some(first) = words.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        words
    }

    /// The effect of a call. [`Effect::Confirm`] becomes [`Effect::Read`] if there is nothing to be
    /// asked about.
    pub fn effect(self) -> Effect {
        match self {
            Self::CreateTask | Self::DeleteTask | Self::ClearCompletedTasks => Effect::Confirm,
            Self::CompleteTask
            | Self::CompleteSubtask
            | Self::RenameTask
            | Self::RenameSubtask
            | Self::AddSubtask
            | Self::RemoveSubtask
            | Self::SetReminder
            | Self::RemoveReminder
            | Self::SetRecurrence
            | Self::StartTimer
            | Self::PauseTimer
            | Self::ResumeTimer
            | Self::StopTimer => Effect::Write,
            Self::GetTimerStatus | Self::ListTasks | Self::GetTaskDetails | Self::GetNextSubtask => Effect::Read,
        }
    }
}
