//! A Postgres of the program's own: a private cluster in the data folder, reached over a unix
//! socket only.
//!
//! Below the data folder: `postgres/` the cluster, `postgres.new/` while it is being made,
//! `postgres.log`, `run/` the socket, `lock`. The lock makes the cluster this program's alone;
//! `orphan` heals what a killed one left. Durability is Postgres' own default.

mod account;
mod binaries;
mod cluster;
mod error;
mod folder;
mod orphan;
pub mod programs;
mod server;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgSslMode};

pub use error::EmbeddedError;

use account::Account;
use binaries::Binaries;
use error::During;
use server::{Server, ServerEnd};

/// How long a start may take. Long, since it includes the recovery after a crash.
const START_LIMIT: Duration = Duration::from_secs(120);
/// How long a fast shutdown may take before an immediate one is asked for, and that one before we
/// give up.
const STOP_LIMIT: Duration = Duration::from_secs(30);
/// The pause between two looks while the server starts.
const PAUSE: Duration = Duration::from_millis(1);
/// The log is put aside at a start when it has grown beyond this many bytes.
const LOG_LIMIT: u64 = 4 << 20;

/// Settings on the command line, so that nothing in the data folder can change them. They keep it
/// small and quiet: one program with a few dozen connections, queries of milliseconds.
/// `listen_addresses` is what keeps it off the network.
const SETTINGS: [&str; 11] = [
    "listen_addresses=",
    "port=5432",
    "unix_socket_permissions=0700",
    "max_connections=60",
    "shared_buffers=64MB",
    "jit=off",
    "max_logical_replication_workers=0",
    "log_checkpoints=off",
    "logging_collector=off",
    "timezone=UTC",
    "log_timezone=UTC",
];

/// A running embedded Postgres. Dropping it asks the server to end; [`Embedded::stop`] also waits.
#[derive(Debug)]
pub struct Embedded {
    socket: PathBuf,
    server: Server,
    lock: File,
}

