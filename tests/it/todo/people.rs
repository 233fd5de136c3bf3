//! Two people at one server: each has tasks, a timer and an “it” of their own.

use level3::model::Entry;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Talk, message};
use crate::support::people::Person;
use crate::support::{TestApp, call, of_type, text};

#[tokio::test]
async fn nothing_of_one_is_found_named_counted_or_shown_by_the_other() {
    let app = TestApp::start().await;
    let owner = Person::owner(&app).await;
    let ana = owner.adds(&app, "Ana").await;
    let mut his = Talk { client: owner.connect().await, app };
    his.create("Dinner").await;
    his.call("startTimer", json!({"minutes": 25, "taskName": "dinner"})).await;
    let Talk { app, client: _his } = his;
    let mut hers = Talk { client: ana.connect().await, app };
    for name in ["dinner", "#1"] {
        let unfound = hers.call("deleteTask", json!({"taskName": name, "confirmed": true})).await;
        assert_eq!(unfound["error"], "not_found", "{name}");
    }
    assert_eq!(message(&hers.call("getTaskDetails", json!({"taskName": "it"})).await), "Which task do you mean?");
    assert_eq!(message(&hers.call("listTasks", json!({"filter": "all"})).await), "You have no tasks.");
    assert_eq!(message(&hers.call("getTimerStatus", json!({})).await), "No timer is running.");
    hers.create("Lunch").await;
    let prompts = hers.app.script.requests();
    let said = |entry: &&Entry| matches!(entry, Entry::User(_));
    let Some(Entry::User(prompt)) = prompts.last().unwrap().entries.iter().rfind(said) else {
        panic!("the person said something")
    };
    assert!(prompt.contains("Lunch") && !prompt.contains("Dinner"), "{prompt}");
    let state = ana.ask(Method::GET, "/api/assistant", None).await.1;
    assert_eq!((&state["timer"]["state"], &state["allowances"]["tier"]), (&json!("idle"), &json!("free")));
    let chat = ana.ask(Method::GET, "/api/assistant/chat", None).await.1;
    assert_eq!((&chat["userId"], chat.to_string().contains("Dinner")), (&json!(2), false));
    assert_eq!(hers.count("SELECT count(*) FROM message_counts WHERE messages > 0").await, 2, "each is counted apart");
    assert_eq!(ana.ask(Method::PUT, "/api/tiers/free", Some(json!({"messages_per_day": null}))).await.0, 403);
    // A person who is removed takes all that along.
    hers.call("startTimer", json!({"minutes": 5, "taskName": "lunch"})).await;
    assert_eq!(owner.ask(Method::DELETE, "/api/users/Ana?confirm=ana", None).await.0, 200);
    let left = "SELECT (SELECT count(*) FROM tasks) + (SELECT count(*) FROM timers) + (SELECT count(*) FROM last_named)
                + (SELECT count(*) FROM message_counts)";
    assert_eq!(hers.count(left).await, 4, "one of each is the owner's");
    hers.app.check_replay().await;
}

#[tokio::test]
async fn a_member_makes_a_task_by_hand_and_puts_its_subtasks_in_another_order() {
    let app = TestApp::start().await;
    let owner = Person::owner(&app).await;
    let ana = owner.adds(&app, "Ana").await;
    let mut hers = Talk { client: ana.connect().await, app };
    hers.create("Dinner").await;
    let order = async |method: Method, path: &str, body: Value| {
        let (status, queued) = ana.ask(method, path, Some(body)).await;
        assert_eq!(status, 202, "{queued}");
        ana.ask(Method::GET, &format!("/api/turns/{}?wait=true", queued["turn"]), None).await.1["results"][0].clone()
    };
    assert_eq!(order(Method::POST, "/api/tasks", json!({"title": "Lunch"})).await["ok"], true);
    let steps = async || ana.ask(Method::GET, "/api/tasks", None).await.1["tasks"][0]["subtasks"].clone();
    let before = steps().await;
    let turned: Vec<_> = before.as_array().unwrap().iter().rev().cloned().collect();
    let mut ticked = turned.clone();
    ticked[0]["completed"] = json!(true);
    for wanted in [&ticked, &turned] {
        assert_eq!(order(Method::PATCH, "/api/tasks/1", json!({"subtasks": wanted})).await["ok"], true);
        assert_eq!(steps().await, json!(wanted));
    }
    for wrong in [&turned[1..], &[turned[0].clone(), turned[0].clone(), turned[1].clone()]] {
        assert_eq!(order(Method::PATCH, "/api/tasks/1", json!({"subtasks": wrong})).await["ok"], false);
    }
    // Only an order has that tool.
    for _ in 0..5 {
        hers.client.turn().await;
    }
    hers.app.script([call("manage_tasks", json!({"action": "list"})), text("I cannot do that.")]);
    hers.say("go on").await;
    assert_eq!(of_type(&hers.client.turn().await, "tool_result")["refusal"], "unknown_tool");
    hers.app.check_replay().await;
}

