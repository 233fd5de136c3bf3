//! `relay stop`, and ending a daemon.

use std::time::Duration;

use serde_json::json;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::RelayCliError;
use super::home::RelayHome;
use crate::cli::Screen;

/// How long a daemon may take to end in good order.
const STOP_LIMIT: Duration = Duration::from_secs(15);
/// How long the kernel may take after that.
const KILL_LIMIT: Duration = Duration::from_secs(5);

pub(super) async fn stop(home: &RelayHome, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    if let Some(server) = home.config()?.server {
        let told = format!("the server is the level3 at {server}, which config.json names; stop it where it was started");
        return Err(RelayCliError::Refused(told));
    }
    let pid = home.running()?.ok_or(RelayCliError::NoDaemon)?;
    let in_order = end(home, pid).await?;
    if screen.json(&json!({ "pid": pid, "in_order": in_order }))? {
        return Ok(());
    }
    if in_order {
        screen.line("The Relay daemon has stopped.")?;
    } else {
        screen
            .line("The Relay daemon did not stop within 15 s and was ended; the next start goes on from the last checkpoint.")?;
    }
    Ok(())
}

/// Ends a daemon and waits until it is gone; true if it ended in good order.
pub(super) async fn end(home: &RelayHome, pid: i32) -> Result<bool, RelayCliError> {
    // SAFETY: kill takes no pointers. The daemon holds its lock, so the number is its own.
    unsafe { libc::kill(pid, libc::SIGTERM) };
    if is_gone(home, STOP_LIMIT).await? {
        return Ok(true);
    }
    // Its whole session, the server included.
    // SAFETY: as above; the daemon leads a group of processes of its own.
    unsafe { libc::kill(-pid, libc::SIGKILL) };
    is_gone(home, KILL_LIMIT).await?;
    for file in [home.pid_file(), home.ready_file()] {
        drop(std::fs::remove_file(file));
    }
    Ok(false)
}

/// Waits until the daemon has given its lock back.
async fn is_gone(home: &RelayHome, patience: Duration) -> Result<bool, RelayCliError> {
    let lock = home.open_lock()?;
    // A thread that still waits then ends with the process.
    Ok(timeout(patience, spawn_blocking(move || lock.lock())).await.is_ok())
}
