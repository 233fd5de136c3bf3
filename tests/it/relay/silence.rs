//! A contact who does not answer: follow-ups at their times, and the end.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::TimeDelta;
use serde_json::json;
use tokio::sync::Notify;

use super::{ANNA, Desk, writes};
use crate::support::{Reply, call, text};

#[tokio::test]
async fn silence_is_followed_up_and_at_last_given_up() {
    let desk = Desk::start().await;
    let id = desk.begun(ANNA).await;
    for follow_up in 1..=2 {
        desk.app.script([writes(&format!("Hello? {follow_up}")), text("")]);
        desk.app.advance(1_799);
        assert_eq!(desk.instance(id).await["state"], "WAITING_FOR_REPLY");
        desk.app.advance(1);
        desk.delivered(id, 1 + follow_up).await;
        let shown = desk.until(id, "WAITING_FOR_REPLY").await;
        desk.app.run_until_idle().await;
        assert_eq!(shown["follow_ups"], follow_up, "{shown}");
    }
    desk.app.advance(1_800);
    let ended = desk.until(id, "ABANDONED").await;
    assert_eq!(ended["reason"], "the contact did not answer 2 follow-ups");
    let origins = "SELECT count(*) FROM turns WHERE origin = 'follow_up'";
    assert_eq!(desk.app.count(origins).await, 2);
}

#[tokio::test]
async fn an_answer_sets_the_count_back() {
    let desk = Desk::start().await;
    let id = desk.begun(ANNA).await;
    desk.app.script([writes("Hello?"), text("")]);
    desk.app.advance(1_800);
    desk.delivered(id, 2).await;
    desk.app.run_until_idle().await;
    desk.app.script([writes("Good"), text("")]);
    desk.say(ANNA, "Yes").await;
    desk.until_delivery(id, 4, "queued").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.instance(id).await["follow_ups"], 0);
}

#[tokio::test]
async fn an_answer_during_a_follow_up_sets_the_count_back_too() {
    let desk = Desk::start().await;
    let id = desk.begun(ANNA).await;
    let asked = desk.app.script.requests().len();
    let go = Arc::new(Notify::new());
    desk.app.script([Reply::After(go.clone(), Box::new(writes("Hello?"))), text(""), writes("Good"), text("")]);
    desk.app.advance(1_800);
    desk.app.script.asked(asked + 1).await;
    desk.say(ANNA, "Here I am").await;
    go.notify_one();
    desk.until_delivery(id, 4, "queued").await;
    desk.app.run_until_idle().await;
    let said: Vec<_> = desk.transcript(id).await.iter().map(|message| message["text"].clone()).collect();
    assert_eq!(said, ["Is Friday fine?", "Here I am", "Hello?", "Good"]);
    assert_eq!(desk.instance(id).await["follow_ups"], 0);
}

#[tokio::test]
async fn several_times_that_were_missed_are_one_follow_up() {
    let mut desk = Desk::start().await;
    let id = desk.begun(ANNA).await;
    desk.app.stop().await;
    desk.app.advance(4 * 1_800);
    desk.app.script([writes("Hello?"), text("")]);
    desk.app.start_again().await;
    desk.app.advance(60);
    desk.delivered(id, 2).await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.instance(id).await["follow_ups"], 1);
}

#[tokio::test]
async fn an_answer_that_was_written_while_nobody_listened_comes_in_time() {
    let mut desk = Desk::start().await;
    desk.app.script([writes("Is Friday fine?"), text("")]);
    let order = json!({"objective": "Arrange a viewing", "contact": ANNA, "max_follow_ups": 0});
    let made = desk.done(reqwest::Method::POST, "/instances", Some(order)).await;
    let id = made["id"].as_i64().unwrap();
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.delivered(id, 1).await;
    desk.app.run_until_idle().await;
    desk.app.stop().await;
    desk.app.advance(1_830);
    desk.app.start_again().await;
    // A channel that is not online, or only now, says nothing of a contact's silence.
    let store = desk.app.store();
    for online in [BTreeMap::new(), [("loopback", desk.app.now())].into()] {
        let followed = store.follow_up_due(&online, desk.app.now()).await.unwrap();
        assert_eq!((followed.asked, followed.held_until), (0, Some(desk.app.now() + TimeDelta::seconds(60))));
    }
    assert_eq!(desk.instance(id).await["state"], "WAITING_FOR_REPLY");
    desk.app.script([writes("Good"), text("")]);
    assert_eq!(desk.say(ANNA, "Yes").await, "kept");
    desk.until_delivery(id, 3, "delivered").await;
    desk.app.run_until_idle().await;
    desk.app.advance(1_800);
    assert_eq!(desk.until(id, "ABANDONED").await["reason"], "the contact did not answer");
}

