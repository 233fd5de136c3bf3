//! Tests of `domain::todo::context`.

use super::super::list::tests::task;
use super::super::recurrence::Recurrence;
use super::super::time::instant_of;
use super::super::time::tests::wall;
use super::super::timer::TimerRun;
use super::*;
use crate::domain::{TaskId, TaskStatus};

const ROME: Tz = Tz::Europe__Rome;

fn context_of(tasks: &[TaskView], timer: FocusTimer, now: DateTime<Utc>) -> String {
    let title = |id| tasks.iter().find(|task| task.id == id).map(|task| task.title.clone());
    let active = tasks.iter().filter(|task| task.status.is_active()).count();
    let timer = (timer, timer.task().and_then(title));
    told_of(&TodosShown { tasks: tasks.to_vec(), active, timer, zone: ROME }, now)
}

#[test]
fn a_model_is_told_the_moment_the_timer_and_the_tasks() {
    let now = instant_of(ROME, wall("2026-11-20T09:30"));
    assert_eq!(
        context_of(&[], FocusTimer::Idle, now),
        "It is Friday, 2026-11-20T09:30 (Europe/Rome). No timer is running.\nThere are no active tasks."
    );
    let timer = FocusTimer::Paused { run: TimerRun { minutes: 25, task: Some(TaskId(3)) }, left: chrono::TimeDelta::minutes(5) };
    let recurrence = Recurrence::of("weekly", ROME, wall("2026-11-20T09:00")).unwrap();
    let date = recurrence.next(now).unwrap();
    let tasks = [
        TaskView { status: TaskStatus::Done, ..task(1, "Done", 9, &[]) },
        TaskView { reminder: Some(now), recurrence: Some((recurrence, date)), ..task(2, "Water plants", 1, &[]) },
        task(3, "Dinner", 5, &[("shop", true), ("cook", false)]),
    ];
    assert_eq!(
        context_of(&tasks, timer, now),
        "It is Friday, 2026-11-20T09:30 (Europe/Rome). The timer for “Dinner” is paused, 5 minutes left.\n\
         Active tasks, the last changed first:\n\
         #3 Dinner | 1 of 2 subtasks done | next: cook\n\
         #2 Water plants | reminder 2026-11-20T09:30 | weekly, now 2026-11-27T09:00"
    );
    let many: Vec<_> = (1..=30).map(|id| task(id, "Task", id, &[])).collect();
    let told = context_of(&many, FocusTimer::Idle, now);
    assert!(told.contains("(20 of 30; listTasks lists all):\n#30 Task\n#29 Task"), "{told}");
    assert!(told.ends_with("\n#11 Task") && told.lines().count() == 22, "{told}");
}
