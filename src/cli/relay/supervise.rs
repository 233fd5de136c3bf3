//! The daemon: holds the folder's lock and keeps `level3 serve` running, as `run.sh` does for a
//! checkout. `relay start` runs it in the background and reads one line from it: that the server is
//! ready, or why it cannot start.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::spawn_blocking;
use tokio::time::{interval, timeout};

use super::course::{Course, NextRun, ServerRunEnd};
use super::home::RelayHome;
use super::{RelayCliError, RelayWorld, served};
use crate::clock::Clock;

/// Between two looks whether the server is ready.
const LOOK: Duration = Duration::from_millis(10);
/// The signals that end a server, with the time that each gets. Together they are less than `stop`
/// waits.
const ENDINGS: [(i32, Duration); 3] =
    [(libc::SIGTERM, Duration::from_secs(11)), (libc::SIGTERM, Duration::from_secs(2)), (libc::SIGKILL, Duration::from_secs(1))];
/// How long a daemon waits for the lock of its folder.
const LOCK_LIMIT: Duration = Duration::from_millis(200);
/// How long the server of a daemon that was killed may take to end.
const FORMER_LIMIT: Duration = Duration::from_secs(15);
/// So much of the log is read for the reason of a failure.
const TAIL: u64 = 16 * 1024;

/// The line that `relay start` reads.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FirstWord {
    /// The server is ready.
    Ready,
    /// It cannot start, and nothing of it is left.
    Failed(String),
    /// Another daemon has the folder.
    Taken,
}

/// Runs the daemon until it is asked to end, or its server does not have to be started again.
pub(super) async fn run(home: &RelayHome, world: &RelayWorld<'_>) -> Result<(), RelayCliError> {
    let mut first = Some(io::stdout());
    let mut tell = |word: &FirstWord| {
        if let Some(mut out) = first.take() {
            // The one who started it may be gone.
            drop(serde_json::to_writer(&mut out, word).map_err(io::Error::from).and_then(|()| writeln!(out)));
        }
    };
    let ran = match Daemon::take(home, world).await {
        Ok(Some(mut daemon)) => daemon.run(&mut tell).await,
        Ok(None) => {
            tell(&FirstWord::Taken);
            return Ok(());
        }
        Err(error) => Err(error),
    };
    if let Err(error) = &ran {
        tell(&FirstWord::Failed(error.to_string()));
    }
    ran
}

/// A daemon with its folder.
struct Daemon<'a> {
    home: &'a RelayHome,
    command: Command,
    clock: &'a dyn Clock,
    terminate: Signal,
    interrupt: Signal,
    _lock: File,
}

impl<'a> Daemon<'a> {
    /// The daemon of a folder; `None` if the folder has one.
    async fn take(home: &'a RelayHome, world: &RelayWorld<'a>) -> Result<Option<Self>, RelayCliError> {
        let lock = home.open_lock()?;
        // A command that only looks whether a daemon runs has the lock for a moment.
        let taken = timeout(LOCK_LIMIT, spawn_blocking(move || lock.lock().map(|()| lock))).await;
        let Ok(Ok(Ok(lock))) = taken else { return Ok(None) };
        // The mark of a daemon that was killed.
        drop(fs::remove_file(home.ready_file()));
        let mut command = Command::new(served::program(&world.environment, world.program)?);
        command.arg("serve").env_clear().envs(served::environment(home, &world.environment)?);
        command.current_dir(home.path()).stdin(Stdio::null()).kill_on_drop(true);
        end_with_parent(&mut command);
        let listening = |kind| signal(kind).map_err(RelayCliError::file(home.path()));
        let (terminate, interrupt) = (listening(SignalKind::terminate())?, listening(SignalKind::interrupt())?);
        home.keep(&home.pid_file(), format!("{}\n", std::process::id()).as_bytes())?;
        Ok(Some(Self { home, command, clock: world.clock, terminate, interrupt, _lock: lock }))
    }

    async fn run(&mut self, tell: &mut impl FnMut(&FirstWord)) -> Result<(), RelayCliError> {
        let (mut course, mut was_ever_ready, mut safe) = (Course::default(), false, false);
        tokio::select! {
            ended = timeout(FORMER_LIMIT, former_server(self.home)) => ended.map_err(|_| former_stays(self.home))?,
            () = asked(&mut self.terminate, &mut self.interrupt) => {
                self.note("stopped");
                return Ok(());
            }
        }
        loop {
            let begins = fs::metadata(self.home.log()).map_or(0, |log| log.len());
            let mut ready = || {
                was_ever_ready = true;
                tell(&FirstWord::Ready);
            };
            let Some(end) = self.once(safe, &mut ready).await? else {
                self.note("stopped");
                return Ok(());
            };
            if !was_ever_ready {
                return Err(RelayCliError::Refused(reason(self.home, begins, end)));
            }
            let NextRun::Again { pause, safe: safely } = course.after(end) else {
                self.note(&format!("the server ended {}; it is not started again", how(end)));
                return Ok(());
            };
            safe = safely;
            let mode = if safe { ", in safe mode, without capabilities" } else { "" };
            self.note(&format!("the server ended {}; starting it again in {} s{mode}", how(end), pause.as_secs()));
            if timeout(pause, asked(&mut self.terminate, &mut self.interrupt)).await.is_ok() {
                self.note("stopped");
                return Ok(());
            }
        }
    }

