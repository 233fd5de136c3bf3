//! A decision that is no yes is recorded whole with itself: the end of the call, its line in the
//! audit, and what the campaign remembers of it. Nothing that comes right behind it takes it away.

use chrono::{DateTime, Utc};
use level3::clock::SystemRandom;
use level3::domain::campaign::CampaignInput;
use level3::domain::{ApprovalId, CampaignId, Channel, Decision};
use level3::store::Store;
use reqwest::Method;
use serde_json::json;

use super::{Desk, note, two_tasks};
use crate::support::{Reply, call};

/// The first line of a question about a proposal that got a no before.
const BEFORE: &str = "Campaign 1 (Outreach). You refused this very proposal before, or did not decide in time.";

#[tokio::test]
async fn campaign_no_that_a_pause_or_a_stop_follows_at_once_holds_and_stands_in_the_audit() {
    for paused in [true, false] {
        let mut desk = Desk::start(two_tasks()).await;
        desk.app.script([call("persist_artifact", note())]);
        desk.present().await;
        let approval = desk.asked().await;
        // No server works on the turn between the no and the pause.
        desk.app.crash().await;
        let (store, now) = (Store::open(&desk.app.database_behind(), &SystemRandom).await.unwrap(), desk.app.now());
        let no = Decision::Deny { reason: Some("Not that".to_owned()) };
        store.owners().decide(ApprovalId(approval["id"].as_i64().unwrap()), no, Channel::Api, now).await.unwrap();
        let campaign = CampaignId(1);
        if paused {
            store.steer_campaign(campaign, CampaignInput::Pause, now).await.unwrap();
        } else {
            let conversation = store.conversation_of_campaign(campaign).await.unwrap();
            assert_eq!(store.owners().stop(conversation, now).await.unwrap().len(), 1);
        }
        store.close().await;
        desk.app.start_again().await;
        let lines = desk.audit("persist_artifact").await;
        assert_eq!(lines.len(), 1, "{lines:?}");
        let line = &lines[0];
        assert_eq!((&line["verdict"], &line["refusal"]), (&json!("deny"), &json!("denied")), "{line}");
        assert_eq!(line["approval"], approval["id"], "{line}");
        desk.check().await;
        // A context for such things does not change the no.
        let until = (desk.app.now() + chrono::TimeDelta::hours(1)).to_rfc3339();
        let allow = json!({"kind": "persist", "count": 2, "until": until});
        assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
        if paused {
            assert_eq!(desk.ask(Method::POST, "/1/resume", None).await.0, 200);
        }
        desk.app.script([call("persist_artifact", note())]);
        desk.present().await;
        let again = desk.asked().await;
        assert_eq!(again["shown"]["what"][0], BEFORE);
        assert_eq!(desk.app.count("SELECT count(*) FROM artifacts").await, 0, "it was refused");
        let shown = desk.snapshot();
        assert!(shown.contains("persist_artifact was not done: The user refused this: Not that"), "{shown}");
        assert_eq!(desk.ask(Method::POST, "/1/pause", None).await.0, 200);
        desk.check().await;
    }
}

#[tokio::test]
async fn campaign_question_that_nobody_decides_in_time_is_a_no_that_no_context_overrules() {
    let desk = Desk::start(two_tasks()).await;
    desk.app.script([call("persist_artifact", note())]);
    desk.present().await;
    let approval = desk.asked().await;
    let expires: DateTime<Utc> = approval["expires_at"].as_str().unwrap().parse().unwrap();
    desk.app.advance((expires - desk.app.now()).num_seconds() + 1);
    desk.app.run_until_idle().await;
    let line = desk.audit("persist_artifact").await.pop().unwrap();
    assert_eq!((&line["verdict"], &line["refusal"]), (&json!("deny"), &json!("expired")), "{line}");
    assert_eq!(line["approval"], approval["id"], "{line}");
    // The state is another, and a context would allow it.
    desk.keep("file", "people", "full_name,profile_url\n").await;
    let until = (desk.app.now() + chrono::TimeDelta::hours(1)).to_rfc3339();
    let allow = json!({"kind": "persist", "count": 2, "until": until});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    desk.app.script([call("persist_artifact", note())]);
    desk.present().await;
    desk.app.advance(1);
    desk.present().await;
    let again = desk.asked().await;
    assert_eq!(again["shown"]["what"][0], BEFORE);
    assert_eq!(desk.get("/1").await["contexts"][0]["uses_left"], 2);
    desk.app.script([Reply::Hang(String::new())]);
    desk.decide(&again, "approve").await;
    desk.app.script.asked(4).await;
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts WHERE artifact_type = 'heuristic'").await, 1);
    desk.stop().await;
    desk.check().await;
}

#[tokio::test]
async fn campaign_proposal_that_a_person_refused_is_asked_about_anew_although_nothing_has_changed() {
    let desk = Desk::start(two_tasks()).await;
    desk.app.script([call("persist_artifact", note())]);
    desk.present().await;
    let first = desk.asked().await;
    desk.decide(&first, "deny").await;
    desk.app.run_until_idle().await;
    desk.app.script([call("persist_artifact", note())]);
    desk.app.advance(1);
    desk.present().await;
    let again = desk.asked().await;
    assert_eq!(again["shown"]["what"][0], BEFORE);
    assert_eq!(desk.app.count("SELECT count(*) FROM events WHERE kind = 'proposal_refused'").await, 0);
    desk.app.script([Reply::Hang(String::new())]);
    desk.decide(&again, "approve").await;
    desk.app.script.asked(4).await;
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts").await, 1);
    desk.stop().await;
    desk.check().await;
}
