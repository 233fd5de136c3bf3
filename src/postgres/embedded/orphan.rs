//! Ends what a killed program left running, and clears what a killed Postgres left lying.
//!
//! The caller holds the lock of the data folder, so a server found on the cluster belongs to a
//! program that is dead. It is stopped and started anew, not adopted: its connections may still be
//! at work for the dead program, it may run with other settings or older binaries, nobody would be
//! told when it ends, and on Linux the kernel has asked it to end already. A fast shutdown and a
//! warm start cost about a tenth of a second.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::error::{During, EmbeddedError};

/// How long a fast shutdown may take before an immediate one is asked for; that one is as safe as a
/// crash.
const FAST: Duration = Duration::from_secs(10);
/// How long is waited altogether.
const LIMIT: Duration = Duration::from_secs(30);
/// The pause between two looks. The process is not our child: there is no event to wait for.
const PAUSE: Duration = Duration::from_millis(1);

/// Makes sure that no process works on `cluster` and that nothing stale keeps the next server from
/// starting. True if a server was at work there. Blocks.
pub(super) fn settle(cluster: &Path, socket: &Path) -> Result<bool, EmbeddedError> {
    let file = cluster.join("postmaster.pid");
    let mut found = false;
    if let Ok(text) = fs::read_to_string(&file) {
        let pid = text.lines().next().and_then(|line| line.trim().parse::<i32>().ok()).map_or(0, i32::abs);
        if pid > 0 && is_postmaster(pid, cluster) {
            tracing::warn!(pid, "stopping a Postgres server that a killed level3 left running");
            found = true;
            end(pid, &|| is_postmaster(pid, cluster))?;
        }
        end_backends(cluster)?;
        // Postgres heals a file whose process is gone. It refuses when the number belongs to a
        // process that lives, be it a zombie nobody reaps or a stranger that got the number anew;
        // both are known here not to be a server of this cluster.
        if file.exists() && exists(pid) {
            fs::remove_file(&file).during("remove the stale file", &file)?;
        }
    }
    for name in [".s.PGSQL.5432", ".s.PGSQL.5432.lock"] {
        let path = socket.join(name);
        if path.symlink_metadata().is_ok() {
            fs::remove_file(&path).during("remove the stale file", &path)?;
        }
    }
    Ok(found)
}

/// Asks a process to end, first with a fast shutdown, then with an immediate one, and waits until
/// `lives` says no.
#[expect(clippy::disallowed_methods, reason = "nothing tells when a process that is not our child has ended")]
fn end(pid: i32, lives: &dyn Fn() -> bool) -> Result<(), EmbeddedError> {
    let start = Instant::now();
    signal(pid, libc::SIGINT);
    let mut pressed = false;
    while lives() {
        if start.elapsed() > LIMIT {
            return Err(EmbeddedError::WillNotStop { pid });
        }
        if start.elapsed() > FAST && !pressed {
            pressed = true;
            signal(pid, libc::SIGQUIT);
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Sends a signal. A process that is gone is fine.
pub(super) fn signal(pid: i32, signal: libc::c_int) {
    // SAFETY: kill takes no pointers.
    unsafe { libc::kill(pid, signal) };
}

/// True if the number belongs to any process, a zombie included.
fn exists(pid: i32) -> bool {
    // SAFETY: kill takes no pointers; signal 0 only asks.
    pid > 0 && (unsafe { libc::kill(pid, 0) } == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH))
}

/// True if the process is the head of a live server on `cluster`.
#[cfg(target_os = "linux")]
fn is_postmaster(pid: i32, cluster: &Path) -> bool {
    if !is_alive_postgres(pid) {
        return false;
    }
    // The working folder is the sure sign, but it may be read only by the same user. The arguments
    // name the folder as it was called.
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    works_in(pid, cluster)
        || arguments.split(|byte| *byte == 0).any(|argument| argument == cluster.as_os_str().as_encoded_bytes())
}

/// Ends server processes that outlived the head of their server. They end by themselves once they
/// wait for something; one that computes would keep the next server from starting.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "nothing tells when a process that is not our child has ended")]
pub(super) fn end_backends(cluster: &Path) -> Result<(), EmbeddedError> {
    let start = Instant::now();
    loop {
        let left: Vec<i32> = fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| is_alive_postgres(*pid) && works_in(*pid, cluster))
            .collect();
        let Some(&pid) = left.first() else { return Ok(()) };
        if start.elapsed() > LIMIT {
            return Err(EmbeddedError::WillNotStop { pid });
        }
        // Nothing of theirs can reach the disk any more but what a crash leaves as well.
        left.into_iter().for_each(|pid| signal(pid, libc::SIGQUIT));
        std::thread::sleep(PAUSE);
    }
}

/// True if a process that is not a zombie has that number and the program's name.
#[cfg(target_os = "linux")]
fn is_alive_postgres(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((name, rest)) = stat.split_once('(').and_then(|(_, rest)| rest.rsplit_once(") ")) else { return false };
    name == "postgres" && !rest.starts_with(['Z', 'X'])
}

/// True if a process has `folder` as its working folder, under whatever path.
#[cfg(target_os = "linux")]
fn works_in(pid: i32, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(its), Ok(ours)) = (fs::metadata(format!("/proc/{pid}/cwd")), fs::metadata(folder)) else { return false };
    (its.dev(), its.ino()) == (ours.dev(), ours.ino())
}

/// True if the process is the head of a live server on `cluster`.
#[cfg(not(target_os = "linux"))]
fn is_postmaster(pid: i32, cluster: &Path) -> bool {
    let Ok(output) = std::process::Command::new("/bin/ps").args(["-o", "stat=,command=", "-p", &pid.to_string()]).output() else {
        return exists(pid);
    };
    let line = String::from_utf8_lossy(&output.stdout);
    !line.trim_start().starts_with('Z') && line.contains("postgres") && line.contains(&*cluster.to_string_lossy())
}

/// Elsewhere they end by themselves; Postgres refuses to start while one lives, and the start is
/// tried again.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_backends(_: &Path) -> Result<(), EmbeddedError> {
    Ok(())
}
