//! The limits of one task: iterations, time and tokens. At a limit the task is aborted, with words
//! that say which it was.

use std::sync::Arc;

use level3::model::ModelErrorKind;
use serde_json::json;
use tokio::sync::Notify;

use super::{Desk, body, judged, noted};
use crate::support::{Reply, call, text};

#[tokio::test]
async fn the_41st_iteration_aborts() {
    let desk = Desk::start().await;
    for n in 0..40 {
        // Another version each time: the same call over and over would end the task sooner.
        let write = json!({"version": n, "document": {"n": n}});
        desk.app.script([call("update_global_context", write), super::harmless()]);
    }
    desk.order("count").await;
    let told = desk.heard(1).await;
    assert!(told.starts_with("Task 1 was aborted.") && told.contains("40 model requests"), "{told}");
    assert!(told.contains("`limits.max_iterations`"), "{told}");
    let lines = desk.log(1, "task_aborted").await;
    assert_eq!(lines.iter().filter(|line| line["event"] == "execution_result").count(), 40);
    assert!(body(&lines, "limit_exceeded")["reason"].as_str().unwrap().contains("40"));
}

#[tokio::test]
async fn the_301st_second_aborts_and_waiting_does_not_count() {
    let desk = Desk::start().await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false), Reply::Hang("I think".into())]);
    desk.order("think").await;
    desk.heard(1).await;
    desk.app.advance(20 * 60);
    desk.order("CONFIRMAR").await;
    desk.app.script.asked(3).await;
    desk.app.advance(299);
    assert_eq!(desk.states().await, ["RUNNING"]);
    desk.app.advance(2);
    let told = desk.heard(2).await;
    assert!(told.contains("was aborted") && told.contains("301 seconds"), "{told}");
    let lines = desk.log(1, "task_aborted").await;
    let place = |event: &str| lines.iter().position(|line| line["event"] == event).expect(event);
    assert!(place("limit_exceeded") < place("task_aborted"), "{lines:#?}");
    assert!(body(&lines, "limit_exceeded")["reason"].as_str().unwrap().contains("301 seconds"), "{lines:#?}");
    desk.until(&["ABORTED"]).await;
}

#[tokio::test]
async fn the_time_before_a_question_counts() {
    let desk = Desk::start().await;
    let go = Arc::new(Notify::new());
    let slow = Reply::After(go.clone(), Box::new(judged("low", "low", "systemic", false)));
    desk.app.script([call("list_scripts", json!({})), slow, Reply::Hang("I think".into())]);
    desk.order("think").await;
    desk.app.script.asked(2).await;
    desk.app.advance(200);
    go.notify_one();
    desk.heard(1).await;
    desk.order("CONFIRMAR").await;
    desk.app.script.asked(3).await;
    desk.app.advance(101);
    let told = desk.heard(2).await;
    assert!(told.contains("301 seconds") && told.contains("`limits.max_runtime_minutes`"), "{told}");
}

#[tokio::test]
async fn the_time_before_a_crash_counts_and_that_without_a_server_does_not() {
    let mut desk = Desk::start().await;
    let go = Arc::new(Notify::new());
    let slow = Reply::After(go.clone(), Box::new(super::harmless()));
    desk.app.script([call("list_scripts", json!({})), slow, Reply::Hang("I think".into())]);
    desk.order("think").await;
    desk.app.script.asked(2).await;
    desk.app.advance(200);
    go.notify_one();
    desk.app.script.asked(3).await;
    desk.app.crash().await;
    desk.app.advance(20 * 60);
    // Each start would grant the whole time anew if only questions ended what counts.
    desk.app.script([Reply::Hang("I think again".into())]);
    desk.app.start_again().await;
    desk.app.script.asked(4).await;
    desk.app.advance(99);
    assert_eq!(desk.states().await, ["RUNNING"]);
    desk.app.advance(2);
    let told = desk.heard(1).await;
    assert!(told.contains("was aborted") && told.contains("301 seconds"), "{told}");
}

#[tokio::test]
async fn the_limits_of_a_start_hold_for_a_task_that_goes_on() {
    let mut desk = Desk::start().await;
    desk.app.script([call("list_scripts", json!({})), super::harmless(), Reply::Hang("I think".into())]);
    desk.order("think").await;
    desk.app.script.asked(3).await;
    desk.app.crash().await;
    desk.app.set("LEVEL3_OPERATOR_LIMITS", "1,7,900");
    desk.app.start_again().await;
    let turn = desk.app.store().policy("operator").await.unwrap().budgets.turn;
    assert_eq!((turn.steps, turn.wall_seconds, turn.tokens), (Some(1), Some(420), Some(900)));
    let told = desk.heard(1).await;
    assert!(told.contains("was aborted") && told.contains("`limits.max_iterations`"), "{told}");
}

