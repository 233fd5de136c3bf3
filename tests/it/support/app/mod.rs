//! The whole server inside the test, with a clock turned by hand and a scripted model.

mod behind;
mod end;

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use level3::app::{App, DataFolder, Exit, Opening, Outside, StartError, listen};
use level3::channels::LoopbackFaults;
use level3::clock::{Clock, ManualClock, SeededRandom};
use level3::config::Config;
use level3::domain::Profile;
use level3::egress::{Resolve, SystemResolver};
use level3::http::ConnectionLimits;
use level3::model::choice::ModelSource;
use level3::model::client;
use level3::postgres::Database;
use level3::profiles::Profiles;
use level3::store::Store;
use level3::telemetry::Scrubber;
use level3::tools::Tool;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpSocket};

use super::script::Script;
use super::{Client, Counted, PATIENCE, Reply, Sent, cluster, databases, in_time, reserved_port, share_engine};

/// The seed of the server that made the database.
const FIRST: u64 = 7;

/// A server with a database and a data folder of its own. Dropping it ends the story: then the
/// script was played to its end, nothing is left over, and all tables follow from events. A story
/// that ends otherwise says why.
pub struct TestApp {
    pub clock: ManualClock,
    pub script: Arc<Script>,
    database: String,
    folder: TempDir,
    /// Keeps the server's port from others while it is down.
    _port: TcpSocket,
    settings: HashMap<String, String>,
    tour: bool,
    resolver: Arc<dyn Resolve>,
    connections: ConnectionLimits,
    profiles: Profiles,
    /// The tools of its own profile.
    tools: Vec<Arc<dyn Tool>>,
    /// The faults of the test channel.
    pub loopback: LoopbackFaults,
    /// The seed of the random numbers; the server's name is one of them.
    seed: u64,
    counted: Option<Arc<Counted>>,
    app: Option<App>,
    leaves: AtomicBool,
    rewrote: AtomicBool,
}

impl TestApp {
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Starts without a configured model; none can be found either.
    pub async fn tour() -> Self {
        Self::build(&[], true, Arc::new(SystemResolver), patient(), None, false).await
    }

    /// Starts with these settings.
    pub async fn with(settings: &[(&str, &str)]) -> Self {
        Self::with_names(settings, Arc::new(SystemResolver)).await
    }

    /// Starts with these settings and this resolver of names.
    pub async fn with_names(settings: &[(&str, &str)], resolver: Arc<dyn Resolve>) -> Self {
        Self::build(settings, false, resolver, patient(), None, false).await
    }

    /// Starts with these limits of the listener.
    pub async fn with_limits(connections: ConnectionLimits) -> Self {
        Self::build(&[], false, Arc::new(SystemResolver), connections, None, false).await
    }

    /// Starts with one more profile.
    pub async fn with_profile(profile: Profile) -> Self {
        Self::with_sealed(profile, Vec::new()).await
    }

    /// Starts with one more profile, and with tools that exist for it alone.
    pub async fn with_sealed(profile: Profile, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self::build(&[], false, Arc::new(SystemResolver), patient(), Some((profile, tools)), false).await
    }

    /// Starts with a relay before its database that counts statements.
    pub async fn counted() -> Self {
        Self::build(&[], false, Arc::new(SystemResolver), patient(), None, true).await
    }

    async fn build(
        settings: &[(&str, &str)],
        tour: bool,
        resolver: Arc<dyn Resolve>,
        connections: ConnectionLimits,
        own: Option<(Profile, Vec<Arc<dyn Tool>>)>,
        counted: bool,
    ) -> Self {
        // The log of a failing test is printed with it.
        let _ = tracing_subscriber::fmt().with_env_filter("info").with_test_writer().try_init();
        let mut settings: HashMap<_, _> = settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let (port, address) = reserved_port();
        settings.insert("LEVEL3_LISTEN".into(), address.to_string());
        let start: DateTime<Utc> = "2026-11-20T08:00:00Z".parse().unwrap();
        let mut app = Self {
            clock: ManualClock::at(start),
            script: Arc::default(),
            database: databases::take().await,
            folder: tempfile::tempdir().unwrap(),
            _port: port,
            settings,
            tour,
            resolver,
            connections,
            profiles: Profiles::default(),
            tools: Vec::new(),
            loopback: LoopbackFaults::default(),
            seed: FIRST,
            counted: counted.then(|| Arc::new(Counted::before(&cluster()))),
            app: None,
            leaves: AtomicBool::new(false),
            rewrote: AtomicBool::new(false),
        };
        if let Some((profile, tools)) = own {
            (app.profiles, app.tools) = (app.profiles.clone().with(profile), tools);
        }
        app.go().await;
        app
    }

