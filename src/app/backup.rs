//! Backup and restore: one file, a tar, with Postgres' dump and a manifest. The secrets in it stay
//! sealed; the key to them is in it only if a person asked for that. Here it is made; `restore`
//! takes it back.

mod archive;
mod restore;

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use chrono::SecondsFormat;

use super::{DataFolder, FolderError};
use crate::clock::{Clock, Random};
use crate::config::Config;
use crate::postgres::{Database, DatabaseError, DumpError, Dumped};
use crate::sandbox::ENGINE_NAME;
use crate::secrets::KEY_FILE;
use archive::{ArchiveError, Contents, Manifest};

pub use restore::restore;

/// The name of Postgres' dump in the archive.
const DUMP: &str = "database.dump";
/// The folder with the files of contacts, in the archive and in the data folder.
const MEDIA: &str = "media";
/// How often a backup looks for the database of a folder that another program holds. Each look
/// waits for the folder for a fifth of a second: a minute, in which a server has ended.
const LOOKS: u32 = 300;

/// The reason why nothing was backed up or restored; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The data folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The database cannot be dumped or filled.
    #[error(transparent)]
    Dump(Box<DumpError>),
    /// The file cannot be used.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Another program holds the folder, and its database does not answer.
    #[error("another level3 uses the data folder {0}, and its database does not answer; try again once it has ended")]
    Busy(PathBuf),
    /// There is no data folder.
    #[error("there is no data folder {0}; set LEVEL3_DATA_DIR to the one of the server")]
    NoFolder(PathBuf),
    /// The data folder is not empty.
    #[error(
        "the data folder {folder} is not empty ({found} is there); a backup is restored only into an empty one, so that nothing is \
         lost: set LEVEL3_DATA_DIR to a new folder, or move what is there away"
    )]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
        /// The name of a file in it.
        found: String,
    },
    /// The person wants the key in the backup, and there is none.
    #[error("there is no key of secrets in {0}; leave --with-key away, there is nothing it could open")]
    NoKey(PathBuf),
    /// The folder has another key already.
    #[error("{0} is another key than the one in the backup; move it away")]
    OtherKey(PathBuf),
    /// A file beside them cannot be written.
    #[error("{path} cannot be used")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl From<DumpError> for BackupError {
    fn from(error: DumpError) -> Self {
        Self::Dump(Box::new(error))
    }
}

/// Makes a backup, whether the server runs or not; says what it did.
///
/// # Errors
/// [`BackupError`]; then there is no file.
pub async fn backup(
    config: &Config,
    file: &Path,
    with_key: bool,
    clock: &dyn Clock,
    random: &dyn Random,
) -> Result<String, BackupError> {
    let key = config.data_dir.join(KEY_FILE);
    if with_key && !key.is_file() {
        return Err(BackupError::NoKey(config.data_dir.clone()));
    }
    archive::is_free(file)?;
    let (dump, dumped) = dumped(config, archive::folder_of(file), random).await?;
    let manifest = Manifest {
        format: archive::FORMAT,
        level3: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: clock.now().to_rfc3339_opts(SecondsFormat::Secs, true),
        engine: ENGINE_NAME.to_owned(),
        postgres: dumped.server,
        postgres_major: dumped.major,
        migration: dumped.migration,
        files: Vec::new(),
    };
    let mut parts = vec![(DUMP.to_owned(), Contents::Open(dump))];
    if with_key {
        parts.push((KEY_FILE.to_owned(), Contents::At(key)));
    }
    // A file of a contact is there before its row: all that the dump names are in the folder by
    // now.
    parts.extend(media_files(&config.data_dir)?.into_iter().map(|(name, path)| (name, Contents::At(path))));
    let bytes = archive::write(file, manifest, parts, random).await?;
    let secrets = if with_key {
        "The key of the secrets is in it: whoever has the file can read them."
    } else {
        "Secrets in it are sealed; keep the file secret-key of the data folder apart from it."
    };
    Ok(format!("{} holds the backup, {bytes} bytes. {secrets}", file.display()))
}

/// Makes a backup without the key in the data folder of a running server; gives the file and says
/// what was done.
///
/// # Errors
/// As [`backup`].
pub async fn backup_here(config: &Config, clock: &dyn Clock, random: &dyn Random) -> Result<(PathBuf, String), BackupError> {
    let folder = config.data_dir.join("backups");
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|source| BackupError::File { path: folder.clone(), source })?;
    let file = folder.join(format!("level3-{}.l3", clock.now().format("%Y%m%dT%H%M%S%3fZ")));
    let said = backup(config, &file, false, clock, random).await?;
    Ok((file, said))
}

/// Dumps the database of the running server, or starts the database for it. The dump is a file of
/// `folder` without a name: it holds conversations, so it must not be left behind, whatever
/// happens.
async fn dumped(config: &Config, folder: &Path, random: &dyn Random) -> Result<(File, Dumped), BackupError> {
    let dumped_by = async |database: &Database| -> Result<(File, Dumped), BackupError> {
        let dump = archive::nameless(folder, random)?;
        let to = dump.try_clone().map_err(|source| BackupError::File { path: folder.to_owned(), source })?;
        let dumped = database.dump(config.postgres_bin.as_deref(), to).await?;
        Ok((dump, dumped))
    };
    if config.database_url.is_some() {
        return dumped_by(&Database::running(config).await?).await;
    }
    if !config.data_dir.is_dir() {
        return Err(BackupError::NoFolder(config.data_dir.clone()));
    }
    if !config.data_dir.join("postgres").is_dir() {
        return Err(DumpError::Nothing.into());
    }
    for _ in 0..LOOKS {
        match DataFolder::take(&config.data_dir, random) {
            Ok(_held) => {
                let database = Database::open(config).await?;
                let dumped = dumped_by(&database).await;
                database.stop().await?;
                return dumped;
            }
            Err(FolderError::Taken(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let theirs = Database::running(config).await?;
        let began = theirs.began().await;
        let dumped = dumped_by(&theirs).await;
        // A server or another backup that ends takes its database with it, in the middle of a dump
        // too, and the next one that holds the folder may have started its own by now. The next
        // look finds that, or the folder free.
        if dumped.is_ok() || began.is_some() && began == theirs.began().await {
            return dumped;
        }
    }
    Err(BackupError::Busy(config.data_dir.clone()))
}

/// The files of contacts, with their names in the archive.
fn media_files(data: &Path) -> Result<Vec<(String, PathBuf)>, BackupError> {
    let folder = data.join(MEDIA);
    let failed = |source| BackupError::File { path: folder.clone(), source };
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let name = format!("{MEDIA}/{}", entry.file_name().to_string_lossy());
        if media_name(&name).is_some() {
            files.push((name, entry.path()));
        }
    }
    files.sort();
    Ok(files)
}

/// The name of a contact's file, if an entry of an archive is one: a sha256 and nothing else.
fn media_name(entry: &str) -> Option<&str> {
    let name = entry.strip_prefix(MEDIA)?.strip_prefix('/')?;
    (name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(name)
}
