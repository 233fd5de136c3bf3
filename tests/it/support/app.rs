//! The whole server inside the test, with a clock turned by hand and a scripted model.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use level3::app::{App, DataFolder, Exit, Opening, Outside, listen};
use level3::clock::{Clock, ManualClock, SeededRandom};
use level3::config::Config;
use level3::domain::Profile;
use level3::egress::{Resolve, SystemResolver};
use level3::http::Limits;
use level3::model::choice::ModelSource;
use level3::model::client;
use level3::postgres::{Database, logins};
use level3::profiles::Profiles;
use level3::store::Store;
use level3::telemetry::Scrubber;
use tempfile::TempDir;

use super::script::Script;
use super::{Client, Reply, cluster, share_engine};

/// How long a look at the end of a story may take. It guards against a hanging test.
const PATIENCE: Duration = Duration::from_secs(60);
/// The seed of the server that made the database.
const FIRST: u64 = 7;

/// Finds things that are not over, in words. A story that ends with one says why with
/// [`TestApp::leaves`].
const LEFT: &str = "SELECT 'turn ' || turn_id || ' is ' || state FROM turns WHERE ended_at IS NULL
    UNION ALL SELECT 'call ' || tool_call_id || ' of ' || name || ' has no outcome' FROM tool_calls WHERE state = 'proposed'
    UNION ALL SELECT 'approval ' || approval_id || ' waits' FROM approvals WHERE state = 'pending'
    UNION ALL SELECT 'operation ' || ordinal || ' of call ' || tool_call_id || ' is ' || state FROM operations WHERE state = 'begun'";
/// How many wake-ups are not those of what is to come.
const ASTRAY: &str = "SELECT count(*) FROM (SELECT kind, subject, at FROM wake_ups) w FULL JOIN to_come USING (kind, subject, at)
    WHERE w IS NULL OR to_come IS NULL";

/// A server with a database and a data folder of its own. Dropping it ends the story: then the script
/// was played to its end, nothing is left over, and all tables follow from events. A story that ends
/// otherwise says why.
pub struct TestApp {
    pub clock: ManualClock,
    pub script: Arc<Script>,
    database: String,
    folder: TempDir,
    settings: HashMap<String, String>,
    tour: bool,
    resolver: Arc<dyn Resolve>,
    connections: Limits,
    profiles: Profiles,
    /// The seed of the random numbers; the server's name is one of them.
    seed: u64,
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
        Self::build(&[], true, Arc::new(SystemResolver), Limits::within(1024), None).await
    }

    /// Starts with these settings.
    pub async fn with(settings: &[(&str, &str)]) -> Self {
        Self::with_names(settings, Arc::new(SystemResolver)).await
    }

    /// Starts with these settings and this resolver of names.
    pub async fn with_names(settings: &[(&str, &str)], resolver: Arc<dyn Resolve>) -> Self {
        Self::build(settings, false, resolver, Limits::within(1024), None).await
    }

    /// Starts with these limits of the listener.
    pub async fn with_limits(connections: Limits) -> Self {
        Self::build(&[], false, Arc::new(SystemResolver), connections, None).await
    }

    /// Starts with one more profile.
    pub async fn with_profile(profile: Profile) -> Self {
        Self::build(&[], false, Arc::new(SystemResolver), Limits::within(1024), Some(profile)).await
    }

    async fn build(
        settings: &[(&str, &str)],
        tour: bool,
        resolver: Arc<dyn Resolve>,
        connections: Limits,
        profile: Option<Profile>,
    ) -> Self {
        // The log of a failing test is printed with it.
        let _ = tracing_subscriber::fmt().with_env_filter("info").with_test_writer().try_init();
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let database = format!("t{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let mut settings: HashMap<_, _> = settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        settings.insert("LEVEL3_LISTEN".into(), "127.0.0.1:0".into());
        let start: DateTime<Utc> = "2026-11-20T08:00:00Z".parse().unwrap();
        let mut app = Self {
            clock: ManualClock::at(start),
            script: Arc::default(),
            database,
            folder: tempfile::tempdir().unwrap(),
            settings,
            tour,
            resolver,
            connections,
            profiles: Profiles::default(),
            seed: FIRST,
            app: None,
            leaves: AtomicBool::new(false),
            rewrote: AtomicBool::new(false),
        };
        if let Some(profile) = profile {
            app.profiles = app.profiles.clone().with(profile);
        }
        app.go().await;
        app
    }

    /// A second server on the same database, with a data folder of its own, the same clock and the
    /// same model. Drop it first.
    pub async fn beside(&self) -> Self {
        let mut heard = self.store().signals().elsewhere();
        let mut settings = self.settings.clone();
        settings.insert("LEVEL3_LISTEN".into(), "127.0.0.1:0".into());
        let mut other = Self {
            clock: self.clock.clone(),
            script: Arc::clone(&self.script),
            database: self.database.clone(),
            folder: tempfile::tempdir().unwrap(),
            settings,
            tour: false,
            resolver: Arc::clone(&self.resolver),
            connections: self.connections,
            profiles: self.profiles.clone(),
            seed: self.seed + 1,
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
            ModelSource::searching(Vec::new(), client::Limits::default(), Arc::new(self.clock.clone()), random.clone())
        } else {
            let limits = client::Limits {
                retry_base: Duration::from_millis(1),
                context_tokens: config.model.context_tokens,
                ..client::Limits::default()
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
        };
        let database = Database::inside(cluster(), &self.database);
        let listener = listen(config.listen).await.unwrap();
        // A client finds it at the same address after a restart.
        self.settings.insert("LEVEL3_LISTEN".into(), listener.local_addr().unwrap().to_string());
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
        // The cut tasks let go of the listener when the runtime next polls them.
        tokio::task::yield_now().await;
        store.close().await;
    }

    /// Completes when no turn is queued or running.
    pub async fn run_until_idle(&self) {
        let mut events = self.store().signals().events();
        while self.store().open_turns().await.unwrap() > 0 {
            tokio::time::timeout(Duration::from_secs(30), events.recv()).await.expect("the turns make progress").ok();
        }
    }

    /// Asserts that all tables follow from events, and that no event was changed. For the middle of
    /// a story: its end is looked at anyway.
    pub async fn check_replay(&self) {
        follows_from_events(self.store(), &mut self.behind().await).await;
    }

    /// The story ends with something that is not over, since `_why`.
    pub fn leaves(&self, _why: &str) {
        self.leaves.store(true, Ordering::Relaxed);
    }

    /// The story changes rows behind the server's back, since `_why`: they do not follow from events.
    pub fn rewrites(&self, _why: &str) {
        self.rewrote.store(true, Ordering::Relaxed);
    }

    /// A connection that may read and change everything, to look behind the scenes.
    pub async fn behind(&self) -> sqlx::PgConnection {
        behind(&self.database).await
    }

    /// One number from the database.
    pub async fn count(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query).fetch_one(&mut self.behind().await).await.unwrap()
    }
}

