//! The transaction of a call: the agent's statements, and the record of their outcome beside them.

use chrono::{DateTime, Utc};
use serde_json::json;
use sha2::{Digest, Sha256};
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, PgConnection, Postgres, Row};
use tokio::time::Instant;

use super::keeping::Keeping;
use super::pools::AgentPool;
use super::seam::AgentLogin;
use super::statement::{Statement, StatementResult};
use super::told::{busy, describe, ended_transaction, is_code, too_much};
use super::{Committed, Failure, Sealed, written};
use crate::domain::{CallAccount, Finding, MOST_RESULT, RowLoss, ShownColumn, ToolCallId};
use crate::failpoint::{self, Point};
use crate::postgres::logins::session;
use crate::store::connections::Connections;
use crate::store::things::operations::shown;
use crate::store::transition::{Doubt, is_refused};
use crate::store::{CallEnd, Lease, NewOperation, Signals, Store, StoreError};

/// The record in the transaction of the statement.
pub(super) enum Seal<'a> {
    /// The outcome of the agent's own call.
    Call(&'a CallEnd<'a>),
    /// An operation of a capability's call.
    Operation(&'a NewOperation<'a>),
    /// Nothing: the transaction is read-only and is rolled back.
    Nothing,
}

/// The terms on which statements run.
pub(super) struct StatementTerms<'a> {
    pub(super) seal: Seal<'a>,
    pub(super) login: AgentLogin,
    /// A person was told that all that is lost can be put back.
    pub(super) promised: bool,
    /// The lost rows that a person was shown, if any.
    pub(super) shown: &'a [RowLoss],
    /// The moment at which they began.
    pub(super) begun: Instant,
}

/// The answers of the database before and after the statements.
struct AgentImages<'a> {
    before: &'a str,
    after: String,
}

/// The outcome of statements, as it is recorded.
struct SealedOutcome<'a> {
    result: &'a str,
    account: &'a CallAccount,
}

const TRANSACTION: &str = "pg_catalog.pg_current_xact_id()::pg_catalog.text";

/// The note beside the results if values were given for which no statement has a place.
const NOTE: &str = r#","note":"`params` were not used: there is no $1 in `query`. Only what stands in `query` was run.""#;

