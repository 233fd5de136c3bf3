//! Opens the database: an embedded Postgres or the operator's own, the two logins, the migrations, the pools.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, Executor, PgPool, query, query_scalar};

use super::embedded::{self, Embedded, EmbeddedError};
use super::logins::{self, LoginError, Logins};
use super::{Signals, Store};
use crate::clock::Random;
use crate::config::Config;
use crate::failpoint::{self, Point};
use crate::telemetry::Scrubber;

/// How long the operator's own Postgres may take to come up when the server starts.
const START_WAIT: Duration = Duration::from_secs(30);
/// A client-side deadline behind the agent login's own statement timeout of 15 s.
const SQL_DEADLINE: Duration = Duration::from_secs(20);
/// How long an idle connection is taken to be alive without asking.
const FRESH: Duration = Duration::from_secs(1);
/// How long a statement of the agent waits for a connection while others use them all; shorter than the deadline.
const AGENT_WAIT: Duration = Duration::from_secs(10);
const APP_CONNECTIONS: u32 = 16;
const AGENT_CONNECTIONS: u32 = 8;
/// The name of the database inside an embedded Postgres.
const EMBEDDED_NAME: &str = "level3";

/// A Postgres that answers, not yet prepared for this program.
pub struct Database {
    embedded: Option<Embedded>,
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
    /// Puts both logins back to what they were made as: password, settings, rights.
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
    /// Nobody answers at `DATABASE_URL`.
    #[error("no Postgres answered at DATABASE_URL within {} s; start it, or unset DATABASE_URL to use an embedded one", START_WAIT.as_secs())]
    Unreachable(#[source] sqlx::Error),
    /// The two logins could not be made.
    #[error("the logins of the server and of the agent cannot be prepared")]
    Logins(#[from] LoginError),
    /// The database was written by a newer version.
    #[error("this database was written by a newer level3 (it has migration {0}); run that version, or restore a backup")]
    Newer(i64),
    /// A migration failed.
    #[error("the database could not be brought up to date")]
    Migration(#[source] MigrateError),
    /// A query failed while opening.
    #[error("the database did not do what was asked while it was opened")]
    Query(#[from] sqlx::Error),
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
            return Ok(Self { embedded: Some(embedded), admin, name: EMBEDDED_NAME.to_owned(), create: true });
        };
        let admin = PgConnectOptions::from_str(url).map_err(DatabaseError::Url)?.disable_statement_logging();
        wait_for(&admin).await?;
        let name = admin.get_database().unwrap_or(admin.get_username()).to_owned();
        Ok(Self { embedded: None, admin, name, create: false })
    }

    /// The database of a server that runs on this data folder, or the one at `DATABASE_URL`; nothing is started.
    ///
    /// # Errors
    /// When there is none to use.
    pub async fn running(config: &Config) -> Result<Self, DatabaseError> {
        if config.database_url.is_some() {
            return Self::open(config).await;
        }
        Ok(Self { embedded: None, admin: embedded::reach(&config.data_dir)?, name: EMBEDDED_NAME.to_owned(), create: false })
    }

    /// A database of its own inside a Postgres that is up already, made when missing.
    pub fn inside(admin: PgConnectOptions, name: &str) -> Self {
        Self { embedded: None, admin, name: name.to_owned(), create: true }
    }

    /// Makes the logins, brings the tables up to date and opens the pools.
    ///
    /// # Errors
    /// When the database cannot be made ready.
    pub async fn prepare(&self, random: &dyn Random) -> Result<Store, DatabaseError> {
        let logins = logins::prepare(&self.admin, &self.name, self.create).await?;
        let Logins { app, agent } = logins;
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
            .connect_with(app.disable_statement_logging())
            .await?;
        end_left_over(&pool, agent.get_username()).await?;
        migrate(&pool).await?;
        let sql_key = sql_key(&pool, random).await?;
        let repair = Arc::new(Repair { admin: self.admin.clone(), name: self.name.clone() });
        let agent = PgPoolOptions::new()
            .max_connections(AGENT_CONNECTIONS)
            .acquire_timeout(AGENT_WAIT)
            .idle_timeout(Duration::from_secs(60))
            // A call leaves nothing behind for the next: no settings, no prepared statements, no listeners, no locks.
            .after_release(|connection, _| {
                Box::pin(async move {
                    connection.execute("DISCARD ALL").await?;
                    Ok(true)
                })
            })
            .connect_lazy_with(agent.disable_statement_logging().statement_cache_capacity(0));
        Ok(Store {
            writing: super::Writing::default(),
            pool,
            agent,
            signals: Signals::new(),
            sql_key: sql_key.into(),
            sql_deadline: SQL_DEADLINE,
            repair,
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

async fn wait_for(admin: &PgConnectOptions) -> Result<(), DatabaseError> {
    let connect = async || PgConnectOptions::connect(admin).await;
    let patience = backon::ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(100))
        .with_max_delay(Duration::from_secs(2))
        .with_total_delay(Some(START_WAIT))
        .without_max_times();
    // A wrong password or a missing database does not get better by waiting.
    let waiting_helps = |error: &sqlx::Error| {
        matches!(error, sqlx::Error::Io(_)) || error.as_database_error().is_some_and(|e| e.code().as_deref() == Some("57P03"))
    };
    let connection = backon::Retryable::retry(connect, patience).when(waiting_helps).await.map_err(|error| match error {
        error @ sqlx::Error::Io(_) => DatabaseError::Unreachable(error),
        error => DatabaseError::Query(error),
    })?;
    Ok(connection.close().await?)
}

/// Ends what statements of the agent still run from before a crash: one that does not heed its timeout would keep its locks, and the
/// migrations would wait for it. No statement lives this long under a server that is there; locks that lie in no schema it never needs.
async fn end_left_over(pool: &PgPool, agent: &str) -> Result<(), DatabaseError> {
    query!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity a
         WHERE usename = $1 AND datname = current_database()
           AND (xact_start < clock_timestamp() - interval '1 minute'
                OR EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'advisory'))",
        agent
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
