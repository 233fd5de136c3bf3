//! The folder of Relay, `.relay-agent`: its settings, its token, its templates, and the lock of the daemon that runs on it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::RelayCliError;
use super::settings::HomeConfig;
use crate::clock::Random;
use crate::config::RelayEnvironment;
use crate::whole_file;

/// The name of the folder.
const NAME: &str = ".relay-agent";

/// The folder, which may not exist yet.
#[derive(Clone, Debug)]
pub(super) struct RelayHome {
    path: PathBuf,
}

impl RelayHome {
    /// The folder that is meant: `--home`, else `RELAY_HOME`, else that of the working directory if it has one, else that of the user.
    pub(super) fn find(given: Option<&Path>, environment: &RelayEnvironment, here: &Path) -> Result<Self, RelayCliError> {
        let named = given.map(Path::to_owned).or_else(|| environment.home.clone());
        let near = || Some(here.join(NAME)).filter(|folder| folder.is_dir());
        let own = || environment.user_home.as_ref().map(|home| home.join(NAME));
        let Some(path) = named.or_else(near).or_else(own) else {
            return Err(RelayCliError::Usage(
                "there is no home folder (HOME is unset): name one, like --home ./.relay-agent".into(),
            ));
        };
        // The daemon works in another directory.
        Ok(Self { path: here.join(path) })
    }

    /// The folder itself.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The settings.
    pub(super) fn config_file(&self) -> PathBuf {
        self.path.join("config.json")
    }

    /// The token that the server asks for.
    pub(super) fn token_file(&self) -> PathBuf {
        self.path.join("token")
    }

    /// The key of the model.
    pub(super) fn key_file(&self) -> PathBuf {
        self.path.join("model-key")
    }

    /// The folder of templates.
    pub(super) fn templates(&self) -> PathBuf {
        self.path.join("templates")
    }

    /// The data of the server.
    pub(super) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// The log of the daemon.
    pub(super) fn log(&self) -> PathBuf {
        self.path.join("daemon.log")
    }

    /// The number of the daemon's process, while it runs.
    pub(super) fn pid_file(&self) -> PathBuf {
        self.path.join("daemon.pid")
    }

    /// The file that the server writes once it is ready.
    pub(super) fn ready_file(&self) -> PathBuf {
        self.path.join("daemon.ready")
    }

    /// True if Relay was set up here.
    pub(super) fn is_set_up(&self) -> bool {
        self.config_file().is_file()
    }

    /// The settings, which `init` has written.
    pub(super) fn config(&self) -> Result<HomeConfig, RelayCliError> {
        let file = self.config_file();
        match fs::read(&file) {
            Ok(text) => HomeConfig::read(&file, &text),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(RelayCliError::NotSetUp(self.path.clone())),
            Err(error) => Err(RelayCliError::file(&file)(error)),
        }
    }

    /// The token.
    pub(super) fn token(&self) -> Result<SecretString, RelayCliError> {
        let text = fs::read_to_string(self.token_file()).map_err(RelayCliError::file(&self.token_file()))?;
        Ok(SecretString::from(text.trim()))
    }

    /// The key of the model, if one was given.
    pub(super) fn model_key(&self) -> Result<Option<String>, RelayCliError> {
        match fs::read_to_string(self.key_file()) {
            Ok(text) => Ok(Some(text.trim().to_owned()).filter(|key| !key.is_empty())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(RelayCliError::file(&self.key_file())(error)),
        }
    }

    /// Makes the folder with what belongs into it, and closes it to others. A token that is there stays.
    pub(super) fn make(&self, random: &dyn Random) -> Result<(), RelayCliError> {
        for folder in [&self.path, &self.templates(), &self.path.join("whatsapp")] {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(RelayCliError::file(folder))?;
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(RelayCliError::file(folder))?;
        }
        if !self.token_file().exists() {
            let mut bytes = [0; 32];
            random.fill(&mut bytes);
            self.keep(&self.token_file(), format!("{}\n", hex::encode(bytes)).as_bytes())?;
        }
        Ok(())
    }

    /// Writes a file that nobody else may read. One of the same name is replaced at once, whole.
    pub(super) fn keep(&self, file: &Path, content: &[u8]) -> Result<(), RelayCliError> {
        whole_file::write(file, content).map_err(RelayCliError::file(file))
    }

    /// The lock of the daemon. The kernel gives it back when the process ends, however it ends.
    pub(super) fn open_lock(&self) -> Result<File, RelayCliError> {
        let file = self.path.join("daemon.lock");
        let opened = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&file);
        opened.map_err(RelayCliError::file(&file))
    }

    /// Takes the lock; `None` if a daemon has it.
    pub(super) fn take_lock(&self) -> Result<Option<File>, RelayCliError> {
        let lock = self.open_lock()?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(lock)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(RelayCliError::file(&self.path)(error)),
        }
    }

    /// The process of the daemon, if one runs here.
    pub(super) fn running(&self) -> Result<Option<i32>, RelayCliError> {
        if !self.path.is_dir() {
            return Ok(None);
        }
        // Shared, so that commands that look at the same time do not take each other for the daemon.
        match self.open_lock()?.try_lock_shared() {
            Ok(()) => return Ok(None),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(RelayCliError::file(&self.path)(error)),
        }
        let text = fs::read_to_string(self.pid_file()).unwrap_or_default();
        // A number of 0 or less would mean a group of processes.
        let pid = text.trim().parse().ok().filter(|pid| *pid > 1);
        let moment = || RelayCliError::Refused("the Relay daemon is just starting or ending; try again in a moment".into());
        pid.map(Some).ok_or_else(moment)
    }
}

#[cfg(test)]
mod tests;
