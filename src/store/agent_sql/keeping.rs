//! Triggers keep the rows that statements of the agent delete or overwrite, while they run. Before
//! the commit the rows are compared with the server's own count. A person is asked about too many
//! rows, all rows of a table, or rows that cannot be kept.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use sqlx::PgConnection;

use super::Failure;
use super::seam::AgentLogin;
use super::statement::Statement;
use super::told::{busy, describe, ended_transaction, is_code, refusal};
use crate::domain::{CountedLosses, Effect, Finding, RowLoss, ToolCallId};
use crate::governor::sql::{WholeLoss, whole_loss};
use crate::store::undo::loses;
use crate::store::{Lease, Store, StoreError};

/// A person is asked about more rows than this.
const UNASKED_ROWS: i64 = 1000;
/// More rows than this are not kept, even if a person approved: keeping them would take longer than
/// a statement may.
const MOST_ROWS: i64 = 50_000;
/// The first sentence of a question about a statement that was approved.
const MORE: &str = "By now it would lose more than was shown, or rows of another table:";
/// How many tables get a sentence.
const TABLES: usize = 10;

/// How the lost rows of one transaction are kept.
pub(super) struct Keeping<'a> {
    pub(super) lease: &'a Lease,
    pub(super) call: ToolCallId,
    pub(super) login: AgentLogin,
    /// True if a person was told that all of it can be put back.
    pub(super) promised: bool,
    /// The lost rows that a person was shown, if any: it may lose no more.
    pub(super) shown: &'a [RowLoss],
    /// The id of the transaction.
    pub(super) transaction: &'a str,
    /// The server's counts before it, as `shared.rows_changed` says them.
    pub(super) before: &'a str,
    /// The rows that go with whole tables, if a person was shown some: counted as it begins.
    pub(super) whole: Vec<RowLoss>,
}

/// The losses of a transaction.
#[derive(Debug, Deserialize)]
struct Settled {
    /// True if all kept rows have room.
    fits: bool,
    /// True if rows were not kept because there was no room for more.
    full: bool,
    /// The bytes of that room.
    room: i64,
    tables: Vec<Lost>,
}

/// The losses in one table.
#[derive(Debug, Default, Deserialize)]
struct Lost {
    name: String,
    relation: Option<i64>,
    /// True if every lost row was kept.
    whole: bool,
    /// True if it touched every row that is left.
    all: bool,
    deleted: i64,
    overwritten: i64,
    /// The kept rows, before there were too many, and their bytes.
    kept: i64,
    bytes: i64,
    /// If all rows were overwritten: each as it was, and as it is.
    #[serde(default)]
    filled: Option<Vec<(String, String)>>,
}

impl Keeping<'_> {
    /// Prepares the transaction before its first statement: whatever the law allowed is kept as far
    /// as it fits, and what can only be counted before is counted.
    pub(super) async fn begin(
        &mut self,
        store: &Store,
        connection: &mut PgConnection,
        statements: &[Statement<'_>],
    ) -> Result<(), Failure> {
        if self.login != AgentLogin::Full {
            return Ok(());
        }
        store.keep_most(connection, self.call, self.lease.fence, self.transaction, MOST_ROWS).await?;
        // A statement may end in a comment.
        let text = statements.iter().map(|statement| statement.text).collect::<Vec<_>>().join("\n;\n");
        if let (Some(loss), false) = (whole_loss(&text), self.shown.is_empty()) {
            self.whole = store.count_whole(connection, &loss, true).await?.unwrap_or_default();
        }
        Ok(())
    }

    /// Closes the kept rows before the commit. Returns what a person has to be asked about.
    pub(super) async fn settle(
        &self,
        store: &Store,
        connection: &mut PgConnection,
        now: DateTime<Utc>,
    ) -> Result<Option<Finding>, Failure> {
        let fact = format!("settle:{}", self.call.0);
        let settled = sqlx::query_scalar!(
            r#"SELECT shared.settle_kept($1, $2, $3, $4, $5) AS "settled!""#,
            store.sql_token(&fact, self.lease.fence, self.transaction, self.before),
            self.lease.fence,
            self.call.0,
            self.before,
            now
        );
        let settled = match settled.fetch_one(connection).await {
            Ok(settled) => settled,
            Err(error) if is_code(&error, "L3003") => return Err(Failure::Statement(ended_transaction())),
            Err(error) => return Err(describe(error, "", 0)),
        };
        let mut settled: Settled =
            serde_json::from_str(&settled).map_err(|error| Failure::Store(StoreError::Unreadable(error.to_string())))?;
        // A table without rows loses nothing, be it one that nobody was shown.
        settled.tables.extend(self.whole.iter().filter(|loss| loss.deleted > 0).map(Lost::whole));
        match self.login {
            AgentLogin::Full if !settled.is_within(self.shown) => Ok(Some(settled.as_question(Some(MORE)))),
            AgentLogin::Full if self.promised && !settled.is_kept() => Err(Failure::Statement(refusal(
                "it was approved as something that can be undone, and what it loses now cannot be kept. Nothing of it was done.",
            ))),
            AgentLogin::Full => Ok(None),
            _ => Ok(settled.finding()),
        }
    }
}