#[tokio::test]
async fn a_confirmed_action_is_not_made_over_the_limits_of_a_later_start() {
    let mut desk = Desk::start().await;
    desk.app.script(super::lists()).script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    desk.order("list them twice").await;
    assert!(desk.heard(1).await.contains("CONFIRMAR"));
    desk.app.crash().await;
    desk.app.set("LEVEL3_OPERATOR_LIMITS", "1,5,50000");
    desk.app.start_again().await;
    desk.order("CONFIRMAR").await;
    let told = desk.heard(2).await;
    assert!(told.contains("was aborted") && told.contains("made 2 model requests; the limit is 1"), "{told}");
    assert_eq!(desk.carried_out().await, 1, "only what came before the question");
}

/// The planner runs the script.
fn runs() -> Reply {
    call("execute_script", json!({"name": "double", "arguments": {"n": 4}}))
}

/// It does so four times, and the governor lets it.
fn four_runs() -> Vec<Reply> {
    (0..4).flat_map(|_| [runs(), super::harmless()]).collect()
}

#[tokio::test]
async fn the_fifth_call_with_the_same_arguments_aborts_unless_the_script_is_another_by_then() {
    let desk = Desk::start().await;
    desk.app.script([call("create_script", super::doubling(3)), super::harmless()]).script(four_runs());
    desk.app.script([call("update_script", super::doubling(2)), super::harmless()]);
    desk.order("double 4").await;
    assert!(desk.heard(1).await.contains("CONFIRMAR"));
    desk.app.script(four_runs()).script([runs()]);
    desk.order("CONFIRMAR").await;
    let told = desk.heard(2).await;
    assert!(told.contains("was aborted") && told.contains("`execute_script` with the same arguments for the 5th time"), "{told}");
    assert_eq!(desk.carried_out().await, 10, "each version ran four times");
}

#[tokio::test]
async fn the_50001st_token_aborts_planner_and_governor_together() {
    let desk = Desk::start().await;
    let costs = |read, written, reply| Reply::Costs(read, written, Box::new(reply));
    desk.app.script([
        costs(24_000, 1_000, call("list_scripts", json!({}))),
        costs(24_000, 1_001, super::harmless()),
        text("never asked"),
    ]);
    desk.order("spend").await;
    let told = desk.heard(1).await;
    assert!(told.contains("was aborted") && told.contains("50001 tokens") && told.contains("limit is 50000"), "{told}");
    assert!(told.contains("`limits.max_tokens_per_session`"), "{told}");
    assert_eq!((desk.carried_out().await, desk.app.script.left()), (0, 1));
    desk.app.script.forget();
}

#[tokio::test]
async fn a_task_whose_model_fails_is_aborted_with_words_and_the_next_one_goes_on() {
    let desk = Desk::start().await;
    desk.app.script([Reply::Fail(ModelErrorKind::Malformed, "nothing came".into()), text("Friday.")]);
    desk.order("what day is it?").await;
    let told = desk.heard(1).await;
    assert!(told.starts_with("Task 1 was aborted.") && told.contains("nothing came"), "{told}");
    desk.order("and now?").await;
    assert_eq!(desk.heard(2).await, noted("Friday.", "none yet"));
    assert_eq!(desk.states().await, ["ABORTED", "COMPLETED"]);
}

#[tokio::test]
async fn a_plan_over_the_limit_is_neither_judged_nor_carried_out() {
    let desk = Desk::start().await;
    let plan = call("update_global_context", json!({"version": 0, "document": {"a": 1}}));
    desk.app.script([Reply::Costs(49_000, 1_001, Box::new(plan)), super::harmless()]);
    desk.order("spend").await;
    let told = desk.heard(1).await;
    assert!(told.contains("was aborted") && told.contains("50001 tokens"), "{told}");
    assert_eq!((desk.carried_out().await, desk.app.script.left()), (0, 1));
    assert_eq!(desk.done(reqwest::Method::GET, "/api/operator/context", None).await["version"], 0);
    desk.app.script.forget();
}
