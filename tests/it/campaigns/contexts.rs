//! Approval contexts end by their time: one is given for a day at most, and holds no longer than it
//! says. None allows a proposal that a person refused.

use std::sync::Arc;

use chrono::TimeDelta;
use reqwest::Method;
use serde_json::json;
use tokio::sync::Notify;

use super::{Desk, note, two_tasks};
use crate::support::{Reply, call};

#[tokio::test]
async fn campaign_context_lasts_a_day_at_most_and_does_not_begin_in_the_past() {
    let desk = Desk::start(two_tasks()).await;
    for hours in [25, -1] {
        let until = (desk.app.now() + TimeDelta::hours(hours)).to_rfc3339();
        let allow = json!({"kind": "persist", "count": 1, "until": until});
        let (status, refused) = desk.ask(Method::POST, "/1/contexts", Some(allow)).await;
        let told = refused["error"].as_str().unwrap();
        assert!(status == 400 && told.contains("until: has to be within the next 24 hours"), "{hours}: {refused}");
    }
    assert_eq!(desk.get("/1").await["contexts"], json!([]));
    desk.check().await;
}

#[tokio::test]
async fn campaign_context_whose_time_is_over_allows_nothing_and_is_not_counted_down() {
    let desk = Desk::start(two_tasks()).await;
    let until = (desk.app.now() + TimeDelta::hours(1)).to_rfc3339();
    let allow = json!({"kind": "persist", "count": 2, "until": until});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    desk.app.advance(3601);
    desk.app.script([call("persist_artifact", note())]);
    desk.present().await;
    let approval = desk.asked().await;
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts").await, 0, "nothing is kept before a person says so");
    assert_eq!(desk.get("/1").await["contexts"][0]["uses_left"], 2);
    desk.decide(&approval, "deny").await;
    desk.app.run_until_idle().await;
    desk.check().await;
}

#[tokio::test]
async fn campaign_context_allows_no_proposal_that_a_person_refused_until_they_allow_it_themselves() {
    let third = json!([{"kind": "artifact_exists", "type": "heuristic", "key": "note", "min_version": 3}]);
    let desk = Desk::start(json!([{"description": "Keep a note", "requires": third}])).await;
    // An answer that is the same proposal each time, behind a gate.
    let again = || {
        let gate = Arc::new(Notify::new());
        desk.app.script([Reply::After(Arc::clone(&gate), Box::new(call("persist_artifact", note())))]);
        gate
    };
    again().notify_one();
    desk.present().await;
    let first = desk.asked().await;
    assert_eq!(first["shown"]["what"][0], "Campaign 1 (Outreach).");
    desk.decide(&first, "deny").await;
    desk.app.run_until_idle().await;

    // The state is another, and a context would allow it.
    let gate = again();
    desk.keep("file", "people", "full_name,profile_url\n").await;
    desk.app.script.asked(3).await;
    let until = (desk.app.now() + TimeDelta::hours(1)).to_rfc3339();
    let allow = json!({"kind": "persist", "count": 5, "until": until});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    gate.notify_one();
    let second = desk.asked().await;
    assert_eq!(
        second["shown"]["what"][0],
        "Campaign 1 (Outreach). You refused this very proposal before, or did not decide in time."
    );
    assert_eq!(desk.get("/1").await["contexts"][0]["uses_left"], 5);
    let kept = "SELECT count(*) FROM artifacts WHERE artifact_type = 'heuristic'";
    assert_eq!(desk.app.count(kept).await, 0, "a person has to be asked");
    let gate = again();
    desk.decide(&second, "approve").await;
    desk.app.script.asked(4).await;

    // The yes is the newer word, so the context allows the same now.
    desk.keep("heuristic", "note", "Be long").await;
    gate.notify_one();
    desk.app.run_until_idle().await;
    let shown = desk.get("/1").await;
    assert_eq!((&shown["campaign"]["status"], &shown["contexts"][0]["uses_left"]), (&json!("completed"), &json!(4)), "{shown}");
    assert_eq!(desk.app.count(kept).await, 3);
    desk.check().await;
}
