//! The server process: started by a thread that lives as long as it does, watched by that thread,
//! told to end by signals.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::mpsc;

use tokio::sync::watch;

use super::orphan;

/// How a server ended.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerEnd {
    /// In words.
    pub(super) how: String,
    /// True when a signal ended it.
    pub(super) killed: bool,
}

/// A running server. Dropping it asks it to end, with a fast shutdown.
#[derive(Debug)]
pub(super) struct Server {
    pid: i32,
    ended: watch::Receiver<Option<ServerEnd>>,
}

impl Server {
    /// Starts `command`.
    ///
    /// The kernel's signal at the death of a parent follows the *thread* that spawned, and threads
    /// of tokio's pools or of a test come and go. So a thread of its own spawns the server and
    /// stays to wait for its end, which also reaps it.
    pub(super) fn spawn(mut command: Command) -> io::Result<Self> {
        let (started, starting) = mpsc::channel();
        let (ending, ended) = watch::channel(None);
        let keeper = move || match command.spawn() {
            Err(error) => drop(started.send(Err(error))),
            Ok(mut child) => {
                drop(started.send(Ok(child.id().cast_signed())));
                let end = match child.wait() {
                    Ok(status) => ServerEnd { how: status.to_string(), killed: status.signal().is_some() },
                    Err(error) => ServerEnd { how: error.to_string(), killed: false },
                };
                ending.send_replace(Some(end));
            }
        };
        std::thread::Builder::new().name("postgres".into()).spawn(keeper)?;
        let pid = starting.recv().unwrap_or_else(|_| Err(io::Error::other("the thread that starts it ended")))?;
        Ok(Self { pid, ended })
    }

    /// The number of the process.
    pub(super) fn pid(&self) -> i32 {
        self.pid
    }

    /// Sends a signal, unless the server has ended: then the number may soon belong to someone
    /// else.
    pub(super) fn signal(&self, signal: libc::c_int) {
        if self.ended.borrow().is_none() {
            orphan::signal(self.pid, signal);
        }
    }

    /// Tells when the process has ended, and how.
    pub(super) fn watch(&self) -> watch::Receiver<Option<ServerEnd>> {
        self.ended.clone()
    }

    /// Completes when the process has ended, with how.
    pub(super) async fn ended(&mut self) -> ServerEnd {
        match self.ended.wait_for(Option::is_some).await {
            Ok(status) => status.clone().unwrap_or_default(),
            Err(_) => ServerEnd { how: "nobody waited for it".into(), killed: false },
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal(libc::SIGINT);
    }
}
