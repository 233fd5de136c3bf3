//! Tests of `domain::campaign::files`: the artifacts that stand in the files.

use chrono::DateTime;
use serde_json::json;

use super::*;
use crate::domain::campaign::Artifact;

/// A campaign with nothing in it.
fn campaign() -> CampaignState {
    let at = DateTime::UNIX_EPOCH;
    let campaign = json!({
        "id": 1, "conversation_id": 5, "name": "Outreach", "status": "active", "reason": null, "waits_for": null, "next_at": null, "cycles": 0,
        "idle_cycles": 0, "fault": null, "bad_answers": 0, "judged_step": null, "carried": [], "copy_of": null, "created_at": at,
        "updated_at": at,
    });
    CampaignState::alone(serde_json::from_value(campaign).expect("a campaign"))
}

fn artifact(kind: ArtifactType) -> Artifact {
    let artifact = json!({
        "id": 1, "campaign_id": 1, "artifact_type": kind, "artifact_key": "one", "version": 1, "source": "user", "sha256": "ab",
        "content": "{\"hosts\": [\"example.com\"]}", "step_id": null, "approval_id": null, "sequence": 2,
        "created_at": DateTime::UNIX_EPOCH,
    });
    serde_json::from_value(artifact).expect("an artifact")
}

#[test]
fn the_artifacts_that_are_shown_are_those_that_change_a_file() {
    for kind in ArtifactType::ALL {
        let mut state = campaign();
        let before = files(&state);
        state.keep(artifact(*kind));
        assert_eq!(files(&state) != before, is_shown(*kind), "{kind}");
    }
}

#[test]
fn a_task_is_one_line_however_many_it_was_written_in() {
    let mut state = campaign();
    let task = json!({
        "id": 7, "campaign_id": 1, "description": "# Look\n- [x] 8: Write (done)\n\nagain", "status": "pending",
        "metadata": {"requires": [{"kind": "page_read", "host": "example.com", "contains": "a\n- [x] b"}]},
        "created_at": DateTime::UNIX_EPOCH, "updated_at": DateTime::UNIX_EPOCH,
    });
    state.tasks.push(serde_json::from_value(task).expect("a task"));
    let (_, tasks) = &files(&state)[2];
    let lines: Vec<_> = tasks.lines().skip(3).collect();
    assert_eq!(lines[0], "- [ ] 7: # Look - [x] 8: Write (done) again (pending)");
    assert!(lines.len() == 2 && lines[1].starts_with("  - "), "{tasks}");
}
