//! The agent's own SQL: on its own login, in one transaction with its outcome.

mod keeping;
mod look;
mod pools;
mod seam;
mod statement;
mod told;
mod transaction;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::Postgres;
use sqlx::pool::PoolConnection;

pub(super) use self::pools::AgentPools;
pub use self::seam::{AgentLogin, SqlEnd};
use self::statement::{Room, Statement};
pub(super) use self::told::is_code;
use self::told::{busy, cannot_ask, code_of, cut, timed_out, told_of};
use self::transaction::Seal;
use super::undo::kept_of;
use super::unit::{Doubt, used_approval};
use super::{CallEnd, Earlier, Judged, Lease, NewOperation, RowLimits, Store, StoreError, word};
use crate::domain::{
    CallState, Finding, Machine, OperationState, Outcome, Refusal, RefusalCode, ToolCallId, TurnInput, TurnState,
};
use crate::facts::EventRecord;
use crate::governor::Permit;

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
    /// How much Postgres lets them do. On [`AgentLogin::Reader`] they change nothing, whatever functions they call.
    pub login: AgentLogin,
    /// A person was told that all they lose can be put back: else nothing of it is done.
    pub promised: bool,
}

/// Why a statement did not come to an outcome.
enum Failure {
    /// The statement's own fault; what its author reads.
    Statement(Refusal),
    /// It would do more than it was let to; nothing of it was kept.
    Asks(Finding),
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

/// What came of a statement: its result, and the event by which it was recorded.
type Sealed = (String, Option<Committed>);

/// A recorded event that is still to be announced.
struct Committed {
    /// Its number.
    sequence: i64,
    /// Until it is announced.
    doubt: Doubt,
}

/// How statements ended.
enum Ran {
    /// With their result, and the event by which it was recorded.
    Done(String, Option<Committed>),
    /// With nothing; what their author is told.
    Failed(Refusal),
    /// With nothing; what they would do.
    Asks(Finding),
}

impl Store {
    /// Runs statements of the agent and records the call's outcome in the same transaction: exactly once, whatever is killed when.
    /// What came of them is the outcome: of one its result, of several `{"results": […]}`.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or when the database is not there. A statement that fails is an outcome, not an error; one that
    /// would do more than its login may is a question, and the call has no outcome yet.
    pub async fn run_agent_sql(
        &self,
        lease: &Lease,
        permit: &Permit,
        tool: &str,
        sql: AgentSql<'_>,
        now: DateTime<Utc>,
    ) -> Result<SqlEnd, StoreError> {
        let end = CallEnd { judged: Judged::Permitted(permit), tool, outcome: Outcome::ok("") };
        let failed = match statement::read(sql.statements, sql.params, sql.limits) {
            Err(refusal) => refusal,
            Ok(statements) => {
                match self.run_sealed(lease, &statements, (Seal::Call(&end), sql.login, sql.promised), now).await? {
                    Ran::Asks(finding) => return Ok(SqlEnd::Asks(finding)),
                    Ran::Done(result, committed) => {
                        let outcome = Outcome::ok(result);
                        let approval = match permit.verdict() {
                            // It is committed: an announcement that cannot name the approval is better than none.
                            "ask" => used_approval(&self.pool, permit.call()).await.unwrap_or(None),
                            _ => None,
                        };
                        let kept = kept_of(&self.pool, permit.call()).await.unwrap_or(None);
                        if let Some(Committed { sequence, doubt }) = committed {
                            let event = end.recorded(lease, outcome.clone(), approval, kept);
                            self.signals.announce(EventRecord { conversation: lease.conversation, sequence, at: now, event });
                            doubt.dispelled();
                        }
                        return Ok(SqlEnd::Outcome(outcome));
                    }
                    Ran::Failed(error) => error,
                }
            }
        };
        let (outcome, call) = (Outcome::refused(&failed), permit.call());
        let outcome = match self.end_call(lease, CallEnd { outcome: outcome.clone(), ..end }, now).await {
            // Time was up, or the connection broke, in the very moment of the commit: what was recorded is what happened.
            Err(StoreError::LostLease) => self.recorded_outcome(lease, call).await?.ok_or(StoreError::LostLease),
            recorded => recorded.map(|()| outcome),
        };
        outcome.map(SqlEnd::Outcome)
    }

    /// What Postgres has against statements before they run: that one cannot be read, or names what is not there. `None`: nothing, as far
    /// as can be told without running them: of several only the first, for the others may need what it makes. Nobody is asked about a
    /// statement that cannot run.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn agent_sql_problem(&self, statements: &[&str], params: &[Value]) -> Result<Option<Refusal>, StoreError> {
        let text = statements.join("\n");
        let statements = match statement::read(statements, params, RowLimits::default()) {
            Ok(statements) => statements,
            Err(refusal) => return Ok(Some(refusal)),
        };
        let checked = async {
            let Some(first) = statements.first() else { return Ok(()) };
            let Some(_entered) = self.gate.enter() else { return Err(Failure::Statement(busy())) };
            let mut connection = self.agent_connection(AgentLogin::Tables).await?;
            first.check(&mut connection).await.map_err(|failure| failure.of(0, &statements))
        };
        match checked.await {
            Ok(()) | Err(Failure::Cut | Failure::Asks(_)) => Ok(None),
            // Whether it may be done, the law and the login it then runs on will say.
            Err(Failure::Statement(told)) if told.code == RefusalCode::SqlForbidden => Ok(None),
            Err(Failure::Statement(told)) => Ok(Some(self.with_tables(told, &text).await?)),
            Err(Failure::Store(error)) => Err(error),
        }
    }

