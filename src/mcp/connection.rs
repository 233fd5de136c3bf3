//! One connection to a server: over HTTP, or to a program that was started for it.

use std::collections::{BTreeMap, HashMap};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, Peer, RunningService};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::common::client_side_sse::FixedInterval;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport};
use rmcp::{RoleClient, model};
use secrecy::ExposeSecret;
use tokio::io::{AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::bounded::Bounded;
use super::error::greeting_words;
use super::{Filled, McpError, clean};
use crate::domain::McpTransport;

/// The largest message of a server, in bytes.
const MAX_MESSAGE: usize = 4 << 20;
/// How much of what a program writes to its standard error is kept, to say why it does not answer.
const MAX_COMPLAINT: usize = 2 << 10;
/// How long a program gets to end by itself after its input ended.
const PARTING: Duration = Duration::from_secs(2);

/// A server that greeted.
pub(super) struct McpConnection {
    filled: Filled,
    service: tokio::sync::Mutex<Option<Running>>,
    peer: Peer<RoleClient>,
    program: Option<Program>,
    used: Mutex<Instant>,
}

impl McpConnection {
    /// Connects and greets.
    pub(super) async fn open(server: &str, filled: Filled, environment: &BTreeMap<String, String>) -> Result<Self, McpError> {
        let (service, program) = match &filled.transport {
            McpTransport::Http { url, .. } => (over_http(server, url, &filled).await?, None),
            McpTransport::Command { command, .. } => {
                let (mut program, pipes) = Program::start(server, command, environment, &filled)?;
                match greet(pipes, ClientLifecycleMode::Initialize).await {
                    Ok(service) => (service, Some(program)),
                    Err(error) => return Err(McpError::unreachable(server, &program.complaint(&error).await)),
                }
            }
        };
        let peer = service.peer().clone();
        let service = tokio::sync::Mutex::new(Some(service));
        Ok(Self { filled, service, peer, program, used: Mutex::new(Instant::now()) })
    }

    /// The handle to send requests with; asking for it counts as use.
    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.used();
        &self.peer
    }

    /// True when it is there and was made with these settings.
    pub(super) fn fits(&self, filled: &Filled) -> bool {
        !self.peer.is_transport_closed() && self.filled.same(filled)
    }

    /// Notes that it is used.
    pub(super) fn used(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// When it was last used.
    pub(super) fn last_use(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it; a program that does not end with its input is killed.
    pub(super) async fn close(&self) {
        if let Some(service) = self.service.lock().await.take() {
            // It takes what it takes to say good-bye, and no longer.
            let _ = timeout(PARTING, service.cancel()).await;
        }
        if let Some(program) = &self.program {
            program.end().await;
        }
    }
}

/// A connection that greeted.
type Running = RunningService<RoleClient, ClientConfig>;

async fn greet<T, E, A>(transport: T, mode: ClientLifecycleMode) -> Result<Running, String>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let us = Implementation::new("level3", env!("CARGO_PKG_VERSION"));
    let config = ClientConfig::new(ClientCapabilities::default(), us);
    config.serve_with_lifecycle(transport, mode).await.map_err(|error| greeting_words(&error))
}

async fn over_http(server: &str, url: &str, filled: &Filled) -> Result<Running, McpError> {
    let unreachable = |said: &str| McpError::unreachable(server, said);
    let mut headers = HashMap::new();
    for (name, value) in &filled.values {
        let name: HeaderName = name.parse().map_err(|_| unreachable("a header's name cannot be sent"))?;
        let mut value: HeaderValue = value.expose_secret().parse().map_err(|_| unreachable("a header's value cannot be sent"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    // An error means that somebody installed one before; any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(10))
        // A server that sends us elsewhere is not followed: headers with secrets are for this one.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .user_agent(concat!("level3/", env!("CARGO_PKG_VERSION")));
    if url.starts_with("http://") {
        builder = builder.tls_certs_only([]);
    }
    let http = builder.build().map_err(|error| unreachable(&error.to_string()))?;
    let transport = || {
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        config.custom_headers.clone_from(&headers);
        config.max_sse_event_size = MAX_MESSAGE;
        // A server that is gone is not called for ever: whoever needs it next connects anew.
        let mut retry = FixedInterval::default();
        retry.max_times = Some(2);
        config.retry_config = Arc::new(retry);
        StreamableHttpClientTransport::with_client(http.clone(), config)
    };
    match greet(transport(), ClientLifecycleMode::Initialize).await {
        Ok(service) => Ok(service),
        // Servers of the newest protocol alone know no such greeting.
        Err(first) => {
            let newest = ClientLifecycleMode::Discover { preferred_versions: vec![model::ProtocolVersion::V_2026_07_28] };
            greet(transport(), newest).await.map_err(|_| unreachable(&first))
        }
    }
}

type Pipes = AsyncRwTransport<RoleClient, Bounded<tokio::process::ChildStdout>, tokio::process::ChildStdin>;

/// A program that was started for a server. Dropping it kills it, and what it started.
struct Program {
    child: tokio::sync::Mutex<Child>,
    group: Option<i32>,
    ended: AtomicBool,
    complaints: Arc<Mutex<Vec<u8>>>,
    /// Reads them, to their end.
    listening: Option<JoinHandle<()>>,
}

impl Program {
    fn start(
        server: &str,
        command: &[String],
        environment: &BTreeMap<String, String>,
        filled: &Filled,
    ) -> Result<(Self, Pipes), McpError> {
        let (program, arguments) = command.split_first().ok_or_else(|| McpError::unreachable(server, "no program is named"))?;
        let mut starting = Command::new(program);
        starting.args(arguments).env_clear().envs(environment);
        starting.envs(filled.values.iter().map(|(name, value)| (name, value.expose_secret())));
        starting.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, so that what it starts ends with it.
        starting.process_group(0).kill_on_drop(true);
        die_with_us(&mut starting);
        let started = starting.spawn();
        let mut child =
            started.map_err(|error| McpError::unreachable(server, &format!("`{program}` cannot be started: {error}")))?;
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(McpError::unreachable(server, "the program has no input and output"));
        };
        let complaints = Arc::default();
        let listen = |complaining| tokio::spawn(keep_newest(complaining, Arc::clone(&complaints)));
        let listening = child.stderr.take().map(listen);
        let pipes = AsyncRwTransport::new_client(Bounded::new(output, MAX_MESSAGE), input);
        let (child, ended) = (tokio::sync::Mutex::new(child), AtomicBool::new(false));
        Ok((Self { child, group, ended, complaints, listening }, pipes))
    }

    /// Why it did not greet, with what it wrote to its standard error.
    async fn complaint(&mut self, error: &str) -> String {
        let ended = timeout(Duration::from_millis(500), self.child.get_mut().wait()).await;
        // A program that has ended may have words on their way still. A program that it started may
        // hold the other end open, so the wait is short.
        if let (Ok(Ok(_)), Some(listening)) = (&ended, &mut self.listening) {
            let _ = timeout(Duration::from_millis(500), listening).await;
        }
        let error = match ended {
            Ok(Ok(status)) => format!("the program ended ({status})"),
            _ => error.to_owned(),
        };
        let complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let wrote = clean::line(&String::from_utf8_lossy(&complaints), 400);
        if wrote.is_empty() { error } else { format!("{error}; it says: {wrote}") }
    }

    async fn end(&self) {
        let mut child = self.child.lock().await;
        if timeout(PARTING, child.wait()).await.is_err() {
            self.kill();
            let _ = child.wait().await;
        } else {
            self.kill(); // what it started may have outlived it
        }
    }

    /// Once: later the number of the group may be another's.
    fn kill(&self) {
        if let Some(group) = self.group
            && !self.ended.swap(true, Ordering::Relaxed)
        {
            // SAFETY: kill only sends a signal, to the group that was made for this program.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Arranges that the kernel ends the program when level3 is killed.
#[cfg(target_os = "linux")]
fn die_with_us(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: prctl, getppid and _exit are allowed between fork and exec, and take no pointers
    // here.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            // We may have died before the line above.
            if libc::getppid().cast_unsigned() != parent {
                libc::_exit(1);
            }
            Ok(())
        });
    }
}

/// Other systems have no such signal: there it ends with its input.
#[cfg(not(target_os = "linux"))]
fn die_with_us(_: &mut Command) {}

/// Reads on, so that the program never blocks, and keeps the newest of it.
async fn keep_newest(stream: tokio::process::ChildStderr, kept: Arc<Mutex<Vec<u8>>>) {
    let mut stream = BufReader::new(stream);
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..read]);
        let over = kept.len().saturating_sub(MAX_COMPLAINT);
        kept.drain(..over);
    }
}
