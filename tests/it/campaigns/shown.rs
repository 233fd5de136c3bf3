//! An approval is for what was shown: if another thing would happen by then, the person is asked
//! anew. And a task of the model is shown the artifacts that it needs, if a person approved that.

use serde_json::json;

use super::Desk;
use crate::support::call;

#[tokio::test]
async fn campaign_artifact_is_asked_about_anew_if_a_person_has_kept_a_version_meanwhile() {
    let wanted = json!({"kind": "artifact_exists", "type": "message", "key": "hello", "min_version": 2});
    let desk = Desk::start(json!([{"description": "Draft it", "requires": [wanted]}])).await;
    desk.app.script([call("generate_message", json!({"task": 1, "key": "hello", "text": "Good day"}))]);
    desk.present().await;
    let first = desk.asked().await;
    assert_eq!(first["shown"]["what"][1], "Keeps the message hello as a draft, version 1; nothing is sent.", "{first}");
    desk.keep("message", "hello", "Dear Ada").await;
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
