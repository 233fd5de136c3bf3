//! The home of the operator, `~/.zeta`: its settings, its logs, its scripts, and the data of its
//! server. Nobody else may look into it.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use crate::cli::CliError;
use crate::cli::model_key::KeptKey;
use crate::config::OperatorEnvironment;
use crate::whole_file;

/// The name of the folder.
const NAME: &str = ".zeta";
/// The folders that a person finds in it from the beginning.
const FOLDERS: [&str; 4] = ["logs", "scripts", "media", "recordings"];
/// The folder of the WhatsApp program.
const WHATSAPP: &str = "channels/whatsapp";
/// The folder of its session, in that.
const SESSION: &str = "whatsapp-session";

/// The home, which may not exist yet.
#[derive(Clone, Debug)]
pub struct OperatorHome {
    path: PathBuf,
}

impl OperatorHome {
    /// The folder that is meant.
    pub(super) fn find(given: Option<&Path>, environment: &OperatorEnvironment) -> Result<Self, CliError> {
        let own = || environment.user_home.as_ref().map(|home| home.join(NAME));
        let path = given.map(Path::to_owned).or_else(|| environment.home.clone()).or_else(own);
        let none = || CliError::Usage("there is no home folder (HOME is unset): name one, like --home ./zeta".to_owned());
        let path = path.ok_or_else(none)?;
        Ok(Self { path: std::path::absolute(&path).map_err(file(&path))? })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder with what belongs into it, and closes it to others.
    pub(super) fn make(&self) -> Result<(), CliError> {
        // A server of root's has its Postgres run under another account, which has to pass through.
        // SAFETY: geteuid takes nothing and cannot fail.
        let mode = if unsafe { libc::geteuid() } == 0 { 0o711 } else { 0o700 };
        DirBuilder::new().recursive(true).mode(mode).create(&self.path).map_err(file(&self.path))?;
        fs::set_permissions(&self.path, Permissions::from_mode(mode)).map_err(file(&self.path))?;
        for name in FOLDERS {
            let folder = self.path.join(name);
            DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(file(&folder))?;
        }
        Ok(())
    }

    /// The settings.
    pub(super) fn config_file(&self) -> PathBuf {
        self.path.join("config.json")
    }

    fn key_file(&self) -> PathBuf {
        self.path.join("model-key")
    }

    /// The text of the settings; `None` if there are none yet.
    pub(super) fn config_text(&self) -> Result<Option<String>, CliError> {
        let path = self.config_file();
        let no_text = |error: FromUtf8Error| {
            let (path, place) = (path.display(), error.utf8_error().valid_up_to());
            CliError::Usage(format!("{path}: this is no UTF-8 text, from byte {} on; save it as UTF-8", place + 1))
        };
        match fs::read(&path) {
            Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(no_text),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(file(&path)(error)),
        }
    }

    /// The key of the model, if one was given. Its file is closed to others, as the home is.
    pub(super) fn model_key(&self) -> Result<Option<KeptKey>, CliError> {
        let path = self.key_file();
        match fs::read_to_string(&path) {
            Ok(text) => {
                let mode = fs::metadata(&path).map_err(file(&path))?.permissions().mode();
                if mode & 0o077 != 0 {
                    fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(file(&path))?;
                    let told = "others could read the model's key; its file is closed to them now";
                    let _ = writeln!(io::stderr(), "{told}: {}", path.display());
                }
                Ok(KeptKey::read(&text))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(file(&path)(error)),
        }
    }

    /// Keeps the key of the model, with the place that it is for.
    pub(super) fn keep_key(&self, key: &str, place: &str) -> Result<(), CliError> {
        self.keep(&self.key_file(), &KeptKey::written(key, place))
    }

    /// The same of a key whose file a person wrote. A file that comes from elsewhere, by a link or
    /// a mount, stays as it is.
    pub(super) fn note_place(&self, key: &str, place: &str) {
        if self.key_file().symlink_metadata().is_ok_and(|facts| facts.is_file()) {
            let _ = self.keep_key(key, place);
        }
    }

    /// Takes the key of the model away.
    pub(super) fn forget_key(&self) -> Result<(), CliError> {
        let path = self.key_file();
        fs::remove_file(&path).map_err(file(&path))
    }

    /// Writes a file that nobody else may read, whole.
    pub(super) fn keep(&self, path: &Path, content: &str) -> Result<(), CliError> {
        whole_file::write(path, content.as_bytes()).map_err(file(path))
    }

    /// The log of a task.
    pub(super) fn log(&self, task: i64) -> PathBuf {
        self.path.join("logs").join(format!("turn-{task}.jsonl"))
    }

    /// The folder of the WhatsApp program, made if it is missing; `whatsapp-session` in the home
    /// leads to the session in it.
    pub(super) fn whatsapp(&self) -> Result<PathBuf, CliError> {
        let folder = self.path.join(WHATSAPP);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(file(&folder))?;
        let link = self.path.join(SESSION);
        if link.symlink_metadata().is_err() {
            symlink(Path::new(WHATSAPP).join(SESSION), &link).map_err(file(&link))?;
        }
        Ok(folder)
    }

    /// True if there is a session of WhatsApp.
    pub(super) fn has_session(&self) -> bool {
        self.path.join(WHATSAPP).join(SESSION).exists()
    }

    /// Puts the WhatsApp session aside; its new name, if there was one.
    pub(super) fn reset_session(&self) -> Result<Option<PathBuf>, CliError> {
        let session = self.whatsapp()?.join(SESSION);
        if !session.exists() {
            return Ok(None);
        }
        let free = (1..).map(|number| session.with_file_name(format!("{SESSION}.{number}"))).find(|aside| !aside.exists());
        let aside = free.expect("there are more numbers than folders");
        fs::rename(&session, &aside).map_err(file(&session))?;
        Ok(Some(aside))
    }
}

/// An error about a file.
pub(super) fn file(path: &Path) -> impl Fn(io::Error) -> CliError + use<> {
    let path = path.to_owned();
    move |source| CliError::File { path: path.clone(), source }
}
