//! Opens the store on a Postgres: the logins, the migrations, the pools.

use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::postgres::PgPoolOptions;
use sqlx::{ConnectOptions, Connection, Executor, PgPool, query, query_scalar};

use super::agent_sql::AgentPools;
use super::{Gate, Meters, Room, Signals, Store, Writing, neighbours};
use crate::clock::Random;
use crate::failpoint::{self, Point};
use crate::postgres::logins::Logins;
use crate::postgres::{Database, DatabaseError, migrations};
use crate::telemetry::Scrubber;

/// A client-side deadline behind the agent login's own statement timeout of 15 s.
const SQL_DEADLINE: Duration = Duration::from_secs(20);
/// How long an idle connection counts as alive without a question.
const FRESH: Duration = Duration::from_secs(1);
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
        let logins = database.logins().await?;
        let app = logins.app.clone().disable_statement_logging();
        let pool = PgPoolOptions::new()
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
                    connection.execute("SET plan_cache_mode = force_generic_plan").await?;
                    Ok(())
                })
            })
            .connect_with(app.clone())
            .await?;
        end_left_over(&pool, &logins).await?;
        migrate(&pool).await?;
        let sql_key = sql_key(&pool, random).await?;
        let relay = database.relay()?;
        let agent = AgentPools::new(&logins, |login| relay.through(login));
        Ok(Self {
            writing: Writing::default(),
            meters: Meters::default(),
            catalogue: Default::default(),
            pool,
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
        })
    }
}

/// The most connections of the server's own login.
fn connections() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = (cores * CONNECTIONS_A_CORE).clamp(*CONNECTIONS.start(), *CONNECTIONS.end());
    u32::try_from(most).unwrap_or(u32::MAX)
}

/// Ends statements of the agent that still run from before a crash: one that does not heed its
/// timeout keeps its locks, and the migrations would wait for them. Under a live server no
/// statement lives for a minute, and the agent never needs an advisory lock.
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

/// The key of the tokens that end the agent's transactions, made once for each database.
async fn sql_key(pool: &PgPool, random: &dyn Random) -> Result<Vec<u8>, DatabaseError> {
    let mut fresh = [0; 32];
    random.fill(&mut fresh);
    query!("INSERT INTO server_keys (name, value) VALUES ('sql_token', $1) ON CONFLICT DO NOTHING", &fresh[..])
        .execute(pool)
        .await?;
    Ok(query_scalar!("SELECT value FROM server_keys WHERE name = 'sql_token'").fetch_one(pool).await?)
}