#[tokio::test]
async fn nothing_wakes_whoever_is_disabled_until_they_are_let_in_again() {
    let app = TestApp::start().await;
    let owner = Person::owner(&app).await;
    let ana = owner.adds(&app, "Ana").await;
    let mut hers = Talk { client: ana.connect().await, app };
    hers.create("Dinner").await;
    hers.call("setReminder", json!({"taskName": "dinner", "at": "2026-11-20T09:00"})).await;
    ana.ask(Method::PATCH, "/api/tasks/1", Some(json!({"due_at": "2026-11-20T09:00:00Z"}))).await;
    hers.app.run_until_idle().await;
    let disabled = async |disabled: bool| owner.ask(Method::PATCH, "/api/users/ana", Some(json!({"disabled": disabled}))).await.0;
    assert_eq!(disabled(true).await, 200);
    assert_eq!(hers.count("SELECT count(*) FROM wake_ups").await, 0);
    let asked = hers.app.script.requests().len();
    hers.app.advance(2 * 3600);
    assert_eq!(hers.count("SELECT count(*) FROM to_come").await, 0);
    hers.app.script([text("It is due.")]);
    assert_eq!(disabled(false).await, 200);
    hers.app.script.asked(asked + 1).await;
    hers.app.run_until_idle().await;
    hers.app.until("SELECT count(*) FROM events WHERE kind = 'reminder_given' AND payload -> 'late' = 'true'", 1).await;
    assert_eq!(hers.count("SELECT count(*) FROM wake_ups").await, 0);
    hers.app.check_replay().await;
}

#[tokio::test]
async fn a_member_deletes_a_task_of_their_own_after_a_yes_and_never_another_persons() {
    let app = TestApp::start().await;
    let owner = Person::owner(&app).await;
    let ana = owner.adds(&app, "Ana").await;
    let mut his = Talk { client: owner.connect().await, app };
    his.create("His").await;
    let Talk { app, client: _his } = his;
    let mut hers = Talk { client: ana.connect().await, app };
    hers.create("Hers").await;
    let of = async |person: &Person| person.ask(Method::GET, "/api/tasks", None).await.1["tasks"].clone();
    let (his, own) = (of(&owner).await[0]["id"].clone(), of(&ana).await[0]["id"].clone());
    // Another's number reads exactly like one that nobody has.
    let delete = async |person: &Person, id: &Value| person.ask(Method::DELETE, &format!("/api/tasks/{id}"), None).await;
    let (theirs, nobodys) = (delete(&ana, &his).await, delete(&ana, &json!(999)).await);
    assert_eq!((theirs.0, theirs.1.to_string().replace(&his.to_string(), "N")), (404, nobodys.1.to_string().replace("999", "N")));
    assert_eq!(delete(&owner, &own).await.0, 404, "nor may the owner");
    // Her own waits for her yes, and nobody else can give it.
    let (status, queued) = delete(&ana, &own).await;
    assert_eq!(status, 202, "{queued}");
    let report = ana.ask(Method::GET, &format!("/api/turns/{}?wait=true", queued["turn"]), None).await.1;
    let approve = format!("/api/approvals/{}/approve", report["approval"]);
    assert_eq!(owner.ask(Method::POST, &approve, Some(json!({}))).await.0, 404);
    assert_eq!(of(&ana).await.as_array().unwrap().len(), 1, "nothing is deleted before it");
    assert_eq!(ana.ask(Method::POST, &approve, Some(json!({}))).await.0, 200);
    let report = ana.ask(Method::GET, &format!("/api/turns/{}?wait=true", queued["turn"]), None).await.1;
    assert_eq!((&report["state"], &report["results"][0]["ok"]), (&json!("completed"), &json!(true)), "{report}");
    assert_eq!((of(&ana).await, of(&owner).await[0]["title"].clone()), (json!([]), json!("His")));
    hers.app.check_replay().await;
}
