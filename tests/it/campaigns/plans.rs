//! A campaign whose model was silent for long: its cycles added events, and a cycle reads no more
//! of them than before.

use chrono::TimeDelta;
use reqwest::Method;
use serde_json::json;
use sqlx::Executor;

use super::Desk;
use super::cut::{BEGUN, runs};
use super::scripts::wants;
use crate::plans::reads;
use crate::support::{TestApp, api};

/// 30,000 events of cycles without an answer, and calls in another conversation.
const SILENT: &str = "
    SET session_replication_role = replica;
    INSERT INTO conversations (conversation_id, profile, created_at) VALUES (1000, 'builder', now());
    INSERT INTO events (conversation_id, sequence, position, kind, payload, created_at, hash)
        SELECT conversation_id, 1000 + g, 1000000 + g, 'cycle_asked', '{}', now(), '' FROM campaigns, generate_series(1, 30000) g;
    INSERT INTO events (conversation_id, sequence, position, kind, payload, created_at, hash)
        SELECT 1000, g, 2000000 + g, 'tool_call_ended', '{}', now(), '' FROM generate_series(1, 30000) g;
    UPDATE conversations SET last_sequence = 31000 WHERE conversation_id IN (SELECT conversation_id FROM campaigns);
    SELECT setval('event_positions', 10000000);
    SET session_replication_role = origin;
    ANALYZE";

#[tokio::test(flavor = "multi_thread")]
async fn campaign_cycle_that_is_cut_after_a_silent_week_reads_few_events() {
    let mut desk = Desk::start(wants("sum")).await;
    desk.keep("js_script", "sum", "for (;;) {}").await;
    desk.keep("file", "people", "name,age\n").await;
    let until = (desk.app.now() + TimeDelta::hours(1)).to_rfc3339();
    let allow = json!({"kind": "script", "count": 3, "until": until});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    desk.app.stop().await;
    desk.app.rewrites("its events were not made by cycles");
    desk.app.behind().await.execute(SILENT).await.unwrap();
    let read = reads(&mut desk.app, "events", async |app: &TestApp| {
        app.script([runs()]);
        assert_eq!(api::ask(app, Method::POST, "/api/campaigns/1/present", None).await.0, 200);
        app.until(BEGUN, 1).await;
        assert_eq!(api::ask(app, Method::POST, "/api/campaigns/1/pause", None).await.0, 200);
        app.run_until_idle().await;
    });
    let read = read.await;
    assert!(read < 5_000, "{read} of the 30000 events were read");
    assert_eq!(desk.app.count("SELECT count(*) FROM events WHERE kind = 'script_ran'").await, 1, "the cut is recorded");
}
