//! The program's own folder: WhatsApp's session in `whatsapp-session/session.db`, the journal, the
//! record of consent. The session is as good as the account, so nobody but its owner may read it.

use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The folder of the session.
const SESSION: &str = "whatsapp-session";

/// The program's folder.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
    media: PathBuf,
}

impl Folder {
    /// The folder, made if it is not there.
    ///
    /// # Errors
    /// It cannot be made, or the media folder is not inside it.
    pub fn open(root: &str, media: &str) -> io::Result<Self> {
        let (root, media) = (PathBuf::from(root), PathBuf::from(media));
        if !media.starts_with(&root) {
            let text = format!("the media folder {} is not inside {}", media.display(), root.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        private(&root)?;
        private(&media)?;
        Ok(Self { root, media })
    }

    /// The path of the session's database, in a folder (0700) and a file (0600) that are made now
    /// if they are not there.
    ///
    /// # Errors
    /// They cannot be made.
    pub fn session(&self) -> io::Result<PathBuf> {
        let folder = self.root.join(SESSION);
        private(&folder)?;
        let file = folder.join("session.db");
        // SQLite gives its two other files the rights of this one.
        OpenOptions::new().create(true).append(true).mode(0o600).open(&file)?;
        std::fs::set_permissions(&file, Permissions::from_mode(0o600))?;
        Ok(file)
    }

    /// Puts the session aside, so that the next one begins with a QR code. It is kept for a look at
    /// what went wrong; the account has ended it.
    ///
    /// # Errors
    /// The folder cannot be renamed.
    pub fn put_aside(&self, seconds: i64) -> io::Result<()> {
        let session = self.root.join(SESSION);
        if !session.exists() {
            return Ok(());
        }
        let free = (0..).map(|n| self.root.join(format!("{SESSION}.{}", seconds + n))).find(|path| !path.exists());
        std::fs::rename(session, free.unwrap_or_else(|| self.root.join(format!("{SESSION}.old"))))
    }

    /// Deletes the session with its credentials.
    ///
    /// # Errors
    /// The folder cannot be deleted.
    pub fn forget(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(self.root.join(SESSION)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The path of what is known of a ban. It goes with the session, for the next one may be that
    /// of another number.
    pub fn ban(&self) -> PathBuf {
        self.root.join(SESSION).join("ban.json")
    }

    /// The journal's path.
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal")
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Keeps a file that came in, under a name of ours: the sender's name decides nothing.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, name: &str, bytes: &[u8]) -> io::Result<String> {
        use std::io::Write;
        let path = self.media.join(name);
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&path)?;
        file.write_all(bytes)?;
        Ok(path.strip_prefix(&self.root).unwrap_or(&path).to_string_lossy().into_owned())
    }

    /// The bytes of a file to send: a plain file in the media folder, of at most `most` bytes.
    ///
    /// # Errors
    /// It is elsewhere, no plain file, too large, or cannot be read.
    pub fn outgoing(&self, path: &str, most: u64) -> Result<Vec<u8>, String> {
        let wrong = |what: &str| format!("the file `{path}` cannot be sent: {what}");
        let whole = self.root.join(path).canonicalize().map_err(|error| wrong(&error.to_string()))?;
        let media = self.media.canonicalize().map_err(|error| wrong(&error.to_string()))?;
        if !whole.starts_with(&media) {
            return Err(wrong("it is not in the media folder"));
        }
        let about = whole.metadata().map_err(|error| wrong(&error.to_string()))?;
        if !about.is_file() {
            return Err(wrong("it is no plain file"));
        }
        if about.len() > most {
            return Err(wrong(&format!("it has {} bytes, and {most} are the most", about.len())));
        }
        std::fs::read(&whole).map_err(|error| wrong(&error.to_string()))
    }
}

/// Makes a folder that only its owner may enter, or takes everybody else's right to enter it.
fn private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    std::fs::set_permissions(folder, Permissions::from_mode(0o700))
}

#[cfg(test)]
mod tests;