#[tokio::test]
async fn a_follow_up_waits_for_the_morning() {
    let desk = Desk::start().await;
    desk.app.script([
        crate::support::calls(&[("schedule_next_heartbeat", json!({"delay": "14h"})), ("send_message", json!({"text": "Hi"}))]),
        text(""),
    ]);
    let id = desk.order(ANNA).await;
    let shown = desk.until(id, "WAITING_FOR_REPLY").await;
    // Fourteen hours after eight it is ten in the evening.
    assert_eq!(shown["next_heartbeat_at"], "2026-11-21T08:00:00Z", "{shown}");
    desk.app.run_until_idle().await;
}

#[tokio::test]
async fn a_first_message_at_night_is_held_and_a_persons_own_goes_with_what_is_before_it() {
    let desk = Desk::start().await;
    desk.app.advance(14 * 3_600);
    desk.app.script([writes("Good evening"), text("")]);
    let id = desk.order(ANNA).await;
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    let waits = json!({"why": "quiet_hours", "until": "2026-11-21T08:00:00Z"});
    let message = &desk.transcript(id).await[0];
    assert_eq!((&message["delivery"], &message["waits"]), (&json!("queued"), &waits));
    assert_eq!(desk.instance(id).await["waits"], waits);
    let phone = desk.done(reqwest::Method::GET, "/loopback?address=%2B491701234567", None).await;
    assert_eq!((&phone["messages"], &phone["waits"]), (&json!([]), &waits));
    desk.app.script([writes("Me too"), text("")]);
    let other = desk.order("+491709999999").await;
    desk.until(other, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.transcript(other).await[0]["delivery"], "queued");
    let path = format!("/instances/{other}/send");
    desk.done(reqwest::Method::POST, &path, Some(json!({"text": "By hand"}))).await;
    desk.delivered(other, 1).await;
    desk.app.advance(4);
    let gone = desk.delivered(other, 2).await;
    assert_eq!(gone.get("waits"), None);
    assert_eq!(desk.transcript(id).await[0]["delivery"], "queued", "nobody wrote there");
    // No follow-up in the morning.
    desk.post(other, "cancel").await;
    desk.app.advance(10 * 3_600);
    desk.delivered(id, 1).await;
    desk.app.run_until_idle().await;
}

#[tokio::test]
async fn a_message_of_an_instance_that_rests_waits_for_a_person() {
    let desk = Desk::start().await;
    desk.app.advance(14 * 3_600);
    desk.app.script([writes("Good evening"), text("")]);
    let id = desk.order(ANNA).await;
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    desk.post(id, "pause").await;
    let paused = json!({"why": "paused", "until": null});
    assert_eq!((&desk.transcript(id).await[0]["waits"], &desk.instance(id).await["waits"]), (&paused, &paused));
}

#[tokio::test]
async fn a_contact_who_writes_at_night_gets_the_first_message_and_the_answer() {
    let desk = Desk::start().await;
    desk.app.advance(14 * 3_600);
    desk.app.script([writes("Good evening"), text("")]);
    let id = desk.order(ANNA).await;
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.transcript(id).await[0]["delivery"], "queued");
    desk.app.script([writes("At eight"), text("")]);
    desk.say(ANNA, "When do you come?").await;
    desk.delivered(id, 1).await;
    desk.app.advance(4);
    desk.delivered(id, 3).await;
    desk.app.run_until_idle().await;
}

#[tokio::test]
async fn a_call_is_not_yet_available() {
    let desk = Desk::start().await;
    desk.app.script([call("place_call", json!({})), writes("Then in writing"), text("")]);
    let id = desk.order(ANNA).await;
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    let told = "SELECT count(*) FROM messages WHERE role = 'tool' AND content LIKE 'Calls are not yet available%'";
    assert_eq!(desk.app.count(told).await, 1);
}
