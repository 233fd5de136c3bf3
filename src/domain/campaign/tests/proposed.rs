//! Tasks as a model proposes them: conditions in one flat form, and the artifacts that are shown.

use super::super::judge::read_task;
use super::*;

fn proposed(part: &Value) -> Result<TaskMetadata, String> {
    let mut whole = json!({"why": "More is needed.", "description": "Another one"});
    for (name, value) in part.as_object().unwrap() {
        whole[name.as_str()] = value.clone();
    }
    match CampaignProposal::read("create_task", &whole)? {
        CampaignProposal::CreateTask(new) => read_task(&new),
        other => panic!("{other:?}"),
    }
}

#[test]
fn campaign_tasks_of_a_model_may_require_a_call_with_arguments_and_need_artifacts() {
    let wanted = json!({"kind": "tool_succeeded", "tool": "import_leads", "arguments": {"file": "people"}});
    let needs = json!([{"type": "context", "key": "about"}, {"type": "file"}]);
    let made = proposed(&json!({"requires": [wanted], "needs": needs})).unwrap();
    assert_eq!((json!(made.requires), json!(made.needs)), (json!([wanted]), needs));
    let words: Vec<_> = made.needs.iter().map(ToString::to_string).collect();
    assert_eq!(words, ["the context about", "all of the type file"]);
    for (part, fault) in [
        (json!({"needs": [{"type": "virus"}]}), "needs[0].type: `virus` is none of"),
        (json!({"needs": [{"type": "file", "key": "A B"}]}), "needs[0].key: `A B` is no key"),
        (json!({"needs": [{"key": "about"}]}), "missing field `type`"),
        (json!({"requires": [{"kind": "tool_succeeded", "tool": "import_leads", "arguments": "people"}]}), "invalid type"),
        (
            json!({"requires": [{"kind": "user_answered", "question": "q", "arguments": {}}]}),
            "requires[0]: unknown field `arguments`",
        ),
    ] {
        let refused = proposed(&part).unwrap_err();
        assert!(refused.contains(fault), "{refused}");
    }
    let without = read("create_task", json!({"why": "More is needed.", "description": "Another one"}));
    assert_eq!(json!(without).get("needs"), None, "its fingerprint is that of before");
}
