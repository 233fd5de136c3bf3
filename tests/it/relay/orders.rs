//! The orders about instances: pause, resume, cancel, the queue of a contact, and every wrong one
//! refused with a sentence.

use level3::domain::RelayMessageId;
use level3::store::SendEnd;
use reqwest::Method;
use serde_json::json;

use super::{ANNA, Desk, writes};
use crate::support::text;

#[tokio::test]
async fn a_paused_instance_is_resumed_where_it_was() {
    let desk = Desk::start().await;
    let id = desk.begun(ANNA).await;
    let paused = desk.post(id, "pause").await;
    assert_eq!((paused["state"].as_str(), paused["paused_from"].as_str()), (Some("PAUSED"), Some("WAITING_FOR_REPLY")));
    assert_eq!(desk.post(id, "pause").await["paused_from"], "WAITING_FOR_REPLY", "pausing twice says nothing new");
    desk.app.advance(2 * 1_800);
    // It is kept, and the agent does nothing about it.
    assert_eq!(desk.say(ANNA, "Yes").await, "kept");
    assert_eq!(desk.instance(id).await["state"], "PAUSED");
    desk.app.script([writes("Good"), text("")]);
    assert_eq!(desk.post(id, "resume").await["state"], "WAITING_FOR_AGENT");
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
}

#[tokio::test]
async fn a_pause_stops_the_agent_at_its_work() {
    let desk = Desk::start().await;
    desk.app.script([crate::support::Reply::Hang(String::new())]);
    let id = desk.order(ANNA).await;
    desk.app.script.asked(1).await;
    assert_eq!(desk.post(id, "pause").await["paused_from"], "CREATED");
    desk.app.run_until_idle().await;
    desk.app.script([writes("Hello"), text("")]);
    assert_eq!(desk.post(id, "resume").await["state"], "CREATED");
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
}

