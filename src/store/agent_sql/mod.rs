//! The agent's own SQL: on its own login, in one transaction with its outcome.

mod gate;
mod keeping;
mod look;
mod pools;
mod rows;
mod seam;
mod statement;
mod told;
mod transaction;
mod whole;
mod written;

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::Postgres;
use sqlx::pool::PoolConnection;
use tokio::time::Instant;

pub use self::gate::Gate;
pub(super) use self::pools::AgentPools;
pub use self::rows::RowLimits;
pub use self::seam::{AgentLogin, SqlEnd};
use self::statement::{ResultRoom, Statement};
pub(super) use self::told::is_code;
use self::told::{busy, cannot_ask, code_of, cut, timed_out, told_of};
use self::transaction::{Seal, StatementTerms};
use super::transition::Doubt;
use super::{CallEnd, Earlier, Judgement, Lease, NewOperation, Store, StoreError, word};
use crate::domain::{
    ApprovalId, CallAccount, CallState, EXECUTE_SQL, Finding, Machine, OperationState, Outcome, Refusal, RefusalCode, RowLoss,
    ToolCallId, TurnInput, TurnState,
};
use crate::facts::EventRecord;
use crate::governor::Permit;

/// The limits of a statement's result for a capability.
const WHOLE: RowLimits = RowLimits { rows: 10_000, bytes: 1024 * 1024, value_bytes: 1024 * 1024 };

/// Statements of the agent, run in a row: all of them, or nothing.
#[derive(Clone, Copy, Debug)]
pub struct AgentSql<'a> {
    /// One statement each: Postgres refuses a text that holds a second one.
    pub statements: &'a [&'a str],
    /// The values of `$1`, `$2`, … if there is one statement.
    pub params: &'a [Value],
    /// How much of all results together is shown.
    pub limits: RowLimits,
    /// The login, which decides how much Postgres allows. On [`AgentLogin::Reader`] they change
    /// nothing, whatever functions they call.
    pub login: AgentLogin,
    /// True if a person was told that all their losses can be put back: if they cannot, nothing is
    /// done.
    pub promised: bool,
    /// The lost rows that a person was shown, if any. If they would lose more, it is a question
    /// again.
    pub shown: &'a [RowLoss],
}

/// The reason why a statement has no outcome.
enum Failure {
    /// The statement's own fault; the refusal is for its author.
    Statement(Refusal),
    /// It would do more than it was allowed to; nothing of it was kept.
    Asks(Finding),
    /// Its connection was ended. Nothing was kept, unless that happened in the very moment of the
    /// commit.
    Cut,
    /// An error of the store.
    Store(StoreError),
}

impl<E: Into<StoreError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Store(error.into())
    }
}

/// The end of a statement: its result, and the event that recorded it.
type Sealed = (String, Option<Committed>);

/// A recorded event that is not announced yet.
struct Committed {
    ended: Ended,
    /// The facts for a person.
    account: CallAccount,
    /// Held until the announcement.
    doubt: Doubt,
}

/// The facts that the record of an end gives back.
#[derive(serde::Deserialize)]
struct Ended {
    /// The number of the event.
    sequence: i64,
    /// The approval that was used up.
    #[serde(default)]
    approval: Option<ApprovalId>,
    /// How many lost rows are kept.
    #[serde(default)]
    kept: Option<i64>,
}

/// The end of several statements.
enum StatementsEnd {
    /// They ran; their result, and the event that recorded it.
    Done(String, Option<Committed>),
    /// Nothing was kept; the refusal is for their author.
    Failed(Refusal),
    /// Nothing was kept; these are the effects they would have.
    Asks(Finding),
}

