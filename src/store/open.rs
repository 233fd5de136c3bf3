//! Opens the store on a Postgres: the logins, the migrations, the pools.

use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, Executor, PgExecutor, PgPool, query, query_as, query_scalar};

use super::agent_sql::AgentPools;
use super::connections::{Connections, FRESH};
use super::{Gate, Meters, Room, Signals, Store, StoreError, Writing, neighbours};
use crate::clock::Random;
use crate::domain::relay::RelaySettings;
use crate::failpoint::{self, Point};
use crate::postgres::logins::Logins;
use crate::postgres::{Database, DatabaseError, migrations};
use crate::telemetry::Scrubber;

/// A client-side deadline behind the agent login's own statement timeout of 15 s.
const SQL_DEADLINE: Duration = Duration::from_secs(20);
/// Connections for each core. A turn has one only while a statement runs, and none while its model
/// thinks; more of them only wait for each other, and each plans every statement for itself.
const CONNECTIONS_A_CORE: usize = 4;
/// On one core, and on very many.
const CONNECTIONS: std::ops::RangeInclusive<usize> = 8..=32;

impl Store {
    /// Makes the logins, brings the tables up to date and opens the pools.
    ///
    /// # Errors
    /// If the database cannot be made ready.
    pub async fn open(database: &Database, random: &dyn Random) -> Result<Self, DatabaseError> {
        let app = database.app()?.disable_statement_logging();
        // The server needs some milliseconds for each connection. This one is most often right at
        // once; if it had to wait for its login, or began before the login was put right, another
        // one takes its place.
        let early = async { if database.is_fresh() { open_pool(&app).await.ok() } else { None } };
        let (logins, early) = tokio::join!(database.logins(), early);
        let logins = logins?;
        let pool = match early {
            Some(pool) if logins.untouched => pool,
            Some(stale) => {
                stale.close().await;
                open_pool(&app).await?
            }
            None => open_pool(&app).await?,
        };
        // One connection for all of it: the server needs some milliseconds for each.
        let mut first = pool.acquire().await?;
        if !database.is_fresh() {
            end_left_over(&mut first, &logins).await?;
        }
        migrate(&mut first).await?;
        let sql_key = sql_key(&mut first, random).await?;
        drop(first);
        let relay = database.relay()?;
        let agent = AgentPools::new(&logins, |login| relay.through(login));
        Ok(Self {
            writing: Writing::default(),
            meters: Meters::default(),
            handed: Default::default(),
            catalogue: Default::default(),
            known: Default::default(),
            places: Default::default(),
            users_of: Default::default(),
            pool: Connections::new(pool),
            agent,
            ears: neighbours::ears(app),
            signals: Signals::new(),
            sql_key: sql_key.into(),
            sql_deadline: SQL_DEADLINE,
            gate: Gate::default(),
            room: Arc::new(Room::endless()),
            repair: Arc::new(database.repair()),
            _relay: Arc::new(relay),
            scrubber: Scrubber::default(),
            relay: RelaySettings::default(),
        })
    }

    /// The first migration that only one of database and program has, or that each has in another
    /// form. `None`: the tables are those of this program.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn foreign_migration(&self) -> Result<Option<i64>, StoreError> {
        Ok(differing(&applied(&self.pool).await?, &migrations()))
    }
}

/// The most connections of the server's own login.
fn connections() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = (cores * CONNECTIONS_A_CORE).clamp(*CONNECTIONS.start(), *CONNECTIONS.end());
    u32::try_from(most).unwrap_or(u32::MAX)
}

