//! Connections for the agent's SQL: a pool for each of its logins.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Executor, PgPool};

use super::AgentLogin;
use crate::postgres::logins::Logins;

/// How long a statement of the agent waits for a connection while others use them all; shorter than
/// the deadline.
const AGENT_WAIT: Duration = Duration::from_secs(10);

/// The pools. Cheap to clone.
#[derive(Clone)]
pub(in crate::store) struct AgentPools {
    reader: AgentPool,
    writer: AgentPool,
    tables: AgentPool,
    full: AgentPool,
}

/// The connections of one login.
#[derive(Clone)]
pub(super) struct AgentPool {
    pub(super) login: String,
    pub(super) pool: PgPool,
}

impl AgentPools {
    /// Opens nothing yet. `through` says by which way they connect. The numbers are small: a server
    /// has few connections, and several programs may share it.
    pub(in crate::store) fn new(logins: &Logins, through: impl Fn(PgConnectOptions) -> PgConnectOptions) -> Self {
        let pool = |login: &PgConnectOptions, most| AgentPool::new(through(login.clone()), most);
        Self {
            reader: pool(&logins.reader, 4),
            writer: pool(&logins.writer, 3),
            tables: pool(&logins.tables, 2),
            full: pool(&logins.full, 2),
        }
    }

    pub(super) fn of(&self, login: AgentLogin) -> &AgentPool {
        match login {
            AgentLogin::Reader => &self.reader,
            AgentLogin::Writer => &self.writer,
            AgentLogin::Tables => &self.tables,
            AgentLogin::Full => &self.full,
        }
    }

    fn all(&self) -> [&PgPool; 4] {
        [&self.reader.pool, &self.writer.pool, &self.tables.pool, &self.full.pool]
    }

    /// The number of open connections, and how many of them are idle.
    pub(in crate::store) fn counts(&self) -> (u32, u32) {
        let idle = |pool: &&PgPool| u32::try_from(pool.num_idle()).unwrap_or(u32::MAX);
        (self.all().iter().map(|pool| pool.size()).sum(), self.all().iter().map(idle).sum())
    }

    pub(in crate::store) async fn close(&self) {
        for pool in self.all() {
            pool.close().await;
        }
    }
}

impl AgentPool {
    fn new(login: PgConnectOptions, most: u32) -> Self {
        let name = login.get_username().to_owned();
        let pool = PgPoolOptions::new()
            .max_connections(most)
            .acquire_timeout(AGENT_WAIT)
            .idle_timeout(Duration::from_secs(60))
            // A call leaves nothing behind for the next: no settings, no prepared statements, no
            // listeners, no locks. Nor plans, though it costs each call its own: a call can make
            // those of our functions under settings of its choice, and they would outlive these.
            // It is one statement that Postgres refuses in a transaction left open; then the
            // connection is closed.
            .after_release(|connection, _| {
                Box::pin(async move {
                    connection.execute("DISCARD ALL").await?;
                    Ok(true)
                })
            })
            .connect_lazy_with(login.disable_statement_logging().statement_cache_capacity(0));
        Self { login: name, pool }
    }
}
