//! The agent's own SQL: on its own login, one statement, in one transaction with its outcome.

use chrono::{DateTime, Utc};
use futures::TryStreamExt;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::tokenizer::{Token, Tokenizer};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgDatabaseError, PgErrorPosition};
use sqlx::{AssertSqlSafe, Either, Executor, PgPool, Postgres, Row, SqlSafeStr};

use super::rows::Collector;
use super::{CallEnd, Lease, RowLimits, Store, StoreError};
use crate::domain::{Event, EventRecord, Outcome};

/// Statements that begin or end a transaction, or speak another protocol than question and answer.
const REFUSED: &[&str] =
    &["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE", "COPY", "DISCARD"];

/// Why a statement did not come to an outcome.
enum Failure {
    /// The statement's own fault; what the model reads.
    Statement(Value),
    /// Ours.
    Store(StoreError),
}

impl<E: Into<StoreError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Store(error.into())
    }
}

impl Store {
    /// Runs one statement of the agent and records the call's outcome in the same transaction: exactly once, whatever is killed when.
    /// `end.outcome` is replaced by what came of the statement.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or when the database is not there. A statement that fails is an outcome, not an error.
    pub async fn run_agent_sql(
        &self,
        lease: &Lease,
        statement: &str,
        limits: RowLimits,
        end: CallEnd<'_>,
        now: DateTime<Utc>,
    ) -> Result<Outcome, StoreError> {
        let failed = match first_word(statement) {
            Err(refusal) => refusal,
            Ok(first) => {
                let running = self.run_and_record(lease, statement, &first, limits, &end, now);
                match tokio::time::timeout(self.sql_deadline, running).await {
                    Ok(Ok(outcome)) => return Ok(outcome),
                    Ok(Err(Failure::Statement(error))) => error,
                    Ok(Err(Failure::Store(error))) => return Err(error),
                    Err(_) => timed_out(self.sql_deadline.as_secs()),
                }
            }
        };
        let outcome = Outcome::failed(failed.to_string());
        self.end_call(lease, CallEnd { outcome: outcome.clone(), ..end }, now).await?;
        Ok(outcome)
    }