impl Store {
    /// Runs statements of the agent and records the call's outcome in the same transaction: exactly
    /// once, whatever is killed when. The outcome is the result of one statement, or of several
    /// `{"results": […]}`.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer. A statement that fails is an
    /// outcome and not an error. One that would do more than its login may is a question, and the
    /// call has no outcome yet.
    pub async fn run_agent_sql(
        &self,
        lease: &Lease,
        permit: &Permit,
        tool: &str,
        sql: AgentSql<'_>,
        now: DateTime<Utc>,
    ) -> Result<SqlEnd, StoreError> {
        let (end, begun) = (CallEnd { judged: Judgement::Permitted(permit), tool, outcome: Outcome::ok("") }, Instant::now());
        let failed = match statement::read(sql.statements, sql.params, sql.limits) {
            Err(refusal) => refusal,
            Ok(statements) => {
                let AgentSql { login, promised, shown, .. } = sql;
                let terms = StatementTerms { seal: Seal::Call(&end), login, promised, shown, begun };
                match self.run_sealed(lease, &statements, terms, now).await? {
                    StatementsEnd::Asks(finding) => return Ok(SqlEnd::Asks(finding)),
                    StatementsEnd::Done(result, committed) => {
                        let outcome = Outcome::ok(result);
                        if let Some(Committed { ended: Ended { sequence, approval, kept }, account, doubt }) = committed {
                            let told = Outcome { account, ..outcome.clone() };
                            let event = end.recorded(lease, told, approval, kept).into();
                            self.signals.announce(EventRecord { conversation: lease.conversation, sequence, at: now, event });
                            doubt.dispelled();
                        }
                        return Ok(SqlEnd::Outcome(outcome));
                    }
                    StatementsEnd::Failed(error) => error,
                }
            }
        };
        let (refused, call) = (Outcome::refused(&failed), permit.call());
        let outcome = Outcome { account: refused.account.took(begun.elapsed()), ..refused };
        let outcome = match self.end_call(lease, CallEnd { outcome: outcome.clone(), ..end }, now).await {
            // Time was up, or the connection broke, in the very moment of the commit: the record
            // decides.
            Err(StoreError::LostLease) => self.recorded_outcome(lease, call).await?.ok_or(StoreError::LostLease),
            recorded => recorded.map(|_seen| outcome),
        };
        outcome.map(SqlEnd::Outcome)
    }

