//! Opens the database: an embedded Postgres or the operator's own, the logins, the migrations, the pools.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgPool, query, query_scalar};

use super::agent_sql::AgentPools;
use super::embedded::{self, Embedded, EmbeddedError};
use super::logins::{self, LoginError, Logins};
use super::reach::{self, Patience};
use super::relay::Relay;
use super::{Signals, Store};
use crate::clock::Random;
use crate::config::Config;
use crate::failpoint::{self, Point};
use crate::lasting::Lasting;
use crate::telemetry::Scrubber;

/// A client-side deadline behind the agent login's own statement timeout of 15 s.
const SQL_DEADLINE: Duration = Duration::from_secs(20);
/// How long an idle connection is taken to be alive without asking.
const FRESH: Duration = Duration::from_secs(1);
const APP_CONNECTIONS: u32 = 16;
/// The name of the database inside an embedded Postgres.
const EMBEDDED_NAME: &str = "level3";

/// A Postgres that answers, not yet prepared for this program.
pub struct Database {
    embedded: Option<Embedded>,
    /// Where sockets of this process may be.
    home: PathBuf,
    pub(super) admin: PgConnectOptions,
    pub(super) name: String,
    pub(super) create: bool,
}

/// What it takes to make the agent's login anew while the server runs.
pub(super) struct Repair {
    admin: PgConnectOptions,
    name: String,
}

impl Repair {
    /// Puts all logins back to what they were made as: password, settings, rights.
    pub(super) async fn run(&self) -> Result<(), LoginError> {
        logins::prepare(&self.admin, &self.name, false).await.map(|_| ())
    }
}

