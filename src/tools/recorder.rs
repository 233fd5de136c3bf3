//! The recording of an action with a high risk while it runs: pictures of the screen before and
//! after it, and each operation of a script with its request and its answer, reading too. Without a
//! display there are no pictures, and the recording says so by their absence.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use serde_json::Value;

use super::screen::DesktopScreen;
use crate::domain::{ToolCallId, TurnId};
use crate::telemetry::Scrubber;

/// Records. Cheap to clone.
#[derive(Clone)]
pub struct Recorder {
    screen: DesktopScreen,
    folder: PathBuf,
    scrubber: Scrubber,
}

/// The recording of one action. Cheap to clone.
#[derive(Clone)]
pub struct Recording {
    recorder: Recorder,
    turn: TurnId,
    call: ToolCallId,
}

impl Recorder {
    /// Pictures of this screen and operations go below this folder, without the values of secrets.
    pub fn new(screen: DesktopScreen, folder: PathBuf, scrubber: Scrubber) -> Self {
        Self { screen, folder, scrubber }
    }

    /// The recording of an action.
    pub(super) fn of(&self, turn: TurnId, call: ToolCallId) -> Recording {
        Recording { recorder: self.clone(), turn, call }
    }
}

impl Recording {
    /// Takes one picture; a failure is for the log alone, and the action goes on.
    pub(super) async fn picture(&self, when: &str) {
        let Self { recorder: Recorder { screen, .. }, call, .. } = self;
        if screen.missing().is_some() {
            return;
        }
        let picture = match screen.picture().await {
            Ok(picture) => picture,
            Err(error) => return tracing::warn!(%error, %call, "no picture of the screen {when} a risky action"),
        };
        self.keep(&format!("{when}.png"), move |file| fs::write(file, picture)).await;
    }

    /// Notes an operation, with what was answered.
    pub(super) async fn operation(&self, mut operation: Value) {
        self.recorder.scrubber.clean_json(&mut operation);
        let line = format!("{operation}\n");
        let append =
            move |file: PathBuf| OpenOptions::new().create(true).append(true).mode(0o600).open(file)?.write_all(line.as_bytes());
        self.keep("operations.jsonl", append).await;
    }

    async fn keep(&self, name: &str, write: impl FnOnce(PathBuf) -> io::Result<()> + Send + 'static) {
        let Self { recorder, turn, call } = self;
        let folder = recorder.folder.join(format!("turn-{turn}"));
        let file = folder.join(format!("call-{call}-{name}"));
        let written = move || {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            write(file)
        };
        if let Ok(Err(error)) = tokio::task::spawn_blocking(written).await {
            tracing::warn!(%error, %call, name, "a part of a recording is not kept");
        }
    }
}
