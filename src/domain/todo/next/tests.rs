//! Tests of `domain::todo::next`.

use proptest::prelude::*;

use super::super::list::tests::{task, tasks};
use super::*;
use crate::domain::TaskStatus;

fn next(tasks: &[TaskView], timer: Option<i64>) -> Option<(i64, &str)> {
    next_subtask(tasks, timer.map(TaskId)).map(|next| (next.task.id.0, next.subtask.title.as_str()))
}

#[test]
fn the_timers_task_comes_first_then_the_one_that_is_nearest_to_its_end() {
    let all = [
        task(1, "half", 5, &[("a", true), ("b", false)]),
        task(2, "two thirds", 1, &[("c", true), ("d", false), ("e", true)]),
        task(3, "nothing to tick", 9, &[]),
        task(4, "all ticked", 9, &[("f", true)]),
        task(5, "begun", 9, &[("g", false), ("h", false)]),
        TaskView { status: TaskStatus::Done, ..task(6, "done", 9, &[("i", true), ("j", true), ("k", true), ("l", false)]) },
        TaskView {
            status: TaskStatus::Cancelled,
            ..task(7, "given up", 9, &[("m", true), ("n", true), ("o", true), ("p", false)])
        },
    ];
    assert_eq!(next(&all, None), Some((2, "d")));
    assert_eq!(next(&all, Some(1)), Some((1, "b")));
    assert_eq!(next(&all, Some(5)), Some((5, "g")));
    // Nothing is left of the timer's task, or it is not there.
    for timer in [3, 4, 6, 7, 99] {
        assert_eq!(next(&all, Some(timer)), Some((2, "d")), "{timer}");
    }
    assert_eq!(next(&all[2..4], None), None);
    assert_eq!(next(&[], Some(1)), None);
}

#[test]
fn of_one_share_the_task_that_changed_last_counts_and_of_a_task_the_order() {
    let mut all = [
        task(1, "older", 5, &[("a", true), ("b", false)]),
        task(2, "newer", 6, &[("c", true), ("d", true), ("e", false), ("f", false)]),
    ];
    assert_eq!(next(&all, None), Some((2, "e")));
    all[1].subtasks[3].sort_order = -1;
    assert_eq!(next(&all, None), Some((2, "f")));
}

proptest! {
    /// **Feature: vapi-voice-agent, Property 6: Query operations return accurate information**
    /// **Validates: Requirements 9.5, 10.1, 10.2, 10.3**
    ///
    /// The part without a store: what comes next is open, is the first of its task, and no task
    /// that has something open is nearer to its end.
    #[test]
    fn what_comes_next_is_as_the_tasks_are(tasks in tasks(12), timer in prop::option::of(1..12i64)) {
        let can: Vec<_> = tasks.iter().filter(|task| task.status.is_active() && !task.open_subtasks().is_empty()).collect();
        let found = next_subtask(&tasks, timer.map(TaskId));
        prop_assert_eq!(found.is_some(), !can.is_empty());
        if let Some(NextSubtask { task, subtask }) = found {
            prop_assert!(can.contains(&task) && !subtask.completed);
            prop_assert!(task.subtasks.iter().all(|other| other.completed || other.sort_order >= subtask.sort_order));
            let share = |task: &TaskView| {
                let (done, all) = task.progress();
                done * 1_000_000 / all
            };
            if timer.is_some_and(|timer| can.iter().any(|task| task.id.0 == timer)) {
                prop_assert_eq!(Some(task.id.0), timer);
            } else {
                prop_assert!(can.iter().all(|other| (share(other), other.updated_at) <= (share(task), task.updated_at)));
            }
        }
    }
}