impl Store {
    /// The rows that statements would lose with whole tables, for the person who is asked about
    /// them. `None` if none of these relations is there; empty if their rows cannot be counted now.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn foresee(&self, loss: &WholeLoss) -> Result<Option<Finding>, StoreError> {
        let counted = async {
            let Some(_entered) = self.gate.enter() else { return Err(Failure::Statement(busy())) };
            let mut connection = self.agent_connection(AgentLogin::Tables).await?;
            self.count_whole(&mut connection, loss, false).await
        };
        match counted.await {
            Ok(losses) => Ok(losses.map(foreseen)),
            Err(Failure::Statement(_) | Failure::Asks(_) | Failure::Cut) => Ok(Some(Finding::default())),
            Err(Failure::Store(error)) => Err(error),
        }
    }

    /// Lets a transaction keep so many rows.
    pub(in crate::store) async fn keep_most(
        &self,
        connection: &mut PgConnection,
        call: ToolCallId,
        fence: i64,
        transaction: &str,
        most: i64,
    ) -> Result<(), sqlx::Error> {
        let token = self.sql_token(&format!("most:{}", call.0), fence, transaction, &most.to_string());
        sqlx::query!("SELECT shared.keep_most($1, $2, $3, $4)", token, fence, call.0, most).execute(connection).await?;
        Ok(())
    }
}

/// The finding of a count before anything ran.
fn foreseen(losses: Vec<RowLoss>) -> Finding {
    if losses.is_empty() {
        return Finding::default();
    }
    let mut why: Vec<_> = losses.iter().take(TABLES).map(|loss| Lost::whole(loss).in_words()).collect();
    why.extend(more_tables(losses.len()));
    let lost = Some(CountedLosses { tables: losses, why });
    Finding { effects: [Effect::Delete].into(), lost, ..Finding::default() }
}

/// The sentence about tables that get no sentence, if there are some.
fn more_tables(tables: usize) -> Option<String> {
    let more = tables.checked_sub(TABLES).filter(|more| *more > 0)?;
    Some(format!("It changes rows of {more} more tables."))
}

impl Settled {
    fn rows(&self) -> i64 {
        self.tables.iter().map(Lost::rows).sum()
    }

    fn is_kept(&self) -> bool {
        self.fits && self.tables.iter().all(|table| table.whole)
    }

    /// The question to a person about it, if there is one.
    fn finding(&self) -> Option<Finding> {
        let many = self.rows() > UNASKED_ROWS;
        let all = self.tables.iter().any(Lost::is_all);
        if !many && !all && self.is_kept() {
            return None;
        }
        Some(self.as_question(None))
    }

    /// True if it is no more than a person was shown. A person who was shown no count said yes to
    /// the statement as it is written.
    fn is_within(&self, shown: &[RowLoss]) -> bool {
        shown.is_empty() || self.tables.iter().all(|table| table.loss().is_within(shown))
    }

