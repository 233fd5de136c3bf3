//! Tests of `domain::todo::list`, and the tasks that its neighbours try their rules on.

use proptest::prelude::*;

use super::*;

/// A moment: so many seconds after a fixed one.
pub fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

/// An open task that changed at this second; of its subtasks, `true` marks those that are done.
pub fn task(id: i64, title: &str, updated: i64, subtasks: &[(&str, bool)]) -> TaskView {
    let subtask = |(nth, (title, completed)): (usize, &(&str, bool))| {
        let nth = i32::try_from(nth).unwrap();
        SubtaskView {
            id: SubtaskId(id * 100 + i64::from(nth)),
            title: (*title).to_owned(),
            completed: *completed,
            sort_order: nth,
        }
    };
    TaskView {
        id: TaskId(id),
        title: title.to_owned(),
        status: TaskStatus::Pending,
        updated_at: at(updated),
        subtasks: subtasks.iter().enumerate().map(subtask).collect(),
        reminder: None,
        due: None,
        recurrence: None,
        apart: Apart::default(),
    }
}

/// Any list of tasks: up to so many, in every state, with up to five subtasks.
pub fn tasks(most: usize) -> impl Strategy<Value = Vec<TaskView>> {
    let one = (prop::sample::select(TaskStatus::ALL), 0..50i64, prop::collection::vec((any::<bool>(), -3..3i32), 0..5));
    prop::collection::vec(one, 0..most).prop_map(|all| {
        let made = all.into_iter().zip(1..).map(|((status, updated, subtasks), id)| {
            let steps: Vec<_> = subtasks.iter().map(|(completed, _)| ("step", *completed)).collect();
            let mut task = TaskView { status, ..task(id, "task", updated, &steps) };
            for (subtask, (_, order)) in task.subtasks.iter_mut().zip(&subtasks) {
                subtask.sort_order = *order;
            }
            task
        });
        made.collect()
    })
}

proptest! {
    /// **Feature: vapi-voice-agent, Property 9: Task context limited to 20 active tasks**
    /// **Validates: Requirements 13.1, 13.2**
    #[test]
    fn a_model_is_shown_at_most_20_tasks_and_active_ones_alone(tasks in tasks(60)) {
        let shown = in_context(&tasks);
        let active: Vec<_> = tasks.iter().filter(|task| matches!(task.status, TaskStatus::Pending | TaskStatus::InProgress)).collect();
        prop_assert_eq!(shown.len(), active.len().min(20));
        prop_assert!(shown.iter().all(|task| active.contains(task)));
        prop_assert!(shown.is_sorted_by(|one, next| one.updated_at >= next.updated_at));
        let oldest = shown.iter().map(|task| task.updated_at).min();
        let left_out = active.iter().filter(|task| !shown.contains(task)).map(|task| task.updated_at).max();
        prop_assert!(left_out.is_none() || left_out <= oldest, "one that changed later is left out");
    }
}

#[test]
fn open_subtasks_stand_by_their_order() {
    let mut one = task(1, "Dinner", 0, &[("cook", false), ("shop", false), ("invite", true)]);
    one.subtasks[0].sort_order = 7;
    assert_eq!(one.open_subtasks().iter().map(|subtask| subtask.title.as_str()).collect::<Vec<_>>(), ["shop", "cook"]);
    assert_eq!(one.progress(), (1, 3));
}
