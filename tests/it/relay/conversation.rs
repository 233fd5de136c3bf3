//! A whole conversation, from its order to its end, and what each side sees of it.

use reqwest::Method;
use serde_json::json;

use super::{ANNA, Desk, writes};
use crate::support::api::ask;
use crate::support::{calls, text};

#[tokio::test]
async fn a_conversation_goes_from_its_order_to_its_end() {
    let desk = Desk::start().await;
    let id = desk.begun(ANNA).await;
    desk.app.script([calls(&[
        ("mark_todo_item", json!({"todo_id": 1, "status": "done"})),
        ("send_message", json!({"text": "Thank you, goodbye!"})),
        ("end_conversation", json!({"reason": "Friday at ten is agreed"})),
    ])]);
    assert_eq!(desk.say(ANNA, "Friday at ten, CANARY-IN").await, "kept");
    let ended = desk.until(id, "COMPLETED").await;
    assert_eq!((ended["reason"].as_str(), ended["todos"][0]["status"].as_str()), (Some("Friday at ten is agreed"), Some("done")));
    desk.app.run_until_idle().await;
    // The gap between two messages to one contact is over.
    desk.app.advance(4);
    desk.delivered(id, 3).await;
    let shown: Vec<_> =
        desk.transcript(id).await.iter().map(|message| (message["said_by"].clone(), message["text"].clone())).collect();
    assert_eq!(
        json!(shown),
        json!([["agent", "Is Friday fine?"], ["contact", "Friday at ten, CANARY-IN"], ["agent", "Thank you, goodbye!"]])
    );
    let phone = desk.done(Method::GET, "/loopback?address=%2B491701234567", None).await;
    let arrived: Vec<_> = phone["messages"].as_array().unwrap().iter().map(|message| message["arrivals"].clone()).collect();
    assert_eq!(json!(arrived), json!([1, 1, 1]));
    assert_eq!(desk.say(ANNA, "And now?").await, "stranger", "no instance is open any more");
}

#[tokio::test]
async fn every_event_of_its_conversation_names_the_instance_and_no_other_does() {
    let desk = Desk::start().await;
    let id = desk.begun(ANNA).await;
    let inner = desk.instance(id).await["conversation"].clone();
    desk.app.script([text("I see.")]);
    let mut talk = desk.app.connect().await;
    talk.ask("look").await;
    let (status, found) = ask(&desk.app, Method::GET, "/api/events", None).await;
    assert_eq!(status, 200, "{found}");
    let events = found["events"].as_array().unwrap();
    let (its, others): (Vec<_>, Vec<_>) = events.iter().partition(|event| event["conversation"] == inner);
    assert!(its.iter().any(|event| event["kind"] == "turn_queued"), "{found}");
    assert!(its.iter().all(|event| event["instance"] == id), "{found}");
    assert!(!others.is_empty() && others.iter().all(|event| event["instance"].is_null()), "{found}");
}

