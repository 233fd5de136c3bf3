//! Why a statement failed, and what to do instead.

use sqlx::postgres::{PgDatabaseError, PgErrorPosition};

use super::Failure;
use crate::domain::{CallFault, EXECUTE_SQL, Finding, MANAGE_TASKS, Refusal, RefusalCode, Toolset, WRITE_CAPABILITY, shortened};
use crate::postgres::TOO_LONG;
use crate::store::StoreError;

/// The most bytes of each text in Postgres' error. A statement decides how long they are: its
/// values stand in them.
const LONGEST: usize = 4 << 10;

/// The hint for a query that stands where Postgres reads no query.
const BARE_QUERY: &str = "A query cannot stand here bare. To insert its rows, leave VALUES out: INSERT INTO t (columns) SELECT …. As a value it \
                          has brackets of its own: VALUES ((SELECT …)).";

/// Postgres' code for a lack of rights.
pub(super) const FORBIDDEN: &str = "42501";
/// The name under which a refusal has Postgres' code.
const CODE: &str = "code";

/// Postgres' code in a refusal.
pub(super) fn code_of(refusal: &Refusal) -> Option<&str> {
    refusal.more.get(CODE)?.as_str()
}

/// Objects that the agent may read and not change, and the tool that changes them.
const READ_ONLY: [(&str, &str); 4] =
    [("tasks", MANAGE_TASKS), ("capabilities", WRITE_CAPABILITY), ("messages", ""), ("conversations", "")];

pub(super) fn refusal(message: impl Into<String>) -> Refusal {
    Refusal::new(RefusalCode::Refused, message)
}

/// The refusal for a capability: its call cannot wait for a person in the middle. A model with
/// `tools` made it.
pub(super) fn cannot_ask(finding: &Finding, tools: Toolset) -> Refusal {
    let why = finding.sentences().map(String::as_str).collect::<Vec<_>>().join(" ");
    let instead = if tools.has(EXECUTE_SQL) { format!(": let the agent call `{EXECUTE_SQL}` itself") } else { String::new() };
    refusal(format!(
        "{why} A person has to decide about this, and a capability cannot wait for that{instead}. Nothing of this statement was kept."
    ))
}

pub(super) fn timed_out(seconds: u64) -> Refusal {
    let message = format!("the statement ran longer than {seconds} s and was ended; nothing of it was kept");
    Refusal::new(RefusalCode::Timeout, message)
}

pub(super) fn busy() -> Refusal {
    Refusal::new(RefusalCode::Busy, "other statements use all connections; nothing was run; try again, with shorter statements")
}

pub(super) fn ended_transaction() -> Refusal {
    refusal("the statement ended the transaction it ran in; what it did is not recorded")
}

/// Names the one of several statements that a refusal is about.
pub(super) fn told_of(told: Refusal, number: usize, of: usize, statement: &str) -> Refusal {
    if of <= 1 {
        return told;
    }
    let kept = format!("nothing of the {of} statements; correct this one and send all of them again");
    told.with("statement", number).with("query", statement).with("kept", kept)
}

/// The refusal of a result that is too large to be kept.
pub(super) fn too_much(bytes: usize) -> Refusal {
    let message = format!(
        "the result has {} KiB and cannot be kept; nothing of the statement was kept. Name fewer columns, use LIMIT, or give long values \
         in parts with substr",
        bytes >> 10
    );
    Refusal::new(RefusalCode::TooMuch, message)
}

pub(in crate::store) fn is_code(error: &sqlx::Error, code: &str) -> bool {
    error.as_database_error().and_then(|error| error.code()).as_deref() == Some(code)
}

/// The words for a type that the database driver does not know, as those of multiranges.
const UNREADABLE_TYPE: &str = "a column or a parameter of this statement has a type that cannot be read here, such as a multirange; cast it to text: SELECT c::text";