    async fn run_and_record(
        &self,
        lease: &Lease,
        statement: &str,
        first: &str,
        limits: RowLimits,
        end: &CallEnd<'_>,
        now: DateTime<Utc>,
    ) -> Result<Outcome, Failure> {
        let connection = self.agent.acquire().await?;
        let mut running = Running { connection: Some(connection), backend: None, pool: self.pool.clone() };
        let connection = running.connection.as_mut().expect("it was just put there");
        let begun = sqlx::raw_sql("BEGIN; SELECT pg_current_xact_id()::text, pg_backend_pid()::text")
            .fetch_one(&mut **connection)
            .await?;
        let transaction: String = begun.try_get_unchecked(0)?;
        running.backend = begun.try_get_unchecked::<String, _>(1)?.parse().ok();

        let result = match run_statement(connection, statement, first, limits).await {
            Ok(result) => result,
            Err(error) => {
                let described = describe(error, statement);
                sqlx::raw_sql("ROLLBACK").execute(&mut **connection).await?;
                running.backend = None;
                return Err(described);
            }
        };
        let sequence = sqlx::query_scalar!(
            r#"SELECT shared.end_sql_call($1, $2, $3, $4, $5, $6, $7, $8, $9) AS "sequence!""#,
            self.sql_token(end.call.0, lease.fence, &transaction),
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
        .await;
        let sequence = match sequence {
            Ok(sequence) => sequence,
            Err(error) if is_code(&error, "L3003") => {
                return Err(Failure::Statement(refusal(
                    "the statement ended the transaction it ran in; what it did is not recorded",
                )));
            }
            Err(error) => return Err(Failure::Store(error.into())),
        };
        // Constraints that were deferred are checked here, and a violated one is the statement's fault as well.
        sqlx::raw_sql("COMMIT").execute(&mut **connection).await.map_err(|error| describe(error, statement))?;
        running.backend = None;
        let outcome = Outcome::ok(result);
        let event =
            Event::ToolCallEnded { turn: lease.turn, call: end.call, name: end.tool.to_owned(), outcome: outcome.clone() };
        self.signals.announce(EventRecord { conversation: lease.conversation, sequence, at: now, event });
        Ok(outcome)
    }

    /// What `sql_token` in the database computes too.
    fn sql_token(&self, call: i64, fence: i64, transaction: &str) -> Vec<u8> {
        let mut hash = Sha256::new();
        hash.update(&self.sql_key);
        hash.update(format!("{call}:{fence}:{transaction}"));
        hash.update(&self.sql_key);
        hash.finalize().to_vec()
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

async fn run_statement(
    connection: &mut PoolConnection<Postgres>,
    statement: &str,
    first: &str,
    limits: RowLimits,
) -> Result<String, sqlx::Error> {
    // Postgres prepares one statement only, so this refuses a second one. It runs by the simple protocol afterwards, which gives every
    // value in its text form; nothing ran in between, so it is parsed the same way again.
    (&mut **connection).prepare(AssertSqlSafe(statement.to_owned()).into_sql_str()).await?;
    let mut collector = None;
    let mut changed = 0;
    let mut results = sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).fetch_many(&mut **connection);
    while let Some(result) = results.try_next().await? {
        match result {
            Either::Right(row) => collector.get_or_insert_with(|| Collector::new(limits)).add(&row)?,
            Either::Left(done) => changed = done.rows_affected(),
        }
    }
    drop(results);
    Ok(match (collector, first) {
        (Some(rows), _) => rows.finish(),
        (None, "INSERT" | "UPDATE" | "DELETE" | "MERGE") => json!({ "row_count": changed }).to_string(),
        (None, "SELECT" | "WITH" | "VALUES" | "TABLE" | "SHOW" | "EXPLAIN") if changed == 0 => "[]".to_owned(),
        (None, "WITH") => json!({ "row_count": changed }).to_string(),
        (None, other) => json!({ "done": other }).to_string(),
    })
}

/// The statement's first word, in capitals.
fn first_word(statement: &str) -> Result<String, Value> {
    let dialect = PostgreSqlDialect {};
    // A text that the tokenizer cannot read goes on to Postgres, whose answer is better; the transaction's id is checked in any case.
    let tokens = Tokenizer::new(&dialect, statement).tokenize().unwrap_or_default();
    let word = tokens.iter().find_map(|token| match token {
        Token::Word(word) => Some(word.value.to_ascii_uppercase()),
        _ => None,
    });
    match word {
        None if statement.trim().is_empty() => Err(refusal("`query` is empty; give one SQL statement")),
        None => Ok(String::new()),
        Some(word) if REFUSED.contains(&word.as_str()) => Err(refusal(&format!(
            "{word} cannot be used here: each call is one statement in a transaction of its own, committed when it succeeds"
        ))),
        Some(word) => Ok(word),
    }
}

fn refusal(message: &str) -> Value {
    json!({ "error": "refused", "message": message })
}

fn timed_out(seconds: u64) -> Value {
    json!({ "error": "timeout", "message": format!("the statement ran longer than {seconds} s and was ended; nothing of it was kept") })
}

fn is_code(error: &sqlx::Error, code: &str) -> bool {
    error.as_database_error().and_then(|error| error.code()).as_deref() == Some(code)
}

/// Objects that the agent may read and not change, and the tool that changes them.
const READ_ONLY: [(&str, &str); 4] =
    [("tasks", "manage_tasks"), ("capabilities", "write_capability"), ("messages", ""), ("conversations", "")];

/// Says what Postgres said: message, code, position, detail, hint, and for what the agent may not do, what it may.
fn describe(error: sqlx::Error, statement: &str) -> Failure {
    let Some(database) = error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>()) else {
        return Failure::Store(error.into());
    };
    if matches!(database.code(), "57P01" | "57P02" | "57P03") {
        return Failure::Store(error.into()); // the server is going down: not the statement's fault
    }
    let mut told = json!({ "error": "sql_error", "message": database.message(), "code": database.code() });
    if let Some(PgErrorPosition::Original(position)) = database.position() {
        told["position"] = json!(position);
        told["near"] = json!(statement.chars().skip(position.saturating_sub(1)).take(40).collect::<String>());
    }
    if let Some(detail) = database.detail() {
        told["detail"] = json!(detail);
    }
    let hint = own_hint(database).or_else(|| database.hint().map(str::to_owned));
    if let Some(hint) = hint {
        told["hint"] = json!(hint);
    }
    Failure::Statement(told)
}

fn own_hint(error: &PgDatabaseError) -> Option<String> {
    let about = error.message();
    match error.code() {
        "42501" | "55000" => {
            let named = READ_ONLY.iter().find(|(object, _)| about.contains(object));
            let instead = match named {
                Some((object, "")) => format!("`{object}` can be read, not changed. "),
                Some((object, tool)) => format!("`{object}` can be read here and is changed with the tool {tool}. "),
                None => String::new(),
            };
            Some(format!("{instead}Make tables of your own; they go into the schema `agent`."))
        }
        "42601" if about.contains("multiple commands") => Some("Give one statement per call.".to_owned()),
        "57014" => Some("The statement ran too long. Limit it, or do it in parts.".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_is_found_behind_comments_and_brackets() {
        for (statement, word) in
            [("select 1", "SELECT"), ("/* a */ -- b\n ( SELECT 1 )", "SELECT"), ("with x as (select 1) table x", "WITH")]
        {
            assert_eq!(first_word(statement).as_deref(), Ok(word), "{statement}");
        }
    }

    #[test]
    fn what_would_end_the_transaction_is_refused() {
        for statement in
            ["COMMIT", "/**/ commit and chain", "rollback", "END", "prepare transaction 'x'", "begin", "COPY t FROM STDIN"]
        {
            let refused = first_word(statement).unwrap_err();
            assert_eq!(refused["error"], "refused", "{statement}");
        }
    }

    #[test]
    fn an_empty_query_says_what_to_give() {
        assert_eq!(first_word("  ").unwrap_err()["message"], "`query` is empty; give one SQL statement");
    }
}
