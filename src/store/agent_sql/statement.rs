//! A statement of the agent: read, prepared, run, and its rows collected.

use futures::TryStreamExt;
use serde_json::{Value, json};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::tokenizer::{Token, Tokenizer};
use sqlx::postgres::{PgConnection, PgTypeInfo, PgTypeKind};
use sqlx::{AssertSqlSafe, Either, Executor, Row as _, SqlSafeStr, Statement as _};

use super::Failure;
use super::rows::{Collector, RowLimits, shown_columns};
use super::told::{describe, refusal, told_of};
use crate::domain::{Refusal, ShownColumn};

/// Statements that begin or end a transaction; `COPY` speaks another protocol than question and
/// answer.
const REFUSED: &[&str] = &["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE", "DISCARD"];
const COPY: &str = "COPY";

/// How many statements one call may hold.
const MOST: usize = 50;

/// A statement with its parameters, and with limits on its result.
pub(super) struct Statement<'a> {
    pub(super) text: &'a str,
    /// Its first word, in capitals.
    first: String,
    params: &'a [Value],
    /// True if values were given for which it has no place.
    pub(super) unused: bool,
    room: ResultRoom,
}

/// The result of a statement.
pub(super) struct StatementResult {
    /// Its rows or its count, as JSON.
    pub(super) json: String,
    /// The columns of its rows, if it gives rows.
    pub(super) columns: Vec<ShownColumn>,
    /// How many rows there are, if it gives rows.
    pub(super) total: Option<usize>,
    /// The answer of what ran behind it.
    pub(super) answer: Option<String>,
}

/// The room for a result.
#[derive(Clone, Copy)]
pub(super) enum ResultRoom {
    /// Rows that do not fit are left out, and the result says so.
    Shown(RowLimits),
    /// Rows that do not fit are an error: the reader is a program, and takes its rows for the
    /// whole.
    Whole(RowLimits),
}

/// Reads the statements of one call without running any; the error is for their author. They share
/// the room for their results.
pub(super) fn read<'a>(statements: &'a [&'a str], params: &'a [Value], limits: RowLimits) -> Result<Vec<Statement<'a>>, Refusal> {
    let many = statements.len();
    // Models write the statement itself into `params`. A statement without a $1 means the same
    // whatever values come with it; the model is told.
    let unused = !params.is_empty() && !statements.iter().any(|text| text.contains('$'));
    let params = if unused { &[] } else { params };
    if many > 1 && !params.is_empty() {
        return Err(Refusal::arguments("`params` go with one statement: give each statement that has some in a call of its own"));
    }
    if many > MOST {
        return Err(refusal(format!(
            "these are {many} statements; send at most {MOST} in one call, or one INSERT with many rows"
        )));
    }
    let shared = RowLimits { rows: (limits.rows / many.max(1)).max(1), bytes: limits.bytes / many.max(1), ..limits };
    let one = |(at, text): (usize, &&'a str)| {
        let read = Statement::new(text, params, ResultRoom::Shown(shared)).map_err(|told| told_of(told, at + 1, many, text));
        read.map(|statement| Statement { unused, ..statement })
    };
    statements.iter().enumerate().map(one).collect()
}

impl<'a> Statement<'a> {
    /// Reads a statement without running it; the error is for its author.
    pub(super) fn new(text: &'a str, params: &'a [Value], room: ResultRoom) -> Result<Self, Refusal> {
        if text.contains('\0') || params.iter().any(holds_zero) {
            return Err(refusal("SQL and its parameters cannot hold zero characters; leave them out"));
        }
        Ok(Self { text, first: first_word(text)?, params, unused: false, room })
    }

    /// Its first word, in capitals.
    pub(super) fn first_word(&self) -> &str {
        &self.first
    }

