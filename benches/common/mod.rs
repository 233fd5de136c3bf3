//! The shared parts of the benchmarks: percentiles, and the floor of every record, one committed
//! insert.

#![allow(dead_code, reason = "not every benchmark uses all of it")]

use std::time::Duration;

use level3::config::Config;
use sqlx::ConnectOptions;

/// One row into a table of one column, autocommitted, over a connection like the server's.
pub struct Insert(sqlx::PgConnection);

impl Insert {
    pub async fn prepare(config: &Config) -> Self {
        let run = config.data_dir.canonicalize().unwrap().join("run");
        let options = sqlx::postgres::PgConnectOptions::new().socket(run).username("postgres").database("postgres");
        let mut connection = options.connect().await.unwrap();
        sqlx::raw_sql("CREATE TABLE floor (n bigint)").execute(&mut connection).await.unwrap();
        Self(connection)
    }

    pub async fn once(&mut self) {
        sqlx::query("INSERT INTO floor VALUES ($1)").bind(1_i64).execute(&mut self.0).await.unwrap();
    }
}

pub fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100]
}