impl Embedded {
    /// Finds binaries, makes the cluster if there is none, heals what a crash left, starts the
    /// server, waits until it takes connections. `binaries` is the folder to take the programs
    /// from; `None` searches.
    ///
    /// # Errors
    /// [`EmbeddedError`], which says what to do.
    #[expect(clippy::disallowed_methods, reason = "nothing tells when the memory of a crashed server is free")]
    pub async fn start(data_dir: &Path, binaries: Option<&Path>) -> Result<Self, EmbeddedError> {
        let (data_dir, binaries) = (data_dir.to_owned(), binaries.map(Path::to_owned));
        let prepared = tokio::task::spawn_blocking(move || Prepared::new(&data_dir, binaries.as_deref())).await;
        let prepared = prepared.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
        let deadline = Instant::now() + START_LIMIT;
        loop {
            let (log, log_start) = prepared.open_log()?;
            let server = prepared.launch(log)?;
            let mut running = Running { server, prepared: &prepared, log_start };
            match running.wait_until_ready(deadline).await {
                Ok(()) => {
                    let Running { server, .. } = running;
                    return Ok(Self { socket: prepared.socket, server, lock: prepared.lock });
                }
                Err(error @ EmbeddedError::Ended { .. }) if Instant::now() < deadline => {
                    // Processes of a crashed server still hold its memory; they are about to end.
                    let is_held =
                        matches!(&error, EmbeddedError::Ended { tail, .. } if tail.contains("pre-existing shared memory block"));
                    if is_held {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    } else if !prepared.settle_again().await? {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// How to connect as the superuser, to the database `postgres`.
    pub fn admin(&self) -> PgConnectOptions {
        admin(&self.socket)
    }

    /// Completes when the server has ended, with how.
    pub fn lost(&self) -> impl Future<Output = String> + Send + use<> {
        let mut server = self.server.watch();
        async move {
            server
                .wait_for(Option::is_some)
                .await
                .map_or_else(|_| "nobody waited for it".into(), |how| how.clone().unwrap_or_default().how)
        }
    }

    /// Ends the server: transactions under way are rolled back, connections closed, everything is
    /// on the disk when this returns.
    ///
    /// # Errors
    /// The server does not end.
    pub async fn stop(mut self) -> Result<(), EmbeddedError> {
        for signal in [libc::SIGINT, libc::SIGQUIT] {
            self.server.signal(signal);
            if tokio::time::timeout(STOP_LIMIT, self.server.ended()).await.is_ok() {
                drop(fs::remove_dir(&self.socket)); // it may lie in a shared temporary folder; the next start makes it again
                // Not left to closing: a process that is being forked this moment would keep the
                // lock with its copy.
                return self.lock.unlock().during("unlock", Path::new("lock"));
            }
        }
        Err(EmbeddedError::WillNotStop { pid: self.server.pid() })
    }
}

/// Which Postgres would be started for `data_dir`, in words. Starts and makes nothing.
///
/// # Errors
/// [`EmbeddedError`] when there is none that could be.
pub fn look(data_dir: &Path, given: Option<&Path>) -> Result<String, EmbeddedError> {
    let cluster = data_dir.join("postgres");
    let major = cluster::major(&cluster)?;
    let binaries = binaries::find(given, major.as_deref().map(|major| (cluster.as_path(), major)))?;
    Ok(format!("a private Postgres {}, from {}", binaries.version(), binaries.folder().display()))
}

/// How to connect as the superuser to the server that runs in `data_dir`, whoever started it.
///
/// # Errors
/// There is no such folder.
pub fn reach(data_dir: &Path) -> Result<PgConnectOptions, EmbeddedError> {
    let data_dir = fs::canonicalize(data_dir).during("open", data_dir)?;
    Ok(admin(&folder::socket(&data_dir, &[std::env::temp_dir()])?))
}

fn admin(socket: &Path) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .socket(socket)
        .port(5432)
        .username("postgres")
        .database("postgres")
        .ssl_mode(PgSslMode::Disable)
        .application_name("level3")
}

/// A locked data folder with a cluster on which nobody works.
struct Prepared {
    data_dir: PathBuf,
    cluster: PathBuf,
    socket: PathBuf,
    binaries: Binaries,
    account: Account,
    lock: File,
}

impl Prepared {
    /// Everything before the server's start. Blocks.
    fn new(data_dir: &Path, given: Option<&Path>) -> Result<Self, EmbeddedError> {
        let data_dir = folder::make_data_dir(data_dir)?;
        let lock = folder::take_lock(&data_dir)?;
        let cluster = data_dir.join("postgres");
        let major = cluster::major(&cluster)?;
        let binaries = binaries::find(given, major.as_deref().map(|major| (cluster.as_path(), major)))?;
        let account = Account::choose(&cluster, binaries.folder())?;
        if major.is_none() {
            tracing::info!(folder = %cluster.display(), "making a database cluster");
            cluster::make(&cluster, &binaries, account)?;
        }
        let socket = folder::socket(&data_dir, &[std::env::temp_dir()])?;
        orphan::settle(&cluster, &socket)?;
        folder::make_socket(&socket, account)?;
        Ok(Self { data_dir, cluster, socket, binaries, account, lock })
    }

    /// True if a server was found that a killed program had only just started: it had not written
    /// down its number as we looked first.
    async fn settle_again(&self) -> Result<bool, EmbeddedError> {
        let (cluster, socket) = (self.cluster.clone(), self.socket.clone());
        let settled = tokio::task::spawn_blocking(move || orphan::settle(&cluster, &socket)).await;
        settled.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }

    fn log_path(&self) -> PathBuf {
        self.data_dir.join("postgres.log")
    }

    /// The log, and where this start's lines will begin in it.
    fn open_log(&self) -> Result<(File, u64), EmbeddedError> {
        let path = self.log_path();
        if fs::metadata(&path).is_ok_and(|log| log.len() > LOG_LIMIT) {
            fs::rename(&path, path.with_extension("log.old")).during("rename", &path)?;
        }
        let log = OpenOptions::new().create(true).append(true).mode(0o600).open(&path).during("open", &path)?;
        let length = log.metadata().during("read", &path)?.len();
        Ok((log, length))
    }

    fn launch(&self, log: File) -> Result<Server, EmbeddedError> {
        let program = self.binaries.program("postgres");
        let mut command = self.account.command(&program, libc::SIGINT);
        command.arg("-D").arg(&self.cluster).arg("-k").arg(&self.socket);
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        command.stdout(log.try_clone().during("open", &self.log_path())?).stderr(log);
        Server::spawn(command).map_err(|source| cluster::cannot_run(program, self.account, &self.cluster, source))
    }
}

/// A server that may not take connections yet.
struct Running<'a> {
    server: Server,
    prepared: &'a Prepared,
    log_start: u64,
}

impl Running<'_> {
    #[expect(clippy::disallowed_methods, reason = "nothing tells when Postgres takes connections")]
    async fn wait_until_ready(&mut self, deadline: Instant) -> Result<(), EmbeddedError> {
        loop {
            tokio::select! {
                biased;
                ServerEnd { how: status, killed } = self.server.ended() => {
                    return Err(EmbeddedError::Ended { status, killed, log: self.prepared.log_path(), tail: self.log_tail() });
                }
                () = tokio::time::sleep(PAUSE) => {}
            }
            if self.says_ready() {
                return Ok(());
            }
            if Instant::now() > deadline {
                let (log, tail) = (self.prepared.log_path(), self.log_tail());
                return Err(EmbeddedError::NoAnswer { seconds: START_LIMIT.as_secs(), log, tail });
            }
        }
    }

    /// True once the server, and no other, says in its file that it takes connections. An attempt
    /// to connect before that would cost it a process that only refuses.
    fn says_ready(&self) -> bool {
        let file = fs::read_to_string(self.prepared.cluster.join("postmaster.pid")).unwrap_or_default();
        let mut lines = file.lines().map(str::trim);
        // The first line is its number, the eighth its state.
        lines.next().and_then(|pid| pid.parse().ok()) == Some(self.server.pid()) && lines.nth(6) == Some("ready")
    }

    /// The last lines that this start wrote.
    fn log_tail(&self) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let mut log = File::open(self.prepared.log_path())?;
            log.seek(SeekFrom::Start(self.log_start.max(log.metadata()?.len().saturating_sub(16 << 10))))?;
            let mut bytes = Vec::new();
            log.read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }
}
