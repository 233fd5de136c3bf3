//! Something happens in a campaign's stream in the middle of a cycle: what the program knows of the
//! campaign does not hold any more, and it decides by a state that it reads anew.

use std::sync::Arc;

use chrono::TimeDelta;
use level3::domain::Failure;
use reqwest::Method;
use serde_json::json;
use sqlx::{AssertSqlSafe, Executor, PgConnection};
use tokio::sync::Notify;

use super::Desk;
use crate::support::{Reply, call, text};

/// An event comes into the stream of campaign 1, about nothing that its state has.
const HAPPENS: &str = r#"CREATE FUNCTION level3.happens() RETURNS TRIGGER LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
    BEGIN
        PERFORM append_events((SELECT conversation_id FROM campaigns WHERE id = 1),
            ARRAY['{"kind": "chat_forgotten", "messages": []}'::jsonb], NEW.created_at);
        RETURN NULL;
    END $$"#;
/// The sessions that wait for a lock.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";

/// A campaign whose tasks need artifacts with these types and keys. The next five may be kept.
async fn allowed(wanted: [(&str, &str); 2]) -> Desk {
    let task = |(kind, key): (&str, &str)| {
        let requires = json!([{"kind": "artifact_exists", "type": kind, "key": key}]);
        json!({"description": format!("Keep the {kind} {key}"), "requires": requires})
    };
    let desk = Desk::start(json!(wanted.map(task))).await;
    let until = (desk.app.now() + TimeDelta::hours(1)).to_rfc3339();
    let allow = json!({"kind": "persist", "count": 5, "until": until});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    desk
}

fn keeps(task: i64, key: &str) -> Reply {
    call("persist_artifact", json!({"task": task, "type": "heuristic", "key": key, "content": "Be brief"}))
}

/// Begins a cycle whose model answers behind the gate, and holds its campaign: the effect of the
/// answer waits for that.
async fn held(desk: &Desk) -> (Arc<Notify>, PgConnection) {
    let gate = Arc::new(Notify::new());
    desk.app.script([Reply::After(Arc::clone(&gate), Box::new(keeps(1, "one")))]);
    desk.present().await;
    desk.app.script.asked(2).await;
    let mut held = desk.app.behind().await;
    held.execute("BEGIN").await.unwrap();
    held.execute("SELECT FROM campaigns FOR UPDATE").await.unwrap();
    (gate, held)
}

/// Approves each of the next proposals, of which these are left; then the campaign is completed.
async fn completed(desk: &Desk, left: usize) {
    for _ in 0..left {
        let approval = desk.asked().await;
        desk.decide(&approval, "approve").await;
    }
    desk.app.run_until_idle().await;
    let shown = desk.get("/1").await;
    assert_eq!(shown["campaign"]["status"], "completed", "{shown}");
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts WHERE version = 1").await, 2);
    desk.check().await;
}

#[tokio::test]
async fn campaign_cycles_go_on_by_the_state_as_it_is_if_something_happens_in_between() {
    // Behind the answer, before the effect; and behind the effect, before the end of the cycle.
    for table in ["tool_calls", "audit_entries"] {
        let desk = allowed([("heuristic", "one"), ("file", "never")]).await;
        let mut behind = desk.app.behind().await;
        behind.execute(HAPPENS).await.unwrap();
        let after = format!(
            "CREATE CONSTRAINT TRIGGER happens AFTER INSERT ON level3.{table} DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION level3.happens()"
        );
        behind.execute(AssertSqlSafe(after)).await.unwrap();
        desk.app.script([keeps(1, "one"), keeps(2, "two"), text("no"), text("no"), text("no")]);
        desk.present().await;
        desk.app.run_until_idle().await;
        let shown = desk.get("/1").await;
        assert_eq!(shown["contexts"][0]["uses_left"], 3, "{table}: each effect is there once: {shown}");
        assert_eq!(desk.app.count("SELECT count(*) FROM artifacts WHERE version = 1").await, 2, "{table}");
        assert_eq!(desk.app.count("SELECT count(*) FROM tool_calls WHERE state = 'done'").await, 2, "{table}");
        assert_eq!(desk.app.count("SELECT count(*) FROM events WHERE kind = 'cycle_ended'").await, 3, "{table}");
        assert_eq!(desk.app.count("SELECT count(*) FROM events WHERE kind = 'chat_forgotten'").await, 2, "{table}");
        let kept = desk.app.count("SELECT min(sequence) FROM events WHERE kind = 'artifact_kept'").await;
        let evidence = &shown["tasks"][0]["metadata"]["evidence"][0]["events"];
        assert_eq!(evidence, &json!([kept]), "{table}: the evidence is the event that kept it");
        behind.execute(AssertSqlSafe(format!("DROP TRIGGER happens ON level3.{table}"))).await.unwrap();
        desk.check().await;
    }
}

