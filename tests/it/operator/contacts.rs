//! A number that gives orders is no contact of Relay's: its answer would be an order.

use level3::channels::LoopbackFault;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, OWNER, STRANGER, noted};
use crate::support::{api::ask, call, calls, text};

const BOTH: &str = "loopback:+491701234567,+491709999999";

async fn made(desk: &Desk, contact: &str) -> (u16, Value) {
    let order = json!({"objective": "Agree on a time", "contact": contact, "channel": "loopback"});
    ask(&desk.app, Method::POST, "/api/relay/instances", Some(order)).await
}

async fn instances(desk: &Desk) -> Vec<Value> {
    desk.done(Method::GET, "/api/relay/instances", None).await["instances"].as_array().unwrap().clone()
}

#[tokio::test]
async fn nobody_is_asked_to_talk_with_a_number_that_gives_orders() {
    let desk = Desk::start().await;
    let (status, refused) = made(&desk, OWNER).await;
    assert_eq!(status, 409, "{refused}");
    let said = refused["error"].as_str().unwrap();
    assert!(said.starts_with(&format!("{OWNER} gives orders to the operator on loopback")), "{said}");
    assert_eq!(instances(&desk).await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_start_ends_the_conversations_with_a_number_that_now_gives_orders() {
    let mut desk = Desk::start().await;
    desk.app.script([call("send_message", json!({"text": "Hello there"})), text("")]);
    assert_eq!(made(&desk, STRANGER).await.0, 200);
    desk.heard_by(STRANGER, 1).await;
    desk.app.run_until_idle().await;
    assert_eq!(made(&desk, STRANGER).await.1["state"], "QUEUED");
    desk.app.crash().await;
    desk.app.set("LEVEL3_OPERATOR", BOTH);
    desk.app.script([text("one")]);
    desk.app.start_again().await;
    for instance in instances(&desk).await {
        let reason = instance["reason"].as_str().unwrap();
        assert_eq!((&instance["state"], reason.contains("gives orders")), (&json!("FAILED"), true), "{instance}");
    }
    assert_eq!(desk.says(json!({"address": STRANGER, "text": "first"})).await, "order");
    desk.until(&["COMPLETED"]).await;
    assert_eq!(desk.heard_by(STRANGER, 2).await, noted("one", "none yet"));
    desk.app.check_replay().await;
}

#[tokio::test]
async fn an_answer_of_the_operator_waits_for_no_message_of_a_conversation_that_is_over() {
    let mut desk = Desk::start().await;
    desk.app.loopback.add([Some(LoopbackFault::Offline)]);
    let ended = ("end_conversation", json!({"reason": "it was told"}));
    desk.app.script([calls(&[("send_message", json!({"text": "Good bye"})), ended]), text("")]);
    assert_eq!(made(&desk, STRANGER).await.0, 200);
    desk.app.until("SELECT count(*) FROM relay_messages WHERE state = 'queued' AND not_before IS NOT NULL", 1).await;
    desk.app.run_until_idle().await;
    assert_eq!(instances(&desk).await[0]["state"], "COMPLETED");
    desk.app.crash().await;
    desk.app.set("LEVEL3_OPERATOR", BOTH);
    desk.app.script([text("one")]);
    desk.app.start_again().await;
    assert_eq!(desk.says(json!({"address": STRANGER, "text": "first"})).await, "order");
    assert_eq!(desk.heard_by(STRANGER, 1).await, noted("one", "none yet"));
    desk.app.until("SELECT count(*) FROM relay_messages WHERE state = 'queued'", 1).await;
}