impl Store {
    /// Runs statements and records their outcome, in one transaction.
    pub(super) async fn run_in_transaction(
        &self,
        lease: &Lease,
        statements: &[Statement<'_>],
        StatementTerms { seal, login, promised, shown, begun }: StatementTerms<'_>,
        now: DateTime<Utc>,
    ) -> Result<Sealed, Failure> {
        let Begun { mut running, transaction, before, rows } = self.begin_as(login, &seal).await?;
        let connection = running.connection.as_mut().expect("it was just put there");

        let losing = seal.call().filter(|_| login != AgentLogin::Reader);
        let whole = Vec::new();
        let mut keeping =
            losing.map(|call| Keeping { lease, call, login, promised, shown, transaction: &transaction, before: &rows, whole });
        if let Some(keeping) = &mut keeping {
            keeping.begin(self, connection, statements).await?;
        }

        let ran = match seal.run(login, connection, statements, &transaction).await {
            Ok(result) if matches!(seal, Seal::Call(_)) && result.json.len() > MOST_RESULT => {
                Err(Failure::Statement(too_much(result.json.len())))
            }
            Ok(mut result) => {
                let images = AgentImages { before: &before, after: result.answer.take().unwrap_or_default() };
                match self.found(connection, login, images, keeping.as_ref(), now).await {
                    Ok(None) => Ok(result),
                    Ok(Some(finding)) => Err(Failure::Asks(finding)),
                    Err(failure) => Err(self.or_asks(failure, login).await),
                }
            }
            // If a capability may only read, it gets Postgres' refusal as it is.
            Err(failure) if matches!(seal, Seal::Nothing) => Err(failure),
            Err(failure) => Err(self.or_asks(failure, login).await),
        };
        let (result, columns, total) = match ran {
            Ok(StatementResult { json, columns, total, .. }) => (self.clean(&json).into_owned(), columns, total),
            Err(Failure::Cut) => return Err(Failure::Cut),
            Err(failure) => {
                if sqlx::raw_sql("ROLLBACK").execute(&mut **connection).await.is_ok() {
                    running.backend = None;
                }
                return Err(failure);
            }
        };
        let has_begun = matches!(&seal, Seal::Call(end) if end.has_begun());
        let account = CallAccount { begun: has_begun, ..self.account(begun, columns, total) };
        let outcome = SealedOutcome { result: &result, account: &account };
        let Some(end) = self.seal(lease, &seal, &transaction, outcome, now) else {
            sqlx::raw_sql("ROLLBACK").execute(&mut **connection).await.map_err(|error| describe(error, "", 0))?;
            running.backend = None;
            return Ok((result, None));
        };
        let doubt = Doubt::of(&self.signals);
        running.commits = Some(self.signals.clone());
        // Nothing of the agent runs before the record, so nothing reads the token in this text
        // before it is used up. Postgres checks deferred constraints at the commit; a violated one
        // is the statement's fault as well.
        let before = if login == AgentLogin::Reader { "RELEASE SAVEPOINT level3_read; " } else { "" };
        let sealed = sqlx::raw_sql(AssertSqlSafe(format!("{before}{end}; COMMIT"))).fetch_one(&mut **connection).await;
        let sealed = match sealed {
            Ok(sealed) => sealed,
            Err(error) => {
                if is_refused(&error) {
                    running.commits = None;
                    doubt.dispelled();
                }
                return Err(match error {
                    error if is_code(&error, "L3003") => Failure::Statement(ended_transaction()),
                    error => match StoreError::from(error) {
                        // The statement's own timeouts, or another statement of the agent, kept the
                        // outcome from the record.
                        StoreError::Database(error) => describe(error, "", 0),
                        lost => Failure::Store(lost),
                    },
                });
            }
        };
        running.backend = None;
        // The same as if the connection broke in the very moment of the commit.
        failpoint::hit(Point::AfterStatement).map_err(|_| Failure::Cut)?;
        let text = sealed.try_get_unchecked::<Option<String>, _>(0)?.unwrap_or_default();
        let ended = serde_json::from_str(&text).map_err(|error| StoreError::Unreadable(error.to_string()))?;
        Ok((result, Some(Committed { ended, account, doubt })))
    }

    /// The facts for a person of statements that ran.
    fn account(&self, begun: Instant, columns: Vec<ShownColumn>, total: Option<usize>) -> CallAccount {
        let columns = columns.into_iter().map(|column| ShownColumn { name: self.clean(&column.name).into_owned(), ..column });
        let total = total.map(|total| i64::try_from(total).unwrap_or(i64::MAX));
        CallAccount { columns: columns.collect(), total, ..CallAccount::default() }.took(begun.elapsed())
    }

    /// The effects of the statements that nobody allowed.
    async fn found(
        &self,
        connection: &mut PgConnection,
        login: AgentLogin,
        AgentImages { before, after }: AgentImages<'_>,
        keeping: Option<&Keeping<'_>>,
        now: DateTime<Utc>,
    ) -> Result<Option<Finding>, Failure> {
        let mut found = self.look_at_agent(connection, login, before, after).await?;
        if let Some(keeping) = keeping
            && let Some(lost) = keeping.settle(self, connection, now).await?
        {
            found.get_or_insert_default().unite(lost);
        }
        Ok(found)
    }

    /// Begins the transaction on a connection in its proper state. A login can change its own
    /// defaults: such a connection is closed, and the agent's change is undone.
    async fn begin_as(&self, login: AgentLogin, seal: &Seal<'_>) -> Result<Begun, Failure> {
        let AgentPool { login: name, pool } = self.agent.of(login);
        let begin = seal.begin(login);
        let mut repaired = false;
        // Other connections of the pool may have been opened with the same defaults.
        for _ in 0..=pool.options().get_max_connections() {
            let mut connection = self.agent_connection(login).await?;
            let begun = sqlx::raw_sql(AssertSqlSafe(begin.clone())).fetch_one(&mut *connection).await.map_err(|error| {
                // Another statement of the agent holds a table for so long that not even its size
                // can be read.
                let held = is_code(&error, "55P03") || is_code(&error, "57014");
                if held { describe(error, "", 0) } else { error.into() }
            })?;
            let column = |number: usize| begun.try_get_unchecked::<Option<String>, _>(number).map(Option::unwrap_or_default);
            let Some(strange) = session::strange(name, &column(3)?, &column(4)?) else {
                let running = Running {
                    connection: Some(connection),
                    backend: column(1)?.parse().ok(),
                    pool: self.pool.clone(),
                    commits: None,
                };
                return Ok(Begun { running, transaction: column(0)?, before: column(2)?, rows: column(5)? });
            };
            drop(connection.close().await);
            tracing::warn!(login = name, strange, "a session of the agent is not what it must be; it is opened anew");
            if !std::mem::replace(&mut repaired, true) {
                self.repair.run().await.map_err(|error| StoreError::AgentLogin(Box::new(error)))?;
            }
        }
        Err(Failure::Statement(busy()))
    }

    /// The statement that records the end, in the transaction; `None` if nothing is recorded.
    fn seal(
        &self,
        lease: &Lease,
        seal: &Seal<'_>,
        transaction: &str,
        SealedOutcome { result, account }: SealedOutcome<'_>,
        now: DateTime<Utc>,
    ) -> Option<String> {
        let (turn, fence, now, answer) = (lease.turn, lease.fence, written::time(now), written::text(result));
        match seal {
            Seal::Nothing => None,
            Seal::Call(end) => {
                let (call, verdict) = (end.call(), end.verdict());
                let token = self.sql_token(&format!("call:{call}:t:{verdict}"), fence, transaction, result);
                let (token, proposal) = (written::bytes(&token), written::bytes(end.proposal_sha256()));
                let account = written::text(&json!(account).to_string());
                Some(format!(
                    "SELECT shared.end_sql_call({token}, {turn}, {fence}, {call}, TRUE, {answer}, {proposal}, '{verdict}', {now},
                         {account}::pg_catalog.jsonb)"
                ))
            }
            Seal::Operation(operation) => {
                let (call, ordinal) = (operation.permit.call(), operation.ordinal);
                let token = self.sql_token(&format!("operation:{call}:{ordinal}"), fence, transaction, result);
                let (token, fingerprint) = (written::bytes(&token), written::bytes(&operation.request_sha256));
                let request = written::text(&shown(operation.request).to_string());
                Some(format!(
                    "SELECT pg_catalog.jsonb_build_object('sequence', shared.end_sql_operation(
                         {token}, {turn}, {fence}, {call}, {ordinal}, {fingerprint}, {request}::pg_catalog.jsonb, {answer}, {now}))"
                ))
            }
        }
    }

    /// The same text as `sql_token` in the database computes.
    pub(in crate::store) fn sql_token(&self, fact: &str, fence: i64, transaction: &str, text: &str) -> Vec<u8> {
        let text = hex::encode(Sha256::digest(text));
        let mut hash = Sha256::new();
        hash.update(&self.sql_key);
        hash.update(format!("{fact}:{fence}:{transaction}:{text}"));
        hash.update(&self.sql_key);
        hash.finalize().to_vec()
    }
}