    /// Lets Postgres read it and look up the names in it, without any effect.
    pub(super) async fn check(&self, connection: &mut PgConnection) -> Result<(), Failure> {
        let prepared = (&mut *connection).prepare(AssertSqlSafe(self.text.to_owned()).into_sql_str()).await;
        prepared.map(drop).map_err(|error| describe(error, self.text, 0))?;
        if !matches!(&*self.first, "DROP" | "TRUNCATE") {
            return Ok(());
        }
        // Postgres looks up the names in these only when they run. They are short, and a rollback
        // leaves nothing of them.
        sqlx::raw_sql("BEGIN").execute(&mut *connection).await?;
        let tried = sqlx::raw_sql(AssertSqlSafe(self.text.to_owned())).execute(&mut *connection).await;
        let tried = tried.map(drop).map_err(|error| describe(error, self.text, 0));
        sqlx::raw_sql("ROLLBACK").execute(&mut *connection).await?;
        tried
    }

    /// Runs it, and returns its rows or its count as JSON. `then` runs behind it in the same
    /// message: statements of ours, of which the last gives one value, or none at all. Postgres has
    /// read the whole message before anything of it runs, and the agent can read it: it holds no
    /// secret.
    pub(super) async fn run(&self, connection: &mut PgConnection, then: &str) -> Result<StatementResult, Failure> {
        // Postgres prepares one statement only, so this refuses a second one. Then it runs by the
        // simple protocol, which gives every value in its text form. Nothing ran in between, so
        // Postgres parses it the same way again.
        let prepared = (&mut *connection)
            .prepare(AssertSqlSafe(self.text.to_owned()).into_sql_str())
            .await
            .map_err(|error| describe(error, self.text, 0))?;
        let columns = shown_columns(prepared.columns());
        if self.params.is_empty() {
            return self.collect(connection, behind(self.text, then), 0, columns).await;
        }
        // Postgres inferred these types, and infers the same ones for the same text again.
        let types = match prepared.parameters() {
            Some(Either::Left(types)) => types.to_vec(),
            _ => Vec::new(),
        };
        if types.len() != self.params.len() {
            return Err(Failure::Statement(Refusal::arguments(format!(
                "the statement has {} parameters ($1, $2, …), and {} were given",
                types.len(),
                self.params.len()
            ))));
        }
        drop(prepared);
        let prepare = format!("{PREPARE}{}", self.text);
        sqlx::raw_sql(AssertSqlSafe(prepare))
            .execute(&mut *connection)
            .await
            .map_err(|error| describe(error, self.text, PREPARE.len()))?;
        let literals: Vec<_> = self.params.iter().zip(&types).map(|(value, of)| literal(value, of)).collect();
        let execute = format!("EXECUTE level3_statement({})", literals.join(", "));
        self.collect(connection, behind(&execute, then), usize::MAX, columns).await
    }

    /// `before`: the number of characters in `sql` before the statement, for positions in errors.
    async fn collect(
        &self,
        connection: &mut PgConnection,
        sql: String,
        before: usize,
        columns: Vec<ShownColumn>,
    ) -> Result<StatementResult, Failure> {
        let (ResultRoom::Shown(limits) | ResultRoom::Whole(limits)) = self.room;
        let whole = matches!(self.room, ResultRoom::Whole(_));
        let described = |error| describe(error, self.text, before);
        let mut collector = None;
        // The first end is that of the statement; a row behind it is the answer of what runs then.
        let (mut changed, mut answer) = (None, None);
        let mut results = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_many(&mut *connection);
        while let Some(result) = results.try_next().await.map_err(described)? {
            match result {
                Either::Right(row) if changed.is_some() => {
                    answer = row.try_get_unchecked::<Option<String>, _>(0).map_err(described)?;
                }
                Either::Right(row) => {
                    collector.get_or_insert_with(|| Collector::new(limits, whole)).add(&row).map_err(described)?
                }
                Either::Left(done) => changed = changed.or_else(|| Some(done.rows_affected())),
            }
        }
        drop(results);
        let changed = changed.unwrap_or_default();
        let total = (!columns.is_empty()).then(|| collector.as_ref().map_or(0, Collector::total));
        let json = match (collector, &*self.first) {
            (Some(rows), _) => match (self.room, rows.too_much()) {
                (ResultRoom::Whole(_), Some(told)) => return Err(Failure::Statement(told)),
                _ => rows.finish(),
            },
            (None, "INSERT" | "UPDATE" | "DELETE" | "MERGE") => json!({ "row_count": changed }).to_string(),
            (None, "SELECT" | "WITH" | "VALUES" | "TABLE" | "SHOW" | "EXPLAIN") if changed == 0 => "[]".to_owned(),
            (None, "WITH") => json!({ "row_count": changed }).to_string(),
            (None, other) => json!({ "done": other }).to_string(),
        };
        Ok(StatementResult { json, columns, total, answer })
    }
}

