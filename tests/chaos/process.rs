//! The real program as a process that is killed, frozen and started again.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::support::PATIENCE;

/// One process of `level3 serve`.
pub struct Process {
    child: Child,
    pub pid: i32,
    pub spawned: DateTime<Utc>,
    log: Arc<Mutex<String>>,
    /// Told of every line; closed when the process is gone.
    lines: watch::Receiver<usize>,
    address: watch::Receiver<Option<SocketAddr>>,
}

impl Process {
    pub fn spawn(data: &Path, settings: &[(String, String)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_level3"));
        command.arg("serve").env_clear().env("PATH", std::env::var("PATH").unwrap_or_default());
        command.env("LEVEL3_DATA_DIR", data).env("LEVEL3_LISTEN", "127.0.0.1:0");
        command.envs(settings.iter().map(|(name, value)| (name, value)));
        command.current_dir(data.parent().unwrap()).stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let spawned = Utc::now();
        let mut child = command.spawn().expect("the program starts");
        let pid = child.id().expect("it runs").cast_signed();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let log: Arc<Mutex<String>> = Arc::default();
        let (found, address) = watch::channel(None);
        let (counting, counted) = watch::channel(0);
        tokio::spawn({
            let log = Arc::clone(&log);
            async move {
                while let Ok(Some(line)) = lines.next_line().await {
                    if let Some((_, address)) = line.split_once("ready: http://") {
                        found.send_replace(address.trim().parse().ok());
                    }
                    *log.lock().unwrap() += &format!("{line}\n");
                    counting.send_modify(|lines| *lines += 1);
                }
            }
        });
        Self { child, pid, spawned, log, lines: counted, address }
    }

    /// The address it listens on, once it is ready; `None` when it ended first.
    pub async fn ready(&mut self) -> Option<SocketAddr> {
        let ready = async { self.address.wait_for(Option::is_some).await.ok().and_then(|address| *address) };
        let Ok(address) = tokio::time::timeout(PATIENCE, ready).await else { panic!("neither ready nor ended:\n{}", self.log()) };
        address
    }

    pub fn signal(&self, signal: i32) {
        signal_to(self.pid, signal);
    }

    /// kill -9, and waits until it is gone.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("killed");
    }

    /// Completes when it has logged this, or has ended.
    pub async fn logs(&mut self, words: &str) {
        let log = Arc::clone(&self.log);
        let _ = self.lines.wait_for(|_| log.lock().unwrap().contains(words)).await;
    }

    /// Completes when it has ended, however long that takes.
    pub async fn ended_ever(&mut self) {
        self.child.wait().await.expect("it is our child");
    }

    /// Waits for it to end by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        match tokio::time::timeout(PATIENCE, self.child.wait()).await {
            Ok(status) => status.unwrap(),
            Err(_) => panic!("it does not end:\n{}", self.log()),
        }
    }

    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }
}

pub fn signal_to(pid: i32, signal: i32) {
    // SAFETY: kill takes no pointers.
    unsafe { libc::kill(pid, signal) };
}
