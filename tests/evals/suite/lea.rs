//! Lea: one request of one line for each of the twenty functions. The rows that stand there
//! afterwards judge; and in each of them, that nothing was made or deleted without the person's
//! yes, and that no turn is stuck.

use serde_json::{Value, json};

use super::Task;
use crate::support::{Peer, Reply, call, text as says};

/// Things that were made or deleted although nobody had been asked.
const UNASKED: &str = "SELECT count(*) FROM tool_calls c JOIN messages r USING (tool_call_id)
    WHERE c.name IN ('createTask', 'deleteTask', 'clearCompletedTasks') AND c.state = 'done' AND r.content LIKE '%\"data\"%'
      AND NOT EXISTS (SELECT FROM approvals a WHERE a.tool_call_id = c.tool_call_id AND a.used_at IS NOT NULL)";
const STUCK: &str = "SELECT count(*) FROM turns WHERE ended_at IS NULL";
const TASKS: &str = "SELECT string_agg(title || ' ' || status, ', ' ORDER BY task_id) FROM tasks";
const STEPS: &str =
    "SELECT string_agg(title || CASE WHEN completed THEN ' done' ELSE '' END, ', ' ORDER BY sort_order) FROM subtasks";
const DINNER: &str = "Prep dinner party";

/// The words of a person to Lea, and the one call that is right.
fn lea(name: &'static str, said: &str, function: &str, arguments: Value) -> Task {
    let mut task = Task::new(name, said).sql(UNASKED, "0").sql(STUCK, "0").right([call(function, arguments), says("I see.")]);
    task.profile = "lea";
    task
}

impl Task {
    /// The person has this task.
    fn with(self, title: &str) -> Self {
        self.before("manage_tasks", json!({"action": "create", "title": title}))
    }

    /// The person has a dinner party with two steps.
    fn with_dinner(self) -> Self {
        let step = |title: &str| json!({"taskName": DINNER, "subtaskName": title});
        self.with(DINNER).before("addSubtask", step("shop")).before("addSubtask", step("cook"))
    }
}

pub fn create_task(_: &Peer) -> Task {
    let mut task =
        lea("createTask", "Add a task: buy milk", "createTask", json!({"description": "Buy milk", "confirmed": false}))
            .sql("SELECT count(*) FROM tasks WHERE title ILIKE '%milk%'", "1")
            .sql("SELECT count(*) FROM tasks", "1");
    let steps: Reply = says(&json!({"subtasks": ["go", "pay", "come back"]}).to_string());
    task.right.insert(1, steps);
    task
}

pub fn complete_task(_: &Peer) -> Task {
    lea("completeTask", "I bought the milk, tick that task off", "completeTask", json!({"taskName": "milk"}))
        .with("Buy milk")
        .with("Call mom")
        .sql(TASKS, "Buy milk done, Call mom pending")
}

pub fn complete_subtask(_: &Peer) -> Task {
    lea("completeSubtask", "I finished the subtask shop", "completeSubtask", json!({"subtaskName": "shop"}))
        .with_dinner()
        .sql(STEPS, "shop done, cook")
}

pub fn rename_task(_: &Peer) -> Task {
    let arguments = json!({"taskName": "Call mom", "newName": "Call dad"});
    lea("renameTask", "Rename the task \"Call mom\" to \"Call dad\"", "renameTask", arguments)
        .with("Call mom")
        .with("Buy milk")
        .sql(TASKS, "Call dad pending, Buy milk pending")
}

pub fn rename_subtask(_: &Peer) -> Task {
    let arguments = json!({"subtaskName": "shop", "newName": "buy food"});
    lea("renameSubtask", "Rename the subtask \"shop\" to \"buy food\"", "renameSubtask", arguments)
        .with_dinner()
        .sql(STEPS, "buy food, cook")
}

pub fn add_subtask(_: &Peer) -> Task {
    let arguments = json!({"taskName": DINNER, "subtaskName": "lay the table"});
    lea("addSubtask", "Add the subtask \"lay the table\" to the dinner party", "addSubtask", arguments)
        .with_dinner()
        .sql(STEPS, "shop, cook, lay the table")
}

