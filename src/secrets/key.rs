//! The key that seals secrets: 32 random bytes in a file of the data folder that only this user may
//! read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use secrecy::zeroize::Zeroizing;
use sha2::{Digest, Sha256};

use crate::clock::Random;

/// The file's name in the data folder.
pub const FILE: &str = "secret-key";
const BYTES: usize = 32;

/// A key. Its memory is cleared when it is dropped.
pub(super) struct Key(Zeroizing<[u8; BYTES]>);

impl Key {
    pub(super) fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    /// Tells this key from others and says nothing else of it.
    pub(super) fn fingerprint(&self) -> [u8; BYTES] {
        Sha256::new().chain_update("level3 secret-key").chain_update(*self.0).finalize().into()
    }
}

/// Why the key cannot be used; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Others may read it.
    #[error(
        "others may read the key of the secrets; run `chmod 600 {0}`, and consider the secrets known if others use this machine"
    )]
    Open(PathBuf),
    /// It is something else.
    #[error(
        "{0} is not a key of secrets ({BYTES} bytes); restore it from your backup of the data folder, or remove it and set the secrets \
         anew"
    )]
    NoKey(PathBuf),
    /// It cannot be read or written.
    #[error("the key of the secrets in {path} cannot be read or made")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Reads the key; `None` when there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Key>, KeyError> {
    let failed = |source| KeyError::Io { path: path.to_owned(), source };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() || metadata.len() != BYTES as u64 {
        return Err(KeyError::NoKey(path.to_owned()));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(KeyError::Open(path.to_owned()));
    }
    let mut bytes = Zeroizing::new([0; BYTES]);
    file.read_exact(&mut *bytes).map_err(failed)?;
    Ok(Some(Key(bytes)))
}

/// Makes a key if there is none, all at once or not at all; one that somebody else made in the
/// meantime is used instead.
pub(super) fn make(path: &Path, random: &dyn Random) -> Result<Key, KeyError> {
    let failed = |source| KeyError::Io { path: path.to_owned(), source };
    let mut bytes = Zeroizing::new([0; BYTES]);
    random.fill(&mut *bytes);
    let mut mark = [0; 8];
    random.fill(&mut mark);
    let beside = path.with_file_name(format!("{FILE}.{}", hex::encode(mark)));
    let written = write(&beside, &*bytes).and_then(|()| match fs::hard_link(&beside, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    let removed = fs::remove_file(&beside);
    written.and(removed).map_err(failed)?;
    // The name must outlive a power cut as well as the bytes do: secrets are sealed with it from
    // now on.
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all()).map_err(failed)?;
    read(path)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
