//! Files that are there whole or not at all: nobody reads half of one, however many write it at
//! once and whenever the process dies.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Puts a file into its place, in that of an older one too. Nobody but this user may read it.
///
/// Each writer has a new file of its own beside it: two with one name would take each other's away.
///
/// # Errors
/// If it cannot be written; then an older one is still there.
pub fn write(file: &Path, content: &[u8]) -> io::Result<()> {
    replace(file, content, File::sync_all)
}

/// The same with a copy of what is kept elsewhere, if it is not there already. The disk is not
/// waited for: a copy that is lost is made again.
///
/// # Errors
/// If it cannot be written.
pub fn mirror(file: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(file).is_ok_and(|there| there == text) {
        return Ok(());
    }
    replace(file, text.as_bytes(), |_| Ok(()))
}

fn replace(file: &Path, content: &[u8], settle: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    static WRITTEN: AtomicU32 = AtomicU32::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let new = file.with_file_name(format!(".new-{}-{number}", std::process::id()));
    let _ = fs::remove_file(&new); // of a process with this number that was killed here
    let written = || {
        let mut open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        open.write_all(content)?;
        settle(&open)?;
        fs::rename(&new, file)
    };
    written().inspect_err(|_| drop(fs::remove_file(&new)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn writers_at_once_leave_one_whole_file_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.json");
        let texts: Vec<_> = (0..8).map(|n| n.to_string().repeat(10_000)).collect();
        std::thread::scope(|scope| {
            for text in &texts {
                scope.spawn(|| (0..20).for_each(|_| write(&file, text.as_bytes()).unwrap()));
            }
        });
        assert!(texts.contains(&fs::read_to_string(&file).unwrap()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_cannot_take_its_place_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        assert!(write(&taken, b"text").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