/// A message of a statement and what runs behind it. Postgres has read the statement alone before,
/// so it is one, and is over at its end: a line feed ends a comment there.
fn behind(statement: &str, then: &str) -> String {
    if then.is_empty() { statement.to_owned() } else { format!("{statement}\n; {then}") }
}

/// The text before a statement with parameters.
const PREPARE: &str = "PREPARE level3_statement AS ";

/// The statement's first word, in capitals.
fn first_word(statement: &str) -> Result<String, Refusal> {
    let dialect = PostgreSqlDialect {};
    // A text that the tokenizer cannot read goes on to Postgres, whose answer is better. The
    // transaction's id is checked in any case.
    let Ok(tokens) = Tokenizer::new(&dialect, statement).tokenize() else { return Ok(String::new()) };
    // A comment counts as space.
    let says_nothing = |token: &Token| matches!(token, Token::Whitespace(_) | Token::SemiColon | Token::EOF);
    let word = tokens.iter().find_map(|token| match token {
        Token::Word(word) => Some(word.value.to_ascii_uppercase()),
        _ => None,
    });
    match word {
        None if tokens.iter().all(says_nothing) => Err(refusal("the SQL text is empty; give one SQL statement")),
        None => Ok(String::new()),
        Some(word) if word == COPY => Err(refusal(
            "COPY cannot be used here: no files or streams are at hand. INSERT takes many rows at once, and SELECT gives rows back",
        )),
        Some(word) if REFUSED.contains(&word.as_str()) => Err(refusal(format!(
            "{word} cannot be used here, leave it out: each call runs in a transaction of its own, committed when it succeeds"
        ))),
        Some(word) => Ok(word),
    }
}

fn holds_zero(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(holds_zero),
        Value::Object(fields) => fields.iter().any(|(name, value)| name.contains('\0') || holds_zero(value)),
        _ => false,
    }
}

/// A JSON value as a literal without a type of its own, so that it takes the type of its parameter.
fn literal(value: &Value, of: &PgTypeInfo) -> String {
    let text = match (value, of.kind()) {
        (Value::Null, _) => return "NULL".to_owned(),
        (Value::Array(items), PgTypeKind::Array(_)) => array(items),
        _ => scalar(value),
    };
    // E'…' means the same with all settings of the session; in a plain literal they decide what a
    // backslash means.
    format!("E'{}'", text.replace('\\', r"\\").replace('\'', "''"))
}

/// The text from which Postgres reads a value: the content of a string, and JSON for everything
/// with parts.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // A whole number may have come as 3.0, which no integer column takes.
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => format!("{float:.0}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// The text form of an array; the Postgres manual has it in "Array Input and Output Syntax".
fn array(items: &[Value]) -> String {
    let item = |item: &Value| match item {
        Value::Null => "NULL".to_owned(),
        Value::Array(items) => array(items),
        other => format!("\"{}\"", scalar(other).replace('\\', r"\\").replace('"', "\\\"")),
    };
    format!("{{{}}}", items.iter().map(item).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests;