    /// The question to a person about it, with a sentence before the others.
    fn as_question(&self, first: Option<&str>) -> Finding {
        let words = self.tables.iter().take(TABLES).map(Lost::in_words);
        let mut why: Vec<_> = first.map(str::to_owned).into_iter().chain(words).collect();
        why.extend(more_tables(self.tables.len()));
        let (kept, told) = match self.needs() {
            Some(bytes) if bytes <= self.room && self.rows() <= MOST_ROWS => {
                (true, "What it loses is kept for 30 days: it can be undone.".to_owned())
            }
            Some(bytes) if self.rows() <= MOST_ROWS => {
                let words = |bytes: i64| bytes.max(0) / 1024 + 1;
                let (needs, room) = (words(bytes), words(self.room));
                (
                    false,
                    format!(
                        "It cannot be undone: keeping what it loses takes about {needs} KiB, and there is room for {room} KiB."
                    ),
                )
            }
            Some(_) => (false, format!("It cannot be undone: at most {MOST_ROWS} rows of one call are kept.")),
            None => (false, "It cannot be undone: what it loses was not seen row by row.".to_owned()),
        };
        why.push(told);
        let lost = CountedLosses { tables: self.tables.iter().map(Lost::loss).collect(), why };
        Finding { effects: [Effect::Delete].into(), why: Vec::new(), kept, lost: Some(lost) }
    }

    /// The bytes that keeping all of it takes. If only the first rows were kept, twice the bytes
    /// that they let expect.
    fn needs(&self) -> Option<i64> {
        let needs = |table: &Lost| match (table.whole, table.kept) {
            (true, _) => Some(table.bytes),
            // Others filled the room.
            (false, 0) if self.full => Some(0),
            // Their number is not the reason why they were not kept.
            (false, kept) if !self.full && kept <= UNASKED_ROWS && self.rows() <= UNASKED_ROWS => None,
            (false, 0) => None,
            (false, kept) => Some(2 * (table.bytes / kept + 1).saturating_mul(table.rows())),
        };
        let needs: i64 = self.tables.iter().map(needs).sum::<Option<i64>>()?;
        Some(if self.full { needs.max(self.room + 1) } else { needs })
    }
}

impl Lost {
    /// Those of a table that is dropped or emptied whole.
    fn whole(loss: &RowLoss) -> Self {
        Self {
            name: loss.table.clone(),
            relation: loss.relation,
            deleted: loss.deleted,
            all: loss.deleted > 1,
            ..Self::default()
        }
    }

    fn loss(&self) -> RowLoss {
        RowLoss { table: self.name.clone(), relation: self.relation, deleted: self.deleted, overwritten: self.overwritten }
    }

    fn rows(&self) -> i64 {
        self.deleted + self.overwritten
    }

    /// True if all rows of the table lose something. Filling in empty values, as after a new
    /// column, loses nothing.
    fn is_all(&self) -> bool {
        self.all && self.filled.as_ref().is_none_or(|rows| rows.iter().any(|(old, new)| loses(old, new)))
    }

    fn in_words(&self) -> String {
        let rows = |count: i64| match (self.is_all() && count == self.rows(), count) {
            (true, count) => format!("all {count} rows"),
            (false, 1) => "1 row".to_owned(),
            (false, count) => format!("{count} rows"),
        };
        let name = &self.name;
        match (self.deleted, self.overwritten) {
            (0, 0) => format!("`{name}` has no rows."),
            (deleted, 0) => format!("It deletes {} of `{name}`.", rows(deleted)),
            (0, overwritten) => format!("It overwrites {} of `{name}`.", rows(overwritten)),
            (deleted, overwritten) if self.is_all() => {
                format!("It changes all rows of `{name}`: {} are deleted, {} overwritten.", deleted, overwritten)
            }
            (deleted, overwritten) => format!("It deletes {} of `{name}` and overwrites {}.", rows(deleted), rows(overwritten)),
        }
    }
}

#[cfg(test)]
mod tests;
