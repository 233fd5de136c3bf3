//! Pictures of the screen before and after an action with a high risk. Without a display there are
//! none, and the recording says so by their absence.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use super::screen::DesktopScreen;
use crate::domain::{ToolCallId, TurnId};

/// Takes the pictures. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Recorder {
    screen: DesktopScreen,
    folder: PathBuf,
}

impl Recorder {
    /// Pictures of this screen go below this folder.
    pub fn new(screen: DesktopScreen, folder: PathBuf) -> Self {
        Self { screen, folder }
    }

    /// Takes one picture; a failure is for the log alone, and the action goes on.
    pub(super) async fn take(&self, turn: TurnId, call: ToolCallId, when: &str) {
        if self.screen.missing().is_some() {
            return;
        }
        let picture = match self.screen.picture().await {
            Ok(picture) => picture,
            Err(error) => return tracing::warn!(%error, %call, "no picture of the screen {when} a risky action"),
        };
        let folder = self.folder.join(format!("turn-{turn}"));
        let file = folder.join(format!("call-{call}-{when}.png"));
        let write = move || -> io::Result<()> {
            DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
            fs::write(file, picture)
        };
        if let Ok(Err(error)) = tokio::task::spawn_blocking(write).await {
            tracing::warn!(%error, %call, "a picture of the screen is not kept");
        }
    }
}