async fn follows_from_events(store: &Store, behind: &mut sqlx::PgConnection) {
    let found = level3::replay::check(store).await.unwrap();
    assert!(found.clean, "what was recorded is not what there is: {found:#?}");
    let astray: i64 = sqlx::query_scalar(ASTRAY).fetch_one(behind).await.unwrap();
    assert_eq!(astray, 0, "the wake-ups are not those of what is to come");
}

/// Looks at the end of a story, on connections of its own: those of the server belong to a runtime
/// that stands still.
async fn look_at_the_end(database: &str, leaves: bool, rewrote: bool) {
    let mut behind = behind(database).await;
    let left: Vec<String> = sqlx::query_scalar(LEFT).fetch_all(&mut behind).await.unwrap();
    assert!(leaves || left.is_empty(), "left over at the end of the story: {left:#?}");
    if !rewrote {
        let look = async {
            let store = Store::open(&Database::inside(cluster(), database), &SeededRandom::new(FIRST)).await.unwrap();
            follows_from_events(&store, &mut behind).await;
            store.close().await;
        };
        tokio::time::timeout(PATIENCE, look).await.expect("nothing keeps the database from being looked at");
    }
}

/// A connection that may read and change everything.
async fn behind(database: &str) -> sqlx::PgConnection {
    use sqlx::ConnectOptions;
    cluster().database(database).options([("search_path", "level3")]).connect().await.unwrap()
}

impl Drop for TestApp {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return; // the test's database stays while the test cluster runs
        }
        assert_eq!(self.script.left(), 0, "replies of the script that nobody asked for");
        let (app, database, seed) = (self.app.take(), self.database.clone(), self.seed);
        let (leaves, rewrote) = (self.leaves.load(Ordering::Relaxed), self.rewrote.load(Ordering::Relaxed));
        // A thread of its own, since the test's runtime is about to end.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                drop(app);
                if seed != FIRST {
                    return;
                }
                look_at_the_end(&database, leaves, rewrote).await;
                logins::drop_database(&cluster(), &database).await.expect("the test's database goes");
            });
        })
        .join()
        .unwrap();
    }
}
