//! A proof by a call that is older than the calls that a state has in any case.

use std::sync::Arc;

use level3::domain::campaign::state::MOST_CALLS_READ;
use level3::domain::{CampaignId, SCORE_LEADS};
use reqwest::Method;
use serde_json::json;
use tokio::sync::Notify;

use super::Desk;
use crate::support::{Reply, call};

/// The requests of the start and of the call that proves something.
const BEFORE: usize = 2;

fn keeps(key: &str, n: usize) -> Reply {
    call("persist_artifact", json!({"task": 1, "type": "heuristic", "key": key, "content": format!("Be brief, {n}")}))
}

#[tokio::test]
async fn campaign_proof_by_a_call_holds_however_many_calls_come_after_it() {
    let both = json!([{"kind": "tool_succeeded", "tool": SCORE_LEADS},
        {"kind": "artifact_exists", "type": "heuristic", "key": "last"}]);
    let desk = Desk::start(json!([{"description": "Score them, and keep the last note", "requires": both}])).await;
    desk.keep("lead_scoring_config", "scores", r#"{"rules": []}"#).await;
    let until = (desk.app.now() + chrono::TimeDelta::hours(1)).to_rfc3339();
    for _ in 0..=MOST_CALLS_READ / 50 {
        let allow = json!({"kind": "persist", "count": 50, "until": until});
        assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    }
    let gate = Arc::new(Notify::new());
    desk.app.script([call("execute_tool", json!({"task": 1, "tool": SCORE_LEADS, "arguments": {}}))]);
    desk.app.script((0..MOST_CALLS_READ).map(|n| keeps("note", n)));
    desk.app.script([Reply::After(Arc::clone(&gate), Box::new(keeps("last", 0)))]);
    desk.present().await;
    desk.app.script.asked(BEFORE + MOST_CALLS_READ + 1).await;

    let first = desk.app.count("SELECT min(tool_call_id) FROM tool_calls").await;
    let (store, id) = (desk.app.store(), CampaignId(1));
    let conversation = store.conversation_of_campaign(id).await.unwrap();
    let (whole, read) = (store.campaign_state(id).await.unwrap(), store.campaign_state_in(conversation).await.unwrap());
    assert_eq!((whole.calls.len(), whole.calls[0].tool_call_id.0), (MOST_CALLS_READ + 1, first), "the proof, and the newest");
    assert_eq!(read, whole);
    assert_eq!(store.campaign_from_events(id, None).await.unwrap().calls, whole.calls);
    gate.notify_one();
    desk.app.run_until_idle().await;
    let shown = desk.get("/1").await;
    assert_eq!(shown["campaign"]["status"], "completed", "{}", shown["campaign"]);
    assert_eq!(shown["tasks"][0]["metadata"]["evidence"][0]["calls"], json!([first]), "{}", shown["tasks"]);
    desk.check().await;
}
