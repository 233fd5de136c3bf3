//! Counts what a server asks of its database, on the wire: a relay of the test's own stands before
//! Postgres, and notes each message that has something done, and each notice that comes back.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use sqlx::postgres::PgConnectOptions;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

/// The code in the place of a message's type that begins a session.
const SESSION: u32 = 196_608;
/// So much of what Postgres says is read at a time.
const PIECE: usize = 8 << 10;
/// Statements that come with time or with a new connection, and not with turns: signs of life,
/// looks for those of others, and the first statement of a connection.
const OF_NO_TURN: [&str; 3] = ["INSERT INTO servers", "SELECT t.lease_owner", "SET plan_cache_mode"];

/// A statement, by the login that sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The number of its connection.
    pub connection: usize,
    pub login: String,
    /// Its text; empty for a ping.
    pub text: String,
}

/// The relay. Dropping it leaves its connections as they are.
pub struct Counted {
    folder: TempDir,
    port: u16,
    sent: Arc<Mutex<Vec<Sent>>>,
    notices: Arc<Mutex<Vec<String>>>,
}

impl Counted {
    /// Relays to this Postgres, which listens at a socket in a folder.
    pub fn before(server: &PgConnectOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = server.get_port();
        let name = format!(".s.PGSQL.{port}");
        let listener = UnixListener::bind(folder.path().join(&name)).unwrap();
        let real = server.get_socket().expect("the test cluster has a socket").join(name);
        let (sent, notices) = (Arc::<Mutex<Vec<Sent>>>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (log, told) = (Arc::clone(&sent), Arc::clone(&notices));
        tokio::spawn(async move {
            let mut connection = 0;
            while let Ok((client, _)) = listener.accept().await {
                connection += 1;
                let session = Session { connection, log: Arc::clone(&log), ..Session::default() };
                // A connection that ends has nothing more to count.
                tokio::spawn(relay(client, real.clone(), session, Arc::clone(&told)));
            }
        });
        Self { folder, port, sent, notices }
    }

    /// The same Postgres, through the relay.
    pub fn through(&self, server: PgConnectOptions) -> PgConnectOptions {
        server.socket(self.folder.path()).port(self.port)
    }

    /// The statements since the last call.
    pub fn take(&self) -> Vec<Sent> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }

    /// The notices since the last call. One that belongs to a statement is here before the client
    /// has the statement's end.
    pub fn notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap())
    }
}

async fn relay(client: UnixStream, real: PathBuf, session: Session, notices: Arc<Mutex<Vec<String>>>) -> io::Result<()> {
    let (from_server, to_server) = UnixStream::connect(real).await?.into_split();
    let (from_client, to_client) = client.into_split();
    tokio::select! {
        ended = answers(from_server, to_client, notices) => ended,
        ended = questions(from_client, to_server, session) => ended,
    }
}

/// Passes on what Postgres says, and keeps its notices.
async fn answers(mut server: OwnedReadHalf, mut client: OwnedWriteHalf, notices: Arc<Mutex<Vec<String>>>) -> io::Result<()> {
    let mut heard: Vec<u8> = Vec::new();
    loop {
        heard.reserve(PIECE);
        let passed = heard.len();
        if server.read_buf(&mut heard).await? == 0 {
            return Ok(());
        }
        let mut whole = 0;
        while let Some(message) = first_message(&heard[whole..]) {
            notices.lock().unwrap().extend(notice(message));
            whole += message.len();
        }
        client.write_all(&heard[passed..]).await?;
        heard.drain(..whole);
    }
}

/// The message with which these bytes begin, if it is there whole.
fn first_message(bytes: &[u8]) -> Option<&[u8]> {
    let length = u32::from_be_bytes(bytes.get(1..5)?.try_into().unwrap());
    bytes.get(..1 + length as usize)
}

/// The words of a notice; nothing if the message is none.
fn notice(message: &[u8]) -> Option<String> {
    let mut fields = message.strip_prefix(b"N")?.get(4..)?;
    while let Some((kind, rest)) = fields.split_first().filter(|(kind, _)| **kind != 0) {
        let (text, next) = word(rest);
        if *kind == b'M' {
            return Some(String::from_utf8_lossy(text).into_owned());
        }
        fields = next;
    }
    None
}

/// Passes on what the client says, and notes it.
async fn questions(mut client: OwnedReadHalf, mut server: OwnedWriteHalf, mut session: Session) -> io::Result<()> {
    loop {
        let message = read(&mut client, session.login.is_some()).await?;
        session.note(&message);
        server.write_all(&message).await?;
    }
}

/// One message as it came; the first ones have no type.
async fn read(client: &mut OwnedReadHalf, typed: bool) -> io::Result<Vec<u8>> {
    let head = if typed { 5 } else { 4 };
    let mut message = vec![0; head];
    client.read_exact(&mut message).await?;
    let length = u32::from_be_bytes(message[head - 4..].try_into().unwrap());
    message.resize(head - 4 + length as usize, 0);
    client.read_exact(&mut message[head..]).await?;
    Ok(message)
}

#[derive(Default)]
struct Session {
    connection: usize,
    login: Option<String>,
    /// The text of each prepared statement, by its name.
    prepared: HashMap<Vec<u8>, String>,
    /// The statement that was bound last.
    bound: Vec<u8>,
    /// True if nothing came since the last end of an exchange.
    quiet: bool,
    log: Arc<Mutex<Vec<Sent>>>,
}

impl Session {
    fn note(&mut self, message: &[u8]) {
        if self.login.is_none() {
            self.begin(message);
            return;
        }
        let (kind, body) = (message[0], &message[5..]);
        match kind {
            b'P' => {
                let (name, rest) = word(body);
                self.prepared.insert(name.to_vec(), String::from_utf8_lossy(word(rest).0).into_owned());
            }
            b'B' => self.bound = word(word(body).1).0.to_vec(),
            b'E' => self.sent(self.prepared.get(&self.bound).cloned().expect("it was prepared")),
            b'Q' => self.sent(String::from_utf8_lossy(word(body).0).into_owned()),
            b'S' if self.quiet => self.sent(String::new()),
            _ => {}
        }
        self.quiet = matches!(kind, b'S' | b'Q');
    }

    fn begin(&mut self, message: &[u8]) {
        if u32::from_be_bytes(message[4..8].try_into().unwrap()) == SESSION {
            let mut words = message[8..].split(|byte| *byte == 0);
            while let (Some(name), Some(value)) = (words.next(), words.next()) {
                if name == b"user" {
                    self.login = Some(String::from_utf8_lossy(value).into_owned());
                }
            }
            self.quiet = false;
        }
    }

    fn sent(&self, text: String) {
        if !OF_NO_TURN.iter().any(|words| text.contains(words)) {
            let (connection, login) = (self.connection, self.login.clone().unwrap_or_default());
            self.log.lock().unwrap().push(Sent { connection, login, text });
        }
    }
}

/// The text up to the next zero, and what follows that.
fn word(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0).expect("texts end with zero");
    (&bytes[..end], &bytes[end + 1..])
}
