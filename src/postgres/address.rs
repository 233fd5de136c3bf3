//! The operator's own Postgres: where `DATABASE_URL` says it is, whether a failure there lasts, and
//! waiting until it answers.

use std::pin::pin;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tokio::time::{Instant, interval_at, timeout};
use url::Url;

use super::{DatabaseError, logins};
use crate::lasting::Lasting;
use crate::telemetry;

/// How long a Postgres is waited for, and what is said of it meanwhile.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    /// In all.
    pub(super) whole: Duration,
    /// Until the first word.
    pub(super) first: Duration,
    /// From one word to the next.
    pub(super) every: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { whole: Duration::from_secs(30), first: Duration::from_millis(500), every: Duration::from_secs(5) }
    }
}

/// The options of `DATABASE_URL`, and the name of the database. Nothing is filled in by guessing:
/// the database that is named is taken over.
pub(super) fn target(url: &str) -> Result<(PgConnectOptions, String), DatabaseError> {
    let wrong = |error: sqlx::Error| DatabaseError::Url(error);
    let parsed = Url::parse(url).map_err(|error| wrong(sqlx::Error::Configuration(error.into())))?;
    if !matches!(parsed.scheme(), "postgres" | "postgresql") {
        return Err(DatabaseError::NotPostgres(parsed.scheme().to_owned()));
    }
    let named = parsed.path().len() > 1 || parsed.query_pairs().any(|(key, value)| key == "dbname" && !value.is_empty());
    let options = PgConnectOptions::from_str(url).map_err(wrong)?.disable_statement_logging();
    match options.get_database().filter(|_| named).map(str::to_owned) {
        Some(name) => Ok((options, name)),
        None => Err(DatabaseError::NoName),
    }
}

/// Connects once. Tries again while the failure may pass, and tells `say` of it.
pub(super) async fn wait_for(
    admin: &PgConnectOptions,
    patience: Patience,
    mut say: impl FnMut(&str),
) -> Result<(), DatabaseError> {
    let seen = Mutex::new("nothing was answered".to_owned());
    let last = || seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let pauses = backon::ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(100))
        .with_max_delay(Duration::from_secs(2))
        .without_max_times();
    let connect = async || PgConnectOptions::connect(admin).await;
    let trying = backon::Retryable::retry(connect, pauses)
        .when(|error| !error.lasts())
        .notify(|error, _| *seen.lock().unwrap_or_else(PoisonError::into_inner) = telemetry::chain(error));
    let mut trying = pin!(trying.into_future());
    let waiting = async {
        let mut words = interval_at(Instant::now() + patience.first, patience.every);
        loop {
            tokio::select! {
                connected = &mut trying => return connected,
                _ = words.tick() => say(&last()),
            }
        }
    };
    match timeout(patience.whole, waiting).await {
        Ok(Ok(connection)) => Ok(connection.close().await?),
        Ok(Err(source)) => Err(DatabaseError::Refused(Box::new(logins::cannot_connect(admin, source)))),
        Err(_) => Err(DatabaseError::Unreachable { seconds: patience.whole.as_secs(), said: last() }),
    }
}

/// Of a database: what nobody has to mend is that it cannot be reached just now, or is short of
/// something, starting, stopping, or busy with somebody else's transaction.
impl Lasting for sqlx::Error {
    fn lasts(&self) -> bool {
        match self {
            // Nobody there yet, a name that is not known yet, a connection that broke; but a socket
            // that is closed to us stays closed.
            Self::Io(error) => error.kind() == std::io::ErrorKind::PermissionDenied,
            Self::PoolTimedOut | Self::PoolClosed | Self::WorkerCrashed => false,
            Self::Database(error) => {
                let code = error.code().unwrap_or_default();
                let class = code.get(..2).unwrap_or_default();
                !(matches!(class, "08" | "40" | "53" | "57") || code == "55P03")
            }
            _ => true,
        }
    }
}

impl Lasting for MigrateError {
    fn lasts(&self) -> bool {
        match self {
            Self::Execute(source) | Self::ExecuteMigration(source, _) => source.lasts(),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