/// Postgres' error as a refusal: message, code, position, detail and hint, and for a lack of
/// rights, what the agent may do. A person is told message and detail. `before`: the number of our
/// characters before the statement.
pub(super) fn describe(error: sqlx::Error, statement: &str, before: usize) -> Failure {
    let Some(database) = error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>()) else {
        return match error {
            // The connection broke, so nothing of the transaction was kept. Recording this will
            // show whether the server is there.
            sqlx::Error::Io(_) | sqlx::Error::Protocol(_) => Failure::Cut,
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::TypeNotFound { .. } => {
                Failure::Statement(Refusal::new(RefusalCode::SqlError, UNREADABLE_TYPE))
            }
            other => Failure::Store(StoreError::Database(other)),
        };
    };
    // The statement, another statement of the agent, or the end of the server closed this
    // connection.
    if matches!(database.code(), "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "25P04") {
        return Failure::Cut;
    }
    if database.code() == TOO_LONG {
        return Failure::Statement(Refusal::new(RefusalCode::TooMuch, database.message()));
    }
    let code = if database.code() == FORBIDDEN { RefusalCode::SqlForbidden } else { RefusalCode::SqlError };
    let mut told = Refusal::new(code, shortened(database.message(), LONGEST)).with(CODE, database.code());
    let mut bare_query = false;
    if let Some(PgErrorPosition::Original(position)) = database.position()
        && let Some(position) = position.checked_sub(before)
        && position > 0
    {
        let near: String = statement.chars().skip(position - 1).take(40).collect();
        bare_query = database.code() == "42601" && near.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("select"));
        told = told.with("position", position).with("near", near);
    }
    if let Some(detail) = database.detail() {
        told = told.with("detail", shortened(detail, LONGEST));
    }
    let hint = own_hint(database.code(), database.routine(), database.message()).or_else(|| database.hint().map(str::to_owned));
    let hint = hint.or_else(|| bare_query.then(|| BARE_QUERY.into()));
    if let Some(hint) = hint {
        told = told.with("hint", shortened(&hint, LONGEST));
    }
    let said = [Some(database.message()), database.detail()].into_iter().flatten().map(|words| shortened(words, LONGEST));
    let message = said.collect::<Vec<_>>().join("\n");
    Failure::Statement(told.with_fault(CallFault { message, line: None }))
}

pub(super) fn cut() -> Refusal {
    Refusal::new(RefusalCode::SqlError, "the statement's connection was ended while it ran; nothing of it was kept")
}

/// The function of Postgres that reads a statement to be prepared; it raises a syntax error of its
/// own only for a second one behind it.
const READS_ONE: &str = "exec_parse_message";
/// The function of Postgres that counts the values of an `EXECUTE`.
const COUNTS_VALUES: &str = "EvaluateParams";

/// Our hint for an error with this code, which this function of Postgres raised, `about` these
/// things. Postgres' sentences may be in any language; codes, functions and names are in none.
fn own_hint(code: &str, routine: Option<&str>, about: &str) -> Option<String> {
    match code {
        FORBIDDEN | "55000" => {
            let named = READ_ONLY.iter().find(|(object, _)| about.contains(object));
            let instead = match named {
                Some((object, "")) => format!("`{object}` can be read, not changed. "),
                Some((object, tool)) => format!("`{object}` can be read here and is changed with the tool {tool}. "),
                None => String::new(),
            };
            Some(format!("{instead}Make tables of your own; they go into the schema `agent`."))
        }
        "42601" if routine == Some(READS_ONE) => Some(format!(
            "Nothing was run. host.sql takes one statement in a call, and {EXECUTE_SQL} several only if it can read the end of each: give \
             each in a call of its own."
        )),
        "42601" if routine == Some(COUNTS_VALUES) => Some("Give one parameter for each $1, $2, …".to_owned()),
        "42P02" => Some(
            "$1, $2, … stand for parameters; they can be used where a value can, in statements that read or change rows."
                .to_owned(),
        ),
        "25006" => Some("Only reading was granted; changes need the grant `sql` with access `write`.".to_owned()),
        "53100" => Some(
            "No space left on the device of the database. DROP or TRUNCATE what is not needed, and tell the person.".to_owned(),
        ),
        "55P03" => Some(
            "Another transaction holds a table or a row that this needs, and kept it for longer than a statement waits. Nothing of it was \
             done; send it again later."
                .to_owned(),
        ),
        "57014" => Some("The statement ran too long. Limit it, or do it in parts.".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
