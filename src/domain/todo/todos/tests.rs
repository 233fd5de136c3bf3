//! Tests of `domain::todo::todos`.

use super::super::list::tests::task;
use super::*;
use crate::domain::TaskStatus;

fn todos(tasks: Vec<TaskView>) -> Todos {
    Todos { user: UserId::OWNER, disabled: false, zone: Tz::UTC, tasks, timer: FocusTimer::Idle, last: LastNamed::default() }
}

fn error<T: std::fmt::Debug>(found: Result<T, Unfound>) -> &'static str {
    found.unwrap_err().error
}

#[test]
fn an_active_task_goes_before_one_that_is_over_with_the_same_name() {
    let over = TaskView { status: TaskStatus::Done, ..task(1, "Buy milk", 9, &[]) };
    let mut todos = todos(vec![over, task(2, "Buy milk", 1, &[])]);
    assert_eq!(todos.find_task("milk").unwrap().id, TaskId(2));
    todos.tasks.pop();
    assert_eq!(todos.find_task("milk").unwrap().id, TaskId(1), "one that is over is found if there is no other");
    todos.tasks.push(TaskView { status: TaskStatus::Cancelled, ..task(3, "milk run", 1, &[]) });
    assert_eq!(error(todos.find_task("milk")), "ambiguous");
    assert_eq!(todos.find_task("#3").unwrap().id, TaskId(3));
}

#[test]
fn a_subtask_is_looked_for_in_the_task_that_was_named_and_in_all_if_none_was() {
    let todos = todos(vec![
        task(1, "Dinner", 1, &[("shop", false), ("cook", true)]),
        task(2, "Lunch", 2, &[("shop", false), ("cook", false)]),
    ]);
    let (task, subtask) = todos.find_subtask("shop", Some("dinner")).unwrap();
    assert_eq!((task.id, subtask.title.as_str()), (TaskId(1), "shop"));
    assert_eq!(todos.find_subtask("cook", None).unwrap().0.id, TaskId(2), "the open one is meant");
    let several = todos.find_subtask("shop", None).unwrap_err();
    assert_eq!(several.error, "ambiguous");
    assert!(several.message.contains("(in Dinner)") && several.message.contains("(in Lunch)"), "{}", several.message);
    assert_eq!(error(todos.find_subtask("shop", Some("breakfast"))), "not_found");
}

#[test]
fn it_is_what_was_named_last_and_a_question_if_that_is_gone() {
    let mut todos = todos(vec![task(1, "Dinner", 1, &[("shop", false)])]);
    assert_eq!(error(todos.find_task("it")), "which_one");
    todos.last = LastNamed { task: Some(TaskId(1)), subtask: Some(SubtaskId(100)) };
    assert_eq!(todos.find_task("that task").unwrap().id, TaskId(1));
    assert_eq!(todos.find_subtask("it", None).unwrap().1.id, SubtaskId(100));
    todos.tasks.clear();
    assert_eq!((error(todos.find_task("it")), error(todos.find_subtask("it", None))), ("which_one", "which_one"));
}
