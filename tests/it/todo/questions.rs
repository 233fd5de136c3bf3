//! Questions: nothing is made from a conversation or deleted without the person's own yes, whatever
//! the model says.

use level3::domain::{Budgets, Mode};
use serde_json::json;

use super::{STEPS, Talk, breakdown, result};
use crate::support::{call, calls, of_type, text};

#[tokio::test]
async fn a_confirmed_of_the_model_is_never_believed_in_any_mode_or_by_any_rule() {
    let mut talk = Talk::start().await;
    talk.create("Dinner").await;
    talk.create("Old").await;
    for step in STEPS {
        talk.call("completeSubtask", json!({"subtaskName": step, "taskName": "old"})).await;
    }
    talk.call("completeTask", json!({"taskName": "old"})).await;
    for mode in [Mode::Auto, Mode::Smart, Mode::Ask] {
        talk.app.store().set_profile_policy("lea", mode, false, &Budgets::default(), talk.app.now()).await.unwrap();
        for (function, arguments) in [
            ("createTask", json!({"description": "Lunch", "confirmed": true})),
            ("deleteTask", json!({"taskName": "dinner", "confirmed": true})),
            ("clearCompletedTasks", json!({"confirmed": true})),
        ] {
            let rule = Some(level3::domain::Rule::Always);
            talk.app.store().set_tool_rule("lea", function, rule, talk.app.now()).await.unwrap();
            let question = talk.asks(function, arguments).await;
            assert!(question["question"].as_str().unwrap().starts_with("Should I "), "{question}");
            assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 2);
            talk.app.script([text("As you like.")]);
            talk.say("never mind").await;
            assert_eq!(of_type(&talk.client.turn().await, "tool_result")["ok"], false);
        }
    }
    talk.app.store().set_profile_policy("lea", Mode::ReadOnly, false, &Budgets::default(), talk.app.now()).await.unwrap();
    talk.app.script([call("deleteTask", json!({"taskName": "dinner", "confirmed": true})), text("I may not.")]);
    talk.say("delete it").await;
    let frames = talk.client.turn().await;
    assert_eq!(of_type(&frames, "tool_result")["result"], "You don't have permission to do that");
    assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 2);
}

#[tokio::test]
async fn one_yes_runs_one_call_of_three_in_one_step() {
    let mut talk = Talk::start().await;
    let create = |title: &str| ("createTask", json!({"description": title, "confirmed": true}));
    talk.app.script([calls(&[create("a"), create("b"), create("c")])]);
    talk.say("make three").await;
    talk.client.asked().await;
    talk.app.script([breakdown(&STEPS)]);
    talk.say("Yes, do it!").await;
    let second = talk.client.asked().await;
    assert_eq!(second["question"], "Should I create a task called “b”?");
    assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 1);
    talk.say("no thanks").await;
    talk.client.asked().await;
    talk.app.script([text("One was made.")]);
    talk.say("no").await;
    talk.client.turn().await;
    assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 1);
    talk.app.check_replay().await;
}

#[tokio::test]
async fn other_words_decline_and_are_said_into_the_same_turn() {
    let mut talk = Talk::start().await;
    let question = talk.asks("createTask", json!({"description": "dinner", "confirmed": false})).await;
    talk.app.script([call("createTask", json!({"description": "lunch", "confirmed": false}))]);
    talk.say("yes but call it lunch").await;
    let asked = talk.client.asked().await;
    assert_eq!((&asked["turn"], &asked["question"]), (&question["turn"], &json!("Should I create a task called “lunch”?")));
    talk.app.script([breakdown(&STEPS), text("I see.")]);
    talk.say("go ahead").await;
    assert_eq!(result(&talk.client.turn().await)["data"]["task"]["title"], "lunch");
    assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 1);
}

#[tokio::test]
async fn a_question_expires_after_a_quarter_of_an_hour() {
    let mut talk = Talk::start().await;
    talk.asks("createTask", json!({"description": "dinner", "confirmed": true})).await;
    talk.app.script([text("Nobody said yes.")]);
    talk.app.advance(15 * 60 + 1);
    talk.client.turn().await;
    assert_eq!(talk.count("SELECT count(*) FROM approvals WHERE state = 'expired'").await, 1);
    assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 0);
}

#[tokio::test]
async fn nobody_is_asked_about_what_cannot_be_done_and_a_yes_is_for_what_was_shown() {
    let mut talk = Talk::start().await;
    talk.create("Dinner").await;
    talk.create("Dinner for two").await;
    let missing = talk.call("deleteTask", json!({"taskName": "breakfast", "confirmed": true})).await;
    assert_eq!(missing["error"], "not_found");
    let several = talk.call("deleteTask", json!({"taskName": "din", "confirmed": true})).await;
    assert_eq!(several["message"], "I found multiple items matching din, which one? #2 Dinner for two, #1 Dinner");
    // Meanwhile the task gets another step: what was shown is not what would happen any more.
    talk.asks("deleteTask", json!({"taskName": "#1", "confirmed": false})).await;
    talk.app.script([call("manage_tasks", json!({"action": "update", "id": 1, "title": "Supper"})), text("I see.")]);
    talk.client.say("rename it").await;
    let renamed = |frame: &serde_json::Value| frame["type"] == "turn" && frame["state"] == "completed";
    talk.client.until(renamed).await;
    talk.say("yes").await;
    assert_eq!(talk.client.asked().await["question"], "Should I delete the task “Supper” with 3 subtasks?");
    talk.app.script([text("I see.")]);
    talk.say("no").await;
    talk.client.turn().await;
    assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 2);
}
