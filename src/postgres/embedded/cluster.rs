//! The folder with the databases: made once, in one step, and read to learn which Postgres it
//! belongs to.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use super::account::Account;
use super::binaries::Binaries;
use super::error::{During, EmbeddedError};
use super::orphan;
use crate::failpoint::{self, Point};

/// The major version that made the cluster; `None` when there is no cluster yet.
pub(super) fn major(cluster: &Path) -> Result<Option<String>, EmbeddedError> {
    let file = cluster.join("PG_VERSION");
    match fs::read_to_string(&file) {
        Ok(version) => Ok(Some(version.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).during("read", &file),
    }
}

/// Removes what a killed program left. Its `initdb` may be at work in there for a moment longer, or
/// clear up by itself.
#[expect(clippy::disallowed_methods, reason = "nothing tells when the initdb of a killed program has ended")]
fn remove_unfinished(unfinished: &Path) -> Result<(), EmbeddedError> {
    const TRIES: u32 = 50;
    for _ in 0..TRIES {
        orphan::end_backends(unfinished)?;
        match fs::remove_dir_all(unfinished) {
            Err(error) if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound) => {
                if !unfinished.exists() {
                    return Ok(());
                }
                std::thread::sleep(Duration::from_millis(100));
            }
            removed => return removed.during("remove the unfinished", unfinished),
        }
    }
    fs::remove_dir_all(unfinished).during("remove the unfinished", unfinished)
}

/// Makes the cluster. A program killed at any point of this leaves no cluster, never a half one: it
/// is made beside its place, brought to the disk as a whole, and moved.
pub(super) fn make(cluster: &Path, binaries: &Binaries, account: Account) -> Result<(), EmbeddedError> {
    if fs::read_dir(cluster).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(EmbeddedError::NotACluster { path: cluster.to_owned() });
    }
    let unfinished = cluster.with_extension("new");
    if unfinished.exists() {
        remove_unfinished(&unfinished)?;
    }
    DirBuilder::new().mode(0o700).create(&unfinished).during("make", &unfinished)?;
    account.give(&unfinished).during("change the owner of", &unfinished)?;
    run_initdb(&unfinished, binaries, account)?;
    close_doors(&unfinished, binaries, account)?;
    failpoint::hit(Point::MidInitdb).during("make", &unfinished)?;
    sync_all(&unfinished).during("write to the disk", &unfinished)?;
    fs::rename(&unfinished, cluster).during("move the new cluster to", cluster)?;
    let parent = cluster.parent().unwrap_or(cluster);
    File::open(parent).and_then(|parent| parent.sync_all()).during("write to the disk", parent)
}

/// The cluster sorts by bytes, and knows the letters of all scripts if the machine does: without
/// them `lower`, `ILIKE` and the words of a search fold ASCII alone. The name of such a locale
/// depends on the machine, and `initdb` refuses one that is not there at once.
fn run_initdb(folder: &Path, binaries: &Binaries, account: Account) -> Result<(), EmbeddedError> {
    let mut output = initdb(folder, binaries, account, "C.UTF-8")?;
    for letters in ["en_US.UTF-8", "UTF-8", "C"] {
        // A failure of another kind comes again with the last name, and is told then. `initdb` has
        // taken away what it wrote.
        if output.status.code() != Some(1) {
            break;
        }
        output = initdb(folder, binaries, account, letters)?;
    }
    succeeded(output)
}

fn initdb(folder: &Path, binaries: &Binaries, account: Account, letters: &str) -> Result<Output, EmbeddedError> {
    let program = binaries.program("initdb");
    let mut command = account.command(&program, libc::SIGKILL);
    command.arg("-D").arg(folder).arg(format!("--lc-ctype={letters}"));
    command.args([
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        // Else it follows from the name of the locale.
        "--text-search-config=english",
        "--data-checksums",
        "--no-instructions",
    ]);
    if cfg!(target_os = "linux") {
        command.arg("--no-sync"); // `sync_all` does it in one call instead of a thousand
    }
    command.output().map_err(|source| cannot_run(program, account, folder, source))
}

/// Lets only the superuser into the databases that `initdb` made: a login made for one database has
/// no business in another.
fn close_doors(folder: &Path, binaries: &Binaries, account: Account) -> Result<(), EmbeddedError> {
    let program = binaries.program("postgres");
    let mut command = account.command(&program, libc::SIGKILL);
    // One process that reads statements, one a line. `sync_all` brings to the disk what it writes.
    command.arg("--single").arg("-D").arg(folder).args(["-F", "-c", "exit_on_error=on", "postgres"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let statement = b"REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC\n";
    let ran = command.spawn().and_then(|mut child| {
        // It is closed behind the statement: that ends the program.
        let said = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(statement));
        let output = child.wait_with_output()?;
        // A program that failed says why by itself.
        if output.status.success() { said.map(|()| output) } else { Ok(output) }
    });
    succeeded(ran.map_err(|source| cannot_run(program, account, folder, source))?)
}

/// The words of a program that failed.
fn succeeded(output: Output) -> Result<(), EmbeddedError> {
    if output.status.success() {
        return Ok(());
    }
    let output = [output.stdout, output.stderr].concat();
    Err(EmbeddedError::InitFailed { output: String::from_utf8_lossy(&output).trim().to_owned() })
}

/// Why a program of Postgres did not run: a refused user namespace is reported as what it means.
pub(super) fn cannot_run(program: PathBuf, account: Account, folder: &Path, source: io::Error) -> EmbeddedError {
    if account == Account::Namespace && source.kind() != io::ErrorKind::NotFound {
        return EmbeddedError::Unreachable { folder: folder.parent().unwrap_or(folder).to_owned(), source };
    }
    EmbeddedError::Run { program, source }
}

/// Brings all of a folder to the disk.
#[cfg(target_os = "linux")]
fn sync_all(folder: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let folder = File::open(folder)?;
    // SAFETY: the descriptor is open for as long as `folder` lives.
    if unsafe { libc::syncfs(folder.as_raw_fd()) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `initdb` has done it.
#[cfg(not(target_os = "linux"))]
fn sync_all(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
