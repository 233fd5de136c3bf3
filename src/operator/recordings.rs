//! Recordings of actions with a high risk: a file for each, made from what the database has. The
//! operations in whole and the pictures of the screen beside it are kept when the action runs.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use serde_json::json;

use crate::domain::{ConversationId, TurnId, as_written};
use crate::store::{RecordedAction, Store, StoreError};
use crate::whole_file;

/// The folder of the recordings.
pub(super) const RECORDINGS: &str = "recordings";

/// The words about the recording of a task, which could not be written for this reason, if there is
/// one.
pub(super) fn words_about(turn: TurnId, unwritten: Option<&String>) -> String {
    match unwritten {
        None => format!("Recorded in {RECORDINGS}/turn-{turn}."),
        Some(why) => format!(
            "⚠ The recording could not be written to {RECORDINGS}/turn-{turn} ({why}). level3 tries again; the page shows the \
             action meanwhile."
        ),
    }
}

/// The tasks with a recording that could not be written, each with the reason.
pub(super) type Unwritten = BTreeMap<TurnId, String>;

/// Writes the recordings that are not there yet.
pub(super) async fn write(store: &Store, conversation: ConversationId, home: &Path) -> Result<Unwritten, StoreError> {
    let mut unwritten = Unwritten::new();
    for action in store.risky_actions(conversation, None).await? {
        let folder = home.join(RECORDINGS).join(format!("turn-{}", action.turn));
        let file = folder.join(format!("call-{}.json", action.call));
        if !is_whole(&file, &folder.join(format!("call-{}-after.png", action.call)))
            && let Err(error) = keep(&action, &folder, &file)
        {
            tracing::warn!(%error, file = %file.display(), "a recording cannot be written");
            unwritten.insert(action.turn, error.to_string());
        }
    }
    Ok(unwritten)
}

/// True if a recording is there, and was written behind the picture after its action, which may
/// come late.
fn is_whole(file: &Path, after: &Path) -> bool {
    let written = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
    written(file).is_some_and(|file| written(after).is_none_or(|after| after <= file))
}

fn keep(action: &RecordedAction, folder: &Path, file: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let beside = |part: &str| {
        let name = format!("call-{}-{part}", action.call);
        folder.join(&name).exists().then_some(name)
    };
    let recording = json!({
        "turn": action.turn, "call": action.call, "name": action.name, "arguments": as_written(&action.arguments), "state": action.state,
        "governor": action.classification, "result": action.result, "logs": action.logs, "operations": action.operations,
        "proposed_at": action.created_at, "ended_at": action.ended_at,
        "operations_file": beside("operations.jsonl"), "screen_before": beside("before.png"), "screen_after": beside("after.png"),
    });
    // A file that is there is not written again, so it has to be on the disk.
    whole_file::write(file, (serde_json::to_string_pretty(&recording)? + "\n").as_bytes())
}
