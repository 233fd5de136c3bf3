//! The way back: from the file of a backup into an empty data folder and its database, or into the
//! empty one at `DATABASE_URL`. A restore that is refused leaves nothing of its own, so that the
//! next one finds the place as this one did.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use super::archive::{self, Manifest};
use super::{BackupError, DUMP, MEDIA, media_name};
use crate::app::DataFolder;
use crate::clock::Random;
use crate::config::Config;
use crate::postgres::{Database, Dumped, RoomForDump};
use crate::secrets::KEY_FILE;

/// The key of the backup, until it is compared with the one that is there.
const COMING: &str = "secret-key.coming";
/// All that a restore and a private Postgres make in an empty data folder, besides the key, the
/// mark of a restore, and the files of its lock.
const PARTS: [&str; 7] = [DUMP, COMING, MEDIA, "postgres", "postgres.new", "postgres.log", "run"];
const LOCKS: [&str; 3] = ["lock", "server-id", "server.lock"];

/// Fills an empty data folder and its database, or the empty one at `DATABASE_URL`; says what it
/// did.
///
/// # Errors
/// [`BackupError`]. The server refuses a folder that was filled in part, and says so.
pub async fn restore(config: &Config, file: &Path, random: &dyn Random) -> Result<String, BackupError> {
    // The whole file is read before anything is made.
    let manifest = archive::check(file)?;
    is_empty(&config.data_dir)?;
    let bin = config.postgres_bin.as_deref();
    let (server, major, migration) = (manifest.postgres.clone(), manifest.postgres_major, manifest.migration);
    let dumped = Dumped { server, major, migration };
    // A database that was there before is asked before the folder is touched.
    let theirs = match config.database_url.is_some() {
        true => {
            let database = Database::open(config).await?;
            let room = database.make_room(bin, &dumped).await?;
            Some((database, room))
        }
        false => None,
    };
    let was_there = config.data_dir.is_dir();
    let folder = DataFolder::take_for_restore(&config.data_dir, random)?;
    let had_key = folder.path().join(KEY_FILE).exists();
    let begun = Begun { file, manifest: &manifest, dumped: &dumped, folder: &folder, was_there, had_key };
    let lost = match theirs {
        Some((database, room)) => {
            begun.lay_out().map_err(|error| begun.given_up(error))?;
            // From here on rows of the backup may be in that database: the mark stays.
            begun.fill(&database, room).await?
        }
        None => begun.fill_inside(config).await?,
    };
    let unfinished = folder.unfinished();
    fs::remove_file(&unfinished).map_err(at(&unfinished))?;
    Ok(begun.done(&lost))
}

/// A restore that holds its folder.
struct Begun<'a> {
    file: &'a Path,
    manifest: &'a Manifest,
    dumped: &'a Dumped,
    folder: &'a DataFolder,
    /// True if there was a folder before.
    was_there: bool,
    /// True if a key was in it.
    had_key: bool,
}

impl Begun<'_> {
    /// Restores into a Postgres of the folder's own. If that fails, nothing is left of it.
    async fn fill_inside(&self, config: &Config) -> Result<Vec<String>, BackupError> {
        self.lay_out().map_err(|error| self.given_up(error))?;
        let database = Database::open(config).await.map_err(|error| self.given_up(error.into()))?;
        let filled = match database.make_room(config.postgres_bin.as_deref(), self.dumped).await {
            Ok(room) => self.fill(&database, room).await,
            Err(error) => Err(error.into()),
        };
        // While it runs, nothing of it can be taken away.
        database.stop().await?;
        filled.map_err(|error| self.given_up(error))
    }

    /// Marks the folder, and lays the files of the backup into it.
    fn lay_out(&self) -> Result<(), BackupError> {
        let (unfinished, folder) = (self.folder.unfinished(), self.folder.path());
        fs::write(&unfinished, "A restore was begun here.\n").map_err(at(&unfinished))?;
        if self.has_key() {
            let (key, coming) = (folder.join(KEY_FILE), folder.join(COMING));
            archive::take(self.file, KEY_FILE, &coming)?;
            if key.exists() && fs::read(&key).map_err(at(&key))? != fs::read(&coming).map_err(at(&coming))? {
                return Err(BackupError::OtherKey(key));
            }
            fs::rename(&coming, &key).map_err(at(&key))?;
        }
        for name in self.manifest.files.iter().filter_map(|entry| media_name(&entry.name)) {
            let kept = self.folder.media();
            DirBuilder::new().recursive(true).mode(0o700).create(&kept).map_err(at(&kept))?;
            archive::take(self.file, &format!("{MEDIA}/{name}"), &kept.join(name))?;
        }
        Ok(archive::take(self.file, DUMP, &folder.join(DUMP))?)
    }

    /// Fills the database. Returns the things that Postgres did not take back.
    async fn fill(&self, database: &Database, room: RoomForDump) -> Result<Vec<String>, BackupError> {
        let dump = self.folder.path().join(DUMP);
        let restored = database.restore(room, &dump, self.dumped).await;
        // It holds conversations, so it must not be left behind.
        fs::remove_file(&dump).map_err(at(&dump))?;
        Ok(restored?)
    }

    fn has_key(&self) -> bool {
        self.manifest.files.iter().any(|entry| entry.name == KEY_FILE)
    }

    /// The outcome, for the person.
    fn done(&self, lost: &[String]) -> String {
        let key = match (self.has_key(), self.had_key) {
            (true, _) => "The key of the secrets was in it.",
            (false, true) => "The key of the secrets was there already.",
            (false, false) => "Secrets stay sealed until you put the file secret-key there, or set them anew.",
        };
        let lost = match lost.join("; ") {
            none if none.is_empty() => none,
            named => {
                format!("\nThe database did not take back these things that the agent had made; all else is there: {named}.")
            }
        };
        let (folder, made_at) = (self.folder.path().display(), &self.manifest.made_at);
        format!("{folder} holds what was backed up at {made_at}. {key}{lost}")
    }

    /// Leaves the place as it was before, and passes the reason on.
    fn given_up(&self, error: BackupError) -> BackupError {
        match self.take_away() {
            // Anything in it that is not ours keeps the folder.
            Ok(()) if !self.was_there => drop(fs::remove_dir(self.folder.path())),
            Ok(()) => {}
            Err(error) => tracing::warn!(%error, "a part of the restore stays in the data folder"),
        }
        error
    }

    /// Takes away all that was made. The mark goes behind the parts, and the lock last: a folder of
    /// which a part stays is refused as one that was filled in part.
    fn take_away(&self) -> io::Result<()> {
        let key = (!self.had_key).then_some(KEY_FILE);
        let parts = PARTS.into_iter().chain(key).map(|name| self.folder.path().join(name));
        for path in parts.chain([self.folder.unfinished()]).chain(LOCKS.map(|name| self.folder.path().join(name))) {
            let removed = match path.symlink_metadata() {
                Ok(found) if found.is_dir() => fs::remove_dir_all(&path),
                Ok(_) => fs::remove_file(&path),
                Err(error) => Err(error),
            };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> BackupError + use<> {
    let path = path.to_owned();
    move |source| BackupError::File { path, source }
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
