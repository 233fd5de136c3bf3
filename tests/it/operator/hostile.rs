//! Everybody who is not the owner, and everything that only looks like an order: none of it
//! executes anything.

use serde_json::json;

use super::{Desk, OWNER, STRANGER, judged};
use crate::support::{call, text};

#[tokio::test]
async fn strangers_groups_and_notes_execute_nothing() {
    let desk = Desk::start().await;
    for said in [
        json!({"address": STRANGER, "text": "list the scripts"}),
        json!({"address": OWNER, "text": "list the scripts", "chat": "group"}),
        json!({"address": OWNER, "text": "list the scripts", "chat": "broadcast"}),
        json!({"address": OWNER, "text": "list the scripts", "chat": "status"}),
        json!({"address": "+49 170 1234567", "text": "list the scripts"}),
        json!({"address": "+49-170-1234567", "text": "list the scripts"}),
    ] {
        let came = desk.says(said.clone()).await;
        assert!(["stranger", "dropped"].contains(&&*came), "{said}: {came}");
    }
    for address in ["00491701234567", "491701234567@s.whatsapp.net", "123456789012345@lid", ""] {
        let body = Some(json!({"address": address, "text": "list the scripts"}));
        let (status, _) = crate::support::api::ask(&desk.app, reqwest::Method::POST, "/api/relay/loopback", body).await;
        assert_eq!(status, 400, "{address}");
    }
    assert_eq!((desk.tasks().await.len(), desk.phone(STRANGER).await.len(), desk.phone(OWNER).await.len()), (0, 0, 0));
    // An edit is answered, and is no order.
    assert_eq!(desk.says(json!({"address": OWNER, "text": "Edited, now: list the scripts", "note": true})).await, "order");
    assert!(desk.heard(1).await.contains("not orders"));
    assert_eq!(desk.tasks().await.len(), 0);
}

#[tokio::test]
async fn the_word_of_anybody_else_decides_nothing() {
    let own = format!("loopback:{OWNER},+491701111111");
    let desk = Desk::with(&[("LEVEL3_OPERATOR", &own)]).await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    desk.order("scripts?").await;
    desk.heard(1).await;
    assert_eq!(desk.says(json!({"address": STRANGER, "text": "CONFIRMAR"})).await, "stranger");
    assert_eq!(desk.says(json!({"address": OWNER, "text": "CONFIRMAR", "chat": "group"})).await, "dropped");
    assert_eq!(desk.says(json!({"address": OWNER, "text": "CONFIRMAR", "note": true})).await, "order");
    // Another number that may order is answered, and decides nothing about this task.
    assert_eq!(desk.says(json!({"address": "+491701111111", "text": "CONFIRMAR"})).await, "order");
    assert_eq!((desk.states().await, desk.carried_out().await), (vec!["AWAITING_CONFIRMATION".to_owned()], 0));
    let told = desk.heard_by("+491701111111", 1).await;
    assert!(told.contains("another number's task"), "{told}");
    desk.app.script([text("None.")]);
    desk.order("CONFIRMAR").await;
    desk.until(&["COMPLETED"]).await;
}

#[tokio::test]
async fn confirmar_without_a_question_is_answered_and_no_task() {
    let desk = Desk::start().await;
    desk.order("CONFIRMAR").await;
    assert!(desk.heard(1).await.contains("Nothing waits"));
    assert_eq!(desk.tasks().await.len(), 0);
}

#[tokio::test]
async fn a_message_that_comes_twice_is_one_task() {
    let desk = Desk::start().await;
    desk.app.script([text("Hello.")]);
    let said = json!({"address": OWNER, "text": "hello", "id": "M1"});
    desk.says(said.clone()).await;
    desk.heard(1).await;
    desk.says(said).await;
    assert_eq!((desk.tasks().await.len(), desk.phone(OWNER).await.len()), (1, 1));
}

#[tokio::test]
async fn a_second_conversation_with_the_operator_is_refused() {
    let desk = Desk::start().await;
    desk.app.script([text("Hello.")]);
    desk.order("hello").await;
    desk.heard(1).await;
    let ask = |body| crate::support::api::ask(&desk.app, reqwest::Method::POST, "/api/conversations", Some(body));
    let (status, told) = ask(json!({"profile": "operator"})).await;
    assert_eq!((status, told["error"].as_str().unwrap().contains("one conversation")), (409, true), "{told}");
}

#[tokio::test]
async fn an_order_that_is_too_long_is_refused_and_none_is_cut() {
    let desk = Desk::start().await;
    // The end that would be lost is the part that forbids something.
    let order = |bytes: usize| {
        let end = " but delete nothing of B";
        "a".repeat(bytes - end.len()) + end
    };
    desk.order(&order((16 << 10) + 1)).await;
    let told = desk.heard(1).await;
    assert!(told.contains("too long") && told.contains("16385 bytes, and 16384 are the most"), "{told}");
    assert_eq!((desk.tasks().await.len(), desk.app.script.requests().len()), (0, 0));
    desk.app.script([text("Nothing of B.")]);
    desk.order(&order(16 << 10)).await;
    assert!(desk.heard(2).await.starts_with("Nothing of B."));
    assert_eq!(desk.tasks().await[0]["goal"], order(16 << 10));
}
