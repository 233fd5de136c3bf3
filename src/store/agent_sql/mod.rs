//! The agent's own SQL: on its own login, in one transaction with its outcome.

mod statement;
mod told;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres, Row};

use self::statement::{Room, Statement};
use self::told::{busy, cut, describe, ended_transaction, is_code, timed_out, told_of};
use super::operations::shown;
use super::unit::used_approval;
use super::{CallEnd, Earlier, Lease, NewOperation, RowLimits, Store, StoreError};
use crate::domain::{Event, EventRecord, OperationState, Outcome, SqlAccess, ToolCallId};
use crate::failpoint::{self, Point};

/// What a capability's statement may give it.
const WHOLE: RowLimits = RowLimits { rows: 10_000, bytes: 1024 * 1024, value_bytes: 1024 * 1024 };

/// Statements of the agent's own, run in a row: all of them, or nothing.
#[derive(Clone, Copy, Debug)]
pub struct AgentSql<'a> {
    /// One statement each: Postgres refuses what holds a second one.
    pub statements: &'a [&'a str],
    /// What stands in for `$1`, `$2`, … where there is one statement.
    pub params: &'a [Value],
    /// How much of the results is shown, all together.
    pub limits: RowLimits,
    /// With [`SqlAccess::Read`] Postgres itself lets them change nothing, whatever functions they call.
    pub access: SqlAccess,
}

/// Why a statement did not come to an outcome.
enum Failure {
    /// The statement's own fault; what its author reads.
    Statement(Value),
    /// Its connection was ended. Nothing was kept, unless that happened in the very moment of the commit.
    Cut,
    /// Ours.
    Store(StoreError),
}

impl<E: Into<StoreError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Store(error.into())
    }
}

/// What is recorded in the transaction of the statement.
enum Seal<'a> {
    /// The outcome of the agent's own call, and what its statement may do.
    Call(&'a CallEnd<'a>, SqlAccess),
    /// An operation of a capability's call.
    Operation(&'a NewOperation<'a>),
    /// Nothing: the transaction is read-only and is rolled back.
    Nothing,
}

/// What is said beside the results where values were given that no statement has a place for.
const NOTE: &str = r#","note":"`params` were not used: there is no $1 in `query`. Only what stands in `query` was run.""#;

/// What came of a statement: its result, and the number of the event by which it was recorded.
type Sealed = (String, Option<i64>);

impl Store {
    /// Runs statements of the agent and records the call's outcome in the same transaction: exactly once, whatever is killed when.
    /// `end.outcome` is replaced by what came of them: of one its result, of several `{"results": […]}`.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or when the database is not there. A statement that fails is an outcome, not an error.
    pub async fn run_agent_sql(
        &self,
        lease: &Lease,
        sql: AgentSql<'_>,
        end: CallEnd<'_>,
        now: DateTime<Utc>,
    ) -> Result<Outcome, StoreError> {
        let failed = match statement::read(sql.statements, sql.params, sql.limits) {
            Err(refusal) => refusal,
            Ok(statements) => match self.run_sealed(lease, &statements, Seal::Call(&end, sql.access), now).await? {
                Ok((result, sequence)) => {
                    let outcome = Outcome::ok(result);
                    let approval = match end.verdict {
                        // It is committed: an announcement that cannot name the approval is better than none.
                        "ask" => used_approval(&self.pool, end.call).await.unwrap_or(None),
                        _ => None,
                    };
                    self.announce(lease, sequence, now, end.recorded(lease, outcome.clone(), approval));
                    return Ok(outcome);
                }
                Err(error) => error,
            },
        };
        let (outcome, call) = (Outcome::failed(failed.to_string()), end.call);
        match self.end_call(lease, CallEnd { outcome: outcome.clone(), ..end }, now).await {
            // Time was up, or the connection broke, in the very moment of the commit: what was recorded is what happened.
            Err(StoreError::LostLease) => self.recorded_outcome(lease, call).await?.ok_or(StoreError::LostLease),
            recorded => recorded.map(|()| outcome),
        }
    }

