//! The part of a state that an approval is bound to, and the leads in the words of a question.

use super::super::shown::{LeadChanges, bound};
use super::*;

fn imports_people() -> CampaignProposal {
    read("execute_tool", json!({"task": 1, "tool": "import_leads", "arguments": {"file": "people"}}))
}

fn with_file(content: &str) -> CampaignState {
    state(vec![task(1, "in_progress", wants_note())], vec![artifact("file", "people", content)])
}

#[test]
fn campaign_approvals_are_bound_to_what_is_shown_of_the_state() {
    let there = with_file("full_name,profile_url\n");
    let (leads, file) = (there.leads.sha256.clone(), sha256(b"full_name,profile_url\n"));
    let imported = json!({"leads": leads, "file": {"type": "file", "key": "people", "version": 1, "sha256": file}});
    assert_eq!(bound(&there, &imports_people()), Some(imported));
    let bound = |kind: &str, written: Value| bound(&there, &read(kind, written));
    let fits = json!({"task": 1, "key": "fit", "analysis": "x", "leads": [1], "lead_status": "won"});
    assert_eq!(bound("analyze_leads", fits), Some(json!({"version": 1, "leads": leads})));
    assert_eq!(bound("analyze_leads", json!({"task": 1, "key": "fit", "analysis": "x"})), Some(json!({"version": 1})));
    let config = json!({"task": 1, "type": "lead_scoring_config", "key": "scores", "content": "{\"rules\": []}"});
    assert_eq!(bound("persist_artifact", config), Some(json!({"version": 1, "leads": leads})));
    let people = json!({"task": 1, "type": "file", "key": "people", "content": "x"});
    assert_eq!(bound("persist_artifact", people), Some(json!({"version": 2})));
    assert_eq!(bound("no_op", json!({"task": 1, "why": "x"})), None);
}

#[test]
fn campaign_import_is_shown_by_its_first_rows_and_a_file_that_cannot_be_read_by_its_faults() {
    let rows: String = (2..=30).map(|n| format!("\"Lead\n{n}\",https://x.example/{n}\n")).collect();
    let lines = |content: &str| LeadChanges::of(&with_file(content), &imports_people()).unwrap().lines(vec![lead(1), lead(2)]);
    let shown = lines(&format!("full_name,profile_url\nLead 1,https://x.example/1\n{rows}"));
    assert!(shown[0].starts_with("Reads the file people version 1, sha256 "), "{shown:?}");
    let counts = ". Rows: 30. New leads: 28. Changed leads: 1. Rows that change nothing: 1.";
    assert!(shown[0].ends_with(counts), "{shown:?}");
    assert_eq!(shown[1], "The first 20 new and changed ones:");
    assert_eq!(shown[2], "2: Lead 2 → Lead 2, https://x.example/2", "no name is two lines");
    assert_eq!((shown[3].as_str(), shown.len()), ("new: Lead 3, https://x.example/3", 22));
    let [wrong] = lines("full_name,profile_url\n,x\n").try_into().unwrap();
    assert!(wrong.ends_with("It imports nothing: line 2: full_name is empty"), "{wrong}");
}
