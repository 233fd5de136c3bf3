//! A service on bad days: it takes long, loses a message or its acknowledgement, says it twice,
//! refuses, is away. The clock is turned by hand.

use chrono::TimeDelta;
use level3::channels::LoopbackFault as Fault;
use reqwest::Method;
use serde_json::{Value, json};

use super::{ANNA, Desk, writes};
use crate::support::text;

/// An order whose first message meets this.
async fn met(desk: &Desk, contact: &str, fault: Fault) -> i64 {
    desk.app.loopback.add([Some(fault)]);
    desk.app.script([writes("Is Friday fine?"), text("")]);
    let id = desk.order(contact).await;
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    id
}

/// How often each message came to a phone.
async fn arrivals(desk: &Desk, contact: &str) -> Vec<i64> {
    let phone = desk.done(Method::GET, &format!("/loopback?address=%2B{}", &contact[1..]), None).await;
    let messages = phone["messages"].as_array().unwrap();
    messages.iter().filter(|message| message["mine"] == false).map(|message| message["arrivals"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn a_service_that_takes_long_has_the_message_once_its_time_has_come() {
    let desk = Desk::start().await;
    let id = met(&desk, ANNA, Fault::Delay(TimeDelta::seconds(20))).await;
    desk.until_delivery(id, 1, "sending").await;
    desk.app.advance(19);
    assert_eq!(desk.transcript(id).await[0]["delivery"], "sending");
    assert_eq!(arrivals(&desk, ANNA).await, [0_i64; 0]);
    desk.app.advance(1);
    let sent = desk.delivered(id, 1).await;
    assert_eq!((sent["sent_at"].as_str(), arrivals(&desk, ANNA).await), (Some("2026-11-20T08:00:20Z"), vec![1]));
}

#[tokio::test]
async fn what_is_lost_is_unknown_and_goes_again_only_by_a_persons_word() {
    let desk = Desk::start().await;
    let ben = "+491709999999";
    let lost = met(&desk, ANNA, Fault::Lose).await;
    desk.app.advance(60);
    let silent = met(&desk, ben, Fault::LoseAnswer).await;
    desk.until_delivery(lost, 1, "unknown").await;
    desk.until_delivery(silent, 1, "unknown").await;
    // Nothing is sent again by itself; the conversations go on.
    for (id, seconds) in [(lost, 1_740), (silent, 60)] {
        desk.app.script([writes("Hello?"), text("")]);
        desk.app.advance(seconds);
        desk.delivered(id, 2).await;
        desk.app.run_until_idle().await;
    }
    assert_eq!((arrivals(&desk, ANNA).await, arrivals(&desk, ben).await), (vec![1], vec![1, 1]));
    let unknown = desk.done(Method::GET, "/unknown", None).await;
    let ids: Vec<Value> = unknown["messages"].as_array().unwrap().iter().map(|message| message["id"].clone()).collect();
    assert_eq!(ids.len(), 2);
    for id in ids {
        desk.app.advance(4);
        desk.done(Method::POST, &format!("/messages/{id}/resend"), Some(json!({}))).await;
    }
    desk.delivered(lost, 1).await;
    desk.delivered(silent, 1).await;
    // Under the same id, so the phone of the one that had it knows it again.
    assert_eq!((arrivals(&desk, ANNA).await, arrivals(&desk, ben).await), (vec![1, 1], vec![2, 1]));
}

#[tokio::test]
async fn an_acknowledgement_that_comes_twice_is_one() {
    let desk = Desk::start().await;
    let id = met(&desk, ANNA, Fault::AnswerTwice).await;
    desk.delivered(id, 1).await;
    assert_eq!(arrivals(&desk, ANNA).await, [1]);
    let told = "SELECT count(*) FROM events WHERE kind = 'delivery_changed' AND payload #>> '{delivery,state}' = 'sent'";
    assert_eq!(desk.app.count(told).await, 1);
}

#[tokio::test]
async fn a_refusal_is_final_and_a_lock_of_the_account_stops_first_contacts_alone() {
    let desk = Desk::start().await;
    let known = desk.begun(ANNA).await;
    let refused = met(&desk, "+491709999999", Fault::Refuse("463".into())).await;
    assert_eq!(desk.until_delivery(refused, 1, "failed").await["reason"], "463: the test channel refuses it");
    desk.app.script([writes("Hi"), text("")]);
    let held = desk.order("+491708888888").await;
    desk.until(held, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    // The one who is known is answered.
    desk.app.script([writes("Good"), text("")]);
    desk.app.advance(4);
    desk.say(ANNA, "Yes").await;
    desk.delivered(known, 3).await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.transcript(held).await[0]["delivery"], "queued");
    desk.done(Method::POST, "/channels/loopback/unlock", Some(json!({}))).await;
    desk.delivered(held, 1).await;
    assert_eq!(desk.transcript(refused).await[0]["delivery"], "failed");
}

#[tokio::test]
async fn a_contact_is_known_once_a_message_was_sent_or_they_wrote_and_not_by_a_refusal() {
    let desk = Desk::start().await;
    let ben = "+491709999999";
    let refused = met(&desk, ANNA, Fault::Refuse("463".into())).await;
    desk.until_delivery(refused, 1, "failed").await;
    let waits = json!({"why": "no_first_contacts", "until": null});
    // Neither a person nor another instance writes to her, nor a first message to somebody else.
    let again = json!({"text": "Once more"});
    desk.done(Method::POST, &format!("/instances/{refused}/send"), Some(again)).await;
    assert_eq!(desk.instance(refused).await["waits"], waits);
    desk.post(refused, "cancel").await;
    desk.app.script([writes("Is Friday fine?"), text("")]);
    let anew = desk.order(ANNA).await;
    desk.until(anew, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    desk.app.script([writes("Hello"), text("")]);
    let held = desk.order(ben).await;
    desk.until(held, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    desk.app.advance(60);
    assert_eq!((&desk.instance(anew).await["waits"], &desk.instance(held).await["waits"]), (&waits, &waits));
    // He writes: he is no stranger, and is answered.
    desk.app.script([writes("Good"), text("")]);
    desk.say(ben, "I write first").await;
    desk.delivered(held, 1).await;
    desk.app.advance(4);
    desk.delivered(held, 3).await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.instance(anew).await["waits"], waits);
    let channel = &desk.done(Method::GET, "/channels", None).await["channels"][0];
    assert_eq!(channel["used"]["first_contacts_day"], 1, "the one that was refused: {channel}");
    desk.done(Method::POST, "/channels/loopback/unlock", Some(json!({}))).await;
    desk.delivered(anew, 1).await;
}

#[tokio::test]
async fn a_service_that_is_away_gets_the_message_when_it_is_back() {
    let desk = Desk::start().await;
    let id = met(&desk, ANNA, Fault::Offline).await;
    desk.app.until("SELECT count(*) FROM relay_messages WHERE reason = 'the test channel is not connected'", 1).await;
    assert_eq!(desk.transcript(id).await[0]["delivery"], "queued");
    desk.app.advance(5);
    desk.delivered(id, 1).await;
    assert_eq!(arrivals(&desk, ANNA).await, [1]);
}

#[tokio::test]
async fn a_crash_while_the_service_takes_its_time_leaves_unknown_what_nobody_knows() {
    let mut desk = Desk::start().await;
    let id = met(&desk, ANNA, Fault::Delay(TimeDelta::seconds(20))).await;
    desk.until_delivery(id, 1, "sending").await;
    desk.app.crash().await;
    desk.app.start_again().await;
    desk.until_delivery(id, 1, "unknown").await;
    assert_eq!(arrivals(&desk, ANNA).await, [0_i64; 0]);
    let message = desk.transcript(id).await[0]["id"].clone();
    desk.done(Method::POST, &format!("/messages/{message}/settle"), Some(json!({"as": "lost"}))).await;
    assert_eq!(desk.transcript(id).await[0]["delivery"], "failed");
}
