//! The folder of Relay, `.relay-agent`: its settings, its token, its templates, and the lock of the
//! daemon that runs on it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use url::Url;

use super::RelayCliError;
use super::settings::{HomeConfig, HomeModel};
use crate::cli::model_key::KeptKey;
use crate::clock::Random;
use crate::config::RelayEnvironment;
use crate::whole_file;

/// The name of the folder.
const NAME: &str = ".relay-agent";
/// The daemon's token has at least so many characters; `init` makes 64.
const SHORTEST_TOKEN: usize = 32;
/// The rights that the token's file gives to others.
const OF_OTHERS: u32 = 0o077;

/// How far the daemon of a folder has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DaemonReach {
    /// None runs.
    Gone,
    /// It runs, and its server is on its way.
    Coming,
    /// Its server is ready at this address.
    Ready(Url),
}

/// The folder, which may not exist yet.
#[derive(Clone, Debug)]
pub(super) struct RelayHome {
    path: PathBuf,
}

impl RelayHome {
    /// The folder that is meant: `--home`, else `RELAY_HOME`, else that of the working directory if
    /// it has one, else that of the user.
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

    /// The file that the server writes once it is ready: its address. It is there only while that
    /// server runs.
    pub(super) fn ready_file(&self) -> PathBuf {
        self.path.join("daemon.ready")
    }

    /// True if Relay was set up here.
    pub(super) fn is_set_up(&self) -> bool {
        self.config_file().is_file()
    }

    /// The settings, which `init` has written.
    pub(super) fn config(&self) -> Result<HomeConfig, RelayCliError> {
        self.read_config(HomeConfig::read)
    }

    /// The settings for `init`, which a person may tell the word that their pace lacks.
    pub(super) fn unagreed_config(&self) -> Result<HomeConfig, RelayCliError> {
        self.read_config(HomeConfig::read_unagreed)
    }

    fn read_config(&self, read: fn(&Path, &[u8]) -> Result<HomeConfig, RelayCliError>) -> Result<HomeConfig, RelayCliError> {
        let file = self.config_file();
        match fs::read(&file) {
            Ok(text) => read(&file, &text),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(RelayCliError::NotSetUp(self.path.clone())),
            Err(error) => Err(RelayCliError::file(&file)(error)),
        }
    }

    /// The token, if it keeps others out. That of a level3 which `config.json` names is as its
    /// operator made it.
    pub(super) fn token(&self, config: &HomeConfig) -> Result<SecretString, RelayCliError> {
        let file = self.token_file();
        let wrong = |why: String| Err(RelayCliError::Refused(format!("the token in {} {why}", file.display())));
        let text = fs::read_to_string(&file).map_err(RelayCliError::file(&file))?;
        let (token, mode) = (text.trim(), fs::metadata(&file).map_err(RelayCliError::file(&file))?.permissions().mode());
        if token.is_empty() {
            return wrong("is empty and keeps nobody out; make a new one: relay init".into());
        }
        if mode & OF_OTHERS != 0 {
            return wrong(format!("can be read by others; run: chmod 600 {}", file.display()));
        }
        if token.chars().any(char::is_control) {
            return wrong("is more than one line, which no request can carry; write one".into());
        }
        if config.server.is_none() && token.len() < SHORTEST_TOKEN {
            return wrong(format!("has fewer than {SHORTEST_TOKEN} characters; remove the file and make a new one: relay init"));
        }
        Ok(SecretString::from(token))
    }

    /// The key of this model, if one was given. A key that was given for another place is refused,
    /// and not shown to this one.
    pub(super) fn model_key(&self, model: &HomeModel) -> Result<Option<String>, RelayCliError> {
        let file = self.key_file();
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(RelayCliError::file(&file)(error)),
        };
        let Some(kept) = KeptKey::read(&text) else { return Ok(None) };
        // Without a place a person has written the file for the model of their settings.
        match kept.place {
            Some(place) if place != model.place() => Err(RelayCliError::Refused(format!(
                "the key in {} was given for {place}, and config.json now names {}; give the key for that: relay init --key; or remove the file",
                file.display(),
                model.place()
            ))),
            _ => Ok(Some(kept.key)),
        }
    }

    /// Keeps the key of a model, with the place that it is for.
    pub(super) fn keep_key(&self, key: &str, model: &HomeModel) -> Result<(), RelayCliError> {
        self.keep(&self.key_file(), KeptKey::written(key, &model.place()).as_bytes())
    }

    /// Takes the key of the model away; true if there was one.
    pub(super) fn forget_key(&self) -> Result<bool, RelayCliError> {
        match fs::remove_file(self.key_file()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(RelayCliError::file(&self.key_file())(error)),
        }
    }

    /// Makes the folder with what belongs into it, and closes it to others. A token that is there
    /// stays.
    pub(super) fn make(&self, random: &dyn Random) -> Result<(), RelayCliError> {
        for folder in [&self.path, &self.templates(), &self.path.join("whatsapp")] {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(RelayCliError::file(folder))?;
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(RelayCliError::file(folder))?;
        }
        let file = self.token_file();
        let there = match fs::read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(RelayCliError::file(&file)(error)),
        };
        if there.trim_ascii().is_empty() {
            let mut bytes = [0; 32];
            random.fill(&mut bytes);
            return self.keep(&file, format!("{}\n", hex::encode(bytes)).as_bytes());
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).map_err(RelayCliError::file(&file))
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

    /// True if a daemon holds the folder.
    pub(super) fn is_held(&self) -> Result<bool, RelayCliError> {
        if !self.path.is_dir() {
            return Ok(false);
        }
        // Shared, so that commands that look at the same time do not take each other for the
        // daemon.
        match self.open_lock()?.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(RelayCliError::file(&self.path)(error)),
        }
    }

    /// How far the daemon can be asked, and where. Its own server has said the address;
    /// `config.json` may have another by now.
    pub(super) fn reach(&self) -> Result<DaemonReach, RelayCliError> {
        if !self.is_held()? {
            return Ok(DaemonReach::Gone);
        }
        // A file that is gone, or a line without its end, is of a server that is just going or
        // coming.
        let said = fs::read_to_string(self.ready_file()).unwrap_or_default();
        let Some(line) = said.strip_suffix('\n') else { return Ok(DaemonReach::Coming) };
        let address = line.parse::<SocketAddr>().ok().filter(|address| address.ip().is_loopback());
        let url = address.and_then(|address| Url::parse(&format!("http://{address}/")).ok());
        let other = || RelayCliError::Refused("the Relay daemon is of another version; run: relay stop, then relay start".into());
        url.map(DaemonReach::Ready).ok_or_else(other)
    }

    /// The process of the daemon, if one runs here.
    pub(super) fn running(&self) -> Result<Option<i32>, RelayCliError> {
        if !self.is_held()? {
            return Ok(None);
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