    /// What Postgres has against statements before they run: that one cannot be read, or names what is not there. `None`: nothing, as far
    /// as can be told without running them: of several only the first, for the others may need what it makes. Nobody is asked about a
    /// statement that cannot run.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn agent_sql_problem(&self, statements: &[&str], params: &[Value]) -> Result<Option<String>, StoreError> {
        let text = statements.join("\n");
        let statements = match statement::read(statements, params, RowLimits::default()) {
            Ok(statements) => statements,
            Err(refusal) => return Ok(Some(refusal.to_string())),
        };
        let checked = async {
            let Some(first) = statements.first() else { return Ok(()) };
            let mut connection = self.agent_connection().await?;
            first.check(&mut connection).await.map_err(|failure| failure.of(0, &statements))
        };
        match checked.await {
            Ok(()) | Err(Failure::Cut) => Ok(None),
            Err(Failure::Statement(told)) => Ok(Some(self.with_tables(told, &text).await?.to_string())),
            Err(Failure::Store(error)) => Err(error),
        }
    }

    /// What is told of a failed statement, with the tables there are where it names a column or a table that is not there.
    async fn with_tables(&self, mut told: Value, text: &str) -> Result<Value, StoreError> {
        if let Some(code @ ("42703" | "42P01")) = told["code"].as_str() {
            // A column is looked for in the tables named, a table among all.
            told["tables"] = self.tables_of_agent((code == "42703").then_some(text)).await?;
        }
        Ok(told)
    }

    /// The agent's own tables with their columns, so that what is not there can be corrected: those that `named_in` names, or the first 20.
    async fn tables_of_agent(&self, named_in: Option<&str>) -> Result<Value, StoreError> {
        let tables = sqlx::query_scalar!(
            "SELECT coalesce(jsonb_object_agg(relname, columns), '{}') FROM (
                 SELECT c.relname, string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum) AS columns
                 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
                 WHERE n.nspname = 'agent' AND c.relkind IN ('r', 'p', 'v', 'm') AND a.attnum > 0 AND NOT a.attisdropped
                   AND ($1::text IS NULL OR position(c.relname IN lower($1)) > 0)
                 GROUP BY c.relname ORDER BY c.relname LIMIT 20) AS tables",
            named_in
        );
        Ok(tables.fetch_one(&self.pool).await?.unwrap_or_default())
    }

    /// The outcome of a call of a turn that is still held; `None` when it has none, or the turn is held by another.
    async fn recorded_outcome(&self, lease: &Lease, call: ToolCallId) -> Result<Option<Outcome>, StoreError> {
        let row = sqlx::query!(
            "SELECT c.state, m.content FROM tool_calls c JOIN messages m USING (tool_call_id) JOIN turns t ON t.turn_id = c.turn_id
             WHERE c.tool_call_id = $1 AND t.turn_id = $2 AND t.fence = $3 AND t.state = 'running'",
            call.0,
            lease.turn.0,
            lease.fence
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| if row.state == "done" { Outcome::ok(row.content) } else { Outcome::failed(row.content) }))
    }

    /// Runs one statement for a capability. `params` stand in for `$1`, `$2`, …
    ///
    /// The answer is JSON: an array of row objects, or what was done, as `{"row_count": 1}`. A result that has more than 10,000 rows or
    /// 1 MiB is an error, and so is everything that the statement did wrong; then nothing of it was kept. With [`SqlAccess::Read`] it can
    /// change nothing and nothing is recorded; with [`SqlAccess::Write`] what came of it is recorded in the ledger, a success in the same
    /// transaction, so that it happens exactly once.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] when the turn is held by another or the operation was done before, or when the database is not there.
    pub async fn run_operation_sql(
        &self,
        lease: &Lease,
        operation: NewOperation<'_>,
        text: &str,
        params: &[Value],
        access: SqlAccess,
        now: DateTime<Utc>,
    ) -> Result<Result<String, String>, StoreError> {
        let seal = match access {
            SqlAccess::Read => Seal::Nothing,
            SqlAccess::Write => Seal::Operation(&operation),
        };
        let failed = match Statement::new(text, params, Room::Whole(WHOLE)) {
            Err(refusal) => refusal,
            Ok(statement) => match self.run_sealed(lease, &[statement], seal, now).await? {
                Ok((answer, sequence)) => {
                    if let Some(sequence) = sequence {
                        self.signals.announce(operation.recorded(lease, OperationState::Done, Some(&answer), sequence, now));
                    }
                    return Ok(Ok(answer));
                }
                Err(error) => error,
            },
        };
        let failed = failed.to_string();
        if access == SqlAccess::Write {
            let recorded = self.end_operation(lease, &operation, OperationState::Failed, Some(&failed), now).await;
            if let Err(StoreError::LostLease) = recorded {
                // Time was up, or the connection broke, in the very moment of the commit: what the ledger says is what happened.
                return match self.earlier_operation(&operation).await? {
                    Earlier::Done(answer) => Ok(answer),
                    _ => Err(StoreError::LostLease),
                };
            }
            recorded?;
        }
        Ok(Err(failed))
    }

    /// Runs statements to their end, within the deadline. The inner error is what their author is told.
    async fn run_sealed(
        &self,
        lease: &Lease,
        statements: &[Statement<'_>],
        seal: Seal<'_>,
        now: DateTime<Utc>,
    ) -> Result<Result<Sealed, Value>, StoreError> {
        match tokio::time::timeout(self.sql_deadline, self.run_in_transaction(lease, statements, seal, now)).await {
            Ok(Ok(sealed)) => Ok(Ok(sealed)),
            Ok(Err(Failure::Statement(error))) => {
                let text = statements.iter().map(|statement| statement.text).collect::<Vec<_>>().join("\n");
                Ok(Err(self.with_tables(error, &text).await?))
            }
            Ok(Err(Failure::Cut)) => Ok(Err(cut())),
            Ok(Err(Failure::Store(error))) => Err(error),
            Err(_) => Ok(Err(timed_out(self.sql_deadline.as_secs()))),
        }
    }

    async fn run_in_transaction(
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

    /// A clean connection on the agent's login. The agent can change its own password and its own defaults; where that keeps us out, the
    /// login is made anew, once.
    async fn agent_connection(&self) -> Result<PoolConnection<Postgres>, Failure> {
        let error = match self.agent.acquire().await {
            Ok(connection) => return Ok(connection),
            Err(sqlx::Error::PoolTimedOut) => return Err(Failure::Statement(busy())),
            Err(error) => error,
        };
        // Too many connections and a server that is going down or coming up are not the login's fault.
        let code = error.as_database_error().and_then(|error| error.code()).unwrap_or_default().into_owned();
        if code.is_empty() || code == "53300" || code.starts_with("57P") {
            return Err(error.into());
        }
        tracing::warn!(%error, "the agent's login does not let us in; it is made anew");
        self.repair.run().await.map_err(|error| StoreError::AgentLogin(Box::new(error)))?;
        Ok(self.agent.acquire().await?)
    }

    fn announce(&self, lease: &Lease, sequence: Option<i64>, at: DateTime<Utc>, event: Event) {
        if let Some(sequence) = sequence {
            self.signals.announce(EventRecord { conversation: lease.conversation, sequence, at, event });
        }
    }
}

impl Failure {
    /// The failure of one of these statements; where they are several, it says which one.
    fn of(self, at: usize, statements: &[Statement<'_>]) -> Self {
        match self {
            Self::Statement(told) => Self::Statement(told_of(told, at + 1, statements.len(), statements[at].text)),
            other => other,
        }
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