/// Why the database cannot be used; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The embedded Postgres did not start.
    #[error("the embedded Postgres cannot be used")]
    Embedded(#[from] EmbeddedError),
    /// `DATABASE_URL` is no address.
    #[error("DATABASE_URL is not a Postgres address like postgres://user:password@host:5432/database")]
    Url(#[source] sqlx::Error),
    /// `DATABASE_URL` is an address of something else.
    #[error("DATABASE_URL begins with `{0}:`; level3 keeps everything in Postgres, so it begins with postgres://")]
    NotPostgres(String),
    /// `DATABASE_URL` names no database.
    #[error(
        "DATABASE_URL names no database; add one, as in postgres://user:password@host:5432/level3. It becomes level3's own: other logins \
         are shut out of it"
    )]
    NoName,
    /// Nobody answers at `DATABASE_URL`.
    #[error(
        "no Postgres answered at DATABASE_URL within {seconds} s ({said}); start it, or unset DATABASE_URL to use an embedded one"
    )]
    Unreachable {
        /// How long it was waited for.
        seconds: u64,
        /// What the last attempt came to.
        said: String,
    },
    /// The Postgres at `DATABASE_URL` does not let us in.
    #[error(transparent)]
    Refused(Box<LoginError>),
    /// The logins could not be made.
    #[error("the logins of the server and of the agent cannot be prepared")]
    Logins(#[from] LoginError),
    /// The database was written by a newer version.
    #[error("this database was written by a newer level3 (it has migration {0}); run that version, or restore a backup")]
    Newer(i64),
    /// A migration failed.
    #[error("the database could not be brought up to date")]
    Migration(#[source] MigrateError),
    /// The socket for the agent's connections could not be made.
    #[error("no socket can be made for the agent's connections, in the data folder or in the folder for temporary files")]
    Relay(#[source] std::io::Error),
    /// A query failed while opening.
    #[error("the database did not do what was asked while it was opened")]
    Query(#[from] sqlx::Error),
}

impl Lasting for DatabaseError {
    fn lasts(&self) -> bool {
        match self {
            Self::Embedded(source) => source.lasts(),
            Self::Logins(source) => source.lasts(),
            Self::Refused(source) => source.lasts(),
            Self::Migration(source) => source.lasts(),
            Self::Query(source) => source.lasts(),
            Self::Unreachable { .. } => false,
            Self::Url(_) | Self::NotPostgres(_) | Self::NoName | Self::Newer(_) | Self::Relay(_) => true,
        }
    }
}

impl Database {
    /// Starts the embedded Postgres, or waits for the one at `DATABASE_URL`.
    ///
    /// # Errors
    /// When there is none to use.
    pub async fn open(config: &Config) -> Result<Self, DatabaseError> {
        let Some(url) = &config.database_url else {
            let embedded = Embedded::start(&config.data_dir, config.postgres_bin.as_deref()).await?;
            let admin = embedded.admin();
            let home = config.data_dir.clone();
            return Ok(Self { embedded: Some(embedded), home, admin, name: EMBEDDED_NAME.to_owned(), create: true });
        };
        let (admin, name) = reach::target(url)?;
        reach::wait_for(&admin, Patience::default(), |why| {
            tracing::warn!(
                host = admin.get_host(),
                port = admin.get_port(),
                why,
                "the Postgres at DATABASE_URL does not answer; waiting"
            );
        })
        .await?;
        Ok(Self { embedded: None, home: config.data_dir.clone(), admin, name, create: false })
    }

    /// The database of a server that runs on this data folder, or the one at `DATABASE_URL`; nothing is started.
    ///
    /// # Errors
    /// When there is none to use.
    pub async fn running(config: &Config) -> Result<Self, DatabaseError> {
        if config.database_url.is_some() {
            return Self::open(config).await;
        }
        let (home, admin) = (config.data_dir.clone(), embedded::reach(&config.data_dir)?);
        Ok(Self { embedded: None, home, admin, name: EMBEDDED_NAME.to_owned(), create: false })
    }

    /// A database of its own inside a Postgres that is up already, made when missing.
    pub fn inside(admin: PgConnectOptions, name: &str) -> Self {
        Self { embedded: None, home: std::env::temp_dir(), admin, name: name.to_owned(), create: true }
    }

    /// Makes the logins, brings the tables up to date and opens the pools.
    ///
    /// # Errors
    /// When the database cannot be made ready.
    pub async fn prepare(&self, random: &dyn Random) -> Result<Store, DatabaseError> {
        let logins = logins::prepare(&self.admin, &self.name, self.create).await?;
        let app = logins.app.clone().disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(APP_CONNECTIONS)
            .acquire_timeout(Duration::from_secs(10))
            // A connection used a moment ago is not asked whether it lives: that question would be a round trip before every query.
            .test_before_acquire(false)
            .before_acquire(|connection, used| {
                Box::pin(async move {
                    if used.idle_for > FRESH {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_with(app.clone())
            .await?;
        end_left_over(&pool, &logins).await?;
        migrate(&pool).await?;
        let sql_key = sql_key(&pool, random).await?;
        let repair = Arc::new(Repair { admin: self.admin.clone(), name: self.name.clone() });
        let relay = Relay::start(&self.admin, &self.home).map_err(DatabaseError::Relay)?;
        let agent = AgentPools::new(&logins, |login| relay.through(login));
        Ok(Store {
            writing: super::Writing::default(),
            meters: super::Meters::default(),
            pool,
            agent,
            ears: super::neighbours::ears(app),
            signals: Signals::new(),
            sql_key: sql_key.into(),
            sql_deadline: SQL_DEADLINE,
            gate: super::Gate::default(),
            room: Arc::new(super::Room::endless()),
            repair,
            _relay: Arc::new(relay),
            scrubber: Scrubber::default(),
        })
    }

    /// Completes, with how, when the embedded Postgres has ended without being told to; never for the operator's own.
    pub fn lost(&self) -> impl Future<Output = String> + Send + use<> {
        let embedded = self.embedded.as_ref().map(Embedded::lost);
        async move {
            match embedded {
                Some(lost) => lost.await,
                None => std::future::pending().await,
            }
        }
    }

    /// Stops the embedded Postgres; does nothing to the operator's own.
    ///
    /// # Errors
    /// When it does not stop.
    pub async fn stop(self) -> Result<(), DatabaseError> {
        match self.embedded {
            Some(embedded) => Ok(embedded.stop().await?),
            None => Ok(()),
        }
    }
}

/// Ends what statements of the agent still run from before a crash: one that does not heed its timeout would keep its locks, and the
/// migrations would wait for it. No statement lives this long under a server that is there; locks that lie in no schema it never needs.
async fn end_left_over(pool: &PgPool, logins: &Logins) -> Result<(), DatabaseError> {
    let agents = logins.agents().map(|login| login.get_username().to_owned());
    query!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity a
         WHERE usename = ANY ($1) AND datname = current_database()
           AND (xact_start < clock_timestamp() - interval '1 minute'
                OR EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'advisory'))",
        &agents[..]
    )
    .fetch_all(pool)
    .await?;
    Ok(())
}

/// What the database needs to be like, in order.
pub(super) fn migrations() -> sqlx::migrate::Migrator {
    sqlx::migrate!()
}

async fn migrate(pool: &PgPool) -> Result<(), DatabaseError> {
    let all = migrations();
    if failpoint::is_armed(Point::MidMigration) {
        let half = all.iter().nth(1).map_or(0, |migration| migration.version);
        all.run_to(half, pool).await.map_err(DatabaseError::Migration)?;
        failpoint::hit(Point::MidMigration).map_err(sqlx::Error::Io)?;
    }
    all.run(pool).await.map_err(|error| match error {
        MigrateError::VersionMissing(version) => DatabaseError::Newer(version),
        other => DatabaseError::Migration(other),
    })
}

/// The key of the tokens with which the agent's transactions end, made once for each database.
async fn sql_key(pool: &PgPool, random: &dyn Random) -> Result<Vec<u8>, DatabaseError> {
    let mut fresh = [0; 32];
    random.fill(&mut fresh);
    query!("INSERT INTO server_keys (name, value) VALUES ('sql_token', $1) ON CONFLICT DO NOTHING", &fresh[..])
        .execute(pool)
        .await?;
    Ok(query_scalar!("SELECT value FROM server_keys WHERE name = 'sql_token'").fetch_one(pool).await?)
}
