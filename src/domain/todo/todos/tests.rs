//! Tests of `domain::todo::todos`.

use super::super::list::tests::task;
use super::*;
use crate::domain::TaskStatus;

fn todos(tasks: Vec<TaskView>) -> Todos {
    let (timer, last) = (FocusTimer::Idle, LastNamed::default());
    Todos { user: UserId::OWNER, disabled: false, zone: Tz::UTC, tasks, timer, last, meant: Vec::new() }
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

/// A call that did what was asked: its names, and the numbers of its result.
fn meant(arguments: &str, data: &str) -> Vec<Meant> {
    Meant::by(arguments, &format!(r#"{{"success":true,"data":{data},"message":"Done."}}"#))
}

#[test]
fn a_part_of_an_open_name_that_is_the_whole_name_of_a_done_one_is_a_question() {
    let milk = TaskView { status: TaskStatus::Done, ..task(1, "Milk", 9, &[]) };
    let mut todos = todos(vec![milk, task(2, "Buy milk", 1, &[]), task(3, "Trip", 0, &[("Pack", true), ("Pack shoes", false)])]);
    let several = todos.find_task("milk").unwrap_err();
    let question = "I found multiple items matching milk, which one? #2 Buy milk, #1 Milk (completed)";
    assert_eq!((several.error, several.message.as_str()), ("ambiguous", question));
    let several = todos.find_subtask("pack", None).unwrap_err();
    let question = "I found multiple items matching pack, which one? #301 Pack shoes (in Trip), #300 Pack (in Trip, completed)";
    assert_eq!(several.message, question);
    assert_eq!(todos.find_task("buy milk").unwrap().id, TaskId(2));
    // Lists that are over are looked through last.
    todos.tasks[2].status = TaskStatus::Done;
    todos.tasks.push(task(4, "Move", 0, &[("Pack boxes", false)]));
    assert_eq!(todos.find_subtask("pack", None).unwrap().1.id, SubtaskId(400));
}

#[test]
fn words_that_have_named_something_in_a_turn_name_nothing_else_in_it() {
    let tea = TaskView { status: TaskStatus::Done, ..task(1, "Tea", 9, &[]) };
    let mut todos = todos(vec![tea, task(2, "Buy tea", 1, &[]), task(3, "Trip", 0, &[("Call Bob", false)])]);
    todos.meant = meant(r#"{"taskName":"TEA"}"#, r#"{"task":{"id":1}}"#);
    assert_eq!(todos.find_task("the tea").unwrap().id, TaskId(1), "it is completed already");
    // The next one of a task that comes round has the same name.
    todos.tasks.push(task(4, "Tea", 0, &[]));
    assert_eq!(todos.find_task("tea").unwrap().id, TaskId(1));
    assert_eq!(todos.find_task("#4").unwrap().id, TaskId(4));

    todos.meant.extend(meant(r#"{"taskName":"trip","subtaskName":"call"}"#, r#"{"task":{"id":3},"subtask":{"id":9}}"#));
    for of in [None, Some("trip")] {
        let gone = todos.find_subtask("call", of).unwrap_err();
        assert_eq!(gone.error, "not_found");
        assert!(
            gone.message.starts_with("I couldn't find a subtask called call. Did you mean #300 Call Bob"),
            "{}",
            gone.message
        );
    }
    assert_eq!(todos.find_subtask("call bob", None).unwrap().1.id, SubtaskId(300));
    todos.tasks.push(task(5, "Work", 0, &[("Call", false)]));
    assert_eq!(todos.find_subtask("call", Some("work")).unwrap().1.id, SubtaskId(500), "that is another one");

    todos.meant.extend(meant(r#"{"taskName":"note","confirmed":false}"#, r#"{"id":8,"title":"Note","subtasks":0}"#));
    todos.tasks.push(task(6, "Note two", 0, &[]));
    let gone = todos.find_task("note").unwrap_err();
    assert_eq!(gone.message, "I couldn't find a task called note. Did you mean #6 Note two?");
}

#[test]
fn words_that_a_call_gave_to_something_new_mean_that() {
    let mut todos = todos(vec![task(1, "Milk", 1, &[("shop", true)]), task(2, "Milk", 0, &[("shop", false)])]);
    assert_eq!(error(todos.find_task("milk")), "ambiguous");
    todos.meant = meant(r#"{"taskName":"milk"}"#, r#"{"task":{"id":1}}"#);
    todos.meant.extend(meant(r#"{"description":"Milk","confirmed":false}"#, r#"{"task":{"id":2}}"#));
    assert_eq!(todos.find_task("milk").unwrap().id, TaskId(2));
    todos.meant = meant(r#"{"taskName":"beans","newName":"milk"}"#, r#"{"task":{"id":1}}"#);
    assert_eq!(todos.find_task("milk").unwrap().id, TaskId(1));
    let renamed = r##"{"subtaskName":"#7","newName":"shop"}"##;
    todos.meant = meant(renamed, r#"{"task":{"id":1},"subtask":{"id":100}}"#);
    assert_eq!(todos.find_subtask("shop", None).unwrap().1.id, SubtaskId(100));
    assert_eq!(error(todos.find_task("milk")), "ambiguous", "the new name is the subtask's");
}
