//! The file of a backup: a tar that begins with its manifest. The manifest has the sha256 of
//! everything else, so a file that was cut or changed by accident is refused as a whole. It is no
//! fence against a person who writes such a file on purpose.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::clock::Random;

/// The version of the format that this program writes and reads.
pub(super) const FORMAT: u32 = 1;
const MANIFEST: &str = "manifest.json";
/// The most bytes of a manifest, which is a few lines.
const MAX_MANIFEST_BYTES: u64 = 64 << 10;

/// The description of a backup.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: u32,
    /// The version of the program that made it.
    pub(super) level3: String,
    pub(super) made_at: String,
    /// The engine that the capabilities in it were made for.
    pub(super) engine: String,
    /// The version of Postgres' server, and its major version.
    pub(super) postgres: String,
    pub(super) postgres_major: u32,
    pub(super) migration: i64,
    pub(super) files: Vec<ArchiveEntry>,
}

/// A file in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ArchiveEntry {
    pub(super) name: String,
    pub(super) bytes: u64,
    /// In hexadecimal.
    pub(super) sha256: String,
}

/// The reason why the file of a backup cannot be used; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// A file of this name exists.
    #[error("{0} is there already; a backup replaces nothing, so give another name")]
    Taken(PathBuf),
    /// The file is no backup.
    #[error("{file} is no backup of level3: {problem}")]
    NoBackup {
        /// The file.
        file: PathBuf,
        /// The fault.
        problem: String,
    },
    /// The file is damaged.
    #[error("{file} is damaged: {problem}; nothing was restored, use another copy of it")]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The fault.
        problem: String,
    },
    /// A newer program made it.
    #[error("{0} was made by a newer level3; restore it with that version")]
    Newer(PathBuf),
    /// The file cannot be read or written.
    #[error("{path} cannot be read or written")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// Refuses a name that a file has already.
pub(super) fn is_free(file: &Path) -> Result<(), ArchiveError> {
    if file.symlink_metadata().is_ok() { Err(ArchiveError::Taken(file.to_owned())) } else { Ok(()) }
}

/// A file that only this user may read, and that was not there.
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// A file under a name that nobody else has, which goes with it.
struct Passing {
    file: File,
    path: PathBuf,
}

impl Passing {
    fn new(folder: &Path, random: &dyn Random) -> Result<Self, ArchiveError> {
        let mut bytes = [0; 8];
        random.fill(&mut bytes);
        let path = folder.join(format!(".level3-backup-{}", hex::encode(bytes)));
        match private(&path) {
            Ok(file) => Ok(Self { file, path }),
            Err(source) => Err(ArchiveError::Io { path, source }),
        }
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        // One that is gone is fine.
        drop(fs::remove_file(&self.path));
    }
}

/// A new, empty file of this folder without a name. Nobody can take it for another one, and it is
/// gone with this program, however that ends.
pub(super) fn nameless(folder: &Path, random: &dyn Random) -> Result<File, ArchiveError> {
    let Passing { file, path } = &Passing::new(folder, random)?;
    file.try_clone().map_err(|source| ArchiveError::Io { path: path.clone(), source })
}

/// The folder that a file is in.
pub(super) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The contents of an entry.
pub(super) enum Contents {
    /// A file without a name.
    Open(File),
    /// A file that stays.
    At(PathBuf),
}

impl Contents {
    /// To be read from the beginning.
    fn open(&self) -> io::Result<File> {
        match self {
            Self::At(path) => File::open(path),
            Self::Open(file) => {
                let mut file = file.try_clone()?;
                file.rewind()?;
                Ok(file)
            }
        }
    }
}

/// Writes the archive beside its place and moves it there once it is whole; returns its size in
/// bytes. If this is dropped, nothing is left of it.
pub(super) async fn write(
    file: &Path,
    manifest: Manifest,
    parts: Vec<(String, Contents)>,
    random: &dyn Random,
) -> Result<u64, ArchiveError> {
    let (folder, failed) = (folder_of(file), |source| ArchiveError::Io { path: file.to_owned(), source });
    let unfinished = Passing::new(folder, random)?;
    let out = unfinished.file.try_clone().map_err(failed)?;
    // It can take long, and a signal has to be heard meanwhile.
    let writing = tokio::task::spawn_blocking(move || written(out, manifest, &parts)).await;
    let bytes = writing.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic())).map_err(failed)?;
    // A file that took the name meanwhile is not replaced either.
    match fs::hard_link(&unfinished.path, file) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(ArchiveError::Taken(file.to_owned())),
        linked => linked.map_err(failed)?,
    }
    drop(unfinished);
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|source| ArchiveError::Io { path: folder.to_owned(), source })?;
    Ok(bytes)
}