#[tokio::test]
async fn instances_of_one_contact_wait_in_their_order() {
    let desk = Desk::start().await;
    let first = desk.begun(ANNA).await;
    let (second, third) = (desk.order(ANNA).await, desk.order(ANNA).await);
    assert_eq!(
        (desk.instance(second).await["state"].as_str(), desk.instance(third).await["state"].as_str()),
        (Some("QUEUED"), Some("QUEUED"))
    );
    assert_eq!(desk.instance(second).await["tokens"], 0, "nothing was asked for it");
    let path = format!("/instances/{second}/send");
    let refused = desk.refused(409, Method::POST, &path, Some(json!({"text": "hi"}))).await;
    assert_eq!(refused, format!("instance {second} is QUEUED: another instance has the contact"));
    desk.post(second, "pause").await;
    desk.app.script([writes("Third"), text("")]);
    let cancelled = desk.post(first, "cancel").await;
    assert_eq!((cancelled["state"].as_str(), cancelled["reason"].as_str()), (Some("FAILED"), Some("cancelled")));
    desk.until(third, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.post(second, "resume").await["state"], "QUEUED");
    desk.app.script([writes("Second"), text("")]);
    desk.post(third, "cancel").await;
    desk.until(second, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    let said = desk.transcript(first).await;
    assert_eq!(said.len(), 1, "no farewell is written");
}

#[tokio::test]
async fn a_cancelled_instance_sends_nothing_that_waited() {
    let desk = Desk::start().await;
    desk.app.advance(14 * 3_600);
    desk.app.script([writes("Good evening"), text("")]);
    let id = desk.order(ANNA).await;
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    desk.post(id, "cancel").await;
    let message = &desk.transcript(id).await[0];
    assert_eq!(
        (message["delivery"].as_str(), message["reason"].as_str()),
        (Some("failed"), Some("cancelled before it was sent"))
    );
    let ended = desk.refused(409, Method::POST, &format!("/instances/{id}/resume"), Some(json!({}))).await;
    assert!(ended.contains("is FAILED; only one that is PAUSED"), "{ended}");
}

#[tokio::test]
async fn a_message_that_comes_back_after_its_instance_was_cancelled_does_not_leave() {
    let desk = Desk::start().await;
    // In quiet hours nobody else takes it.
    desk.app.advance(14 * 3_600);
    desk.app.script([writes("Good evening"), text("")]);
    let id = desk.order(ANNA).await;
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    let (store, message) = (desk.app.store(), RelayMessageId(desk.transcript(id).await[0]["id"].as_i64().unwrap()));
    store.claim_message(message, "a sender", desk.app.now()).await.unwrap().expect("it waits");
    desk.post(id, "cancel").await;
    assert_eq!(desk.transcript(id).await[0]["delivery"], "sending");
    assert!(store.record_delivery(message, &SendEnd::NotSent("offline".into()), desk.app.now()).await.unwrap());
    let message = &desk.transcript(id).await[0];
    let shown = (message["delivery"].as_str(), message["reason"].as_str());
    assert_eq!(shown, (Some("failed"), Some("cancelled before it was sent")));
    desk.app.check_replay().await;
}

#[tokio::test]
async fn the_same_key_is_the_same_instance() {
    let desk = Desk::start().await;
    desk.app.script([writes("Hello"), text("")]);
    let order = json!({"objective": "o", "contact": ANNA, "key": "viewing"});
    let made = desk.done(Method::POST, "/instances", Some(order.clone())).await;
    let again = desk.done(Method::POST, "/instances", Some(order)).await;
    assert_eq!((&made["id"], again["again"].as_bool(), made.get("again")), (&again["id"], Some(true), None));
    desk.until(made["id"].as_i64().unwrap(), "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
}

#[tokio::test]
async fn a_zone_with_blanks_around_it_is_that_zone() {
    let desk = Desk::start().await;
    // 20:30 at the server is 21:30 in Berlin.
    desk.app.advance(12 * 3_600 + 1_800);
    desk.app.script([writes("Good evening"), text("")]);
    let order = json!({"objective": "o", "contact": ANNA, "time_zone": " Europe/Berlin "});
    let made = desk.done(Method::POST, "/instances", Some(order)).await;
    assert_eq!(made["time_zone"], "Europe/Berlin");
    let id = made["id"].as_i64().unwrap();
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.transcript(id).await[0]["delivery"], "queued");
}

#[tokio::test]
async fn every_wrong_order_is_refused_with_a_sentence_that_shows_a_right_one() {
    let desk = Desk::start().await;
    for (order, told) in [
        (json!({"contact": ANNA}), "`objective`"),
        (json!({"objective": "o", "contact": "0170 1234567"}), "+491701234567"),
        (json!({"objective": "o", "contact": ANNA, "todos": [""]}), "`todos`"),
        (json!({"objective": "o", "contact": ANNA, "heartbeat_seconds": 59}), "like 1800"),
        (json!({"objective": "o", "contact": ANNA, "max_follow_ups": 21}), "like 5"),
        (json!({"objective": "o", "contact": ANNA, "time_zone": "Berlin"}), "Europe/Rome"),
        (json!({"objective": "o", "contact": ANNA, "channel": "pigeon"}), "there are: loopback"),
        (json!({"objective": "o", "contact": ANNA, "key": ""}), "`key`"),
        (json!({"objective": "o", "contact": ANNA, "todo": []}), "todo"),
    ] {
        let refused = desk.refused(400, Method::POST, "/instances", Some(order.clone())).await;
        assert!(refused.contains(told), "{order}: {refused}");
    }
    assert_eq!(desk.refused(404, Method::GET, "/instances/9", None).await, "there is no instance 9; there is none yet");
    let id = desk.begun(ANNA).await;
    assert_eq!(
        desk.refused(404, Method::GET, "/instances/9", None).await,
        format!("there is no instance 9; the nearest is {id}")
    );
    let refused = desk.refused(409, Method::POST, &format!("/instances/{id}/resume"), Some(json!({}))).await;
    assert!(refused.contains("is WAITING_FOR_REPLY; only one that is PAUSED"), "{refused}");
    assert!(desk.refused(400, Method::GET, "/instances?state=SLEEPING", None).await.contains("CREATED"));
    let send = format!("/instances/{id}/send");
    let unseen = desk.refused(400, Method::POST, &send, Some(json!({"text": "\u{200b}"}))).await;
    assert!(unseen.starts_with("`text` has 1 to"), "{unseen}");
    let message = desk.transcript(id).await[0]["id"].clone();
    let settle = |id: &serde_json::Value| format!("/messages/{id}/settle");
    let refused = desk.refused(409, Method::POST, &settle(&message), Some(json!({"as": "sent"}))).await;
    assert!(refused.contains("is delivered; only one that is unknown"), "{refused}");
    assert!(desk.refused(404, Method::POST, &settle(&json!(999)), Some(json!({"as": "lost"}))).await.contains("the nearest is"));
}

#[tokio::test]
async fn a_wrong_word_of_a_test_phone_is_refused_with_the_name_of_its_field() {
    let desk = Desk::start().await;
    let shown = desk.refused(400, Method::GET, "/loopback?address=abc", None).await;
    let said = desk.refused(400, Method::POST, "/loopback", Some(json!({"address": "abc", "text": "x"}))).await;
    assert!(shown.starts_with("`address`: `abc`") && said.starts_with("`address`: `abc`"), "{shown}, {said}");
    let chat = json!({"address": ANNA, "text": "x", "chat": "foo"});
    let refused = desk.refused(400, Method::POST, "/loopback", Some(chat)).await;
    assert_eq!(refused, "`chat`: `foo` is no kind of chat; there are: direct, group, broadcast, status");
}

#[tokio::test]
async fn what_there_is_is_listed_and_exported() {
    let desk = Desk::start().await;
    let id = desk.begun(ANNA).await;
    let listed = desk.done(Method::GET, "/instances?state=waiting_for_reply&contact=%2B491701234567", None).await;
    assert_eq!((listed["instances"][0]["id"].as_i64(), listed["more"].as_bool()), (Some(id), Some(false)));
    assert_eq!(desk.done(Method::GET, "/instances?state=QUEUED", None).await["instances"], json!([]));
    let status = desk.done(Method::GET, "/status", None).await;
    assert_eq!((status["active"].as_i64(), status["queued"].as_i64(), status["unknown"].as_i64()), (Some(1), Some(0), Some(0)));
    assert_eq!((&status["channels"][0]["name"], &status["channels"][0]["state"]), (&json!("loopback"), &json!("online")));
    let export = desk.done(Method::GET, "/export", None).await;
    assert_eq!(export["transcripts"][id.to_string()][0]["text"], "Is Friday fine?");
    assert_eq!(export["settings"]["pace"]["channel_per_day"], 300);
}