    /// Postgres' objection to statements before they run: one cannot be read, or names something
    /// that does not exist. `None` if there is none, as far as Postgres can tell without running
    /// them. Of several it looks only at the first, since the others may need what that one makes.
    /// Nobody is asked about a statement that cannot run.
    ///
    /// # Errors
    /// If the database does not answer.
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
            // The law, and the login that the statement then runs on, say whether it may run.
            Err(Failure::Statement(told)) if told.code == RefusalCode::SqlForbidden => Ok(None),
            Err(Failure::Statement(told)) => Ok(Some(self.with_tables(told, &text).await?)),
            Err(Failure::Store(error)) => Err(error),
        }
    }

    /// The refusal of a failed statement. If it names a table or a column that does not exist, the
    /// existing ones are added.
    async fn with_tables(&self, told: Refusal, text: &str) -> Result<Refusal, StoreError> {
        Ok(match code_of(&told) {
            // A column is looked for in the named tables, and a table among all.
            Some(code @ ("42703" | "42P01")) => {
                let tables = self.tables_of_agent((code == "42703").then_some(text)).await?;
                let again = format!("Call {EXECUTE_SQL} again, with names that stand in `tables`.");
                told.with("tables", tables).with("what_now", again)
            }
            _ => told,
        })
    }

    /// The agent's own tables with their columns, so that the model can correct a wrong name: those
    /// in `named_in`, or the first 20.
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

    /// The outcome of a call, if its turn is still held here and the call has one.
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

    /// Runs one statement for a capability. `params` are the values of `$1`, `$2`, …
    ///
    /// The answer is JSON: an array of row objects, or a count as `{"row_count": 1}`. A result of
    /// more than 10,000 rows or 1 MiB is an error, and so is every fault or lack of rights of the
    /// statement; then nothing of it was kept. On [`AgentLogin::Reader`] it can change nothing, and
    /// nothing is recorded. On any other login the ledger has its end, and a success is recorded in
    /// the same transaction, so that it happens exactly once.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] when the turn is held by another or the operation was done before,
    /// or if the database does not answer.
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
        let failed = match Statement::new(text, params, ResultRoom::Whole(WHOLE)) {
            Err(refusal) => refusal,
            Ok(statement) => {
                let terms = StatementTerms { seal, login, promised: false, shown: &[], begun: Instant::now() };
                match self.run_sealed(lease, &[statement], terms, now).await? {
                    StatementsEnd::Done(answer, committed) => {
                        if let Some(Committed { ended, account: _, doubt }) = committed {
                            let done = operation.recorded(lease, OperationState::Done, Some(&answer), ended.sequence, now);
                            self.signals.announce(done);
                            doubt.dispelled();
                        }
                        return Ok(Ok(answer));
                    }
                    StatementsEnd::Asks(finding) => cannot_ask(&finding, operation.permit.tools()),
                    StatementsEnd::Failed(error) => error,
                }
            }
        };
        let failed = failed.among(operation.permit.tools()).for_model();
        if !reads {
            let recorded = self.end_operation(lease, &operation, OperationState::Failed, Some(&failed), now).await;
            if let Err(StoreError::LostLease) = recorded {
                // Time was up, or the connection broke, in the very moment of the commit: the
                // ledger decides.
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
        terms: StatementTerms<'_>,
        now: DateTime<Utc>,
    ) -> Result<StatementsEnd, StoreError> {
        let Some(_entered) = self.gate.enter() else { return Ok(StatementsEnd::Failed(busy())) };
        let left = match terms {
            StatementTerms { seal: Seal::Nothing, .. } | StatementTerms { login: AgentLogin::Reader, .. } => None,
            _ => match self.room_for(statements.iter().map(Statement::first_word)).await? {
                Ok(left) => Some(left),
                Err(told) => return Ok(StatementsEnd::Failed(told)),
            },
        };
        let outgrown = async {
            match left {
                Some(left) => self.outgrown(left).await,
                None => std::future::pending().await,
            }
        };
        let running = tokio::time::timeout(self.sql_deadline, self.run_in_transaction(lease, statements, terms, now));
        let ran = tokio::select! {
            biased;
            ran = running => ran,
            told = outgrown => return Ok(StatementsEnd::Failed(told)),
        };
        match ran {
            Ok(Ok((result, committed))) => Ok(StatementsEnd::Done(result, committed)),
            Ok(Err(Failure::Statement(error))) => {
                let text = statements.iter().map(|statement| statement.text).collect::<Vec<_>>().join("\n");
                Ok(StatementsEnd::Failed(self.with_tables(error, &text).await?))
            }
            Ok(Err(Failure::Asks(finding))) => Ok(StatementsEnd::Asks(finding)),
            Ok(Err(Failure::Cut)) => Ok(StatementsEnd::Failed(cut())),
            Ok(Err(Failure::Store(error))) => Err(error),
            Err(_) => Ok(StatementsEnd::Failed(timed_out(self.sql_deadline.as_secs()))),
        }
    }

    /// A connection that puts back what the agent lost: it has no more rights than changing the
    /// agent's rows takes.
    pub(super) async fn writer(&self) -> Result<PoolConnection<Postgres>, StoreError> {
        self.agent_connection(AgentLogin::Writer).await.map_err(|failure| match failure {
            Failure::Store(error) => error,
            Failure::Statement(_) | Failure::Asks(_) | Failure::Cut => StoreError::Database(sqlx::Error::PoolTimedOut),
        })
    }

    /// A clean connection on one of the agent's logins. The agent can change its own password and
    /// its own defaults. If that keeps us out, the login is made anew, once.
    async fn agent_connection(&self, login: AgentLogin) -> Result<PoolConnection<Postgres>, Failure> {
        let pool = &self.agent.of(login).pool;
        let error = match pool.acquire().await {
            Ok(connection) => return Ok(connection),
            Err(sqlx::Error::PoolTimedOut) => return Err(Failure::Statement(busy())),
            Err(error) => error,
        };
        // The login is not at fault if there are too many connections, or the server comes up or
        // goes down.
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
    /// The failure of one of these statements. If there are several, it says which one.
    fn of(self, at: usize, statements: &[Statement<'_>]) -> Self {
        match self {
            Self::Statement(told) => Self::Statement(told_of(told, at + 1, statements.len(), statements[at].text)),
            other => other,
        }
    }
}
