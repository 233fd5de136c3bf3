//! The log has the beginning of an action before anything of the action happened.

use serde_json::json;
use sqlx::{Connection, Executor};

use super::{Desk, harmless};
use crate::support::{call, text};

#[tokio::test]
async fn an_action_that_a_kill_cuts_has_begun_in_the_log_and_begins_there_once() {
    let mut desk = Desk::start().await;
    // Nobody can change the global context now, so the action stands still in its middle.
    let mut behind = desk.app.behind().await;
    behind.execute("SELECT pg_advisory_lock(hashtext('level3 operator_context'))").await.unwrap();
    desk.app.script([call("update_global_context", json!({"version": 0, "document": {"a": 1}})), harmless()]);
    desk.order("keep one").await;
    let lines = desk.log(1, "execution_started").await;
    let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    let begun = ["task_started", "model_answered", "planner_output", "governor_output", "decision", "execution_started"];
    assert_eq!(events, begun);
    tokio::join!(desk.app.crash(), async move { behind.close().await.unwrap() });
    desk.app.script([text("It is kept.")]);
    desk.app.start_again().await;
    desk.until(&["COMPLETED"]).await;
    let lines = desk.log(1, "task_completed").await;
    let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    let after = ["task_started", "execution_result", "model_answered", "planner_output", "task_completed"];
    assert_eq!(events, [&begun[..], &after[..]].concat());
    assert_eq!(desk.carried_out().await, 1);
}
