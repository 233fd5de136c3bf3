//! The functions over tasks.

use serde_json::{Value, json};

use super::asking::asking;
use super::order::FunctionCall;
use super::parameters::{CreateTask, ListTasks, RenameTask, TaskFilter, TaskNamed};
use super::result::FunctionResult;
use super::round::make_next;
use super::work::{Ended, Stop, Work};
use crate::domain::TaskStatus;
use crate::domain::todo::{
    CompletedTask, Deletion, TaskView, complete_task as completed, next_subtask, room_for_task, valid_title, wall_of,
};

/// The most tasks that a list names in words.
const NAMED: usize = 10;
/// The most tasks of a list.
const LISTED: usize = 50;

/// `subtasks`: as a model broke it down; none if no model could.
pub(super) async fn create(work: &mut Work<'_>, asked: &CreateTask, subtasks: &[String]) -> Ended {
    let title = valid_title(&asked.description)?;
    room_for_task(work.todos.active())?;
    let made = work.make(&TaskView::new(title), subtasks).await?;
    work.named(made.id, None);
    let message = match subtasks {
        [] => format!("Created the task “{}”. It could not be broken down into subtasks, so it has none.", made.title),
        some => format!("Created the task “{}” with {} subtasks: {}.", made.title, some.len(), some.join(", ")),
    };
    Ok(work.done(message, &made))
}

pub(super) async fn complete(work: &mut Work<'_>, asked: &TaskNamed) -> Ended {
    let task = work.task(&asked.task_name)?;
    let CompletedTask { next, message } = completed(&task, work.todos.zone, work.now)?;
    // The rule goes on with the next one.
    let recurrence = task.recurrence.clone().filter(|_| next.is_none());
    let done = work.change(&TaskView { status: TaskStatus::Done, recurrence, ..task })?;
    if let Some(next) = next {
        let made = make_next(work.store, &mut work.changes, work.permit, work.lease, &done.title, next).await?;
        let data = json!({ "task": work.data(&done), "next": work.data(&made) });
        return Ok(FunctionResult::done(message).with(data));
    }
    Ok(work.done(message, &done))
}

pub(super) fn rename(work: &mut Work<'_>, asked: &RenameTask) -> Ended {
    let title = valid_title(&asked.new_name)?;
    let task = work.task(&asked.task_name)?;
    let message = format!("Renamed the task “{}” to “{title}”.", task.title);
    let renamed = work.change(&TaskView { title, ..task })?;
    Ok(work.done(message, &renamed))
}

/// `allowed`: what the person said yes to.
pub(super) fn delete(work: &mut Work<'_>, call: &FunctionCall, allowed: &Value) -> Ended {
    let target = asking(call, &work.todos).map_err(Stop::Told)?.map(|asking| asking.target);
    if target.as_ref() != Some(allowed) {
        return Err(Stop::Told(FunctionResult::refused("changed", "That has changed in this very moment. Nothing was deleted.")));
    }
    let (gone, deletion) = match call {
        FunctionCall::DeleteTask(asked) => {
            let task = work.task(&asked.task_name)?;
            (vec![task.id], Some(Deletion::of(&task)))
        }
        _ => {
            let over = work.todos.tasks.iter().filter(|task| !task.status.is_active());
            (over.map(|task| task.id).collect(), Deletion::of_completed(&work.todos.tasks))
        }
    };
    gone.into_iter().for_each(|id| work.delete(id));
    let message = deletion.map(|deletion| deletion.done()).unwrap_or_default();
    Ok(FunctionResult::done(message).with(allowed.clone()))
}

pub(super) fn list(work: &Work<'_>, asked: ListTasks) -> FunctionResult {
    let wanted = |task: &&TaskView| match asked.filter {
        TaskFilter::Active => task.status.is_active(),
        TaskFilter::Completed => !task.status.is_active(),
        TaskFilter::All => true,
    };
    let tasks: Vec<_> = work.todos.tasks.iter().filter(wanted).collect();
    let kind = match asked.filter {
        TaskFilter::Active => "active ",
        TaskFilter::Completed => "completed ",
        TaskFilter::All => "",
    };
    let named: Vec<_> = tasks.iter().take(NAMED).map(|task| format!("#{} {}", task.id, task.title)).collect();
    let more = tasks.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = match tasks.len() {
        0 => format!("You have no {kind}tasks."),
        1 => format!("You have 1 {kind}task: {}.", named.join(", ")),
        many => format!("You have {many} {kind}tasks: {}{rest}.", named.join(", ")),
    };
    let line = |task: &&TaskView| {
        let (done, all) = task.progress();
        json!({ "id": task.id, "title": task.title, "status": task.status, "subtasks_done": done, "subtasks": all })
    };
    let listed: Vec<_> = tasks.iter().take(LISTED).map(line).collect();
    FunctionResult::done(message).with(json!({ "count": tasks.len(), "tasks": listed }))
}

pub(super) fn details(work: &mut Work<'_>, asked: &TaskNamed) -> Ended {
    let task = work.task(&asked.task_name)?;
    let zone = work.todos.zone;
    let mut message = match task.status {
        // A status of its own is not needed to have begun: a done subtask is enough.
        TaskStatus::Pending if task.progress().0 == 0 => format!("“{}” is not begun.", task.title),
        TaskStatus::Pending | TaskStatus::InProgress => format!("“{}” is in progress.", task.title),
        TaskStatus::Done => format!("“{}” is completed.", task.title),
        TaskStatus::Cancelled => format!("“{}” was given up.", task.title),
    };
    if let (done, all @ 1..) = task.progress() {
        message += &format!(" {done} of {all} subtasks done.");
    }
    if let Some(next) = task.open_subtasks().first() {
        message += &format!(" Next: {}.", next.title);
    }
    if let Some(reminder) = task.reminder {
        message += &format!(" Reminder: {}.", wall_of(zone, reminder).format("%Y-%m-%d %H:%M"));
    }
    if let Some((recurrence, date)) = &task.recurrence {
        message += &format!(" It comes round ({}), now on {}.", recurrence.rule(), wall_of(zone, *date).format("%Y-%m-%d %H:%M"));
    }
    Ok(work.done(message, &task))
}

pub(super) fn next(work: &mut Work<'_>) -> Ended {
    let Some(next) = next_subtask(&work.todos.tasks, work.todos.timer.task()) else {
        return Ok(FunctionResult::done("There is no open subtask to do next."));
    };
    let (task, subtask) = (next.task.clone(), next.subtask.clone());
    work.named(task.id, Some(subtask.id));
    let (done, all) = task.progress();
    let message = format!("Next: “{}” in “{}”, of which {done} of {all} subtasks are done.", subtask.title, task.title);
    let data = json!({ "subtask": { "id": subtask.id, "title": subtask.title }, "task": { "id": task.id, "title": task.title } });
    Ok(FunctionResult::done(message).with(data))
}
