//! The administrator's way into the Postgres of a house: for floors, for counting, and for filling.

use std::path::Path;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions};
use tokio::runtime::Runtime;

/// A connection, and the means to wait for it.
pub struct Postgres {
    runtime: Runtime,
    connection: PgConnection,
}

/// The way into a database of the Postgres that runs in this data folder.
pub fn administrator(data: &Path, database: &str) -> PgConnectOptions {
    let file = std::fs::read_to_string(data.join("postgres/postmaster.pid")).expect("Postgres runs there");
    // Lines 4 and 5 hold the port and the socket's folder.
    let mut lines = file.lines().skip(3);
    let port = lines.next().and_then(|port| port.trim().parse().ok()).expect("a port");
    let socket = lines.next().expect("a folder");
    let options = PgConnectOptions::new_without_pgpass().socket(socket).port(port).username("postgres");
    options.database(database).options([("search_path", "level3")])
}

impl Postgres {
    pub fn open(data: &Path, database: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let connection = runtime.block_on(administrator(data, database).connect()).expect("Postgres answers");
        Self { runtime, connection }
    }

    /// Runs statements of which nothing comes back.
    pub fn run(&mut self, statements: &str) {
        let ran = sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut self.connection);
        self.runtime.block_on(ran).unwrap_or_else(|error| panic!("{error}: {statements}"));
    }

    /// One number, with numbers as parameters; prepared, so it is one round trip from the second
    /// time on.
    pub fn number(&mut self, statement: &'static str, parameters: &[i64]) -> i64 {
        let mut query = sqlx::query_scalar::<sqlx::Postgres, Option<i64>>(statement);
        for parameter in parameters {
            query = query.bind(*parameter);
        }
        let number = self.runtime.block_on(query.fetch_one(&mut self.connection));
        number.unwrap_or_else(|error| panic!("{error}: {statement}")).unwrap_or_default()
    }

    /// Several numbers, in their order.
    pub fn numbers(&mut self, statement: &str) -> Vec<i64> {
        let query = sqlx::query_scalar::<sqlx::Postgres, i64>(AssertSqlSafe(statement.to_owned()));
        self.runtime.block_on(query.fetch_all(&mut self.connection)).unwrap_or_else(|error| panic!("{error}: {statement}"))
    }

    /// One text.
    pub fn text(&mut self, statement: &'static str) -> String {
        let query = sqlx::query_scalar::<sqlx::Postgres, String>(statement);
        self.runtime.block_on(query.fetch_one(&mut self.connection)).unwrap_or_else(|error| panic!("{error}: {statement}"))
    }
}
