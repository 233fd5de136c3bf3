//! Builds everything once and runs it to its end.

pub mod backup;
pub mod doctor;
mod folder;
pub mod python;
mod workshop;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::channels::{Channels, LoopbackFaults, MediaFolder};
use crate::clock::{Clock, Random};
use crate::config::Config;
use crate::domain::campaign::CAMPAIGN_PROFILE;
use crate::domain::relay::{LOOPBACK, RelaySettings, WHATSAPP};
use crate::egress::Resolve;
use crate::faces::voice::{SpeechServers, Vapi};
use crate::http::{self, Access, Doors};
use crate::lasting::Lasting;
use crate::mcp::Mcp;
use crate::model::choice::ModelSource;
use crate::operator;
use crate::postgres::{Database, DatabaseError};
use crate::profiles::Profiles;
use crate::runner::{Heartbeat, Runner, TurnLog, Webhooks};
use crate::sandbox::{self, Sandbox, SandboxError};
use crate::secrets::SecretError;
use crate::store::{Room, Store, StoreError};
use crate::telemetry::{self, Metrics, Scrubber};
use crate::tools::{Hands, Tool};
use crate::wire::api::MadeBackup;

use workshop::Workshop;

pub use folder::{DataFolder, FolderError};
pub use workshop::named_tools;

/// The parts that come from outside and differ in a test.
#[derive(Clone)]
pub struct Outside {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// The source that says which model answers.
    pub models: Arc<ModelSource>,
    /// The part that hides the values of secrets; the log uses it too.
    pub scrubber: Scrubber,
    /// The profiles there are.
    pub profiles: Profiles,
    /// The tools of profiles that are not the program's own. Each exists for those that name it.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The resolver of names for requests of capabilities.
    pub resolver: Arc<dyn Resolve>,
    /// How long connections may take, and how many there may be.
    pub connections: http::ConnectionLimits,
    /// The faults of the test channel; none but in a test.
    pub loopback: LoopbackFaults,
}

/// The way the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// For good.
    Stop,
    /// To start again at once.
    Restart,
    /// A part broke: to start again, as after a crash.
    Broken,
}

