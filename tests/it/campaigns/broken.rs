//! Campaigns that are not what was kept: they end as `error` with the reason, are shown, and can be
//! copied. And the check before a start.

use level3::model::ModelErrorKind;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Executor};

use super::{Desk, two_tasks};
use crate::support::{Peer, Reply, TestApp, api, text};

impl Desk {
    /// Changes something behind the server's back.
    async fn damage(&self, statement: &'static str) {
        self.app.rewrites("a campaign is damaged by hand");
        let mut behind = self.app.behind().await;
        for statement in ["ALTER TABLE artifacts DISABLE TRIGGER USER", statement, "ALTER TABLE artifacts ENABLE TRIGGER USER"] {
            behind.execute(AssertSqlSafe(statement)).await.unwrap();
        }
    }

    /// It is broken for this reason, which its log has once.
    async fn is_broken(&self, why: &str) -> Value {
        let shown = self.get("/1").await;
        assert_eq!(shown["campaign"]["status"], "error", "{shown}");
        assert!(shown["campaign"]["reason"].as_str().unwrap().contains(why), "{shown}");
        let broken = "SELECT count(*) FROM events WHERE kind = 'campaign_changed' AND payload ->> 'input' = 'break'";
        assert_eq!(self.app.count(broken).await, 1);
        shown
    }
}

#[tokio::test]
async fn campaign_with_a_changed_artifact_is_shown_as_broken_and_can_be_copied() {
    let desk = Desk::start(two_tasks()).await;
    desk.keep("context", "campaign_context", "Sell").await;
    desk.keep("heuristic", "tone", "Warm").await;
    desk.damage("UPDATE artifacts SET content = 'Buy' WHERE artifact_type = 'context'").await;
    let why = "the context campaign_context version 1 does not fit its sha256";
    let shown = desk.is_broken(why).await;
    assert_eq!(shown["tasks"].as_array().unwrap().len(), 2, "{shown}");
    let artifacts = shown["artifacts"].as_array().unwrap();
    assert_eq!((artifacts.len(), &artifacts[0]["key"]), (1, &json!("tone")), "what was changed is left out: {shown}");
    for path in ["/1/state", "/1/export", "/1/artifacts/context/campaign_context"] {
        let (status, refused) = desk.ask(Method::GET, path, None).await;
        assert!(status == 409 && refused["error"].as_str().unwrap().contains(why), "{path}: {status} {refused}");
    }
    desk.is_broken(why).await;
    assert_eq!(desk.ask(Method::POST, "/1/copy", None).await, (200, json!({"id": 2})));
    let copy = desk.get("/2").await;
    assert_eq!(copy["campaign"]["status"], "initializing", "{copy}");
    assert_eq!((&copy["artifacts"][0]["key"], copy["artifacts"].as_array().unwrap().len()), (&json!("tone"), 1), "{copy}");
}

#[tokio::test]
async fn campaign_with_a_changed_artifact_is_broken_by_a_reading_of_its_state_too() {
    let desk = Desk::start(two_tasks()).await;
    desk.keep("context", "campaign_context", "Sell").await;
    desk.damage("UPDATE artifacts SET content = 'Buy'").await;
    assert_eq!(desk.ask(Method::GET, "/1/state", None).await.0, 409);
    desk.is_broken("does not fit its sha256").await;
}

#[tokio::test]
async fn campaign_that_is_not_what_was_kept_is_broken_as_it_is_resumed() {
    for (damage, why) in [
        ("UPDATE artifacts SET content = 'Hot' WHERE version = 1", "the heuristic tone version 1 does not fit its sha256"),
        ("DELETE FROM artifacts WHERE version = 2", "the heuristic tone version 2 is gone"),
        (
            "UPDATE artifacts SET content = 'Hot', sha256 = encode(sha256('Hot'), 'hex') WHERE version = 2",
            "the heuristic tone version 2 is not what its event says",
        ),
        (
            "UPDATE events SET created_at = created_at - interval '1 microsecond'
             WHERE conversation_id = (SELECT conversation_id FROM campaigns WHERE id = 1) AND sequence = 2",
            "event 2 does not fit its hash",
        ),
    ] {
        let desk = Desk::start(two_tasks()).await;
        desk.keep("heuristic", "tone", "Warm").await;
        desk.keep("heuristic", "tone", "Cold").await;
        assert_eq!(desk.ask(Method::POST, "/1/pause", None).await.0, 200);
        desk.damage(damage).await;
        assert_eq!(desk.get("/1").await["campaign"]["status"], "paused", "its newest artifacts hold");
        let (_, verified) = desk.ask(Method::POST, "/1/verify", None).await;
        assert!(verified["clean"] == false && verified["broken"].to_string().contains(why), "{verified}");
        let (status, refused) = desk.ask(Method::POST, "/1/resume", None).await;
        let told = refused["error"].as_str().unwrap();
        assert!(status == 409 && told.contains(why) && told.contains("level3 campaign copy 1"), "{refused}");
        let shown = desk.is_broken(why).await;
        let changed = shown["artifacts"].to_string().contains("\"version\":2") && damage.contains("version = 2");
        assert!(!changed, "it is shown without what was changed: {shown}");
        assert_eq!(desk.ask(Method::POST, "/1/copy", None).await, (200, json!({"id": 2})));
        assert_eq!(desk.ask(Method::POST, "/2/verify", None).await.1["clean"], true);
    }
}

