//! A campaign on two servers: each knows of those who watch over it at the other.

use reqwest::Method;
use serde_json::json;

use super::{Desk, note, two_tasks};
use crate::support::{TestApp, api, call, in_time};

/// True if the server believes that somebody watches over campaign 1.
async fn is_watched(at: &TestApp) -> bool {
    let (status, shown) = api::ask(at, Method::GET, "/api/campaigns/1", None).await;
    assert_eq!(status, 200, "{shown}");
    shown["watched"] == true
}

#[tokio::test]
async fn campaign_goes_on_at_every_server_while_somebody_watches_at_one() {
    let mut desk = Desk::start(two_tasks()).await;
    let other = desk.app.beside().await;
    assert!(!is_watched(&other).await, "nobody is there yet");
    desk.app.script([call("persist_artifact", note())]);
    desk.present().await;
    let approval = desk.asked().await;
    let heard = async { while !is_watched(&other).await {} };
    in_time("the other server hears of the sign", heard).await;

    // The server that got the sign ends, and the other goes on by it until it is 40 s old.
    desk.app.advance(39);
    desk.app.stop().await;
    assert!(is_watched(&other).await);
    other.script([call("request_user_input", json!({"task": 2, "question": "tone", "text": "Formal?"}))]);
    let path = format!("/api/approvals/{}/approve", approval["id"]);
    let (status, told) = api::ask(&other, Method::POST, &path, None).await;
    assert_eq!(status, 200, "{told}");
    other.run_until_idle().await;
    let (_, shown) = api::ask(&other, Method::GET, "/api/campaigns/1", None).await;
    assert_eq!(shown["tasks"][1]["metadata"]["questions"][0]["question"], "tone", "{shown}");
    other.advance(1);
    assert!(!is_watched(&other).await, "nobody is left");
    other.check_replay().await;
}
