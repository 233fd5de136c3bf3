//! The moment, the timer and the tasks as a model is told of them in each step.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::function::TodoFunction;
use super::list::{TaskView, in_context};
use super::time::wall_of;
use super::timer::FocusTimer;

/// A person's to-dos, as far as a model is told of them.
#[derive(Clone, Debug, PartialEq)]
pub struct TodosShown {
    /// The active tasks that changed last, and perhaps others.
    pub tasks: Vec<TaskView>,
    /// How many active tasks there are.
    pub active: usize,
    /// The timer, and the title of its task.
    pub timer: (FocusTimer, Option<String>),
    /// The zone of the person's clocks.
    pub zone: Tz,
}

/// The text about a person's to-dos at a moment. Titles stand on one line, so that none looks like
/// another line of it.
pub fn told_of(todos: &TodosShown, now: DateTime<Utc>) -> String {
    let TodosShown { tasks, active, timer: (timer, task), zone } = todos;
    let (shown, zone, active) = (in_context(tasks), *zone, *active);
    let moment = wall_of(zone, now).format("%A, %Y-%m-%dT%H:%M");
    // Its end may not have been noticed yet.
    let timer = timer.finished(now).map_or(*timer, |(timer, _)| timer).as_sentence(now, task.as_deref());
    let mut text = format!("It is {moment} ({zone}). {timer}");
    text += &match (shown.len(), active) {
        (0, _) => "\nThere are no active tasks.".to_owned(),
        (all, active) if all == active => "\nActive tasks, the last changed first:".to_owned(),
        (some, active) => {
            let lists = TodoFunction::ListTasks;
            format!("\nActive tasks, the last changed first ({some} of {active}; {lists} lists all):")
        }
    };
    for task in shown {
        text += "\n";
        text += &line_of(task, zone);
    }
    text
}

/// A task on one line.
fn line_of(task: &TaskView, zone: Tz) -> String {
    let one_line = |title: &str| title.split(char::is_control).collect::<Vec<_>>().join(" ");
    let mut line = format!("#{} {}", task.id, one_line(&task.title));
    let written = |moment: DateTime<Utc>| wall_of(zone, moment).format("%Y-%m-%dT%H:%M").to_string();
    if let (done, all @ 1..) = task.progress() {
        line += &format!(" | {done} of {all} subtasks done");
    }
    if let Some(next) = task.open_subtasks().first() {
        line += &format!(" | next: {}", next.title);
    }
    if let Some(reminder) = task.reminder {
        line += &format!(" | reminder {}", written(reminder));
    }
    if let Some((recurrence, date)) = &task.recurrence {
        line += &format!(" | {}, now {}", recurrence.rule(), written(*date));
    }
    line
}

#[cfg(test)]
mod tests;
