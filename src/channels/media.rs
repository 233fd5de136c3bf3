//! Files of contacts: kept under the fingerprint of their bytes, with a kind that their bytes say
//! and never their name.

use std::fs::{self, DirBuilder, File};
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::domain::ImageType;
use crate::domain::relay::MediaNote;
use crate::store::StoreError;
use crate::whole_file;

/// The largest file that is kept.
const MOST_BYTES: u64 = 16 << 20;

/// Copies a file into the folder of media, and says what it is. One that is larger, or no plain
/// file, is noted and not kept.
///
/// # Errors
/// If it cannot be read or written now.
pub(super) async fn keep(path: &Path, folder: &Path) -> Result<MediaNote, StoreError> {
    let (path, folder) = (path.to_owned(), folder.to_owned());
    let kept = tokio::task::spawn_blocking(move || kept(&path, &folder)).await;
    kept.unwrap_or_else(|_panicked| Err(std::io::Error::other("a file could not be kept"))).map_err(StoreError::broken)
}

fn kept(path: &PathBuf, folder: &Path) -> std::io::Result<MediaNote> {
    let refused = |bytes: u64| MediaNote {
        sha256: None,
        kind: "application/octet-stream".to_owned(),
        bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
        omitted: true,
    };
    let facts = match fs::symlink_metadata(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(refused(0)),
        Err(error) => return Err(error),
    };
    if !facts.is_file() || facts.len() > MOST_BYTES {
        return Ok(refused(facts.len()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(facts.len()).unwrap_or_default());
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    put(&bytes, folder)
}

/// Keeps bytes that a tool of ours made, as [`keep`] does.
///
/// # Errors
/// If they cannot be written.
pub fn put(bytes: &[u8], folder: &Path) -> std::io::Result<MediaNote> {
    let sha256: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    write(bytes, folder, &sha256)?;
    let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    Ok(MediaNote { sha256: Some(sha256), kind: kind_of(bytes).to_owned(), bytes: size, omitted: false })
}

/// The file of a note in the folder of media, if it is kept.
pub fn kept_at(note: &MediaNote, folder: &Path) -> Option<PathBuf> {
    note.sha256.as_ref().filter(|name| is_fingerprint(name)).map(|name| folder.join(name))
}

/// True for the name of a file that is kept. Another name could lead out of the folder.
fn is_fingerprint(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn write(bytes: &[u8], folder: &Path, sha256: &str) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let place = folder.join(sha256);
    if !place.exists() {
        whole_file::write(&place, bytes)?;
    }
    Ok(())
}

/// The folder of contacts' files. Cheap to clone.
#[derive(Clone, Debug)]
pub struct MediaFolder(std::sync::Arc<Path>);

impl MediaFolder {
    /// The one at this path; it need not be there yet.
    pub fn at(path: PathBuf) -> Self {
        Self(path.into())
    }

    /// The bytes of a file; `None` if it is not there, or not what its name says.
    pub async fn read(&self, sha256: &str) -> Option<Vec<u8>> {
        if !is_fingerprint(sha256) {
            return None;
        }
        let path = self.0.join(sha256);
        let read = tokio::task::spawn_blocking(move || fs::read(path)).await;
        let bytes = read.ok()?.ok()?;
        let is: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        (is == sha256).then_some(bytes)
    }
}

/// The kind of these bytes, of those that the program knows.
fn kind_of(bytes: &[u8]) -> &'static str {
    if let Some(image) = ImageType::of(bytes) {
        return image.as_str();
    }
    match bytes {
        [b'%', b'P', b'D', b'F', b'-', ..] => "application/pdf",
        [b'O', b'g', b'g', b'S', ..] => "audio/ogg",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => "video/mp4",
        _ => "application/octet-stream",
    }
}

/// A kind as a peer says it, if it looks like one.
pub(super) fn plain_kind(said: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '+' | '.');
    if !said.is_empty() && said.len() <= 80 && said.chars().all(plain) {
        said.to_owned()
    } else {
        "application/octet-stream".to_owned()
    }
}
