//! The cost of a cycle in statements and commits: see `crate::cost`.

use std::sync::Arc;

use reqwest::Method;
use serde_json::json;
use tokio::sync::Notify;

use super::Desk;
use crate::cost::{Cost, counted};
use crate::support::{Reply, TestApp, call};

/// So many cycles are counted together.
const CYCLES: usize = 5;
/// Requests before the first cycle: the start asks whether the model answers.
const BEFORE: usize = 1;

#[tokio::test]
async fn campaign_cycle_that_keeps_an_artifact_costs_so_many_statements() {
    let never = json!([{"description": "Keep notes", "requires": [{"kind": "artifact_exists", "type": "file", "key": "never"}]}]);
    let desk = Desk::start_on(TestApp::counted().await, never).await;
    let until = (desk.app.now() + chrono::TimeDelta::hours(1)).to_rfc3339();
    let allow = json!({"kind": "persist", "count": 2 * CYCLES + 2, "until": until});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    let keeps = |n: usize| {
        call("persist_artifact", json!({"task": 1, "type": "heuristic", "key": "note", "content": format!("Be brief, {n}")}))
    };
    let gate = Arc::new(Notify::new());
    // The first cycle opens connections and prepares statements.
    desk.app.script([keeps(0), Reply::After(Arc::clone(&gate), Box::new(keeps(1)))]);
    desk.app.script((2..=CYCLES).map(keeps).chain([Reply::Hang(String::new())]));
    desk.present().await;
    desk.app.script.asked(BEFORE + 2).await;
    let cost = counted(&desk.app, CYCLES, async {
        gate.notify_one();
        desk.app.script.asked(BEFORE + 2 + CYCLES).await;
    });
    // The state with the place where the turn stands, the request, its answer, the effect with the
    // end of its call, and the end of the cycle, which takes the next one up as well.
    cost.await.is_at_most(&Cost { server: 5, agent: 0, pings: 1, commits: 4 });
    desk.ask(Method::POST, "/1/pause", None).await;
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts").await, CYCLES as i64 + 1);
    desk.check().await;
}