#[tokio::test]
async fn a_models_request_has_the_contacts_words_in_the_users_role_alone_and_six_tools() {
    let desk = Desk::start().await;
    let id = desk.begun(ANNA).await;
    desk.app.script([writes("Good"), text("")]);
    desk.say(ANNA, "CANARY-IN").await;
    desk.until_delivery(id, 3, "queued").await;
    desk.app.run_until_idle().await;
    let requests = desk.app.script.requests();
    let asked = requests.last().unwrap();
    let (mut system, mut user) = (String::new(), String::new());
    for entry in &asked.entries {
        match entry {
            level3::model::Entry::System(text) => system += text,
            level3::model::Entry::User(text) => user += text,
            _ => {}
        }
    }
    assert!(!system.contains("CANARY-IN") && system.contains("Arrange a viewing"), "{system}");
    assert!(user.contains(r#""untrusted":true"#) && user.contains("CANARY-IN"), "{user}");
    let tools: Vec<_> = asked.tools.iter().map(|tool| tool.name.as_str()).collect();
    let six = [
        "send_message",
        "mark_todo_item",
        "end_conversation",
        "schedule_next_heartbeat",
        "place_call",
        "request_human_intervention",
    ];
    assert_eq!(tools, six);
    let elsewhere = "SELECT (SELECT count(*) FROM messages WHERE content LIKE '%CANARY-IN%')
        + (SELECT count(*) FROM shared.messages WHERE content LIKE '%Is Friday fine%')";
    assert_eq!(desk.app.count(elsewhere).await, 0, "no other agent reads it there");
    let there = "SELECT count(*) FROM shared.relay_transcripts WHERE text = 'CANARY-IN' AND untrusted AND said_by = 'contact'";
    assert_eq!(desk.app.count(there).await, 1);
}

#[tokio::test]
async fn a_turn_that_does_nothing_is_asked_once_more_and_then_a_person_has_it() {
    let desk = Desk::start().await;
    desk.app.script([text("I would rather talk."), text("Still talking.")]);
    let id = desk.order(ANNA).await;
    let waits = desk.until(id, "NEEDS_HUMAN_INTERVENTION").await;
    assert!(waits["reason"].as_str().unwrap().contains("neither wrote"), "{waits}");
    assert_eq!(desk.transcript(id).await.len(), 0, "the text of a model goes nowhere");
    // A person says something as the agent, and the agent goes on.
    desk.app.script([text("")]);
    let said = desk.done(Method::POST, &format!("/instances/{id}/send"), Some(json!({"text": "Hello from a person"}))).await;
    assert_eq!((said["instance"]["state"].as_str(), said["message"]["said_by"].as_str()), (Some("ACTIVE"), Some("operator")));
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.delivered(id, 1).await;
}

#[tokio::test]
async fn the_agent_hands_over_and_a_person_lets_it_go_on() {
    let desk = Desk::start().await;
    let id = desk.begun(ANNA).await;
    desk.app.script([crate::support::call("request_human_intervention", json!({"reason": "she asks for a discount"}))]);
    desk.say(ANNA, "Is there a discount?").await;
    let waits = desk.until(id, "NEEDS_HUMAN_INTERVENTION").await;
    assert_eq!(waits["reason"], "she asks for a discount");
    desk.app.run_until_idle().await;
    desk.app.script([writes("Five percent."), text("")]);
    desk.post(id, "resume").await;
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
}

#[tokio::test]
async fn the_reason_of_a_stop_names_an_order_and_no_words_that_would_go_to_the_contact() {
    let desk = Desk::start().await;
    let later = |hours: usize| calls(&[("schedule_next_heartbeat", json!({"delay": format!("{hours}h")}))]);
    let over_and_over: Vec<_> = (0..5).map(|_| later(1)).collect();
    let on_and_on: Vec<_> = (1..=8).map(later).collect();
    let told = [("for the 5th time", over_and_over), ("made 8 model requests", on_and_on)];
    for (contact, (told, replies)) in [ANNA, "+491709999999"].into_iter().zip(told) {
        desk.app.script(replies);
        let id = desk.order(contact).await;
        let shown = desk.until(id, "NEEDS_HUMAN_INTERVENTION").await;
        desk.app.run_until_idle().await;
        let reason = shown["reason"].as_str().unwrap();
        assert!(reason.contains(told) && reason.contains("`relay resume`") && !reason.contains("say "), "{reason}");
    }
}

#[tokio::test]
async fn words_that_come_while_the_agent_is_at_work_are_answered_next() {
    let desk = Desk::start().await;
    let id = desk.begun(ANNA).await;
    let go = std::sync::Arc::new(tokio::sync::Notify::new());
    desk.app.script([
        crate::support::Reply::After(go.clone(), Box::new(writes("One moment"))),
        text(""),
        writes("Both then"),
        text(""),
    ]);
    desk.say(ANNA, "Friday").await;
    desk.app.script.asked(3).await;
    desk.say(ANNA, "or Saturday").await;
    assert_eq!(desk.instance(id).await["state"], "ACTIVE");
    go.notify_one();
    desk.app.run_until_idle().await;
    let shown = desk.instance(id).await;
    assert_eq!(shown["state"], "WAITING_FOR_REPLY", "{shown}");
    let turns = "SELECT count(*) FROM turns JOIN conversations USING (conversation_id) WHERE profile = 'contact'";
    assert_eq!(desk.app.count(turns).await, 3);
}

#[tokio::test]
async fn the_same_message_twice_is_one() {
    let desk = Desk::start().await;
    let id = desk.begun(ANNA).await;
    desk.app.script([writes("Good"), text("")]);
    let said = json!({"address": ANNA, "text": "Yes", "id": "peer-1"});
    assert_eq!(desk.done(Method::POST, "/loopback", Some(said.clone())).await, json!({"came": "kept", "instance": id}));
    assert_eq!(desk.done(Method::POST, "/loopback", Some(said)).await, json!({"came": "again", "instance": id}));
    desk.app.run_until_idle().await;
    assert_eq!(desk.transcript(id).await.len(), 3);
}

#[tokio::test]
async fn the_house_outlives_a_crash_in_the_middle_of_a_conversation() {
    let mut desk = Desk::start().await;
    let id = desk.begun(ANNA).await;
    desk.app.crash().await;
    desk.app.start_again().await;
    desk.app.script([writes("Good"), text("")]);
    desk.say(ANNA, "Yes").await;
    desk.until_delivery(id, 3, "queued").await;
    desk.app.run_until_idle().await;
    desk.app.advance(4);
    desk.delivered(id, 3).await;
}

#[tokio::test]
async fn two_servers_on_one_database_have_one_conversation() {
    let desk = Desk::start().await;
    let other = Desk { app: desk.app.beside().await };
    let id = desk.begun(ANNA).await;
    desk.app.script([writes("Good"), text("")]);
    assert_eq!(other.say(ANNA, "Yes").await, "kept");
    other.until(id, "WAITING_FOR_REPLY").await;
    assert_eq!(desk.transcript(id).await.len(), 3);
    drop(other);
}

#[tokio::test]
async fn a_contacts_conversation_stands_neither_in_the_list_nor_in_the_search_of_chat() {
    let desk = Desk::start().await;
    let talked_with = ["builder", "law", "lea", "operator"];
    let now = desk.app.now();
    let mains = desk.app.store().owners().main_conversations(&talked_with.map(str::to_owned), now).await.unwrap();
    for main in mains.values() {
        let title = Some(json!({"title": "Mine"}));
        crate::support::api::ask(&desk.app, Method::PATCH, &format!("/api/conversations/{main}"), title).await;
    }
    let id = desk.begun(ANNA).await;
    let get = async |path: &str| crate::support::api::ask(&desk.app, Method::GET, path, None).await.1;
    let listed = get("/api/conversations").await;
    let mut profiles: Vec<_> =
        listed["conversations"].as_array().unwrap().iter().map(|one| one["profile"].as_str().unwrap()).collect();
    profiles.sort_unstable();
    assert_eq!(profiles, talked_with, "{listed}");
    let conversation = desk.instance(id).await["conversation"].clone();
    let path = format!("/api/conversations/{conversation}");
    // It is no chat of a person: the doors of chats do not know it, nor have they its words for a
    // model.
    let told = format!("there is no conversation {conversation}");
    for (method, path, body) in [
        (Method::GET, path.clone(), None),
        (Method::PATCH, path.clone(), Some(json!({"title": "Zanzibar"}))),
        (Method::DELETE, format!("{path}?confirmed=true"), None),
        (Method::GET, format!("{path}/export"), None),
        (Method::GET, format!("{path}/export?format=json"), None),
    ] {
        let refused = crate::support::api::ask(&desk.app, method.clone(), &path, body).await;
        assert_eq!((refused.0, refused.1["error"].as_str()), (404, Some(told.as_str())), "{method} {path}");
    }
    // The words of the house that begin the conversation are a message of it, and so is the agent's
    // empty answer.
    let begun = "SELECT count(*) FROM messages WHERE content LIKE '[relay] Begin the conversation%'";
    assert_eq!(desk.app.count(begun).await, 1);
    for words in ["relay", "Begin"] {
        assert_eq!(get(&format!("/api/search?q={words}")).await, json!({"found": []}), "{words}");
    }
}
