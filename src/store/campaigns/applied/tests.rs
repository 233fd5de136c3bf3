//! Tests of `store::campaigns::applied`: what follows from a state and new events is the state that
//! all events make.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::*;
use crate::domain::campaign::sha256;
use crate::domain::{CampaignId, ConversationId};
use crate::store::CampaignFold;

const CAMPAIGN: CampaignId = CampaignId(1);

fn at() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH
}

fn push(records: &mut Vec<EventRecord>, event: Value) {
    let event = serde_json::from_value(event).expect("an event");
    records.push(EventRecord { conversation: ConversationId(5), sequence: records.len() as i64 + 1, at: at(), event });
}

fn task(id: i64, status: &str) -> Value {
    let task = json!({
        "id": id, "campaign_id": 1, "description": format!("Task {id}"), "status": status, "created_at": at(), "updated_at": at(),
        "metadata": {"requires": [{"kind": "artifact_exists", "type": "heuristic", "key": "tone"}]},
    });
    json!({"kind": "campaign_task_changed", "task": task, "what": "is so"})
}

fn context(left: i32) -> Value {
    let context = json!({
        "id": 1, "campaign_id": 1, "kind": "persist", "artifact_type": null, "uses_left": left, "until": at() + TimeDelta::hours(1),
        "void": false, "created_at": at(),
    });
    json!({"kind": "context_changed", "context": context})
}

fn artifact(id: i64, kind: &str, key: &str, version: i32) -> Value {
    let content = format!("{key} {version}");
    let artifact = json!({
        "id": id, "campaign_id": 1, "artifact_type": kind, "artifact_key": key, "version": version, "source": "agent",
        "sha256": sha256(content.as_bytes()), "content": content, "step_id": null, "approval_id": null, "created_at": at(),
    });
    json!({"kind": "artifact_kept", "artifact": artifact})
}

/// A campaign with two tasks, an artifact and an approval context.
fn made() -> Vec<EventRecord> {
    let campaign = json!({
        "id": 1, "conversation_id": 5, "name": "Outreach", "status": "active", "reason": null, "waits_for": null, "next_at": null, "cycles": 0,
        "idle_cycles": 0, "fault": null, "bad_answers": 0, "judged_step": null, "carried": [], "copy_of": null, "created_at": at(),
        "updated_at": at(),
    });
    let mut records = Vec::new();
    push(&mut records, json!({"kind": "campaign_changed", "campaign": campaign, "input": null, "what": "is made"}));
    for event in [task(1, "pending"), task(2, "pending"), artifact(1, "heuristic", "tone", 1), context(3)] {
        push(&mut records, event);
    }
    records
}

fn state(records: &[EventRecord]) -> CampaignState {
    CampaignFold::new(CAMPAIGN, records).upto(i64::MAX).expect("a state")
}

#[test]
fn a_state_that_follows_is_the_state_that_all_events_make() {
    let mut records = made();
    let (before, count) = (state(&records), records.len());
    for event in [
        context(2),
        task(1, "in_progress"),
        artifact(2, "heuristic", "tone", 2),
        artifact(3, "analysis", "first", 1),
        artifact(4, "message", "last", 1),
        task(1, "done"),
    ] {
        push(&mut records, event);
        let follows = after(before.clone(), &records[count..]).expect("it follows");
        let made = state(&records);
        assert_eq!((follows.sha256(), &follows), (made.sha256(), &made));
    }
}

#[test]
fn a_state_with_new_tasks_leads_or_pages_is_read() {
    let records = made();
    let before = state(&records);
    let campaign = json!(records[0].event);
    for event in [task(3, "pending"), campaign, json!({"kind": "leads_kept", "leads": [], "what": "are new"})] {
        let mut records = records.clone();
        push(&mut records, event.clone());
        assert_eq!(after(before.clone(), &records[records.len() - 1..]), None, "{event}");
    }
}
