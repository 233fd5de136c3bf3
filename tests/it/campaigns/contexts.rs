//! Approval contexts end by their time: one is given for a day at most, and holds no longer than it
//! says.

use chrono::TimeDelta;
use reqwest::Method;
use serde_json::json;

use super::{Desk, note, two_tasks};
use crate::support::call;

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
