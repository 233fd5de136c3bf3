//! A call that comes twice: it does nothing to a second thing that nobody named.

use reqwest::Method;
use serde_json::{Value, json};

use super::{STEPS, Talk, breakdown, message};
use crate::support::{api, call, calls, results, text};

/// The results of a turn whose model makes these answers.
async fn turn<const N: usize>(talk: &mut Talk, answers: [crate::support::Reply; N]) -> Vec<Value> {
    talk.app.script(answers);
    talk.say("go on").await;
    let frames = talk.client.turn().await;
    results(&frames).iter().map(|(_, result)| serde_json::from_str(result).unwrap()).collect()
}

/// A person's own order, to its end.
async fn order(talk: &Talk, path: &str, body: Value) -> Value {
    let (status, queued) = api::ask(&talk.app, Method::POST, path, Some(body)).await;
    assert_eq!(status, 202, "{queued}");
    let ended = api::ask(&talk.app, Method::GET, &format!("/api/turns/{}?wait=true", queued["turn"]), None).await.1;
    serde_json::from_str(ended["results"][0]["result"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_removed_subtask_is_gone_and_the_same_words_remove_no_other() {
    let mut talk = Talk::start().await;
    talk.asks("createTask", json!({"description": "Trip", "confirmed": false})).await;
    talk.app.script([breakdown(&["Call", "Call Bob", "Pack"]), text("I see.")]);
    talk.say("yes").await;
    talk.client.turn().await;
    let remove = || ("removeSubtask", json!({"subtaskName": "call", "taskName": "trip"}));
    let told = turn(&mut talk, [calls(&[remove(), remove()]), calls(&[remove()]), text("Removed.")]).await;
    assert_eq!(message(&told[0]), "Removed the subtask “Call” from “Trip”.");
    for again in &told[1..] {
        let gone = "I couldn't find a subtask called call. Did you mean #2 Call Bob?";
        assert_eq!((&again["success"], message(again)), (&json!(false), gone));
    }
    assert_eq!(talk.count("SELECT count(*) FROM subtasks").await, 2);
    talk.app.check_replay().await;
}

#[tokio::test]
async fn what_was_completed_in_a_turn_is_completed_already_also_if_it_has_come_round() {
    let mut talk = Talk::start().await;
    for title in ["Tea", "Buy tea", "Water plants"] {
        order(&talk, "/api/tasks", json!({ "title": title })).await;
    }
    talk.call("setRecurrence", json!({"taskName": "plants", "rule": "daily"})).await;
    for (name, title) in [("tea", "Tea"), ("plants", "Water plants")] {
        let complete = || call("completeTask", json!({ "taskName": name }));
        let told = turn(&mut talk, [complete(), complete(), text("Done.")]).await;
        assert!(message(&told[0]).starts_with(&format!("Completed “{title}”.")), "{told:?}");
        assert_eq!(message(&told[1]), format!("“{title}” is completed already."));
    }
    assert_eq!(talk.count("SELECT count(*) FROM tasks WHERE status = 'done'").await, 2);
    // Words that were given to something new mean that.
    let new = || call("renameTask", json!({"taskName": "buy tea", "newName": "Tea"}));
    let told = turn(&mut talk, [new(), call("completeTask", json!({"taskName": "tea"})), text("Done.")]).await;
    assert_eq!(message(&told[1]), "Completed “Tea”.");
    talk.app.check_replay().await;
}

#[tokio::test]
async fn an_order_that_comes_again_asks_before_it_takes_another_thing() {
    let talk = Talk::start().await;
    for title in ["Milk", "Buy milk"] {
        order(&talk, "/api/tasks", json!({ "title": title })).await;
    }
    let complete = async || order(&talk, "/api/assistant/functions/completeTask", json!({"taskName": "milk"})).await;
    assert_eq!(message(&complete().await), "Completed “Milk”.");
    for _ in 0..2 {
        let asked = complete().await;
        let question = "I found multiple items matching milk, which one? #2 Buy milk, #1 Milk (completed)";
        assert_eq!((&asked["success"], message(&asked)), (&json!(false), question));
    }
    assert_eq!(talk.count("SELECT count(*) FROM tasks WHERE status = 'done'").await, 1);
    talk.app.check_replay().await;
}

#[tokio::test]
async fn a_conversation_that_began_with_an_order_has_words_for_its_title() {
    let talk = Talk::start().await;
    let (at, remind) = (json!("2026-11-20T09:00"), "/api/assistant/functions/setReminder");
    order(&talk, remind, json!({"taskName": "milk", "at": at})).await;
    order(&talk, &format!("{remind}?profile=law"), json!({})).await;
    let listed = api::ask(&talk.app, Method::GET, "/api/conversations", None).await.1;
    let title = |profile: &str| {
        let of = listed["conversations"].as_array().unwrap().iter().find(|one| one["profile"] == profile);
        of.unwrap()["title"].clone()
    };
    assert_eq!(title("law"), "Set reminder");
    let told = title("lea").as_str().unwrap().to_owned();
    assert!(told.starts_with("Set reminder: ") && told.contains("milk") && told.contains("2026-11-20T09:00"), "{told}");
    talk.app.check_replay().await;
}

#[tokio::test]
async fn nobody_is_asked_to_delete_another_task_than_the_one_that_is_deleted_and_no_chat_names_that() {
    let mut talk = Talk::start().await;
    for title in ["Note", "Note two"] {
        order(&talk, "/api/tasks", json!({ "title": title })).await;
    }
    let delete = || ("deleteTask", json!({"taskName": "note", "confirmed": false}));
    talk.app.script([calls(&[delete(), delete()]), text("Deleted.")]);
    talk.say("delete note").await;
    assert_eq!(talk.client.asked().await["question"], "Should I delete the task “Note”?");
    talk.say("yes").await;
    let told = results(&talk.client.turn().await);
    assert!(told[0].0 && told[0].1.contains("Deleted the task “Note”."), "{told:?}");
    assert!(told[1].1.contains("I couldn't find a task called note. Did you mean #2 Note two?"), "{told:?}");
    assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 1);
    let named = async |talk: &Talk| {
        let chat = api::ask(&talk.app, Method::GET, "/api/assistant/chat", None).await.1;
        (chat["lastReferencedTaskId"].clone(), chat["lastReferencedSubtaskId"].clone())
    };
    assert_eq!(named(&talk).await, (Value::Null, Value::Null), "it is gone");
    talk.create("Dinner").await;
    talk.call("removeSubtask", json!({"subtaskName": STEPS[0]})).await;
    assert_eq!(named(&talk).await, (json!(3), Value::Null));
    talk.call("completeSubtask", json!({"subtaskName": STEPS[1]})).await;
    assert_eq!(named(&talk).await, (json!(3), json!(2)));
    talk.app.check_replay().await;
}
