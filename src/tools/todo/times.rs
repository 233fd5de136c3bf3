//! The functions over time: reminders, recurrence, the focus timer.

use chrono::{TimeDelta, Timelike};

use super::parameters::{SetRecurrence, SetReminder, StartTimer, TaskNamed};
use super::result::FunctionResult;
use super::work::{Ended, Stop, Work};
use crate::domain::Apart;
use crate::domain::todo::{
    Recurrence, TaskView, TimerOperation, TimerRun, at_the_hour_of, is_no_rule, minutes_allowed, reminder_time, wall_of,
};

pub(super) fn set_reminder(work: &mut Work<'_>, asked: &SetReminder) -> Ended {
    let at = reminder_time(&asked.at, work.todos.zone, work.now)?;
    let task = work.active_task(&asked.task_name)?;
    let written = wall_of(work.todos.zone, at).format("%Y-%m-%d at %H:%M");
    let message = format!("I'll remind you of “{}” on {written}.", task.title);
    let changed = work.change(&TaskView { reminder: Some(at), ..task })?;
    Ok(work.done(message, &changed))
}

pub(super) fn remove_reminder(work: &mut Work<'_>, asked: &TaskNamed) -> Ended {
    let task = work.task(&asked.task_name)?;
    if task.reminder.is_none() {
        let message = format!("“{}” has no reminder.", task.title);
        return Ok(work.done(message, &task));
    }
    let message = format!("Removed the reminder of “{}”.", task.title);
    let changed = work.change(&TaskView { reminder: None, ..task })?;
    Ok(work.done(message, &changed))
}

/// It begins with the due date, else with the reminder, if that is to come, else at the next hour
/// at which the task was due, else now; the date is the first one from there on. An overdue task
/// keeps its own date, so that those that follow it are due on theirs.
pub(super) fn set_recurrence(work: &mut Work<'_>, asked: &SetRecurrence) -> Ended {
    if is_no_rule(&asked.rule) {
        return remove_recurrence(work, &asked.task_name);
    }
    let task = work.active_task(&asked.task_name)?;
    let (zone, now) = (work.todos.zone, work.now);
    let ahead = [task.due, task.reminder].into_iter().flatten().find(|at| *at > now);
    let overdue = task.due.filter(|_| ahead.is_none());
    let start = ahead.or(overdue.map(|due| at_the_hour_of(zone, due, now))).unwrap_or(now);
    let start = start.with_second(0).and_then(|start| start.with_nanosecond(0)).unwrap_or(start);
    let recurrence = Recurrence::new(&asked.rule, zone, start, now)?;
    let first = recurrence.next(start - TimeDelta::seconds(1)).unwrap_or(start);
    let written = wall_of(zone, first).format("%Y-%m-%d at %H:%M");
    let message = format!("“{}” comes round now ({}), first on {written}.", task.title, recurrence.rule());
    let changed =
        work.change(&TaskView { recurrence: Some((recurrence, overdue.unwrap_or(first))), apart: Apart::default(), ..task })?;
    Ok(work.done(message, &changed))
}

/// A task with the rule “none” stays as it is, and nothing follows it.
fn remove_recurrence(work: &mut Work<'_>, name: &str) -> Ended {
    let task = work.task(name)?;
    if task.recurrence.is_none() {
        let message = format!("“{}” does not come round.", task.title);
        return Ok(work.done(message, &task));
    }
    let message = format!("“{}” does not come round any more.", task.title);
    let changed = work.change(&TaskView { recurrence: None, ..task })?;
    Ok(work.done(message, &changed))
}

pub(super) fn start_timer(work: &mut Work<'_>, asked: &StartTimer) -> Ended {
    let refused = |told| Stop::Told(FunctionResult::refused("minutes", told));
    let minutes = minutes_allowed(asked.minutes).map_err(refused)?;
    let task = match &asked.task_name {
        Some(name) => Some(work.active_task(name)?.id),
        None => None,
    };
    timer(work, TimerOperation::Start(TimerRun { minutes, task }))
}

/// Every pair of state and operation has an answer. One that the state does not take changes
/// nothing, and says what the state is.
pub(super) fn timer(work: &mut Work<'_>, operation: TimerOperation) -> Ended {
    let before = work.todos.timer;
    let taken = before.take(operation, work.now);
    if !taken.taken {
        return Err(Stop::Told(FunctionResult::refused("timer", before.as_sentence(work.now, work.todos.timed()))));
    }
    let was = work.todos.timed().map(str::to_owned);
    work.todos.timer = taken.timer;
    let title = work.todos.timed().map(str::to_owned).or(was);
    if taken.timer != before {
        work.set_timer(taken.timer, false, title.clone());
    }
    let message = taken.timer.as_sentence(work.now, title.as_deref());
    let message = if matches!(operation, TimerOperation::Stop) && taken.timer != before {
        "The timer is stopped.".to_owned()
    } else {
        message
    };
    Ok(FunctionResult::done(message)
        .with(serde_json::json!({ "state": taken.timer.state(), "seconds_left": taken.timer.left(work.now).num_seconds() })))
}