impl Seal<'_> {
    /// The call for which the statements' losses are kept.
    fn call(&self) -> Option<ToolCallId> {
        match self {
            Self::Call(end) => Some(end.call()),
            Self::Operation(operation) => Some(operation.permit.call()),
            Self::Nothing => None,
        }
    }

    /// Runs the statements one after the other, and none after one that failed or left the
    /// transaction. The results of several come in one list; so does a single one with a note
    /// beside it. The columns are those of a single one.
    async fn run(
        &self,
        login: AgentLogin,
        connection: &mut PgConnection,
        statements: &[Statement<'_>],
        transaction: &str,
    ) -> Result<StatementResult, Failure> {
        let unused = statements.iter().any(|statement| statement.unused);
        if let ([only], false) = (statements, unused) {
            return only.run(connection, login.after()).await;
        }
        let (mut results, mut columns, mut total, mut answer) = (Vec::new(), Vec::new(), None, None);
        for (at, statement) in statements.iter().enumerate() {
            if at > 0 {
                self.next(login, connection, transaction).await.map_err(|failure| failure.of(at - 1, statements))?;
            }
            let then = if at + 1 == statements.len() { login.after() } else { "" };
            let result = statement.run(connection, then).await.map_err(|failure| failure.of(at, statements))?;
            results.push(result.json);
            answer = result.answer;
            if statements.len() == 1 {
                (columns, total) = (result.columns, result.total);
            }
        }
        let note = if unused { NOTE } else { "" };
        let json = format!("{{\"results\":[{}]{note}}}", results.join(","));
        Ok(StatementResult { json, columns, total, answer })
    }

    /// Checks between two statements that the first one left the transaction as it was.
    async fn next(&self, login: AgentLogin, connection: &mut PgConnection, transaction: &str) -> Result<(), Failure> {
        const SAME: &str = "SELECT pg_catalog.pg_current_xact_id_if_assigned()::pg_catalog.text";
        let same = sqlx::raw_sql(SAME).fetch_one(&mut *connection).await.map_err(|error| describe(error, "", 0))?;
        if same.try_get_unchecked::<Option<String>, _>(0)?.as_deref() != Some(transaction) {
            return Err(Failure::Statement(ended_transaction()));
        }
        if let (Self::Call(_), AgentLogin::Reader) = (self, login) {
            const AGAIN: &str = "RELEASE SAVEPOINT level3_read; SAVEPOINT level3_read; SET TRANSACTION READ ONLY";
            sqlx::raw_sql(AGAIN).execute(&mut *connection).await.map_err(|error| describe(error, "", 0))?;
        }
        Ok(())
    }

    /// Begins the transaction, and reads its id, its process, the state to compare with, and the
    /// session.
    ///
    /// A read-only transaction is a boundary here, although settings of a session are none. It has
    /// run a query before the statement, and after that Postgres lets nothing make it writable
    /// again. The statement cannot end it and go on, since it is only one. And it is rolled back in
    /// any case. A rollback does not undo the state of a sequence, but a read-only transaction
    /// refuses to change one.
    ///
    /// If the outcome must be written in the same transaction, only a part of it is read-only: a
    /// subtransaction, which nothing inside it can make writable, and whose end restores the former
    /// state. Of several statements each has its own.
    fn begin(&self, login: AgentLogin) -> String {
        let (mode, transaction, then) = match (self, login) {
            (Self::Call(_), AgentLogin::Reader) => {
                ("READ WRITE", TRANSACTION, "SAVEPOINT level3_read; SET TRANSACTION READ ONLY")
            }
            (Self::Call(_) | Self::Operation(_), _) => ("READ WRITE", TRANSACTION, ""),
            (Self::Nothing, _) => ("READ ONLY", "''", ""),
        };
        let (before, session) = (login.before(), session::look());
        let rows = if transaction == TRANSACTION && login != AgentLogin::Reader { "shared.rows_changed()" } else { "''" };
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED {mode};
             SELECT {transaction}, pg_catalog.pg_backend_pid()::pg_catalog.text, {before}, {session}, {rows}; {then}"
        )
    }
}

