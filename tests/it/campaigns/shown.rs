//! An approval is for what was shown: if another thing would happen by then, the person is asked
//! anew. And a task of the model is shown the artifacts that it needs, if a person approved that.

use reqwest::Method;
use serde_json::{Value, json};

use super::Desk;
use crate::support::call;

/// The lines of a question from this place on.
fn lines(approval: &Value, from: usize) -> Vec<&str> {
    approval["shown"]["what"].as_array().unwrap()[from..].iter().map(|line| line.as_str().unwrap()).collect()
}

async fn import(desk: &Desk, csv: &str) {
    let (status, told) = desk.ask(Method::POST, "/1/leads", Some(json!({"csv": csv}))).await;
    assert_eq!(status, 200, "{told}");
}

#[tokio::test]
async fn campaign_artifact_is_asked_about_anew_if_a_person_has_kept_a_version_meanwhile() {
    let wanted = json!({"kind": "artifact_exists", "type": "message", "key": "hello", "min_version": 2});
    let desk = Desk::start(json!([{"description": "Draft it", "requires": [wanted]}])).await;
    desk.app.script([call("generate_message", json!({"task": 1, "key": "hello", "text": "Good day"}))]);
    desk.present().await;
    let first = desk.asked().await;
    assert_eq!(first["shown"]["what"][1], "Keeps the message hello as a draft, version 1; nothing is sent.", "{first}");
    desk.keep("message", "hello", "Dear Ada").await;
    // Their word for messages to come is none for this one, which they were shown as another.
    let allow = json!({"kind": "persist", "type": "message", "count": 3, "until": "2026-11-20T20:00:00Z"});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    desk.decide(&first, "approve").await;
    let second = desk.asked().await;
    assert_eq!(
        second["shown"]["what"][1],
        "Keeps the message hello as a draft, version 2 after version 1, which stays; nothing is sent.",
        "{second}"
    );
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts").await, 1, "nothing is kept by the first approval");
    desk.decide(&second, "approve").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.get("/1").await["campaign"]["status"], "completed");
    assert_eq!(desk.app.count("SELECT count(*) FROM approvals WHERE used_at IS NOT NULL").await, 1);
    desk.check().await;
}

#[tokio::test]
async fn campaign_task_of_the_model_is_shown_the_artifacts_that_it_needs() {
    let wanted = json!([{"kind": "user_answered", "question": "enough"}]);
    let desk = Desk::start(json!([{"description": "Ask", "requires": wanted}])).await;
    desk.keep("context", "about", "We sell shoes").await;
    let needs = json!([{"type": "context", "key": "about"}]);
    let called = json!([{"kind": "tool_succeeded", "tool": "import_leads", "arguments": {"file": "people"}}]);
    let task = json!({"why": "They are missing.", "description": "Import them", "requires": called, "needs": needs});
    desk.app.script([call("create_task", task)]);
    desk.present().await;
    let approval = desk.asked().await;
    let shown = approval["shown"]["what"].to_string();
    for words in [
        "It counts as done when import_leads has succeeded with {\\\"file\\\":\\\"people\\\"}.",
        "While it is open, the model is shown the context about.",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!desk.snapshot().contains("We sell shoes"), "{}", desk.snapshot());
    desk.app.script([call("no_op", json!({"task": 2, "why": "enough"}))]);
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    assert!(desk.snapshot().contains("<artifact context about version 1>\nWe sell shoes\n"), "{}", desk.snapshot());
    let metadata = desk.get("/1").await["tasks"][1]["metadata"].clone();
    assert_eq!((&metadata["needs"], &metadata["requires"]), (&needs, &called), "{metadata}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_import_is_asked_about_with_its_rows_and_anew_if_the_file_is_another_by_then() {
    let imported = json!([{"kind": "tool_succeeded", "tool": "import_leads"}]);
    let desk = Desk::start(json!([{"description": "Import them", "requires": imported}])).await;
    import(&desk, "full_name,profile_url\nAda,https://x.example/a\nBob,https://x.example/b\n").await;
    let people = "full_name,profile_url\nAda L.,https://x.example/a\nBob,https://x.example/b\nGood,https://x.example/g\n";
    desk.keep("file", "people", people).await;
    desk.app.script([call("execute_tool", json!({"task": 1, "tool": "import_leads", "arguments": {"file": "people"}}))]);
    desk.present().await;
    let first = desk.asked().await;
    let shown = lines(&first, 1);
    assert_eq!(shown[0], "Runs import_leads with {\"file\":\"people\"}.");
    let reads = shown[1].strip_prefix("Reads the file people version 1, sha256 ").unwrap_or_else(|| panic!("{first}"));
    assert!(reads.ends_with(". Rows: 3. New leads: 1. Changed leads: 1. Rows that change nothing: 1."), "{first}");
    assert_eq!(shown[2..], ["1: Ada → Ada L., https://x.example/a", "new: Good, https://x.example/g"]);
    desk.keep("file", "people", "full_name,profile_url\nEvil,https://x.example/e\n").await;
    desk.decide(&first, "approve").await;
    let second = desk.asked().await;
    let shown = lines(&second, 2);
    assert!(shown[0].starts_with("Reads the file people version 2, sha256 "), "{second}");
    assert_eq!(shown[1..], ["new: Evil, https://x.example/e"]);
    assert_eq!(desk.app.count("SELECT count(*) FROM leads").await, 2, "nothing is imported by the first approval");
    desk.decide(&second, "approve").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.get("/1").await["campaign"]["status"], "completed");
    let names = "SELECT count(*) FROM leads WHERE full_name IN ('Ada', 'Bob', 'Evil')";
    assert_eq!(desk.app.count(names).await, 3);
    desk.check().await;
}

#[tokio::test]
async fn campaign_status_of_leads_is_asked_about_anew_if_a_person_has_given_another_meanwhile() {
    let wanted = json!([{"kind": "leads_at_least", "status": "qualified", "count": 2}]);
    let desk = Desk::start(json!([{"description": "Judge them", "requires": wanted}])).await;
    import(&desk, "full_name,profile_url\nAda,https://x.example/a\nBob,https://x.example/b\n").await;
    let fits = json!({"task": 1, "key": "fit", "analysis": "Both fit.", "leads": [2, 1, 2], "lead_status": "qualified"});
    desk.app.script([call("analyze_leads", fits)]);
    desk.present().await;
    let first = desk.asked().await;
    let sets = "Sets these leads to qualified: number, name, old status → new status.";
    assert_eq!(lines(&first, 3), [sets, "1, Ada, new → qualified", "2, Bob, new → qualified"]);
    let (status, told) = desk.ask(Method::POST, "/1/leads/status", Some(json!({"lead": 2, "status": "rejected"}))).await;
    assert_eq!(status, 200, "{told}");
    desk.decide(&first, "approve").await;
    let second = desk.asked().await;
    assert_eq!(lines(&second, 3), [sets, "1, Ada, new → qualified", "2, Bob, rejected → qualified"]);
    let done = "SELECT (SELECT count(*) FROM artifacts) + (SELECT count(*) FROM leads WHERE status = 'qualified')";
    assert_eq!(desk.app.count(done).await, 0, "nothing is done by the first approval");
    desk.decide(&second, "approve").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.get("/1").await["campaign"]["status"], "completed");
    desk.check().await;
}