    /// Runs the server once and gives its end; `None` if the daemon was asked to end it.
    async fn once(&mut self, safe: bool, ready: &mut impl FnMut()) -> Result<Option<ServerRunEnd>, RelayCliError> {
        let mark = self.home.ready_file();
        drop(fs::remove_file(&mark));
        // An empty value counts as unset.
        self.command.env("LEVEL3_SAFE_MODE", if safe { "1" } else { "" });
        let log = open_log(self.home)?;
        self.command.stdout(log.try_clone().map_err(RelayCliError::file(&self.home.log()))?).stderr(log);
        let program = PathBuf::from(self.command.as_std().get_program());
        let began = self.clock.now();
        let mut child = self.command.spawn().map_err(RelayCliError::file(&program))?;
        let is_ready = || fs::metadata(&mark).is_ok_and(|mark| mark.len() > 0);
        let (mut looks, mut was_ready) = (interval(LOOK), false);
        let ended = loop {
            tokio::select! {
                ended = child.wait() => break ended,
                () = asked(&mut self.terminate, &mut self.interrupt) => {
                    end(&mut child).await;
                    return Ok(None);
                }
                _ = looks.tick(), if !was_ready => {
                    was_ready = is_ready();
                    if was_ready {
                        ready();
                    }
                }
            }
        };
        // One that ends soon after it was ready may do so between two looks.
        if !was_ready && is_ready() {
            was_ready = true;
            ready();
        }
        // Its address may be another program's now, so no command asks there.
        drop(fs::remove_file(&mark));
        let code = ended.map_err(RelayCliError::file(&program))?.code();
        let ran = (self.clock.now() - began).to_std().unwrap_or_default();
        Ok(Some(ServerRunEnd { code, was_ready, ran }))
    }

    /// A line in the log of the daemon's own, which is its standard error.
    fn note(&self, text: &str) {
        // There is nowhere else to report it.
        drop(writeln!(io::stderr(), "{} relay: {text}", self.clock.now().format("%Y-%m-%dT%H:%M:%S%.6fZ")));
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        // Before the lock, so that nobody finds the files of a daemon that is gone.
        drop(fs::remove_file(self.home.pid_file()));
        drop(fs::remove_file(self.home.ready_file()));
    }
}

/// Completes when no server has the data: that of a daemon which was killed ends by itself.
async fn former_server(home: &RelayHome) {
    let lock = home.data().join("server.lock");
    let mut looks = interval(LOOK);
    while File::open(&lock).is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))) {
        looks.tick().await;
    }
}

fn former_stays(home: &RelayHome) -> RelayCliError {
    RelayCliError::Refused(format!(
        "{} is still in use, by the server of a daemon that was killed, or by a backup or a restore; wait for its end and try again",
        home.data().display()
    ))
}

/// Completes when the daemon is asked to end.
async fn asked(terminate: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Ends the server, with more force if it takes too long.
async fn end(child: &mut Child) {
    for (signal, patience) in ENDINGS {
        let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()) else { return };
        // SAFETY: kill takes no pointers. The child has not been waited for, so the number is still
        // its own.
        unsafe { libc::kill(pid, signal) };
        if timeout(patience, child.wait()).await.is_ok() {
            return;
        }
    }
}

/// The log, for the daemon and its server.
pub(super) fn open_log(home: &RelayHome) -> Result<File, RelayCliError> {
    let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(home.log());
    opened.map_err(RelayCliError::file(&home.log()))
}

/// Why the server did not become ready, as its log says from this place on.
fn reason(home: &RelayHome, begins: u64, end: ServerRunEnd) -> String {
    let said = log_from(home, begins).unwrap_or_default();
    let error = said.lines().rev().find_map(|line| line.split_once("ERROR ").map(|(_, error)| error.trim()));
    let last = error.or_else(|| said.lines().rev().find(|line| !line.trim().is_empty()));
    let why = last.map_or_else(|| format!("the server ended {} and said nothing", how(end)), str::to_owned);
    // The server knows its address by another name than the person who set it.
    format!("the Relay daemon cannot start: {}", why.replace("LEVEL3_LISTEN", "`listen` of config.json"))
}

fn log_from(home: &RelayHome, begins: u64) -> io::Result<String> {
    let mut log = File::open(home.log())?;
    let from = begins.max(log.metadata()?.len().saturating_sub(TAIL));
    log.seek(SeekFrom::Start(from))?;
    let mut said = Vec::new();
    log.take(TAIL).read_to_end(&mut said)?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

fn how(end: ServerRunEnd) -> String {
    end.code.map_or_else(|| "by a signal".to_owned(), |code| format!("with exit code {code}"))
}

/// Arranges that the kernel ends the server in good order when this process is killed. Other
/// systems than Linux have no such signal; there the next start is refused, and says why.
#[cfg(target_os = "linux")]
fn end_with_parent(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: prctl, getppid and _exit are allowed between fork and exec, and take no pointers
    // here.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) != 0 {
                return Err(io::Error::last_os_error());
            }
            // The daemon may have died before the line above.
            if libc::getppid().cast_unsigned() != parent {
                libc::_exit(1);
            }
            Ok(())
        });
    }
}

#[cfg(not(target_os = "linux"))]
fn end_with_parent(_: &mut Command) {}
