//! A number that was taken off the list: what it ordered is not done, and nothing is sent to it.

use level3::channels::LoopbackFault;
use serde_json::json;

use super::{Desk, OWNER, STRANGER, judged, noted, write_program};
use crate::support::{call, text};

#[tokio::test]
async fn the_orders_of_a_number_that_was_taken_off_the_list_end_and_nothing_is_sent_to_it() {
    let mut desk = Desk::with(&[("LEVEL3_OPERATOR", &format!("loopback:{OWNER},{STRANGER}"))]).await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    assert_eq!(desk.says(json!({"address": STRANGER, "text": "first"})).await, "order");
    desk.heard_by(STRANGER, 1).await;
    desk.order("second").await;
    assert_eq!(desk.says(json!({"address": STRANGER, "text": "third"})).await, "order");
    desk.heard_by(STRANGER, 2).await;
    desk.until(&["AWAITING_CONFIRMATION", "QUEUED", "QUEUED"]).await;
    desk.app.crash().await;
    desk.app.set("LEVEL3_OPERATOR", &format!("loopback:{OWNER}"));
    desk.app.script([text("two")]);
    desk.app.start_again().await;
    desk.until(&["ABORTED", "COMPLETED", "ABORTED"]).await;
    assert_eq!(desk.heard(2).await, noted("two", "none yet"));
    assert!(desk.tasks().await[2]["reason"].as_str().unwrap().contains("may give orders no more"));
    assert_eq!(desk.phone(STRANGER).await.len(), 2, "a question and a place, from before");
    assert_eq!(desk.carried_out().await, 0);
    desk.app.check_replay().await;
}

#[tokio::test]
async fn a_message_that_waits_for_such_a_number_is_not_sent() {
    let mut desk = Desk::with(&[("LEVEL3_OPERATOR", &format!("loopback:{OWNER},{STRANGER}"))]).await;
    desk.app.loopback.add([Some(LoopbackFault::Offline)]);
    desk.app.script([text("one")]);
    assert_eq!(desk.says(json!({"address": STRANGER, "text": "first"})).await, "order");
    desk.until(&["COMPLETED"]).await;
    desk.app.until("SELECT count(*) FROM relay_messages WHERE state = 'queued' AND not_before IS NOT NULL", 1).await;
    desk.app.crash().await;
    desk.app.set("LEVEL3_OPERATOR", &format!("loopback:{OWNER}"));
    desk.app.start_again().await;
    let missed = desk.tasks().await[0]["undelivered"].clone();
    assert_eq!((&missed[0]["state"], &missed[0]["about"]), (&json!("failed"), &json!("answer")), "{missed}");
    assert_eq!(desk.phone(STRANGER).await.len(), 0);
    desk.app.check_replay().await;
}

#[tokio::test]
async fn the_orders_of_another_channel_end_and_the_new_one_is_free_for_the_same_number() {
    let folder = tempfile::tempdir().unwrap();
    let program = write_program(folder.path(), "#!/bin/sh\necho '{\"kind\":\"status\",\"state\":\"online\"}'\ncat > /dev/null\n");
    let mut desk = Desk::start().await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    desk.order("first").await;
    desk.heard(1).await;
    desk.order("second").await;
    desk.heard(2).await;
    desk.app.crash().await;
    desk.app.set("LEVEL3_OPERATOR", &format!("whatsapp:{OWNER}"));
    desk.app.set("LEVEL3_WHATSAPP", program.to_str().unwrap());
    desk.app.start_again().await;
    desk.until(&["ABORTED", "ABORTED"]).await;
    assert!(desk.tasks().await[0]["reason"].as_str().unwrap().contains("no more by its channel"));
    assert_eq!(desk.app.count("SELECT count(*) FROM relay_messages").await, 2, "the new channel hears nothing of the old one");
    assert_eq!(desk.carried_out().await, 0);
    desk.app.check_replay().await;
}
