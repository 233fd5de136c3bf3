//! Stands between the agent's connections and the server, and lets through what this process can
//! hold.
//!
//! The driver reads each message whole, however long it is, and a statement decides how long: one
//! value may have a gigabyte. So the agent's connections go to a socket of this process, in a
//! folder that nobody else can enter; behind it everything is passed on, and what the server sends
//! is bounded as it passes. If a message is too long, the relay answers with an error of its own
//! and closes both sides, which ends the statement at the server as well.

mod filter;
mod upstream;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

use filter::{FilterError, MessageFilter};
use upstream::Upstream;

/// The error code that a client reads in place of a message that is too long.
pub const TOO_LONG: &str = "L3010";

/// The longest folder for a socket: the kernel's path of one holds about 100 bytes.
const LONGEST_FOLDER: usize = 85;
const PORT: u16 = 5432;
/// The most that is read at a time; each connection has as much.
const PIECE: usize = 16 << 10;
/// How often a folder's name is tried: processes in other containers may share the place, and the
/// numbers.
const ATTEMPTS: u32 = 1000;
/// The number of this process' next folder.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A relay at work. Dropping it ends its connections.
#[derive(Debug)]
pub struct Relay {
    folder: PathBuf,
    ended: CancellationToken,
}

impl Relay {
    /// Begins to relay to the server of these options. `home` is the folder for the socket, unless
    /// its path is too long.
    ///
    /// # Errors
    /// No socket can be made, at `home` or in the folder for temporary files.
    pub(super) fn start(server: &PgConnectOptions, home: &Path) -> io::Result<Self> {
        let folder = make_folder_in(&[home, &std::env::temp_dir(), Path::new("/tmp")])?;
        let relay = Self { folder, ended: CancellationToken::new() };
        // Between binding and listening a socket refuses, as a dead one does: it gets its name when
        // it listens.
        let bound = relay.folder.join("new");
        let listener = UnixListener::bind(&bound)?;
        fs::rename(&bound, relay.socket())?;
        tokio::spawn(relay.ended.clone().run_until_cancelled_owned(listen(
            listener,
            Arc::new(Upstream::of(server)),
            relay.ended.clone(),
        )));
        Ok(relay)
    }

    /// The same login, through the relay.
    pub fn through(&self, login: PgConnectOptions) -> PgConnectOptions {
        // The relay itself secures what leaves the machine.
        login.socket(&self.folder).port(PORT).ssl_mode(PgSslMode::Disable)
    }

    fn socket(&self) -> PathBuf {
        socket_in(&self.folder)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.ended.cancel();
        // A folder that cannot be removed now is removed by the next relay.
        drop(fs::remove_file(self.socket()));
        drop(fs::remove_dir(&self.folder));
    }
}

fn name(number: u32) -> String {
    format!("level3-relay-{}-{number}", std::process::id())
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join(format!(".s.PGSQL.{PORT}"))
}

/// Makes one folder, in the first of these homes that lets it be made and whose path is short
/// enough for a socket.
fn make_folder_in(homes: &[&Path]) -> io::Result<PathBuf> {
    let mut refused = io::Error::other("there is no folder with a path short enough for a socket");
    for home in homes.iter().filter_map(|home| fs::canonicalize(home).ok()) {
        if home.join(name(u32::MAX)).as_os_str().len() > LONGEST_FOLDER {
            continue;
        }
        match make_folder(&home) {
            Ok(folder) => return Ok(folder),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// Makes a folder that did not exist before and that only we can enter, after removing those that
/// relays left which are dead.
fn make_folder(home: &Path) -> io::Result<PathBuf> {
    for entry in fs::read_dir(home)?.flatten() {
        let folder = entry.path();
        let ours = entry.file_name().to_string_lossy().starts_with("level3-relay-");
        // A folder without a socket may be one whose relay is about to make it.
        let is_dead = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        if ours && BlockingStream::connect(socket_in(&folder)).is_err_and(is_dead) {
            drop(fs::remove_file(socket_in(&folder)));
            drop(fs::remove_dir(&folder));
        }
    }
    let taken = || io::Error::other("every name for a folder of a socket is taken");
    let free = (0..ATTEMPTS).find_map(|_| {
        // No number comes again here: whoever has just found a folder dead removes it by its name a
        // moment later.
        let folder = home.join(name(NEXT.fetch_add(1, Ordering::Relaxed)));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => Some(Ok(folder)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            Err(error) => Some(Err(error)),
        }
    });
    free.unwrap_or_else(|| Err(taken()))
}

#[expect(clippy::disallowed_methods, reason = "nothing tells when there are free files again")]
async fn listen(listener: UnixListener, server: Arc<Upstream>, ended: CancellationToken) {
    loop {
        match listener.accept().await {
            Ok((client, _)) => {
                let (server, ended) = (Arc::clone(&server), ended.clone());
                tokio::spawn(ended.run_until_cancelled_owned(async move {
                    if let Err(error) = relay(client, &server).await {
                        tracing::debug!(%error, "a connection of the agent's ended");
                    }
                }));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection of the agent's cannot be taken");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Passes on what both say until one of them ends.
async fn relay(mut client: UnixStream, server: &Upstream) -> io::Result<()> {
    let server = server.connect().await.map_err(|error| match error {
        sqlx::Error::Io(error) => error,
        other => io::Error::other(other),
    })?;
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = tokio::io::split(server);
    let answers = async {
        let (mut filter, mut piece, mut out) = (MessageFilter::default(), vec![0; PIECE], Vec::with_capacity(PIECE));
        loop {
            let read = from_server.read(&mut piece).await?;
            if read == 0 {
                return Ok(());
            }
            let taken = filter.take(&piece[..read], &mut out);
            if let Err(refused) = &taken {
                filter::error(TOO_LONG, &error_text(refused), &mut out);
            }
            to_client.write_all(&out).await?;
            if taken.is_err() {
                return Ok(());
            }
            out.clear();
        }
    };
    tokio::select! {
        ended = answers => ended,
        ended = tokio::io::copy(&mut from_client, &mut to_server) => ended.map(drop),
    }
}

/// The words of the error that a client gets in place of what was not let through.
fn error_text(refused: &FilterError) -> String {
    const MEBIBYTE: usize = 1 << 20;
    match refused {
        FilterError::Message(bytes) => format!(
            "a row of the result has {} MiB, and {} MiB is the most that can be read; nothing was kept. Ask for length(VALUE::text) \
             first, read a long value in parts with substr(VALUE::text, 1, 6000), or name fewer columns",
            bytes.div_ceil(MEBIBYTE),
            filter::MESSAGE / MEBIBYTE
        ),
        FilterError::Answer => format!(
            "the result has more than {} MiB; nothing was kept. Use LIMIT, name fewer columns, or aggregate",
            filter::ANSWER / MEBIBYTE
        ),
        FilterError::Broken => "the server sent what is no message of its protocol".to_owned(),
    }
}

#[cfg(test)]
mod tests;
