//! Tables of the calls that a state has: the newest, and older ones that conditions look for.

use super::super::state::{MOST_CALLS_READ, MadeCall};
use super::*;

fn ran(number: i64, outcome: &str, tool: &str, arguments: Value) -> Value {
    let run = json!({"task": 1, "tool": tool, "arguments": arguments}).to_string();
    json!({"tool_call_id": number, "step_id": number, "name": "execute_tool", "arguments": run, "state": outcome, "refusal": null,
        "ended_at": now()})
}

/// A state whose one task is like this, in which so many calls came after these.
fn followed(task: Value, mut calls: Vec<Value>, by: usize) -> CampaignState {
    calls.extend((100..).take(by).map(|number| ran(number, "done", "browser_read", json!({}))));
    let rows = CampaignRows { campaign: campaign("active"), tasks: vec![task], calls, ..CampaignRows::default() };
    CampaignState::of(rows).unwrap()
}

#[test]
fn campaign_state_has_of_older_calls_the_newest_of_each_run_that_an_open_task_looks_for() {
    let older = || {
        vec![
            ran(1, "done", "import_leads", json!({"file": "people"})),
            ran(2, "done", "import_leads", json!({"file": "people", "more": 1})),
            ran(3, "failed", "import_leads", json!({"file": "people"})),
            ran(4, "done", "import_leads", json!({"file": "others"})),
            ran(5, "done", "run_script", json!({"script": "sum"})),
            ran(6, "done", "run_script", json!({"script": "js_script/sum"})),
            ran(7, "done", "run_script", json!({"script": "sums"})),
        ]
    };
    let imported = |arguments: Value| json!([{"kind": "tool_succeeded", "tool": "import_leads", "arguments": arguments}]);
    let people = || imported(json!({"file": "people"}));
    for (status, metadata, needed) in [
        ("in_progress", json!({"requires": people()}), vec![2]),
        ("blocked", json!({"preconditions": people()}), vec![2]),
        ("done", json!({"requires": people()}), vec![]),
        ("pending", json!({"requires": imported(Value::Null)}), vec![4]),
        ("pending", json!({"requires": [{"kind": "script_succeeded", "artifact": "python_script/sum"}]}), vec![5, 6]),
        ("pending", wants_note(), vec![]),
    ] {
        let there = followed(task(1, status, metadata.clone()), older(), MOST_CALLS_READ);
        let numbers = there.calls.iter().map(|call| call.tool_call_id.0).filter(|number| *number < 100);
        assert_eq!(numbers.collect::<Vec<_>>(), needed, "{status} {metadata}");
        assert_eq!(there.calls.len(), MOST_CALLS_READ + needed.len(), "{status} {metadata}");
    }
}

#[test]
fn campaign_call_that_ends_takes_no_proof_away() {
    let wants = json!({"requires": [{"kind": "tool_succeeded", "tool": "score_leads"}], "begun_at": now()});
    let first = vec![ran(1, "done", "score_leads", json!({}))];
    let mut there = followed(task(1, "in_progress", wants), first, MOST_CALLS_READ - 1);
    let ended: MadeCall = serde_json::from_value(ran(999, "failed", "browser_read", json!({}))).unwrap();
    there.end_call(&ended);
    let proven = verify(&there, &there.tasks[0], now()).unwrap();
    assert_eq!((there.calls.len(), proven[0].calls.as_slice()), (MOST_CALLS_READ + 1, [1].as_slice()));
}