/// The reason why the server cannot start; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The server cannot listen on the address.
    #[error("LEVEL3_LISTEN is {address}, which cannot be used; is another level3 running there?")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        source: io::Error,
    },
    /// Other machines can reach the address, and nothing asks them who they are.
    #[error(
        "LEVEL3_LISTEN is {0}, which other machines can reach: set LEVEL3_TOKEN to a long random text, or give the owner a password while \
         the server listens on 127.0.0.1 (level3 user password owner)"
    )]
    Reachable(SocketAddr),
    /// Other machines can reach the address, and the token is too short to keep them out.
    #[error("{0}")]
    ShortToken(String),
    /// The data folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The database does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The sandbox cannot be made.
    #[error("capabilities cannot be run here")]
    Sandbox(#[from] SandboxError),
    /// The secrets cannot be opened.
    #[error(transparent)]
    Secrets(#[from] SecretError),
}

impl Lasting for StartError {
    fn lasts(&self) -> bool {
        match self {
            Self::Folder(source) => source.lasts(),
            Self::Database(source) => source.lasts(),
            Self::Store(source) => source.lasts(),
            Self::Secrets(source) => source.lasts(),
            Self::Sandbox(SandboxError::Thread(source)) => source.lasts(),
            Self::Sandbox(SandboxError::Engine(_)) | Self::Listen { .. } | Self::Reachable(_) | Self::ShortToken(_) => true,
        }
    }
}

/// The sandbox on its way. It needs nothing of the database, so it is opened while that one starts.
pub struct Opening(JoinHandle<Result<Sandbox, SandboxError>>);

impl Opening {
    /// Begins to open it, on a thread that may block: the program may have to compile the engine,
    /// which takes a second of one core.
    pub fn begin(folder: &DataFolder, outside: &Outside) -> Self {
        let (cache, python) = (folder.cache(), python::folder(folder.path()));
        let (clock, random) = (Arc::clone(&outside.clock), Arc::clone(&outside.random));
        Self(tokio::task::spawn_blocking(move || {
            let sandbox = Sandbox::open(&cache, clock, random, sandbox::SandboxLimits::default())?;
            Ok(sandbox.with_python(python))
        }))
    }
}

/// A running server.
pub struct App {
    address: SocketAddr,
    store: Store,
    mcp: Mcp,
    channels: Channels,
    shutdown: CancellationToken,
    restart: CancellationToken,
    broken: CancellationToken,
    parts: JoinSet<()>,
    _folder: DataFolder,
}

impl App {
    /// Builds everything and begins to serve on `listener`.
    ///
    /// # Errors
    /// If a part cannot be built; then nothing is left running.
    pub async fn start(
        config: &Config,
        folder: DataFolder,
        opening: Opening,
        database: &Database,
        listener: TcpListener,
        outside: Outside,
    ) -> Result<Self, StartError> {
        let address = listener.local_addr().map_err(|source| StartError::Listen { address: config.listen, source })?;
        let metrics = Metrics::default();
        let store = opened(config, &folder, database, &outside, metrics.clone(), address).await?;
        let hands = workshop::hands(config, &folder, opening, &store, &outside).await?;
        let restart = CancellationToken::new();
        // A restart includes the shutdown: cancelling the one cancels the other in the same
        // instant.
        let shutdown = restart.child_token();
        let workshop = Workshop::of(config, &folder, &store, &hands, &outside, &restart, &metrics);
        let Workshop { executor, campaigns, operator, channels } = workshop;
        let Outside { clock, random, models, scrubber: _, profiles, tools: _, resolver: _, connections, loopback: _ } = outside;
        let Hands { sandbox, egress, mcp, vault, marks: _ } = hands;
        let speech =
            SpeechServers::new(config.voice.clone(), &egress, Some(vault.clone()), Arc::clone(&clock), Arc::clone(&random));
        let vapi = Vapi::new(config.vapi.clone(), &egress, vault.clone(), store.clone(), Arc::clone(&clock), Arc::clone(&random));
        let webhooks = Webhooks::new(store.clone(), egress, Arc::clone(&clock));
        let secret = store.derived_key("sessions of browsers");
        let site = http::Site {
            sources: config.sources.clone(),
            folder: folder.path().to_owned(),
            looking: doctor::looking(config, Arc::clone(&clock), Arc::clone(&random)),
            backup: backups(config, &clock, &random),
            one: tokio::sync::Mutex::default(),
        };
        let access = Access::new(address, &config.allowed_hosts, config.token.as_deref(), &secret, random)
            .with_public(config.vapi.public.as_ref())
            .with_daily(config.vapi.whole.is_some());
        let doors = Doors {
            store: store.clone(),
            vault,
            sandbox,
            mcp: mcp.clone(),
            mcp_commands: config.mcp_commands,
            profiles: profiles.clone(),
            tools: executor.tools.clone(),
            models,
            channels: channels.clone(),
            orders_from: config.operator.as_ref().map(|from| (from.channel.clone(), from.numbers.len())),
            webhooks: webhooks.clone(),
            campaigns: campaigns.clone(),
            speech,
            vapi,
            started_at: clock.now(),
            clock: Arc::clone(&clock),
            access: Arc::new(access),
            limits: connections,
            safe_mode: config.safe_mode,
            shutdown: shutdown.clone(),
            restart: restart.clone(),
            metrics,
            site: Arc::new(site),
            sockets: TaskTracker::new(),
        };
        let media = MediaFolder::at(folder.media());
        let runner = Runner::new(executor, folder.server_id(), config.shutdown.into(), config.turn_crashes, media)
            .with_workers(Arc::new([(CAMPAIGN_PROFILE, campaigns.worker())].into()));
        let (beats, every) = (Arc::clone(&clock), config.heartbeat.into());
        let heartbeat = Heartbeat::new(store.clone(), profiles, campaigns.clone(), channels.clone(), beats, every);
        let broken = CancellationToken::new();
        let mut parts = JoinSet::new();
        // Clients wait for the doors; the other parts have first looks to do.
        parts.spawn(serve(doors, listener, config.shutdown.into(), shutdown.clone()));
        // The log ends after the turns, so that it holds their last events.
        let worked = CancellationToken::new();
        let log = TurnLog::new(store.clone(), Arc::clone(&clock), config.turn_log.then(|| folder.logs()));
        // The operator's logs are never removed.
        parts.spawn(log.keeping_all(config.operator.is_some()).run(worked.clone()));
        // So do the words to other servers.
        parts.spawn(store.neighbours(Arc::clone(&clock)).run(worked.clone()));
        parts.spawn(work(runner, worked, shutdown.clone()));
        parts.spawn(heartbeat.run(shutdown.clone()));
        parts.spawn(campaigns.run(shutdown.clone()));
        parts.spawn(webhooks.run(shutdown.clone()));
        if let Some(operator) = operator {
            parts.spawn(operator.run(channels.clone(), shutdown.clone()));
        }
        let owner: Arc<str> = folder.server_id().into();
        let of_app = channels.clone();
        parts.spawn(channels.run(store.clone(), Arc::clone(&clock), owner, folder.media(), shutdown.clone()));
        Ok(Self { address, store, mcp, channels: of_app, shutdown, restart, broken, parts, _folder: folder })
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its channels.
    pub fn channels(&self) -> &Channels {
        &self.channels
    }

    /// Its store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Cancelling this ends the server in good order.
    pub fn shutdown(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Completes once the server has ended: turns at a checkpoint, sockets closed, connections
    /// given back.
    pub async fn ended(mut self) -> Exit {
        while let Some(ended) = self.parts.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a part of the server broke; ending, so that it is started again");
                self.broken.cancel();
                self.shutdown.cancel();
            }
        }
        self.mcp.close().await;
        self.store.close().await;
        match (self.restart.is_cancelled(), self.broken.is_cancelled()) {
            (true, _) => Exit::Restart,
            (false, true) => Exit::Broken,
            (false, false) => Exit::Stop,
        }
    }
}

/// Opens the store, with the limits of the settings. Nothing is served to other machines that
/// nobody asks who they are.
async fn opened(
    config: &Config,
    folder: &DataFolder,
    database: &Database,
    Outside { clock, random, scrubber, .. }: &Outside,
    metrics: Metrics,
    address: SocketAddr,
) -> Result<Store, StartError> {
    let room = Room {
        quota: config.agent_quota,
        reserve: config.disk_reserve,
        // An operator's own Postgres may keep its data on another machine's device.
        folder: config.database_url.is_none().then(|| folder.path().to_owned()),
    };
    let store = Store::open(database, &**random).await?.hiding(scrubber.clone()).counted(metrics).within(room);
    let channel = if config.whatsapp.is_some() { WHATSAPP } else { LOOPBACK };
    let orders =
        config.operator.iter().flat_map(|orders| orders.numbers.iter().map(|from| (orders.channel.clone(), from.clone())));
    let settings = RelaySettings { pace: config.pace, zone: config.time_zone, channel, orders_from: orders.collect() };
    let store = store.relaying(settings);
    if !address.ip().is_loopback() && config.token.is_none() && !store.owner_has_password().await? {
        store.close().await;
        return Err(StartError::Reachable(address));
    }
    store.keep_up_to(config.undo_bytes).await?;
    // No runner works yet, so this holds for a task that goes on, too.
    if let Some(numbers) = &config.operator {
        operator::settle(&store, numbers, clock.now()).await?;
    }
    Ok(store)
}

/// Keeps the doors open until `shutdown`. If they close by themselves, the server ends.
async fn serve(doors: Doors, listener: TcpListener, grace: Duration, shutdown: CancellationToken) {
    doors.serve(listener, grace).await;
    shutdown.cancel();
}

/// Works on turns until `shutdown`; then they have `worked`.
async fn work(runner: Runner, worked: CancellationToken, shutdown: CancellationToken) {
    let _ended = worked.drop_guard();
    runner.run(shutdown).await;
}

/// Makes backups while the server runs. Archives are written on a thread that may wait.
fn backups(config: &Config, clock: &Arc<dyn Clock>, random: &Arc<dyn Random>) -> Arc<http::BackupMaker> {
    let (config, clock, random) = (config.clone(), Arc::clone(clock), Arc::clone(random));
    Arc::new(move || {
        let (config, clock, random) = (config.clone(), Arc::clone(&clock), Arc::clone(&random));
        let here = tokio::runtime::Handle::current();
        let making = tokio::task::spawn_blocking(move || here.block_on(backup::backup_here(&config, &*clock, &*random)));
        async move {
            let made = making.await.map_err(|_panicked| "the backup failed; there is no file".to_owned())?;
            let (file, said) = made.map_err(|error| telemetry::chain(&error))?;
            Ok::<_, String>(MadeBackup { file: file.display().to_string(), said })
        }
        .boxed()
    })
}

/// Takes the address.
///
/// # Errors
/// If another program has it, or it is not ours.
pub async fn listen(address: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(address).await.map_err(|source| StartError::Listen { address, source })
}