#[tokio::test]
async fn campaign_context_that_is_revoked_behind_the_answer_allows_nothing() {
    let desk = allowed([("heuristic", "one"), ("heuristic", "two")]).await;
    let revoke = format!("/1/contexts/{}", desk.get("/1").await["contexts"][0]["id"]);
    let (gate, mut held) = held(&desk).await;
    // The effect stands behind the person's word.
    let effect = async {
        desk.app.until(WAITING, 1).await;
        gate.notify_one();
        desk.app.until(WAITING, 2).await;
        held.execute("COMMIT").await.unwrap();
    };
    let ((status, told), ()) = tokio::join!(desk.ask(Method::DELETE, &revoke, None), effect);
    assert_eq!(status, 200, "{told}");
    desk.asked().await;
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts").await, 0, "a person has to be asked");
    let shown = desk.get("/1").await;
    assert_eq!((&shown["contexts"][0]["uses_left"], &shown["contexts"][0]["void"]), (&json!(5), &json!(true)), "{shown}");
    desk.app.script([keeps(2, "two")]);
    completed(&desk, 2).await;
}

#[tokio::test]
async fn campaign_that_is_paused_behind_an_effect_keeps_it_once_and_ends_no_cycle_any_more() {
    let desk = allowed([("heuristic", "one"), ("heuristic", "two")]).await;
    let (gate, mut held) = held(&desk).await;
    gate.notify_one();
    desk.app.until(WAITING, 1).await;
    // A cycle that follows would be cut off in this.
    desk.app.script([Reply::Hang(String::new())]);
    // The pause stands behind the effect, and before the end of its cycle.
    let effect = async {
        desk.app.until(WAITING, 2).await;
        held.execute("COMMIT").await.unwrap();
    };
    let ((status, paused), ()) = tokio::join!(desk.ask(Method::POST, "/1/pause", None), effect);
    assert_eq!((status, &paused["status"]), (200, &json!("paused")), "{paused}");
    desk.app.run_until_idle().await;
    assert_eq!(desk.app.count("SELECT count(*) FROM tool_calls WHERE state = 'done'").await, 1);
    let shown = desk.get("/1").await;
    assert_eq!((&shown["tasks"][0]["status"], &shown["campaign"]["status"]), (&json!("done"), &json!("paused")), "{shown}");
    assert_eq!((&shown["contexts"][0]["uses_left"], &shown["contexts"][0]["void"]), (&json!(4), &json!(true)), "{shown}");
    desk.check().await;
    desk.app.script.forget();
    desk.app.script([keeps(2, "two")]);
    assert_eq!(desk.ask(Method::POST, "/1/resume", None).await.0, 200);
    completed(&desk, 1).await;
}

#[tokio::test]
async fn campaign_whose_turn_is_given_up_behind_an_effect_goes_on_with_what_it_brought() {
    let desk = allowed([("heuristic", "one"), ("heuristic", "two")]).await;
    let (gate, mut held) = held(&desk).await;
    gate.notify_one();
    desk.app.until(WAITING, 1).await;
    let lease = desk.held().await;
    desk.app.script([keeps(2, "two")]);
    // The end of the turn stands behind the effect, and before the end of its cycle.
    let effect = async {
        desk.app.until(WAITING, 2).await;
        held.execute("COMMIT").await.unwrap();
    };
    let given_up = desk.app.store().fail_turn(&lease, Failure::Server, "It was given up.", desk.app.now());
    let (given_up, ()) = tokio::join!(given_up, effect);
    given_up.unwrap();
    completed(&desk, 0).await;
    let silent = "SELECT count(*) FROM events WHERE kind = 'cycle_ended' AND payload #>> '{campaign,no_answer}' IS NOT NULL";
    assert_eq!(desk.app.count(silent).await, 0, "a model has answered");
    assert_eq!(desk.app.count("SELECT count(*) FROM turns WHERE state = 'failed'").await, 1);
    assert_eq!(desk.app.count("SELECT count(*) FROM events WHERE kind = 'cycle_ended'").await, 2);
}
