//! The bounds of a campaign and of its snapshot: how many tasks, which keys, and how much of each
//! task and of artifacts is shown.

use super::*;

/// The most bytes of the artifacts in a snapshot, and of the line that says how much was left out.
const MOST_SHOWN: usize = (16 << 10) + 64;

/// A state with so many tasks.
fn with_tasks(count: i64) -> CampaignState {
    state((1..=count).map(|id| task(id, "pending", wants_note())).collect(), vec![])
}

#[test]
fn campaign_with_200_tasks_takes_no_other_one_from_a_model() {
    let more = || read("create_task", json!({"why": "more is needed", "description": "Another one"}));
    let refused = validate(&with_tasks(200), &more(), 1, now()).unwrap_err();
    assert!(refused.contains("the campaign has 200 tasks, which is the most"), "{refused}");
    assert_eq!(validate(&with_tasks(199), &more(), 1, now()), Ok(()));
}

#[test]
fn campaign_snapshot_has_a_line_of_160_bytes_at_most_for_each_task() {
    for letter in ["a", "é", "字", "🌍"] {
        let mut there = with_tasks(200);
        for task in &mut there.tasks {
            task.description = letter.repeat(2_000);
        }
        let shown = snapshot(&there, now(), &tool_lines());
        let tasks = shown.split_once("\n## Tasks\n").unwrap().1.split_once("\n\n").unwrap().0;
        let lines: Vec<_> = tasks.lines().collect();
        assert_eq!(lines.len(), 200, "{letter}");
        for (n, line) in lines.into_iter().enumerate() {
            let begins = format!("{} [pending] {letter}{letter}", n + 1);
            assert!(line.starts_with(&begins) && (157..=160).contains(&line.len()), "{} bytes: {line}", line.len());
        }
    }
}

#[test]
fn campaign_snapshot_has_16_kib_of_artifacts_at_most() {
    let metadata = json!({"requires": wants_note()["requires"], "needs": [{"type": "context"}]});
    for letter in ["a", "é", "字", "🌍"] {
        let content = letter.repeat(20_000);
        let kept = ["one", "two"].map(|key| artifact("context", key, &content));
        let there = state(vec![task(1, "pending", metadata.clone())], kept.to_vec());
        let shown = snapshot(&there, now(), &tool_lines());
        let artifacts = shown.split_once("\n## Artifacts\n===\n").unwrap().1.split_once("\n===\n").unwrap().0;
        assert!(artifacts.contains("bytes left out here"), "{letter}");
        assert!((16_000..=MOST_SHOWN).contains(&artifacts.len()), "{letter}: {}", artifacts.len());
    }
}

#[test]
fn campaign_key_of_dots_alone_is_refused_and_one_that_was_kept_is_still_read() {
    for key in [".", "..", "..."] {
        let refused = check_key(key).unwrap_err();
        assert!(refused.starts_with(&format!("`{key}` is no key")) && refused.ends_with("not dots alone"), "{refused}");
        let proposed = read("generate_message", json!({"task": 1, "key": key, "text": "x"}));
        let refused = validate(&with_tasks(1), &proposed, 1, now()).unwrap_err();
        assert!(refused.contains("not dots alone"), "{refused}");
        let there = state(vec![task(1, "pending", wants_note())], vec![artifact("message", key, "x")]);
        assert_eq!(there.artifact(ArtifactType::Message, key).unwrap().version, 1);
    }
    for key in [".env", "a..", "-.", "..1"] {
        assert_eq!(check_key(key), Ok(()), "{key}");
    }
}
