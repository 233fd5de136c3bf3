//! A story for each of the twenty functions.

use level3::domain::todo::TodoFunction;
use serde_json::{Value, json};

use super::{Talk, message, result};
use crate::support::{call, results, text};

#[tokio::test]
async fn a_task_is_made_with_the_steps_that_a_model_gave_and_it_says_so_if_none_did() {
    let mut talk = Talk::start().await;
    let made = talk.create("Prep dinner party").await;
    assert_eq!(message(&made), "Created the task “Prep dinner party” with 3 subtasks: invite, shop, cook.");
    assert_eq!(talk.count("SELECT count(*) FROM tasks WHERE title = 'Prep dinner party' AND status = 'pending'").await, 1);
    assert_eq!(talk.count("SELECT count(*) FROM subtasks WHERE NOT completed AND title IN ('invite', 'shop', 'cook')").await, 3);

    talk.asks("createTask", json!({"description": "Buy milk", "confirmed": false})).await;
    talk.app.script([text("Just buy it."), text("Really."), text("I see.")]);
    talk.say("go ahead please").await;
    let bare = result(&talk.client.turn().await);
    assert_eq!(message(&bare), "Created the task “Buy milk”. It could not be broken down into subtasks, so it has none.");
    assert_eq!(talk.count("SELECT count(*) FROM reviews").await, 3, "each request for a breakdown is paid for once");
    talk.app.check_replay().await;
}

#[tokio::test]
async fn subtasks_are_completed_one_by_one_and_then_the_task() {
    let mut talk = Talk::start().await;
    talk.create("Prep dinner party").await;
    let early = talk.call("completeTask", json!({"taskName": "dinner"})).await;
    assert_eq!(message(&early), "“Prep dinner party” still has 3 open subtasks: invite, shop, cook.");
    for (step, told) in [
        ("invite", "Completed “invite”. 2 subtasks left in “Prep dinner party”."),
        ("shop", "Completed “shop”. 1 subtask left in “Prep dinner party”."),
        ("cook", "Completed “cook”. That was the last one in “Prep dinner party”."),
    ] {
        assert_eq!(message(&talk.call("completeSubtask", json!({"subtaskName": step})).await), told);
    }
    let done = talk.call("completeTask", json!({"taskName": "that task"})).await;
    assert_eq!((&done["success"], message(&done)), (&json!(true), "Completed “Prep dinner party”."));
    let again = talk.call("completeTask", json!({"taskName": "dinner"})).await;
    assert_eq!((&again["success"], message(&again)), (&json!(false), "“Prep dinner party” is completed already."));
    assert_eq!(talk.count("SELECT count(*) FROM tasks WHERE status = 'done'").await, 1);
}

#[tokio::test]
async fn tasks_and_subtasks_are_renamed_added_and_removed() {
    let mut talk = Talk::start().await;
    talk.create("Dinner").await;
    let renamed = talk.call("renameTask", json!({"taskName": "dinner", "newName": "Supper"})).await;
    assert_eq!(message(&renamed), "Renamed the task “Dinner” to “Supper”.");
    let step = talk.call("renameSubtask", json!({"subtaskName": "shop", "newName": "buy food"})).await;
    assert_eq!(message(&step), "Renamed the subtask “shop” of “Supper” to “buy food”.");
    let added = talk.call("addSubtask", json!({"taskName": "supper", "subtaskName": "lay the table"})).await;
    assert_eq!(message(&added), "Added the subtask “lay the table” to “Supper”.");
    let removed = talk.call("removeSubtask", json!({"subtaskName": "invite", "taskName": "supper"})).await;
    assert_eq!(message(&removed), "Removed the subtask “invite” from “Supper”.");
    let titles: Vec<_> = removed["data"]["task"]["subtasks"].as_array().unwrap().iter().map(|one| one["title"].clone()).collect();
    assert_eq!(titles, ["buy food", "cook", "lay the table"]);
    assert_eq!(talk.count("SELECT count(*) FROM subtasks WHERE sort_order = 3 AND title = 'lay the table'").await, 1);
    for (function, arguments, told) in [
        ("renameTask", json!({"taskName": "supper", "newName": " "}), "A title needs at least one character."),
        ("renameTask", json!({"taskName": "supper", "newName": "a\nb"}), "A title stands on one line."),
        ("renameTask", json!({"taskName": "lunch", "newName": "b"}), "I couldn't find a task called lunch"),
        (
            "renameTask",
            json!({"taskName": "super", "newName": "b"}),
            "I couldn't find a task called super. Did you mean #1 Supper?",
        ),
    ] {
        let refused = talk.call(function, arguments).await;
        assert_eq!((&refused["success"], message(&refused)), (&json!(false), told));
    }
    talk.app.check_replay().await;
}

#[tokio::test]
async fn tasks_are_deleted_and_cleared_with_a_count_in_the_question_and_in_the_answer() {
    let mut talk = Talk::start().await;
    talk.create("Dinner").await;
    talk.create("Lunch").await;
    let nothing = talk.call("clearCompletedTasks", json!({"confirmed": true})).await;
    assert_eq!(message(&nothing), "There are no completed tasks to clear.");
    let question = talk.asks("deleteTask", json!({"taskName": "dinner", "confirmed": true})).await;
    assert_eq!(question["question"], "Should I delete the task “Dinner” with 3 subtasks?");
    assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 2);
    talk.app.script([text("I see.")]);
    talk.say("yes").await;
    assert_eq!(message(&result(&talk.client.turn().await)), "Deleted the task “Dinner” with 3 subtasks.");
    for step in super::STEPS {
        talk.call("completeSubtask", json!({"subtaskName": step})).await;
    }
    talk.call("completeTask", json!({"taskName": "lunch"})).await;
    let question = talk.asks("clearCompletedTasks", json!({"confirmed": false})).await;
    assert_eq!(question["question"], "Should I delete 1 completed task with 3 subtasks?");
    talk.app.script([text("I see.")]);
    talk.say("do it").await;
    assert_eq!(message(&result(&talk.client.turn().await)), "Deleted 1 completed task with 3 subtasks.");
    assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 0);
    talk.app.check_replay().await;
}

