//! The transaction of a call: the agent's statements, and what came of them recorded beside them.

use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres, Row};

use super::statement::Statement;
use super::told::{describe, ended_transaction, is_code};
use super::{Failure, Sealed};
use crate::domain::SqlAccess;
use crate::failpoint::{self, Point};
use crate::store::operations::shown;
use crate::store::{CallEnd, Lease, NewOperation, Store, StoreError};

/// What is recorded in the transaction of the statement.
pub(super) enum Seal<'a> {
    /// The outcome of the agent's own call, and what its statement may do.
    Call(&'a CallEnd<'a>, SqlAccess),
    /// An operation of a capability's call.
    Operation(&'a NewOperation<'a>),
    /// Nothing: the transaction is read-only and is rolled back.
    Nothing,
}

/// What is said beside the results where values were given that no statement has a place for.
const NOTE: &str = r#","note":"`params` were not used: there is no $1 in `query`. Only what stands in `query` was run.""#;

impl Store {
    /// Runs statements and records what came of them, in one transaction.
    pub(super) async fn run_in_transaction(
        &self,
        lease: &Lease,
        statements: &[Statement<'_>],
        seal: Seal<'_>,
        now: DateTime<Utc>,
    ) -> Result<Sealed, Failure> {
        let connection = self.agent_connection().await?;
        let mut running = Running { connection: Some(connection), backend: None, pool: self.pool.clone() };
        let connection = running.connection.as_mut().expect("it was just put there");
        let begun = sqlx::raw_sql(seal.begin()).fetch_one(&mut **connection).await?;
        let transaction: String = begun.try_get_unchecked(0)?;
        running.backend = begun.try_get_unchecked::<String, _>(1)?.parse().ok();

        let result = match seal.run(connection, statements, &transaction).await {
            Ok(result) => self.clean(&result).into_owned(),
            Err(Failure::Cut) => return Err(Failure::Cut),
            Err(failure) => {
                if sqlx::raw_sql("ROLLBACK").execute(&mut **connection).await.is_ok() {
                    running.backend = None;
                }
                return Err(failure);
            }
        };
        if matches!(seal, Seal::Call(_, SqlAccess::Read)) {
            sqlx::raw_sql("RELEASE SAVEPOINT level3_read")
                .execute(&mut **connection)
                .await
                .map_err(|error| describe(error, "", 0))?;
        }
        let sequence = match self.seal(connection, lease, seal, &transaction, &result, now).await {
            Ok(sequence) => sequence,
            Err(error) if is_code(&error, "L3003") => return Err(Failure::Statement(ended_transaction())),
            Err(error) => {
                return Err(match StoreError::from(error) {
                    // Its own settings of timeouts, or another statement of the agent, kept the outcome from being recorded.
                    StoreError::Database(error) => describe(error, "", 0),
                    lost => Failure::Store(lost),
                });
            }
        };
        // Constraints that were deferred are checked here, and a violated one is the statement's fault as well.
        let end = if sequence.is_some() { "COMMIT" } else { "ROLLBACK" };
        sqlx::raw_sql(end).execute(&mut **connection).await.map_err(|error| describe(error, "", 0))?;
        running.backend = None;
        if sequence.is_some() {
            // As if the connection had broken in the very moment of the commit.
            failpoint::hit(Point::AfterStatement).map_err(|_| Failure::Cut)?;
        }
        Ok((result, sequence))
    }

    /// Records what came of the statement, in its transaction. Returns the event's number.
    async fn seal(
        &self,
        connection: &mut PoolConnection<Postgres>,
        lease: &Lease,
        seal: Seal<'_>,
        transaction: &str,
        result: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<i64>, sqlx::Error> {
        match seal {
            Seal::Nothing => Ok(None),
            Seal::Call(end, _) => {
                let fact = format!("call:{}:t:{}", end.call.0, end.verdict);
                sqlx::query_scalar!(
                    "SELECT shared.end_sql_call($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                    self.sql_token(&fact, lease.fence, transaction, result),
                    lease.turn.0,
                    lease.fence,
                    end.call.0,
                    true,
                    result,
                    &end.proposal_sha256[..],
                    end.verdict,
                    now
                )
                .fetch_one(&mut **connection)
                .await
            }
            Seal::Operation(operation) => {
                let fact = format!("operation:{}:{}", operation.call.0, operation.ordinal);
                sqlx::query_scalar!(
                    "SELECT shared.end_sql_operation($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                    self.sql_token(&fact, lease.fence, transaction, result),
                    lease.turn.0,
                    lease.fence,
                    operation.call.0,
                    operation.ordinal,
                    &operation.request_sha256[..],
                    shown(operation.request),
                    result,
                    now
                )
                .fetch_one(&mut **connection)
                .await
            }
        }
    }

    /// What `sql_token` in the database computes too.
    fn sql_token(&self, fact: &str, fence: i64, transaction: &str, text: &str) -> Vec<u8> {
        let text = hex::encode(Sha256::digest(text));
        let mut hash = Sha256::new();
        hash.update(&self.sql_key);
        hash.update(format!("{fact}:{fence}:{transaction}:{text}"));
        hash.update(&self.sql_key);
        hash.finalize().to_vec()
    }
}

impl Seal<'_> {
    /// Runs the statements one after the other, and none after one that failed or left the transaction. Of several, the results come in one
    /// list; so they do where something is to be said beside them.
    async fn run(
        &self,
        connection: &mut PgConnection,
        statements: &[Statement<'_>],
        transaction: &str,
    ) -> Result<String, Failure> {
        let unused = statements.iter().any(|statement| statement.unused);
        if let ([only], false) = (statements, unused) {
            return only.run(connection).await;
        }
        let mut results = Vec::new();
        for (at, statement) in statements.iter().enumerate() {
            if at > 0 {
                self.next(connection, transaction).await.map_err(|failure| failure.of(at - 1, statements))?;
            }
            results.push(statement.run(connection).await.map_err(|failure| failure.of(at, statements))?);
        }
        let note = if unused { NOTE } else { "" };
        Ok(format!("{{\"results\":[{}]{note}}}", results.join(",")))
    }

    /// Between two statements: what the first one left behind must be the transaction it was given.
    async fn next(&self, connection: &mut PgConnection, transaction: &str) -> Result<(), Failure> {
        const SAME: &str = "SELECT pg_catalog.pg_current_xact_id_if_assigned()::pg_catalog.text";
        let same = sqlx::raw_sql(SAME).fetch_one(&mut *connection).await.map_err(|error| describe(error, "", 0))?;
        if same.try_get_unchecked::<Option<String>, _>(0)?.as_deref() != Some(transaction) {
            return Err(Failure::Statement(ended_transaction()));
        }
        if let Self::Call(_, SqlAccess::Read) = self {
            const AGAIN: &str = "RELEASE SAVEPOINT level3_read; SAVEPOINT level3_read; SET TRANSACTION READ ONLY";
            sqlx::raw_sql(AGAIN).execute(&mut *connection).await.map_err(|error| describe(error, "", 0))?;
        }
        Ok(())
    }

    /// Begins the transaction; asks for its id and for the process that serves it.
    ///
    /// A read-only transaction is a boundary here, although settings of a session are none. It was asked something before the statement
    /// runs, and after that Postgres lets nothing make it writable again; the statement cannot end it and go on, for it is only one; and it
    /// is rolled back whatever came of it. What a rollback does not undo, the state of a sequence, a read-only transaction refuses.
    ///
    /// Where the outcome must be written in the same transaction, only a part of it is read-only: a subtransaction, which nothing inside it
    /// can make writable, and whose end restores what was before. Of several statements each has its own.
    fn begin(&self) -> &'static str {
        match self {
            Self::Call(_, SqlAccess::Read) => {
                "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
                 SELECT pg_catalog.pg_current_xact_id()::pg_catalog.text, pg_catalog.pg_backend_pid()::pg_catalog.text;
                 SAVEPOINT level3_read; SET TRANSACTION READ ONLY"
            }
            Self::Call(_, SqlAccess::Write) | Self::Operation(_) => {
                "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
                 SELECT pg_catalog.pg_current_xact_id()::pg_catalog.text, pg_catalog.pg_backend_pid()::pg_catalog.text"
            }
            Self::Nothing => {
                "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY;
                 SELECT ''::pg_catalog.text, pg_catalog.pg_backend_pid()::pg_catalog.text"
            }
        }
    }
}

/// A connection in the middle of a statement. Dropped so, because the turn was stopped or time is up, the statement is ended at the
/// server as well: dropping the future alone would leave it running.
struct Running {
    connection: Option<PoolConnection<Postgres>>,
    backend: Option<i32>,
    pool: PgPool,
}

impl Drop for Running {
    fn drop(&mut self) {
        let (Some(backend), Some(mut connection)) = (self.backend, self.connection.take()) else { return };
        connection.close_on_drop();
        let pool = self.pool.clone();
        tokio::spawn(async move {
            if let Err(error) = sqlx::query!("SELECT pg_terminate_backend($1)", backend).fetch_one(&pool).await {
                tracing::warn!(%error, "could not end a statement of the agent at the server; its own timeout will");
            }
            drop(connection);
        });
    }
}