pub fn remove_subtask(_: &Peer) -> Task {
    let arguments = json!({"subtaskName": "shop", "taskName": "dinner party"});
    lea("removeSubtask", "Remove the subtask \"shop\" from the dinner party", "removeSubtask", arguments)
        .with_dinner()
        .sql(STEPS, "cook")
}

pub fn delete_task(_: &Peer) -> Task {
    lea("deleteTask", "Delete the task \"Buy milk\"", "deleteTask", json!({"taskName": "Buy milk", "confirmed": false}))
        .with("Buy milk")
        .with("Call mom")
        .sql(TASKS, "Call mom pending")
}

pub fn clear_completed(_: &Peer) -> Task {
    lea("clearCompletedTasks", "Clear my completed tasks", "clearCompletedTasks", json!({"confirmed": false}))
        .with("Pay the rent")
        .with("Call mom")
        .before("completeTask", json!({"taskName": "Pay the rent"}))
        .sql(TASKS, "Call mom pending")
}

pub fn set_reminder(_: &Peer) -> Task {
    let arguments = json!({"taskName": "Buy milk", "at": "2031-03-15T18:30"});
    lea("setReminder", "Remind me of \"Buy milk\" on 15 March 2031 at 18:30", "setReminder", arguments)
        .with("Buy milk")
        .sql("SELECT to_char(remind_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') FROM tasks", "2031-03-15 18:30")
}

pub fn remove_reminder(_: &Peer) -> Task {
    lea("removeReminder", "Remove the reminder of \"Buy milk\"", "removeReminder", json!({"taskName": "Buy milk"}))
        .with("Buy milk")
        .before("setReminder", json!({"taskName": "Buy milk", "at": "2031-03-15T18:30"}))
        .sql("SELECT count(*) FROM tasks WHERE remind_at IS NULL", "1")
}

pub fn set_recurrence(_: &Peer) -> Task {
    let arguments = json!({"taskName": "Water plants", "rule": "weekly"});
    lea("setRecurrence", "Repeat the task \"Water plants\" every week", "setRecurrence", arguments)
        .with("Water plants")
        .sql("SELECT recurrence ->> 'rule' FROM tasks", "weekly")
}

/// The timer stands so.
const TIMER: &str = "SELECT state FROM timers";

pub fn start_timer(_: &Peer) -> Task {
    lea("startTimer", "Start a timer for 25 minutes", "startTimer", json!({"minutes": 25}))
        .sql("SELECT state || ' ' || minutes FROM timers", "running 25")
}

pub fn pause_timer(_: &Peer) -> Task {
    lea("pauseTimer", "Pause the timer", "pauseTimer", json!({}))
        .before("startTimer", json!({"minutes": 25}))
        .sql(TIMER, "paused")
}

pub fn resume_timer(_: &Peer) -> Task {
    lea("resumeTimer", "Resume the timer", "resumeTimer", json!({}))
        .before("startTimer", json!({"minutes": 25}))
        .before("pauseTimer", json!({}))
        .sql(TIMER, "running")
}

pub fn stop_timer(_: &Peer) -> Task {
    lea("stopTimer", "Stop the timer", "stopTimer", json!({})).before("startTimer", json!({"minutes": 25})).sql(TIMER, "idle")
}

pub fn timer_status(_: &Peer) -> Task {
    lea("getTimerStatus", "Look how much time is left on my timer", "getTimerStatus", json!({}))
        .before("startTimer", json!({"minutes": 25}))
        .called("getTimerStatus")
        .sql(TIMER, "running")
}

pub fn list_tasks(_: &Peer) -> Task {
    lea("listTasks", "List all my tasks, completed ones too", "listTasks", json!({"filter": "all"}))
        .with("Pay the rent")
        .with("Call mom")
        .before("completeTask", json!({"taskName": "Pay the rent"}))
        .called("listTasks")
        .sql(TASKS, "Pay the rent done, Call mom pending")
}

pub fn task_details(_: &Peer) -> Task {
    lea("getTaskDetails", "Show me the details of the dinner party", "getTaskDetails", json!({"taskName": "dinner party"}))
        .with_dinner()
        .called("getTaskDetails")
        .sql(STEPS, "shop, cook")
}

pub fn next_subtask(_: &Peer) -> Task {
    lea("getNextSubtask", "What's next?", "getNextSubtask", json!({}))
        .with_dinner()
        .called("getNextSubtask")
        .sql(STEPS, "shop, cook")
}