#[tokio::test]
async fn questions_about_tasks_are_answered_from_the_store() {
    let mut talk = Talk::start().await;
    assert_eq!(message(&talk.call("listTasks", json!({})).await), "You have no active tasks.");
    assert_eq!(message(&talk.call("getNextSubtask", json!({})).await), "There is no open subtask to do next.");
    talk.create("Dinner").await;
    talk.create("Lunch").await;
    talk.app.advance(60);
    talk.call("completeSubtask", json!({"subtaskName": "invite", "taskName": "dinner"})).await;
    let list = talk.call("listTasks", json!({"filter": "all"})).await;
    assert_eq!(message(&list), "You have 2 tasks: #1 Dinner, #2 Lunch.");
    let next = talk.call("getNextSubtask", json!({})).await;
    assert_eq!(message(&next), "Next: “shop” in “Dinner”, of which 1 of 3 subtasks are done.");
    talk.call("startTimer", json!({"minutes": 5, "taskName": "lunch"})).await;
    assert_eq!(talk.call("getNextSubtask", json!({})).await["data"]["task"]["title"], "Lunch");
    let untouched = talk.call("getTaskDetails", json!({"taskName": "lunch"})).await;
    assert_eq!(message(&untouched), "“Lunch” is not begun. 0 of 3 subtasks done. Next: invite.");
    let details = talk.call("getTaskDetails", json!({"taskName": "#1"})).await;
    assert_eq!(message(&details), "“Dinner” is in progress. 1 of 3 subtasks done. Next: shop.");
}

#[tokio::test]
async fn done_after_a_look_is_taken_back() {
    let mut talk = Talk::start().await;
    talk.app.script([call("listTasks", json!({})), text("Done! You're crushing it!"), text("Your list is empty.")]);
    talk.say("tidy up my list").await;
    let frames = talk.client.turn().await;
    let told: Vec<_> = frames.iter().filter(|frame| frame["type"] == "assistant").collect();
    let back = told.iter().find(|frame| frame["content"] == "Done! You're crushing it!").unwrap();
    assert_eq!((&back["final"], &back["unproven"]), (&json!(false), &json!(true)));
    assert_eq!(told.last().unwrap()["content"], "Your list is empty.");
}

#[tokio::test]
async fn what_belongs_to_the_builder_does_not_exist_for_lea() {
    let mut talk = Talk::start().await;
    let names = TodoFunction::names().join(", ");
    for tool in ["execute_sql", "write_capability", "manage_tasks", "restart", "adder", "mcp__files__read"] {
        talk.app.script([call(tool, json!({})), text("I cannot do that.")]);
        talk.say("go on").await;
        let frames = talk.client.turn().await;
        assert_eq!(results(&frames), [(false, format!("There is no tool `{tool}`. The tools are: {}.", sorted(&names)))]);
    }
    let requests = talk.app.script.requests();
    assert!(requests.iter().all(|request| request.tools.len() == 20 && request.answer_tokens == Some(1024)));
    assert!(requests.iter().all(|request| request.temperature == Some(0.7)));
}

/// The names in the order of the alphabet.
fn sorted(names: &str) -> String {
    let mut names: Vec<_> = names.split(", ").collect();
    names.sort_unstable();
    names.join(", ")
}

#[tokio::test]
async fn a_call_that_does_not_fit_is_told_to_the_model_once_and_then_to_the_person() {
    let mut talk = Talk::start().await;
    let wrong = || call("startTimer", json!({"minutes": "a while"}));
    talk.app.script([wrong(), wrong()]);
    talk.say("a timer, please").await;
    let frames = talk.client.turn().await;
    let last = frames.iter().rfind(|frame| frame["type"] == "assistant").unwrap();
    assert_eq!(last["content"], "I couldn't do that, please try again");
    assert_eq!(talk.app.script.requests().len(), 2);
}

#[tokio::test]
async fn manage_tasks_shows_subtasks_and_completes_with_them_what_comes_round() {
    let mut talk = Talk::start().await;
    talk.create("Water plants").await;
    talk.call("setRecurrence", json!({"taskName": "plants", "rule": "weekly"})).await;
    talk.app.script([
        call("manage_tasks", json!({"action": "get", "id": 1})),
        call("manage_tasks", json!({"action": "complete", "id": 1})),
        text("I see."),
    ]);
    talk.client.say("complete it").await;
    let frames = talk.client.turn().await;
    let told: Vec<Value> = results(&frames).iter().map(|(_, told)| serde_json::from_str(told).unwrap()).collect();
    assert_eq!((told[0]["subtasks"].as_array().unwrap().len(), &told[0]["recurrence"]["rule"]), (3, &json!("weekly")));
    assert_eq!(told[1]["status"], "done");
    assert_eq!(talk.count("SELECT count(*) FROM subtasks WHERE task_id = 1 AND completed").await, 3);
    assert_eq!(talk.count("SELECT count(*) FROM subtasks WHERE task_id = 2 AND NOT completed").await, 3);
    assert_eq!(
        talk.count("SELECT count(*) FROM tasks WHERE status = 'pending' AND recurrence ->> 'date' LIKE '2026-11-27%'").await,
        1
    );
    talk.app.check_replay().await;
}