    /// What is told of a failed statement, with the tables there are where it names a column or a table that is not there.
    async fn with_tables(&self, told: Refusal, text: &str) -> Result<Refusal, StoreError> {
        Ok(match code_of(&told) {
            // A column is looked for in the tables named, a table among all.
            Some(code @ ("42703" | "42P01")) => {
                let tables = self.tables_of_agent((code == "42703").then_some(text)).await?;
                told.with("tables", tables)
            }
            _ => told,
        })
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
             WHERE c.tool_call_id = $1 AND t.turn_id = $2 AND t.fence = $3 AND t.state = ANY($4)",
            call.0,
            lease.turn.0,
            lease.fence,
            &TurnState::before(TurnInput::Write)
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(match word(&row.state)? {
            CallState::Proposed => None,
            CallState::Done => Some(Outcome::ok(row.content)),
            CallState::Failed => Some(Outcome::failed(row.content)),
        })
    }

    /// Runs one statement for a capability. `params` stand in for `$1`, `$2`, …
    ///
    /// The answer is JSON: an array of row objects, or what was done, as `{"row_count": 1}`. A result that has more than 10,000 rows or
    /// 1 MiB is an error, and so is everything that the statement did wrong or may not do; then nothing of it was kept. On
    /// [`AgentLogin::Reader`] it can change nothing and nothing is recorded; else what came of it is recorded in the ledger, a success in
    /// the same transaction, so that it happens exactly once.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] when the turn is held by another or the operation was done before, or when the database is not there.
    pub async fn run_operation_sql(
        &self,
        lease: &Lease,
        operation: NewOperation<'_>,
        text: &str,
        params: &[Value],
        login: AgentLogin,
        now: DateTime<Utc>,
    ) -> Result<Result<String, String>, StoreError> {
        let reads = login == AgentLogin::Reader;
        let seal = if reads { Seal::Nothing } else { Seal::Operation(&operation) };
        let failed = match Statement::new(text, params, Room::Whole(WHOLE)) {
            Err(refusal) => refusal,
            Ok(statement) => match self.run_sealed(lease, &[statement], (seal, login, false), now).await? {
                Ran::Done(answer, committed) => {
                    if let Some(Committed { sequence, doubt }) = committed {
                        self.signals.announce(operation.recorded(lease, OperationState::Done, Some(&answer), sequence, now));
                        doubt.dispelled();
                    }
                    return Ok(Ok(answer));
                }
                Ran::Asks(finding) => cannot_ask(&finding),
                Ran::Failed(error) => error,
            },
        };
        let failed = failed.told();
        if !reads {
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

    /// Runs statements to their end, within the deadline.
    async fn run_sealed(
        &self,
        lease: &Lease,
        statements: &[Statement<'_>],
        on: (Seal<'_>, AgentLogin, bool),
        now: DateTime<Utc>,
    ) -> Result<Ran, StoreError> {
        let Some(_entered) = self.gate.enter() else { return Ok(Ran::Failed(busy())) };
        let left = match on {
            (Seal::Nothing, ..) | (_, AgentLogin::Reader, _) => None,
            _ => match self.room_for(statements.iter().map(Statement::first_word)).await? {
                Ok(left) => Some(left),
                Err(told) => return Ok(Ran::Failed(told)),
            },
        };
        let outgrown = async {
            match left {
                Some(left) => self.outgrown(left).await,
                None => std::future::pending().await,
            }
        };
        let running = tokio::time::timeout(self.sql_deadline, self.run_in_transaction(lease, statements, on, now));
        let ran = tokio::select! {
            biased;
            ran = running => ran,
            told = outgrown => return Ok(Ran::Failed(told)),
        };
        match ran {
            Ok(Ok((result, committed))) => Ok(Ran::Done(result, committed)),
            Ok(Err(Failure::Statement(error))) => {
                let text = statements.iter().map(|statement| statement.text).collect::<Vec<_>>().join("\n");
                Ok(Ran::Failed(self.with_tables(error, &text).await?))
            }
            Ok(Err(Failure::Asks(finding))) => Ok(Ran::Asks(finding)),
            Ok(Err(Failure::Cut)) => Ok(Ran::Failed(cut())),
            Ok(Err(Failure::Store(error))) => Err(error),
            Err(_) => Ok(Ran::Failed(timed_out(self.sql_deadline.as_secs()))),
        }
    }

    /// A connection for putting back what the agent lost: with no more rights than changing its rows takes.
    pub(super) async fn writer(&self) -> Result<PoolConnection<Postgres>, StoreError> {
        self.agent_connection(AgentLogin::Writer).await.map_err(|failure| match failure {
            Failure::Store(error) => error,
            Failure::Statement(_) | Failure::Asks(_) | Failure::Cut => StoreError::Database(sqlx::Error::PoolTimedOut),
        })
    }

    /// A clean connection on one of the agent's logins. The agent can change its own password and its own defaults; where that keeps us
    /// out, the login is made anew, once.
    async fn agent_connection(&self, login: AgentLogin) -> Result<PoolConnection<Postgres>, Failure> {
        let pool = &self.agent.of(login).pool;
        let error = match pool.acquire().await {
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
        Ok(pool.acquire().await?)
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