#[tokio::test]
async fn campaign_with_a_condition_that_this_version_does_not_know_is_broken_and_says_which() {
    for damage in [
        r#"UPDATE campaign_tasks SET metadata = metadata || '{"requires": [{"kind": "moon_is_full"}]}' WHERE id = 1"#,
        r#"UPDATE campaign_tasks SET metadata = metadata || '{"preconditions": [{"kind": "moon_is_full"}]}' WHERE id = 1"#,
    ] {
        let desk = Desk::start(two_tasks()).await;
        let asked = desk.app.script.requests().len();
        desk.damage(damage).await;
        desk.present().await;
        let shown = desk.is_broken("unknown variant `moon_is_full`, expected one of `task_done`").await;
        assert_eq!(shown["tasks"].as_array().unwrap().len(), 1, "the other one is shown: {shown}");
        let (status, refused) = desk.ask(Method::GET, "/1/state", None).await;
        assert!(status == 409 && refused["error"].as_str().unwrap().contains("moon_is_full"), "{refused}");
        assert_eq!(desk.app.script.requests().len(), asked, "no model is asked about it");
    }
}

#[tokio::test]
async fn campaign_whose_chain_is_broken_is_not_started_but_ended() {
    let desk = Desk { app: TestApp::start().await };
    assert_eq!(desk.ask(Method::POST, "", Some(json!({"name": "Outreach", "tasks": two_tasks()}))).await.0, 200);
    desk.damage(
        "UPDATE events SET created_at = created_at - interval '1 microsecond'
         WHERE conversation_id = (SELECT conversation_id FROM campaigns WHERE id = 1) AND sequence = 2",
    )
    .await;
    let (status, refused) = desk.ask(Method::POST, "/1/start", None).await;
    let (told, why) = (refused["error"].as_str().unwrap(), "event 2 does not fit its hash");
    assert!(status == 409 && told.contains(why) && told.contains("level3 campaign copy 1"), "{refused}");
    desk.is_broken(why).await;
    assert!(desk.app.script.requests().is_empty(), "no model is asked");
}

#[tokio::test]
async fn campaign_start_asks_the_models_that_its_cycles_would_ask() {
    let peer = Peer::start().await;
    let desk = Desk { app: TestApp::with(&[("LLAMACPP_BASE_URL", &format!("{}/v1", peer.host()))]).await };
    let models = json!({"models": ["llamacpp/one"]});
    assert_eq!(api::ask(&desk.app, Method::PUT, "/api/policy/campaign", Some(models)).await.0, 200);
    assert_eq!(desk.ask(Method::POST, "", Some(json!({"name": "Outreach", "tasks": two_tasks()}))).await.0, 200);
    // The client first asks the server how much the model can take; this server does not say.
    peer.will_answer(404, "text/plain", "");
    let ready = json!({"model": "one", "choices": [{"message": {"content": "ready"}, "finish_reason": "stop"}]});
    peer.will_answer(200, "application/json", ready.to_string());
    let (status, started) = desk.ask(Method::POST, "/1/start", None).await;
    assert_eq!((status, &started["status"]), (200, &json!("active")), "{started}");
    assert!(desk.app.script.requests().is_empty(), "the model that is set is not the profile's");
    assert_eq!(peer.arrived().iter().filter(|arrived| arrived.path.starts_with("/v1/chat")).count(), 1);
}

#[tokio::test]
async fn campaign_start_without_a_model_says_what_to_do() {
    let desk = Desk { app: TestApp::start().await };
    assert_eq!(desk.ask(Method::POST, "", Some(json!({"name": "Outreach", "tasks": two_tasks()}))).await.0, 200);
    desk.app.script([Reply::Fail(ModelErrorKind::Unreachable, "nobody answers there".to_owned())]);
    let (status, refused) = desk.ask(Method::POST, "/1/start", None).await;
    let told = refused["error"].as_str().unwrap();
    assert!(status == 409 && told.contains("no model answers") && told.contains("level3 models"), "{refused}");
}

#[tokio::test]
async fn campaign_does_not_start_on_the_tables_of_another_program() {
    let desk = Desk { app: TestApp::start().await };
    assert_eq!(desk.ask(Method::POST, "", Some(json!({"name": "Outreach", "tasks": two_tasks()}))).await.0, 200);
    let mut behind = desk.app.behind().await;
    let later = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                 VALUES (99991231000000, 'of a later program', TRUE, '', 0)";
    behind.execute(later).await.unwrap();
    let (status, refused) = desk.ask(Method::POST, "/1/start", None).await;
    let told = refused["error"].as_str().unwrap();
    assert!(status == 409 && told.contains("they differ in the migration 99991231000000"), "{refused}");
    assert!(desk.app.script.requests().is_empty(), "no model is asked");
    behind.execute("DELETE FROM _sqlx_migrations WHERE version = 99991231000000").await.unwrap();
    desk.app.script([text("ready")]);
    let (status, started) = desk.ask(Method::POST, "/1/start", None).await;
    assert_eq!((status, &started["status"]), (200, &json!("active")), "{started}");
}