/// How long a commit that nobody waits for may take to end, in milliseconds.
const COMMITS_WITHIN_MS: i64 = 5000;

/// A transaction that has begun.
struct Begun {
    running: Running,
    /// Its id; empty if it cannot write.
    transaction: String,
    /// The state that the look at its end compares with.
    before: String,
    /// The server's count of changed rows for each table.
    rows: String,
}

/// A connection in the middle of a statement. If it is dropped so, because the turn was stopped or
/// time is up, the statement is ended at the server as well: dropping the future alone leaves it
/// running.
struct Running {
    connection: Option<PoolConnection<Postgres>>,
    backend: Option<i32>,
    pool: Connections,
    /// The signals to tell that a commit may have happened, while one is under way.
    commits: Option<Signals>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let (Some(backend), Some(mut connection)) = (self.backend, self.connection.take()) else { return };
        connection.close_on_drop();
        let (pool, commits) = (self.pool.clone(), self.commits.take());
        // This waits for the end of a commit: a commit does not heed the order, and nobody can see
        // its work before it has ended.
        let patience = if commits.is_some() { COMMITS_WITHIN_MS } else { 0 };
        tokio::spawn(async move {
            if let Err(error) = sqlx::query!("SELECT pg_terminate_backend($1, $2)", backend, patience).fetch_one(&pool).await {
                tracing::warn!(%error, "could not end a statement of the agent at the server; its own timeout will");
            }
            drop(connection);
            if let Some(signals) = commits {
                signals.doubt();
            }
        });
    }
}