    /// A second server on the same database, with a data folder of its own, the same clock and the
    /// same model. If this one is counted, the two are counted together. Drop it first.
    pub async fn beside(&self) -> Self {
        let mut heard = self.store().signals().elsewhere();
        let mut settings = self.settings.clone();
        let (port, address) = reserved_port();
        settings.insert("LEVEL3_LISTEN".into(), address.to_string());
        let mut other = Self {
            clock: self.clock.clone(),
            script: Arc::clone(&self.script),
            database: self.database.clone(),
            folder: tempfile::tempdir().unwrap(),
            _port: port,
            settings,
            tour: false,
            resolver: Arc::clone(&self.resolver),
            connections: self.connections,
            profiles: self.profiles.clone(),
            tools: self.tools.clone(),
            loopback: self.loopback.clone(),
            seed: self.seed + 1,
            counted: self.counted.clone(),
            app: None,
            leaves: AtomicBool::new(true),
            rewrote: AtomicBool::new(true),
        };
        other.go().await;
        // The new server says hello, and from then on each tells the other.
        assert_eq!(heard.next().await, None);
        other
    }

    /// Changes a setting, for the next start.
    pub fn set(&mut self, name: &str, value: &str) {
        self.settings.insert(name.into(), value.into());
    }

    /// The model's answers from now on.
    pub fn script(&self, replies: impl IntoIterator<Item = Reply>) -> &Self {
        self.script.add(replies);
        self
    }

    async fn go(&mut self) {
        let mut config = Config::read(&self.settings).unwrap();
        config.data_dir = self.folder.path().to_owned();
        let random = Arc::new(SeededRandom::new(self.seed));
        share_engine(&config.data_dir);
        let folder = DataFolder::take(&config.data_dir, &*random).unwrap();
        let models = Arc::new(if self.tour {
            ModelSource::searching(Vec::new(), client::ModelLimits::default(), Arc::new(self.clock.clone()), random.clone())
        } else {
            let limits = client::ModelLimits {
                retry_base: Duration::from_millis(1),
                context_tokens: config.model.context_tokens,
                ..client::ModelLimits::default()
            };
            let clock = Arc::new(self.clock.clone());
            ModelSource::with_default(self.script.clone(), &config.model, limits, clock, random.clone())
        });
        let outside = Outside {
            clock: Arc::new(self.clock.clone()),
            random,
            models,
            scrubber: Scrubber::default(),
            resolver: Arc::clone(&self.resolver),
            connections: self.connections,
            profiles: self.profiles.clone(),
            tools: self.tools.clone(),
            loopback: self.loopback.clone(),
        };
        let server = self.counted.as_ref().map_or_else(cluster, |counted| counted.through(cluster()));
        let database = Database::inside(server, &self.database);
        let listener = in_time("the port of the crashed server", listening(config.listen)).await;
        let opening = Opening::begin(&folder, &outside);
        self.app = Some(App::start(&config, folder, opening, &database, listener, outside).await.unwrap());
    }

    fn app(&self) -> &App {
        self.app.as_ref().expect("the server runs")
    }

    pub fn address(&self) -> SocketAddr {
        self.app().address()
    }

    pub fn database(&self) -> &str {
        &self.database
    }

    /// Its database, for a store beside the server's own.
    pub fn database_behind(&self) -> Database {
        Database::inside(cluster(), &self.database)
    }

    /// The statements since the last call, of a server that was started to be counted.
    pub fn sent(&self) -> Vec<Sent> {
        self.counted.as_ref().expect("it is counted").take()
    }

    /// The notices of Postgres since the last call, to a server that was started to be counted.
    pub fn notices(&self) -> Vec<String> {
        self.counted.as_ref().expect("it is counted").notices()
    }

    /// Its data folder.
    pub fn data(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub fn store(&self) -> &Store {
        self.app().store()
    }

    pub fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    pub fn advance(&self, seconds: i64) {
        self.clock.advance(TimeDelta::seconds(seconds));
    }

    pub async fn connect(&self) -> Client {
        Client::connect(self.address()).await
    }

    /// Stops the server in good order.
    pub async fn stop(&mut self) -> Exit {
        let app = self.app.take().expect("the server runs");
        app.shutdown().cancel();
        app.ended().await
    }

    /// Waits until the server ends by itself.
    pub async fn ended(&mut self) -> Exit {
        self.app.take().expect("the server runs").ended().await
    }

    /// Starts the server again, on the same data.
    pub async fn start_again(&mut self) {
        assert!(self.app.is_none(), "it was stopped before");
        self.go().await;
    }

    /// Stops and starts again.
    pub async fn restart(&mut self) {
        self.stop().await;
        self.start_again().await;
    }

    /// Drops the server as it stands, like a crash, without a good-bye.
    pub async fn crash(&mut self) {
        let app = self.app.take().expect("the server runs");
        let store = app.store().clone();
        drop(app);
        store.close().await;
    }

    /// Completes when no turn is queued or running.
    pub async fn run_until_idle(&self) {
        let mut events = self.store().signals().events();
        while self.store().open_turns().await.unwrap() > 0 {
            in_time("progress of the turns", events.recv()).await.ok();
        }
    }
}

/// Limits that cut nothing short on a slow machine if both sides keep to the protocol.
pub fn patient() -> ConnectionLimits {
    let long = PATIENCE;
    ConnectionLimits { description: long, first_event: long, measures: long, ..ConnectionLimits::within(1024) }
}

/// Listens there. After a crash, the cut tasks let go of the listener when the runtime next polls
/// them.
async fn listening(address: SocketAddr) -> TcpListener {
    loop {
        match listen(address).await {
            Ok(listener) => return listener,
            Err(StartError::Listen { source, .. }) if source.kind() == ErrorKind::AddrInUse => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}
