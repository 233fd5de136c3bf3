//! The server itself, as its operator looks at it and changes it over `/api`.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::Mutex;

use crate::config::SettingSources;
use crate::model::checks::Looking;
use crate::wire::api::MadeBackup;

/// Makes a backup in the data folder, or says why not.
pub type BackupMaker = dyn Fn() -> BoxFuture<'static, Result<MadeBackup, String>> + Send + Sync;

/// The parts of the server that its operator looks at and changes.
pub struct Site {
    /// The settings with their places.
    pub sources: SettingSources,
    /// The data folder.
    pub folder: PathBuf,
    /// Looks for models and tries them.
    pub looking: Looking,
    /// Makes backups.
    pub backup: Arc<BackupMaker>,
    /// Held while the settings of the page are changed, or a backup is made: one at a time.
    pub one: Mutex<()>,
}

impl Site {
    /// The folder of files that came with messages, or go with them.
    pub fn media(&self) -> PathBuf {
        self.folder.join("media")
    }

    /// The folder with the pictures of the screen around risky actions.
    pub fn recordings(&self) -> PathBuf {
        self.folder.join("recordings")
    }
}
