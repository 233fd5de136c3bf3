//! `relay start`: the daemon in the background, and the answer once it is ready.

use std::fs;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{interval, timeout};
use url::Url;

use super::home::{DaemonReach, RelayHome};
use super::supervise::{FirstWord, open_log};
use super::told::ToldStatus;
use super::{RelayCliError, RelayClient, RelayWorld, daemon};
use crate::cli::Screen;

/// How long a start may take. Long, since it may include making the database, or its recovery after
/// a crash.
const START_LIMIT: Duration = Duration::from_secs(120);
/// So often a daemon is launched while others that have the folder end.
const MOST_LAUNCHES: usize = 3;
/// Between two looks whether another's daemon is ready.
const LOOK: Duration = Duration::from_millis(20);
/// The log is put aside at a start when it has grown beyond this many bytes.
const LOG_LIMIT: u64 = 8 << 20;

/// The daemon as `start` found or made it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunningDaemon {
    /// Its process.
    pub(super) pid: i32,
    /// True if it ran before.
    pub(super) already: bool,
}

pub(super) async fn run(home: &RelayHome, world: &RelayWorld<'_>, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    let config = home.config()?;
    let url = config.url();
    if config.server.is_some() {
        let status = RelayClient::of(home, screen.json)?.get::<ToldStatus>(&["status"], &[]).await?.said;
        if !screen.json(&json!({ "pid": status.pid, "url": url.as_str(), "already": true }))? {
            screen.line(format!(
                "Nothing to start: the level3 at {url} runs (pid {}), which config.json names as `server`.",
                status.pid
            ))?;
        }
        return Ok(());
    }
    let RunningDaemon { pid, already } = running(home, world).await?;
    // One that ran before has the address of its own start.
    let reach = if already { home.reach()? } else { DaemonReach::Ready(url.clone()) };
    let at = if let DaemonReach::Ready(at) = reach { Some(at) } else { None };
    if screen.json(&json!({ "pid": pid, "url": at.as_ref().map(Url::as_str), "already": already, "log": home.log() }))? {
        return Ok(());
    }
    let how = if already { "already runs" } else { "runs" };
    let place = at.as_ref().map_or("its server is on its way back", Url::as_str);
    screen.line(format!("The Relay daemon {how}: pid {pid}, {place}, log {}", home.log().display()))?;
    if at.is_some_and(|at| at != url) {
        screen.line(format!("It has the settings from before; config.json names {url}: relay stop, then relay start"))?;
    }
    Ok(())
}

/// The daemon of this folder, started if none runs.
pub(super) async fn running(home: &RelayHome, world: &RelayWorld<'_>) -> Result<RunningDaemon, RelayCliError> {
    for _ in 0..MOST_LAUNCHES {
        // One that is just starting or ending has the lock: then the supervisor finds out.
        if let Ok(Some(pid)) = home.running() {
            return Ok(RunningDaemon { pid, already: true });
        }
        let found = match started(home, world).await? {
            Some(daemon) => Some(daemon),
            None => others(home).await?,
        };
        // The one that had the folder may have ended: then there is room.
        if let Some(daemon) = found {
            return Ok(daemon);
        }
    }
    Err(others_unready())
}

/// A new daemon; `None` if the folder has one.
async fn started(home: &RelayHome, world: &RelayWorld<'_>) -> Result<Option<RunningDaemon>, RelayCliError> {
    let had_data = home.data().exists();
    if fs::metadata(home.log()).is_ok_and(|log| log.len() > LOG_LIMIT) {
        fs::rename(home.log(), home.log().with_extension("log.old")).map_err(RelayCliError::file(&home.log()))?;
    }
    let mut child = launch(home, world)?;
    let heard = timeout(START_LIMIT, first_word(&mut child)).await;
    let hangs = heard.is_err();
    let failed = match heard {
        Ok(Ok(Some(FirstWord::Ready))) => {
            let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).unwrap_or_default();
            return Ok(Some(RunningDaemon { pid, already: false }));
        }
        Ok(Ok(Some(FirstWord::Failed(why)))) => why,
        Ok(Ok(Some(FirstWord::Taken))) => return Ok(None),
        Ok(Ok(None)) => format!("the Relay daemon ended at once; its log says more: {}", home.log().display()),
        Ok(Err(error)) => format!("the Relay daemon cannot be heard: {error}"),
        Err(_) => format!(
            "the Relay daemon was not ready within {} s; its log says more: {}",
            START_LIMIT.as_secs(),
            home.log().display()
        ),
    };
    // One that has said its word ends by itself.
    if let (true, Some(pid)) = (hangs, child.id().and_then(|pid| i32::try_from(pid).ok())) {
        daemon::end(home, pid).await?;
    }
    drop(child.wait().await);
    // This start has made the data, and nobody has used it: not even a daemon that was started
    // meanwhile, which would have the lock.
    if !had_data && let Some(_lock) = home.take_lock()? {
        drop(fs::remove_dir_all(home.data()));
    }
    Err(RelayCliError::Refused(failed))
}

/// The daemon that another command has started in this moment, once it is ready; `None` if none is
/// left.
async fn others(home: &RelayHome) -> Result<Option<RunningDaemon>, RelayCliError> {
    let ready = async {
        let mut looks = interval(LOOK);
        while !fs::metadata(home.ready_file()).is_ok_and(|mark| mark.len() > 0) && home.is_held()? {
            looks.tick().await;
        }
        home.running()
    };
    let pid = timeout(START_LIMIT, ready).await.map_err(|_| others_unready())??;
    Ok(pid.map(|pid| RunningDaemon { pid, already: true }))
}

fn others_unready() -> RelayCliError {
    RelayCliError::Refused("another Relay daemon was started in this moment, and is not ready; try again".into())
}

/// Starts the supervisor in a session of its own, so that it outlives this terminal.
fn launch(home: &RelayHome, world: &RelayWorld<'_>) -> Result<Child, RelayCliError> {
    let mut command = Command::new(world.program);
    command.arg("--home").arg(home.path()).arg("supervise").current_dir(home.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(open_log(home)?);
    // SAFETY: setsid is allowed between fork and exec, and takes no pointers.
    unsafe {
        command.pre_exec(|| if libc::setsid() < 0 { Err(io::Error::last_os_error()) } else { Ok(()) });
    }
    command.spawn().map_err(RelayCliError::file(world.program))
}

/// The line that the supervisor says; `None` if it ended without one.
async fn first_word(child: &mut Child) -> io::Result<Option<FirstWord>> {
    let Some(out) = child.stdout.take() else { return Ok(None) };
    let line = BufReader::new(out).lines().next_line().await?;
    line.map(|line| serde_json::from_str(&line).map_err(io::Error::other)).transpose()
}
