//! Backup and restore: one file, a tar, with Postgres' dump and a manifest. The secrets in it stay
//! sealed; the key to them is in it only if a person asked for that.

mod archive;

use std::fs::{self, DirBuilder};
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
use archive::{ArchiveError, Manifest};

/// The name of Postgres' dump in the archive.
const DUMP: &str = "database.dump";
/// The folder with the files of contacts, in the archive and in the data folder.
const MEDIA: &str = "media";

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
    let dump = beside(file, "dump");
    let dumped = dumped(config, &dump, random).await;
    let written = dumped.and_then(|dumped| {
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
        let mut files = vec![(DUMP, dump.as_path())];
        if with_key {
            files.push((KEY_FILE, key.as_path()));
        }
        // A file of a contact is there before its row: all that the dump names are in the folder by
        // now.
        let media = media_files(&config.data_dir)?;
        files.extend(media.iter().map(|(name, path)| (name.as_str(), path.as_path())));
        Ok(archive::write(file, manifest, &files)?)
    });
    // It holds conversations, so it must not be left behind, whatever happened.
    let removed = fs::remove_file(&dump);
    let bytes = written?;
    removed.map_err(|source| BackupError::File { path: dump, source })?;
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

/// Dumps through the database of the running server, or starts the database for it.
async fn dumped(config: &Config, dump: &Path, random: &dyn Random) -> Result<Dumped, BackupError> {
    let bin = config.postgres_bin.as_deref();
    let place = |source| BackupError::File { path: dump.to_owned(), source };
    // The program makes the file itself, so that nobody else may read it from its first byte on.
    archive::private(dump).map_err(place)?;
    if config.database_url.is_some() {
        return Ok(Database::running(config).await?.dump(bin, dump).await?);
    }
    if !config.data_dir.is_dir() {
        return Err(BackupError::NoFolder(config.data_dir.clone()));
    }
    if !config.data_dir.join("postgres").is_dir() {
        return Err(DumpError::Nothing.into());
    }
    let _folder = match DataFolder::take(&config.data_dir, random) {
        Ok(folder) => folder,
        Err(FolderError::Taken(_)) => return Ok(Database::running(config).await?.dump(bin, dump).await?),
        Err(error) => return Err(error.into()),
    };
    let database = Database::open(config).await?;
    let dumped = database.dump(bin, dump).await;
    database.stop().await?;
    Ok(dumped?)
}

/// Fills an empty data folder and its database, or the empty one at `DATABASE_URL`; says what it
/// did.
///
/// # Errors
/// [`BackupError`]. The server refuses a folder that was filled in part, and says so.
pub async fn restore(config: &Config, file: &Path, random: &dyn Random) -> Result<String, BackupError> {
    // The whole file is read before anything is made.
    let manifest = archive::check(file)?;
    is_empty(&config.data_dir)?;
    let folder = DataFolder::take_for_restore(&config.data_dir, random)?;
    let (unfinished, dump) = (folder.unfinished(), folder.path().join(DUMP));
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| BackupError::File { path, source }
    };
    fs::write(&unfinished, "A restore was begun here.\n").map_err(at(&unfinished))?;
    archive::take(file, DUMP, &dump)?;
    let with_key = manifest.files.iter().any(|entry| entry.name == KEY_FILE);
    if with_key {
        let (key, coming) = (folder.path().join(KEY_FILE), folder.path().join("secret-key.coming"));
        archive::take(file, KEY_FILE, &coming)?;
        if key.exists() && fs::read(&key).map_err(at(&key))? != fs::read(&coming).map_err(at(&coming))? {
            fs::remove_file(&coming).map_err(at(&coming))?;
            return Err(BackupError::OtherKey(key));
        }
        fs::rename(&coming, &key).map_err(at(&key))?;
    }
    let media = manifest.files.iter().filter_map(|entry| media_name(&entry.name));
    for name in media {
        let kept = folder.media();
        DirBuilder::new().recursive(true).mode(0o700).create(&kept).map_err(at(&kept))?;
        archive::take(file, &format!("{MEDIA}/{name}"), &kept.join(name))?;
    }
    let dumped = Dumped { server: manifest.postgres, major: manifest.postgres_major, migration: manifest.migration };
    let database = Database::open(config).await?;
    let restored = database.restore(config.postgres_bin.as_deref(), &dump, &dumped).await;
    let stopped = database.stop().await;
    fs::remove_file(&dump).map_err(at(&dump))?;
    let lost = restored?;
    stopped?;
    fs::remove_file(&unfinished).map_err(at(&unfinished))?;
    let key = match (with_key, folder.path().join(KEY_FILE).exists()) {
        (true, _) => "The key of the secrets was in it.",
        (false, true) => "The key of the secrets was there already.",
        (false, false) => "Secrets stay sealed until you put the file secret-key there, or set them anew.",
    };
    let lost = match lost.join("; ") {
        none if none.is_empty() => none,
        named => format!("\nThe database did not take back these things that the agent had made; all else is there: {named}."),
    };
    Ok(format!("{} holds what was backed up at {}. {key}{lost}", folder.path().display(), manifest.made_at))
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

/// Refuses a folder that holds more than a key of secrets.
fn is_empty(folder: &Path) -> Result<(), BackupError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(BackupError::File { path: folder.to_owned(), source }),
    };
    let mut names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    match names.find(|name| name != KEY_FILE && name != "lost+found") {
        Some(found) => Err(BackupError::NotEmpty { folder: folder.to_owned(), found }),
        None => Ok(()),
    }
}

/// A temporary file beside another.
fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(end);
    file.with_file_name(name)
}
