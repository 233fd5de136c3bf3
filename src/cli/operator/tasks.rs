//! `level3 operator tasks`: the tasks with their states.

use crate::cli::client::Client;
use crate::cli::screen::time;
use crate::cli::{CliError, Screen};
use crate::wire::api::{OperatorStranger, OperatorTaskInfo, OperatorTasks};

/// The most characters of an order in the list.
const GOAL: usize = 60;

pub(super) async fn run(client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let answer: OperatorTasks = client.get(&["operator", "tasks"], &[]).await?;
    if screen.json(&answer)? {
        return Ok(());
    }
    let row = |task: &OperatorTaskInfo| {
        let goal: String = task.goal.chars().take(GOAL).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let from = task.from.clone().unwrap_or_else(|| "page".to_owned());
        [task.id.to_string(), task.state.to_string(), time(task.created_at), from, goal]
    };
    let rows: Vec<_> = answer.tasks.iter().map(row).collect();
    screen.table(["TASK", "STATE", "WHEN", "FROM", "ORDER"], &rows, "There is no task yet.")?;
    for task in &answer.tasks {
        if task.unproven {
            screen.line(format!("Task {}: nothing recorded in it shows what its answer says.", task.id))?;
        }
        for message in &task.undelivered {
            screen.line(format!("Task {}: {message}.", task.id))?;
        }
    }
    if !answer.strangers.is_empty() {
        screen.line("Strangers, who got no answer and no task:")?;
    }
    for OperatorStranger { from, messages, last_on } in &answer.strangers {
        screen.line(format!("  {from}  messages: {messages}, the last on {last_on}"))?;
    }
    Ok(())
}
