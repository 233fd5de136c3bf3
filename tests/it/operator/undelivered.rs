//! Messages about a task that the channel refuses or loses: its log, the list of tasks and the
//! terminal tell of them, and nothing says that they came.

use level3::channels::LoopbackFault;
use serde_json::{Value, json};

use super::screen::pictured;
use super::{Desk, body, harmless, judged};
use crate::support::{call, text};

/// The messages in these states, by the database.
const FAILED: &str = "SELECT count(*) FROM relay_messages WHERE state = 'failed'";
const UNKNOWN: &str = "SELECT count(*) FROM relay_messages WHERE state = 'unknown'";

#[tokio::test]
async fn a_picture_and_an_answer_that_are_refused_are_told_of_and_the_tool_claims_no_delivery() {
    let (_folder, desk) = pictured().await;
    let refused = || Some(LoopbackFault::Refuse("470".to_owned()));
    desk.app.loopback.add([refused(), refused()]);
    desk.app.script([call("take_screenshot", json!({})), harmless(), text("Here it is.")]);
    desk.order("show me the screen").await;
    desk.until(&["COMPLETED"]).await;
    desk.app.until(FAILED, 2).await;
    let missed = desk.tasks().await[0]["undelivered"].clone();
    let told: Vec<_> = missed.as_array().unwrap().iter().map(|one| (one["about"].clone(), one["state"].clone())).collect();
    assert_eq!(told, [(json!("picture"), json!("failed")), (json!("answer"), json!("failed"))], "{missed}");
    let lines = desk.log(1, "message_undelivered").await;
    let told = body(&lines, "message_undelivered");
    assert_eq!((&told["about"], &told["state"]), (&json!("picture"), &json!("failed")));
    let result: Value = serde_json::from_str(body(&lines, "execution_result")["result"].as_str().unwrap()).unwrap();
    assert!(result["delivery"].as_str().unwrap().contains("on its way") && result["sent"].is_null(), "{result}");
    desk.app.check_replay().await;
}

#[tokio::test]
async fn a_question_that_may_not_have_arrived_says_so_until_it_is_decided() {
    let desk = Desk::start().await;
    desk.app.loopback.add([Some(LoopbackFault::Lose)]);
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    desk.order("scripts?").await;
    desk.app.until(UNKNOWN, 1).await;
    let missed = desk.tasks().await[0]["undelivered"].clone();
    let reason = "the test channel gave no answer";
    assert_eq!(missed, json!([{"about": "question", "state": "unknown", "reason": reason}]));
    let told = body(&desk.log(1, "message_undelivered").await, "message_undelivered");
    assert_eq!((&told["about"], &told["state"], &told["reason"]), (&json!("question"), &json!("unknown"), &json!(reason)));
    desk.order("CANCELAR").await;
    desk.until(&["ABORTED"]).await;
    assert!(desk.tasks().await[0]["undelivered"].is_null(), "the question is over");
    desk.app.check_replay().await;
}

#[tokio::test]
async fn a_question_that_the_channel_refused_is_not_confirmed_unread_and_can_be_cancelled() {
    let desk = Desk::start().await;
    desk.app.loopback.add([Some(LoopbackFault::Refuse("415".to_owned()))]);
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    desk.order("scripts?").await;
    desk.app.until(FAILED, 1).await;
    desk.order("CONFIRMAR").await;
    let told = desk.heard(1).await;
    assert!(told.contains("did not reach this chat") && told.contains("`level3 approvals`"), "{told}");
    assert_eq!(desk.states().await, ["AWAITING_CONFIRMATION"]);
    desk.order("CANCELAR").await;
    desk.until(&["ABORTED"]).await;
    desk.app.check_replay().await;
}
