//! Tests of `domain::todo::question`.

use proptest::prelude::*;

use super::super::list::tests::{task, tasks};
use super::*;
use crate::domain::TaskStatus;

#[test]
fn question_and_answer_name_what_goes() {
    assert_eq!(question_to_create("Prep dinner party"), "Should I create a task called “Prep dinner party”?");
    let dinner = task(1, "Dinner", 0, &[("shop", true), ("cook", false)]);
    let one = Deletion::of(&dinner);
    assert_eq!(one.question(), "Should I delete the task “Dinner” with 2 subtasks?");
    assert_eq!(one.done(), "Deleted the task “Dinner” with 2 subtasks.");
    let tea = Deletion::of(&task(3, "Tea", 0, &[]));
    assert_eq!([tea.question(), tea.done()], ["Should I delete the task “Tea”?", "Deleted the task “Tea”."]);
    let done = TaskView { status: TaskStatus::Done, ..dinner.clone() };
    let given_up = TaskView { status: TaskStatus::Cancelled, ..task(2, "Tea", 0, &[("boil", false)]) };
    let all = Deletion::of_completed(&[dinner.clone(), done.clone(), given_up]).unwrap();
    assert_eq!(all.question(), "Should I delete 2 completed tasks with 3 subtasks?");
    assert_eq!(Deletion::of_completed(&[done]).unwrap().done(), "Deleted 1 completed task with 2 subtasks.");
    assert_eq!(Deletion::of_completed(&[dinner]), None);
}

proptest! {
    /// **Feature: vapi-voice-agent, Property 4: Destructive operations require confirmation**
    /// **Validates: Requirements 7.1, 7.2, 7.3, 7.4**
    ///
    /// The part without a store: the question and the answer have the counts of what goes.
    #[test]
    fn the_counts_are_those_of_the_tasks_that_go(tasks in tasks(20)) {
        let over: Vec<_> = tasks.iter().filter(|task| matches!(task.status, TaskStatus::Done | TaskStatus::Cancelled)).collect();
        let subtasks: usize = over.iter().map(|task| task.subtasks.len()).sum();
        match Deletion::of_completed(&tasks) {
            None => prop_assert!(over.is_empty()),
            Some(deletion) => {
                for told in [deletion.question(), deletion.done()] {
                    let numbers: Vec<usize> = told.split(' ').filter_map(|word| word.parse().ok()).collect();
                    let counts: Vec<_> = [over.len(), subtasks].into_iter().filter(|many| *many > 0).collect();
                    prop_assert_eq!(numbers, counts, "{}", told);
                }
            }
        }
    }
}
