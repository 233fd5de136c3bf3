//! The cost of a cycle in statements and commits (see `crate::cost`), and in what they read and
//! write beside it.

use std::sync::Arc;

use level3::domain::campaign::CampaignState;
use level3::domain::campaign::audit::MOST_AUDIT;
use level3::domain::campaign::snapshot::snapshot;
use level3::domain::campaign::words::tool_lines;
use level3::domain::{CampaignId, SCORE_LEADS};
use reqwest::Method;
use serde_json::json;
use sqlx::raw_sql;
use tokio::sync::Notify;

use super::Desk;
use crate::cost::{Cost, counted};
use crate::support::{Reply, TestApp, call};

/// So many cycles are counted together.
const CYCLES: usize = 5;
/// So many calls are more than a request shows.
const MANY: usize = 20;
/// Requests before the first cycle: the start asks whether the model answers.
const BEFORE: usize = 1;

/// Counts the times that a wake-up is looked up. A sequence is no part of a transaction.
const LOOKS: &str = "CREATE SEQUENCE level3.looked;
    CREATE FUNCTION level3.look() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp AS $$
    BEGIN
        PERFORM nextval('looked');
        RETURN NULL;
    END $$;
    CREATE TRIGGER look AFTER DELETE ON level3.wake_ups FOR EACH STATEMENT EXECUTE FUNCTION level3.look()";
const LOOKED: &str = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM level3.looked";
const NO_LOOKS: &str = "DROP TRIGGER look ON level3.wake_ups; DROP FUNCTION level3.look; DROP SEQUENCE level3.looked";

/// A campaign whose task is never done, and whose next proposals may keep artifacts.
async fn keeping(app: TestApp) -> Desk {
    let never = json!([{"description": "Keep notes", "requires": [{"kind": "artifact_exists", "type": "file", "key": "never"}]}]);
    let desk = Desk::start_on(app, never).await;
    let until = (desk.app.now() + chrono::TimeDelta::hours(1)).to_rfc3339();
    let allow = json!({"kind": "persist", "count": 50, "until": until});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    desk
}

fn keeps(n: usize) -> Reply {
    call("persist_artifact", json!({"task": 1, "type": "heuristic", "key": "note", "content": format!("Be brief, {n}")}))
}

#[tokio::test]
async fn campaign_cycle_that_keeps_an_artifact_costs_so_many_statements() {
    let desk = keeping(TestApp::counted().await).await;
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

#[tokio::test]
async fn campaign_cycle_reads_the_calls_that_it_shows_and_more_only_if_a_condition_looks_for_one() {
    let desk = keeping(TestApp::start().await).await;
    desk.app.script((0..MANY).map(keeps).chain([Reply::Hang(String::new())]));
    desk.present().await;
    desk.app.script.asked(BEFORE + MANY + 1).await;
    let (store, id) = (desk.app.store(), CampaignId(1));
    let conversation = store.conversation_of_campaign(id).await.unwrap();
    let (whole, read) = (store.campaign_state(id).await.unwrap(), store.campaign_state_in(conversation).await.unwrap());
    assert_eq!((whole.calls.len(), read.calls.len()), (MANY, MOST_AUDIT));
    let shown = |state: &CampaignState| snapshot(state, desk.app.now(), &tool_lines());
    assert_eq!(shown(&read), shown(&whole), "the model is shown the same");
    let scores = json!({"description": "Score them", "requires": [{"kind": "tool_succeeded", "tool": SCORE_LEADS}]});
    let (status, told) = desk.ask(Method::POST, "/1/tasks", Some(scores)).await;
    assert_eq!(status, 200, "{told}");
    let (whole, read) = (store.campaign_state(id).await.unwrap(), store.campaign_state_in(conversation).await.unwrap());
    assert_eq!((whole.calls.len(), read), (MANY, whole));
    desk.ask(Method::POST, "/1/pause", None).await;
    desk.check().await;
}

#[tokio::test]
async fn campaign_cycles_that_follow_each_other_look_no_wake_up_up() {
    let desk = keeping(TestApp::start().await).await;
    let gate = Arc::new(Notify::new());
    desk.app.script([Reply::After(Arc::clone(&gate), Box::new(keeps(0)))]);
    desk.app.script((1..=CYCLES).map(keeps).chain([Reply::Hang(String::new())]));
    desk.present().await;
    desk.app.script.asked(BEFORE + 1).await;
    raw_sql(LOOKS).execute(&mut desk.app.behind().await).await.unwrap();
    gate.notify_one();
    desk.app.script.asked(BEFORE + 2 + CYCLES).await;
    assert_eq!(desk.app.count(LOOKED).await, 0, "nothing about what the campaign is due for has changed");
    desk.ask(Method::POST, "/1/pause", None).await;
    assert!(desk.app.count(LOOKED).await > 0, "its state has");
    raw_sql(NO_LOOKS).execute(&mut desk.app.behind().await).await.unwrap();
    desk.check().await;
}