/// Writes the manifest and the parts; returns how many bytes they take.
fn written(out: File, mut manifest: Manifest, parts: &[(String, Contents)]) -> io::Result<u64> {
    for (name, contents) in parts {
        let mut hash = Sha256::new();
        let bytes = io::copy(&mut contents.open()?, &mut Hashing(&mut hash, io::sink()))?;
        manifest.files.push(ArchiveEntry { name: name.clone(), bytes, sha256: hex::encode(hash.finalize()) });
    }
    let mut tar = tar::Builder::new(BufWriter::new(out));
    let text = serde_json::to_vec_pretty(&manifest)?;
    tar.append_data(&mut header(text.len() as u64), MANIFEST, text.as_slice())?;
    for (entry, (name, contents)) in manifest.files.iter().zip(parts) {
        tar.append_data(&mut header(entry.bytes), name, contents.open()?.take(entry.bytes))?;
    }
    let out = tar.into_inner()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    out.sync_all()?;
    Ok(out.metadata()?.len())
}

fn header(bytes: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o600);
    header
}

/// Reads the whole file and compares it with its manifest.
pub(super) fn check(file: &Path) -> Result<Manifest, ArchiveError> {
    let opened = File::open(file).map_err(|source| ArchiveError::Io { path: file.to_owned(), source })?;
    let none = |problem: String| ArchiveError::NoBackup { file: file.to_owned(), problem };
    let damaged = |problem: String| ArchiveError::Damaged { file: file.to_owned(), problem };
    let mut tar = tar::Archive::new(BufReader::new(opened));
    let mut entries = tar.entries().map_err(|error| none(error.to_string()))?;
    let first = entries.next().ok_or_else(|| none("it is empty".to_owned()))?.map_err(|error| none(error.to_string()))?;
    if name(&first) != MANIFEST {
        return Err(none("it does not begin with a manifest".to_owned()));
    }
    let mut text = Vec::new();
    first.take(MAX_MANIFEST_BYTES).read_to_end(&mut text).map_err(|error| damaged(error.to_string()))?;
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let Format { format } = serde_json::from_slice(&text).map_err(|error| none(error.to_string()))?;
    if format > FORMAT {
        return Err(ArchiveError::Newer(file.to_owned()));
    }
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    let mut found = Vec::new();
    for entry in entries {
        let mut entry = entry.map_err(|error| damaged(error.to_string()))?;
        let (name, mut hash) = (name(&entry), Sha256::new());
        let bytes = io::copy(&mut entry, &mut Hashing(&mut hash, io::sink())).map_err(|error| damaged(error.to_string()))?;
        found.push(ArchiveEntry { name, bytes, sha256: hex::encode(hash.finalize()) });
    }
    if let Some(wrong) = manifest.files.iter().find(|wanted| !found.contains(wanted)) {
        return Err(damaged(format!("{} is not what its manifest says", wrong.name)));
    }
    if found.len() != manifest.files.len() {
        return Err(damaged("it holds more than its manifest says".to_owned()));
    }
    Ok(manifest)
}

/// Takes one file out, readable for this user alone.
pub(super) fn take(file: &Path, wanted: &str, to: &Path) -> Result<(), ArchiveError> {
    let read = |path: &Path| {
        let path = path.to_owned();
        move |source| ArchiveError::Io { path, source }
    };
    let mut tar = tar::Archive::new(BufReader::new(File::open(file).map_err(read(file))?));
    for entry in tar.entries().map_err(read(file))? {
        let mut entry = entry.map_err(read(file))?;
        if name(&entry) == wanted {
            let mut out = private(to).map_err(read(to))?;
            io::copy(&mut entry, &mut out).and_then(|_| out.sync_all()).map_err(read(to))?;
            return Ok(());
        }
    }
    Err(ArchiveError::Damaged { file: file.to_owned(), problem: format!("{wanted} is missing") })
}

fn name<R: Read>(entry: &tar::Entry<'_, R>) -> String {
    String::from_utf8_lossy(&entry.path_bytes()).into_owned()
}

/// Hashes what it writes.
struct Hashing<'a, W>(&'a mut Sha256, W);

impl<W: Write> Write for Hashing<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.1.write(bytes)?;
        self.0.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.flush()
    }
}

#[cfg(test)]
mod tests;
