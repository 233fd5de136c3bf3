//! The cycles of campaigns as turns of a conversation: pauses that race them, and lists that do not
//! show them.

use reqwest::Method;
use serde_json::json;
use sqlx::Executor;

use super::{Desk, two_tasks};
use crate::support::api;

#[tokio::test]
async fn campaign_pause_stops_a_cycle_that_was_queued_while_it_waited_for_the_campaign() {
    let desk = Desk::start(two_tasks()).await;
    let mut held = desk.app.behind().await;
    held.execute("BEGIN").await.unwrap();
    held.execute("SELECT FROM campaigns FOR UPDATE").await.unwrap();
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    let pause = async {
        desk.app.until(waiting, 1).await;
        desk.ask(Method::POST, "/1/pause", None).await
    };
    let release = async {
        desk.app.until(waiting, 2).await;
        held.execute("COMMIT").await.unwrap();
    };
    let (present, (status, paused), _) = tokio::join!(desk.ask(Method::POST, "/1/present", None), pause, release);
    assert_eq!((present.0, status, &paused["status"]), (200, 200, &json!("paused")), "{paused}");
    assert_eq!(desk.app.count("SELECT count(*) FROM turns WHERE origin = 'cycle'").await, 1, "the sign of presence was first");
    assert_eq!(desk.app.count("SELECT count(*) FROM turns WHERE ended_at IS NULL").await, 0);
    desk.app.run_until_idle().await;
    desk.check().await;
}

#[tokio::test]
async fn campaign_conversations_do_not_stand_in_the_list_of_chat() {
    let desk = Desk::start(two_tasks()).await;
    let (status, listed) = api::ask(&desk.app, Method::GET, "/api/conversations", None).await;
    assert_eq!(status, 200, "{listed}");
    let profiles: Vec<_> = listed["conversations"].as_array().unwrap().iter().map(|one| one["profile"].as_str()).collect();
    assert!(!profiles.contains(&Some("campaign")), "{listed}");
    assert_eq!(desk.app.count("SELECT count(*) FROM conversations WHERE profile = 'campaign'").await, 1);
}

#[tokio::test]
async fn campaign_conversation_is_gone_on_from_by_no_branch() {
    let desk = Desk::start(two_tasks()).await;
    let conversation = desk.get("/1").await["campaign"]["conversation_id"].clone();
    let from = json!({"from": {"conversation": conversation, "seq": 1}});
    let (status, refused) = api::ask(&desk.app, Method::POST, "/api/conversations", Some(from)).await;
    assert_eq!(status, 404, "{refused}");
    assert_eq!(desk.app.count("SELECT count(*) FROM conversations WHERE branch_of IS NOT NULL").await, 0);
    desk.check().await;
}
