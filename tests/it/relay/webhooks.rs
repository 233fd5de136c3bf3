//! Webhooks: what a peer is told of an instance, how it knows who says so, and that it hears each
//! transition although it fails at first.

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{ANNA, Desk, writes};
use crate::support::{Peer, TestApp, text};

#[tokio::test]
async fn each_transition_is_told_with_a_signature_and_without_words_of_the_conversation() {
    let peer = Peer::start().await;
    let desk = Desk { app: TestApp::with(&[("LEVEL3_EGRESS_ALLOW", &peer.address.to_string())]).await };
    let made = desk.done(Method::POST, "/webhooks", Some(json!({"url": format!("{}/hook", peer.host())}))).await;
    let secret = made["secret"].as_str().unwrap().to_owned();
    assert_eq!(desk.done(Method::GET, "/webhooks", None).await["webhooks"][0].get("secret"), None, "it is said once");
    peer.will_answer(500, "text/plain", "no");
    desk.app.script([crate::support::call("request_human_intervention", json!({"reason": "CANARY-REASON"}))]);
    let id = desk.order(ANNA).await;
    desk.until(id, "NEEDS_HUMAN_INTERVENTION").await;
    desk.app.run_until_idle().await;
    peer.has(2).await;
    // The one that failed is told again.
    desk.app.advance(4);
    peer.has(3).await;
    let arrived = peer.arrived();
    let bodies: Vec<Value> = arrived.iter().map(|one| serde_json::from_str(&one.body).unwrap()).collect();
    assert_eq!(bodies[0], bodies[2], "the same again");
    assert_eq!(arrived[0].header("idempotency-key"), arrived[2].header("idempotency-key"));
    assert_eq!((&bodies[0]["from"], &bodies[0]["to"]), (&json!("CREATED"), &json!("ACTIVE")));
    assert_eq!((&bodies[1]["from"], &bodies[1]["to"]), (&json!("ACTIVE"), &json!("NEEDS_HUMAN_INTERVENTION")));
    assert!(arrived.iter().all(|one| !one.body.contains("CANARY-REASON")));
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(arrived[0].body.as_bytes());
    let signature = format!("sha256={}", hex::encode(mac.finalize().into_bytes()));
    assert_eq!(arrived[0].header("x-relay-signature"), Some(signature.as_str()));
}

#[tokio::test]
async fn a_webhook_is_tried_and_taken_away_and_reaches_no_private_address_unasked() {
    let peer = Peer::start().await;
    let desk = Desk::start().await;
    let refused = desk.refused(400, Method::POST, "/webhooks", Some(json!({"url": "ftp://a.example"}))).await;
    assert!(refused.contains("https://hooks.example.com/relay"), "{refused}");
    let made = desk.done(Method::POST, "/webhooks", Some(json!({"url": peer.host()}))).await;
    let tried = desk.done(Method::POST, &format!("/webhooks/{}/test", made["id"]), Some(json!({}))).await;
    assert_eq!((tried["ok"].as_bool(), peer.arrived().len()), (Some(false), 0), "{tried}");
    desk.done(Method::DELETE, &format!("/webhooks/{}", made["id"]), None).await;
    let gone = desk.refused(404, Method::DELETE, "/webhooks/9", None).await;
    assert_eq!(gone, "there is no webhook 9; there is none");
    desk.app.script([writes("Hello"), text("")]);
    let id = desk.order(ANNA).await;
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
}

#[tokio::test]
async fn a_webhook_that_does_not_answer_holds_up_no_other() {
    let (slow, quick) = (Peer::start().await, Peer::start().await);
    let allowed = format!("{},{}", slow.address, quick.address);
    let desk = Desk { app: TestApp::with(&[("LEVEL3_EGRESS_ALLOW", &allowed)]).await };
    for url in [format!("{}/hang", slow.host()), format!("{}/hook", quick.host())] {
        desk.done(Method::POST, "/webhooks", Some(json!({"url": url}))).await;
    }
    desk.app.script([writes("Hello"), text("")]);
    let id = desk.order(ANNA).await;
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    desk.post(id, "cancel").await;
    quick.has(3).await;
    let told = quick.arrived();
    let states: Vec<_> = told.iter().map(|one| serde_json::from_str::<Value>(&one.body).unwrap()["to"].clone()).collect();
    assert_eq!(states, ["ACTIVE", "WAITING_FOR_REPLY", "FAILED"], "in their order");
    slow.has(1).await;
    assert_eq!(slow.arrived().len(), 1, "it still has its first");
}

#[tokio::test]
async fn each_test_of_a_webhook_is_a_new_one_and_a_person_is_told_why_it_failed() {
    let (peer, other) = (Peer::start().await, Peer::start().await);
    let allowed = format!("{},{}", peer.address, other.address);
    let desk = Desk { app: TestApp::with(&[("LEVEL3_EGRESS_ALLOW", &allowed)]).await };
    let tried = async |path: &str| {
        let made = desk.done(Method::POST, "/webhooks", Some(json!({"url": format!("{}{path}", peer.host())}))).await;
        let path = format!("/webhooks/{}/test", made["id"]);
        desk.done(Method::POST, &path, Some(json!({}))).await;
        desk.done(Method::POST, &path, Some(json!({}))).await
    };
    assert_eq!(tried("/hook").await["ok"], true);
    let arrived = peer.arrived();
    assert_ne!(arrived[0].header("idempotency-key"), arrived[1].header("idempotency-key"));
    let (moved, long) = (tried(&format!("/to?{}/stolen", other.host())).await, tried("/big").await);
    assert!(moved["error"].as_str().unwrap().starts_with("It leads on to POST http://127.0.0.1:"), "{moved}");
    assert!(long["error"].as_str().unwrap().ends_with("and was not read."), "{long}");
    assert_eq!(other.arrived().len(), 0);
}