async fn open_pool(app: &PgConnectOptions) -> Result<PgPool, sqlx::Error> {
    PgPoolOptions::new()
        .max_connections(connections())
        .acquire_timeout(Duration::from_secs(10))
        // A connection that was used a moment ago is not asked whether it lives: that would
        // cost a round trip before every query.
        .test_before_acquire(false)
        .before_acquire(|connection, used| {
            Box::pin(async move {
                if used.idle_for > FRESH {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .after_connect(|connection, _| {
            Box::pin(async move {
                // Planned once for each connection, whatever the values, and not at each run.
                // Tables are often small when that is done, and grow afterwards: reading one whole,
                // for each row of another, is never the plan to keep. Such plans count as dear, and
                // a Postgres of the person's own would compile them to machine code, which takes
                // longer than to run them.
                connection.execute("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off").await?;
                Ok(())
            })
        })
        .connect_with(app.clone())
        .await
}

/// Ends statements of the agent that still run from before a crash: one that does not heed its
/// timeout keeps its locks, and the migrations would wait for them. Under a live server no
/// statement lives for a minute, and the agent never needs an advisory lock.
async fn end_left_over(connection: &mut PgConnection, logins: &Logins) -> Result<(), DatabaseError> {
    let agents = logins.agents().map(|login| login.get_username().to_owned());
    query!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity a
         WHERE usename = ANY ($1) AND datname = current_database()
           AND (xact_start < clock_timestamp() - interval '1 minute'
                OR EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'advisory'))",
        &agents[..]
    )
    .fetch_all(connection)
    .await?;
    Ok(())
}

async fn migrate(connection: &mut PgConnection) -> Result<(), DatabaseError> {
    let all = migrations();
    if is_migrated(connection, &all).await {
        return Ok(());
    }
    if failpoint::is_armed(Point::MidMigration) {
        let half = all.iter().nth(1).map_or(0, |migration| migration.version);
        all.run_to(half, &mut *connection).await.map_err(DatabaseError::Migration)?;
        failpoint::hit(Point::MidMigration).map_err(sqlx::Error::Io)?;
    }
    all.run(connection).await.map_err(|error| match error {
        MigrateError::VersionMissing(version) => DatabaseError::Newer(version),
        other => DatabaseError::Migration(other),
    })
}

/// True if the database has these migrations and no others: then there is nothing to lock. A
/// database that is not there yet has none.
async fn is_migrated(connection: &mut PgConnection, all: &Migrator) -> bool {
    applied(connection).await.is_ok_and(|applied| differing(&applied, all).is_none())
}

/// A migration of the database: its version, its fingerprint, and if it came to its end.
type AppliedMigration = (i64, Vec<u8>, bool);

/// The migrations of a database, in their order.
async fn applied(database: impl PgExecutor<'_>) -> Result<Vec<AppliedMigration>, sqlx::Error> {
    let applied = query_as::<_, AppliedMigration>("SELECT version, checksum, success FROM _sqlx_migrations ORDER BY version");
    applied.fetch_all(database).await
}

/// The first version at which these are not the same.
fn differing(applied: &[AppliedMigration], all: &Migrator) -> Option<i64> {
    let theirs: Vec<_> = applied.iter().map(|(version, checksum, success)| (*version, &checksum[..], *success)).collect();
    let ours: Vec<_> = all.iter().map(|ours| (ours.version, &ours.checksum[..], true)).collect();
    let pairs = (0..theirs.len().max(ours.len())).map(|n| [theirs.get(n), ours.get(n)]);
    let differs = pairs.filter(|[theirs, ours]| theirs != ours);
    differs.flatten().flatten().map(|(version, ..)| *version).next()
}

/// The key of the tokens that end the agent's transactions, made once for each database.
async fn sql_key(connection: &mut PgConnection, random: &dyn Random) -> Result<Vec<u8>, DatabaseError> {
    let kept = || query_scalar!("SELECT value FROM server_keys WHERE name = 'sql_token'");
    if let Some(key) = kept().fetch_optional(&mut *connection).await? {
        return Ok(key);
    }
    let mut fresh = [0; 32];
    random.fill(&mut fresh);
    query!("INSERT INTO server_keys (name, value) VALUES ('sql_token', $1) ON CONFLICT DO NOTHING", &fresh[..])
        .execute(&mut *connection)
        .await?;
    Ok(kept().fetch_one(connection).await?)
}
