//! Something happens in a campaign's stream in the middle of a cycle: what the program knows of the
//! campaign does not hold any more, and it decides by a state that it reads anew.

use chrono::TimeDelta;
use reqwest::Method;
use serde_json::json;
use sqlx::{AssertSqlSafe, Executor};

use super::Desk;
use crate::support::{call, text};

/// An event comes into the stream of campaign 1, about nothing that its state has.
const HAPPENS: &str = r#"CREATE FUNCTION level3.happens() RETURNS TRIGGER LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
    BEGIN
        PERFORM append_events((SELECT conversation_id FROM campaigns WHERE id = 1),
            ARRAY['{"kind": "chat_forgotten", "messages": []}'::jsonb], NEW.created_at);
        RETURN NULL;
    END $$"#;

#[tokio::test]
async fn campaign_cycles_go_on_by_the_state_as_it_is_if_something_happens_in_between() {
    // Behind the answer, before the effect; and behind the effect, before the end of the cycle.
    for table in ["tool_calls", "audit_entries"] {
        let desk = Desk::start(json!([
            {"description": "Keep a note", "requires": [{"kind": "artifact_exists", "type": "heuristic", "key": "one"}]},
            {"description": "Keep a file", "requires": [{"kind": "artifact_exists", "type": "file", "key": "never"}]},
        ]))
        .await;
        let until = (desk.app.now() + TimeDelta::hours(1)).to_rfc3339();
        let allow = json!({"kind": "persist", "count": 5, "until": until});
        assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
        let mut behind = desk.app.behind().await;
        behind.execute(HAPPENS).await.unwrap();
        let after = format!(
            "CREATE CONSTRAINT TRIGGER happens AFTER INSERT ON level3.{table} DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION level3.happens()"
        );
        behind.execute(AssertSqlSafe(after)).await.unwrap();
        let keeps = |task: i64, key: &str| {
            call("persist_artifact", json!({"task": task, "type": "heuristic", "key": key, "content": "Be brief"}))
        };
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
