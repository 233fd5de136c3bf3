//! The statements that put rows of one table back.

use sqlx::postgres::PgArguments;
use sqlx::{Arguments, AssertSqlSafe, PgConnection};

use super::UndoError;
use super::text::fields;
use crate::store::StoreError;

/// A table as it is now, for the kept rows of one transaction.
pub(super) struct KeptTable {
    pub(super) relation: i64,
    pub(super) name: String,
    /// The columns of the kept texts, in their order.
    pub(super) columns: Vec<Column>,
    /// The places of those that change with the key of another row.
    pub(super) following: Vec<usize>,
    /// Columns that the kept texts do not have, quoted.
    pub(super) further: Vec<String>,
    /// A table whose rows Postgres deletes or changes if one of these is deleted.
    pub(super) takes_along: Option<String>,
}

pub(super) struct Column {
    /// Quoted.
    pub(super) name: String,
    pub(super) kind: String,
    /// Postgres computes its values.
    pub(super) generated: bool,
    /// Only Postgres gives it values, and no UPDATE can change them.
    pub(super) identity: bool,
    /// A part of the primary key.
    pub(super) key: bool,
}

/// The way in which rows come back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// They are not there.
    Insert,
    /// They are there, as the call left them.
    Update,
    /// All that the call left goes first, in the same statement: rows that hold each other's keys,
    /// and those that the call added under them.
    Replace,
}

/// A row as it was, and as the call left it.
pub(super) struct Lost {
    pub(super) ordinal: i64,
    /// True if the row was not there: then `old` is the row that the call left.
    pub(super) added: bool,
    pub(super) old: Vec<Option<String>>,
    pub(super) new: Option<String>,
    /// The row that the call left once those are put back whose keys it follows, if that is another
    /// one.
    pub(super) followed: Option<String>,
}

/// The way in which a statement failed.
pub(super) enum PutBackError {
    /// Other rows may have to be put back first; the obstacle, in words.
    NotYet(String),
    /// One of the rows can never be put back; the reason.
    Never(String),
    Error(UndoError),
}

impl<E: Into<UndoError>> From<E> for PutBackError {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// Columns with their places.
type Places<'a> = Vec<(usize, &'a Column)>;

impl KeptTable {
    /// Puts rows back behind the savepoint `chunk`.
    pub(super) async fn put_back(&self, connection: &mut PgConnection, way: Way, lost: &[Lost]) -> Result<(), PutBackError> {
        // A column may have been added between two rows of one call.
        let width = lost.first().map_or(0, |row| row.old.len());
        if lost.iter().any(|row| row.old.len() != width) {
            return Err(PutBackError::Never(String::new()));
        }
        let columns = self.columns.get(..width).ok_or_else(|| {
            UndoError::Store(StoreError::Unreadable(format!("kept rows of `{}` have more columns than it had", self.name)))
        })?;
        if let (Way::Replace, Some(others)) = (way, &self.takes_along) {
            let name = self.short_name();
            let told = format!("rows of `{name}` would have to be deleted first, and rows of `{others}` would change with them");
            return Err(PutBackError::NotYet(told));
        }
        let follow = lost.iter().any(|row| row.followed.is_some());
        let left = |row: &Lost| row.new.clone().unwrap_or_default();
        let mut done = self.run(connection, way, columns, lost, lost.iter().map(left).collect()).await;
        if follow && matches!(done, Ok(false)) {
            sqlx::raw_sql("ROLLBACK TO chunk").execute(&mut *connection).await?;
            let now = lost.iter().map(|row| row.followed.clone().unwrap_or_else(|| left(row))).collect();
            done = self.run(connection, way, columns, lost, now).await;
        }
        match done {
            Ok(true) => Ok(()),
            // A row that one of these follows may still have to be put back.
            Ok(false) if follow => Err(PutBackError::NotYet(self.changed(lost))),
            Ok(false) => Err(PutBackError::Never(self.changed(lost))),
            Err(error) => match refused(&error) {
                Some(why) if is_constraint(&error) => Err(PutBackError::NotYet(why)),
                Some(why) => Err(PutBackError::Never(why)),
                None => Err(error.into()),
            },
        }
    }

    /// Runs the statement. `left`: the rows that are there. True if it met all of them.
    async fn run(
        &self,
        connection: &mut PgConnection,
        way: Way,
        columns: &[Column],
        lost: &[Lost],
        left: Vec<String>,
    ) -> Result<bool, sqlx::Error> {
        let all = |rows: u64| usize::try_from(rows) == Ok(lost.len());
        match way {
            Way::Insert => self.insert(connection, columns, lost).await.map(all),
            Way::Update => self.update(connection, columns, lost, left).await.map(all),
            Way::Replace => self.replace(connection, columns, lost, left).await,
        }
    }

    async fn insert(&self, connection: &mut PgConnection, columns: &[Column], lost: &[Lost]) -> Result<u64, sqlx::Error> {
        let kept: Places = columns.iter().enumerate().filter(|(_, column)| !column.generated).collect();
        let sql = format!(
            "INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM unnest({}) AS kept ({})",
            self.name,
            list(&kept, |_, column| column.name.clone()),
            list(&kept, |at, column| format!("CAST(x{at} AS {})", column.kind)),
            list(&kept, |at, _| format!("${}::text[]", at + 1)),
            list(&kept, |at, _| format!("x{at}")),
        );
        let mut values = PgArguments::default();
        add_old(&mut values, &kept, lost)?;
        Ok(sqlx::query_with(AssertSqlSafe(sql), values).persistent(false).execute(connection).await?.rows_affected())
    }

    async fn update(
        &self,
        connection: &mut PgConnection,
        columns: &[Column],
        lost: &[Lost],
        left: Vec<String>,
    ) -> Result<u64, sqlx::Error> {
        let kept: Places = columns.iter().enumerate().filter(|(_, column)| !column.generated && !column.identity).collect();
        let sql = format!(
            "UPDATE ONLY {table} AS t SET {sets} FROM ({there}) AS was WHERE t.ctid = was.place",
            table = self.name,
            sets = list(&kept, |at, column| format!("{} = CAST(was.x{at} AS {})", column.name, column.kind)),
            there = self.there(columns, &kept),
        );
        let values = values_of(columns, &kept, lost, left)?;
        Ok(sqlx::query_with(AssertSqlSafe(sql), values).persistent(false).execute(connection).await?.rows_affected())
    }

    /// The rows go before the first one comes, and columns that were not kept stay with them. A
    /// foreign key is checked when both have happened.
    async fn replace(
        &self,
        connection: &mut PgConnection,
        columns: &[Column],
        lost: &[Lost],
        left: Vec<String>,
    ) -> Result<bool, sqlx::Error> {
        let kept: Places = columns.iter().enumerate().filter(|(_, column)| !column.generated).collect();
        let behind = self.columns[columns.len()..].iter().filter(|column| !column.generated).map(|column| &column.name);
        let further: Vec<_> = behind.chain(&self.further).collect();
        let of_further = |one: &dyn Fn(usize, &str) -> String| -> String {
            further.iter().enumerate().map(|(at, name)| format!(", {}", one(at, name))).collect()
        };
        let sql = format!(
            "WITH was AS MATERIALIZED ({there}),
             gone AS (DELETE FROM ONLY {table} AS t USING was WHERE t.ctid = was.place RETURNING was.added, was.text, {old}{with}),
             back AS (INSERT INTO {table} ({names}{more}) OVERRIDING SYSTEM VALUE
                      SELECT {casts}{their} FROM gone WHERE NOT added ORDER BY text RETURNING 1)
             SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM back)",
            there = self.there(columns, &kept),
            table = self.name,
            old = list(&kept, |at, _| format!("was.x{at}")),
            with = of_further(&|at, name| format!("t.{name} AS f{at}")),
            names = list(&kept, |_, column| column.name.clone()),
            more = of_further(&|_, name| name.to_owned()),
            casts = list(&kept, |at, column| format!("CAST(x{at} AS {})", column.kind)),
            their = of_further(&|at, _| format!("f{at}")),
        );
        let values = values_of(columns, &kept, lost, left)?;
        let counted = sqlx::query_as_with(AssertSqlSafe(sql), values).persistent(false);
        let (gone, back): (i64, i64) = counted.fetch_one(connection).await?;
        let all = |rows: i64, of: usize| usize::try_from(rows) == Ok(of);
        Ok(all(gone, lost.len()) && all(back, lost.iter().filter(|row| !row.added).count()))
    }

    /// Finds rows by all of their values, of equal ones each once, with their old values beside
    /// them.
    fn there(&self, columns: &[Column], kept: &Places) -> String {
        let all: Vec<_> = columns.iter().map(|column| format!("t.{}", column.name)).collect();
        let keys = keys(columns);
        let first_key = kept.len() + 3;
        // The index of a primary key finds them, without a scan of the whole table.
        let found = if keys.is_empty() {
            "TRUE".to_owned()
        } else {
            format!(
                "({}) IN (SELECT {} FROM unnest({}) AS keys ({}))",
                list(&keys, |_, column| format!("t.{}", column.name)),
                list(&keys, |at, column| format!("CAST(y{at} AS {})", column.kind)),
                list(&keys, |at, _| format!("${}::text[]", first_key + at)),
                list(&keys, |at, _| format!("y{at}")),
            )
        };
        format!(
            "SELECT there.place, was.* FROM (
                 SELECT t.ctid AS place, {text} AS text, row_number() OVER (PARTITION BY {text}) AS number
                 FROM ONLY {table} AS t WHERE {found}) there
             JOIN (SELECT *, row_number() OVER (PARTITION BY text) AS number
                   FROM unnest($1::text[], $2::bool[], {arrays}) AS left_ (text, added, {aliases})) was
             USING (text, number)",
            text = format_args!("pg_catalog.format('%s', ROW({}))", all.join(", ")),
            table = self.name,
            arrays = list(kept, |at, _| format!("${}::text[]", at + 3)),
            aliases = list(kept, |at, _| format!("x{at}")),
        )
    }

    fn short_name(&self) -> &str {
        self.name.strip_prefix("agent.").unwrap_or(&self.name)
    }

    /// Why rows did not fit, if Postgres itself had no objection.
    fn changed(&self, lost: &[Lost]) -> String {
        let Some(row) = lost.first() else { return String::new() };
        let name = self.short_name();
        match &row.new {
            Some(left) => {
                let shown: String = left.chars().take(200).collect();
                format!("a row of `{name}` is not as the call left it, {shown}")
            }
            None => format!("a row of `{name}` cannot be inserted (number {} of what was kept)", row.ordinal),
        }
    }
}

/// Those of the primary key.
fn keys(columns: &[Column]) -> Places<'_> {
    columns.iter().enumerate().filter(|(_, column)| column.key).collect()
}

/// One part of a statement for each column, with its number in the list.
fn list(columns: &Places<'_>, one: impl Fn(usize, &Column) -> String) -> String {
    columns.iter().enumerate().map(|(at, (_, column))| one(at, column)).collect::<Vec<_>>().join(", ")
}

/// The values of a statement with [`KeptTable::there`].
fn values_of(columns: &[Column], kept: &Places<'_>, lost: &[Lost], left: Vec<String>) -> Result<PgArguments, sqlx::Error> {
    let rows: Vec<_> = left.iter().map(|row| fields(row).unwrap_or_default()).collect();
    let mut values = PgArguments::default();
    values.add(left).map_err(sqlx::Error::Encode)?;
    values.add(lost.iter().map(|row| row.added).collect::<Vec<_>>()).map_err(sqlx::Error::Encode)?;
    add_old(&mut values, kept, lost)?;
    for (place, _) in keys(columns) {
        let key: Vec<_> = rows.iter().map(|row| row.get(place).cloned().flatten()).collect();
        values.add(key).map_err(sqlx::Error::Encode)?;
    }
    Ok(values)
}

/// Adds the old values of these columns.
fn add_old(values: &mut PgArguments, kept: &Places<'_>, lost: &[Lost]) -> Result<(), sqlx::Error> {
    for (place, _) in kept {
        let old: Vec<_> = lost.iter().map(|row| row.old.get(*place).cloned().flatten()).collect();
        values.add(old).map_err(sqlx::Error::Encode)?;
    }
    Ok(())
}

/// Postgres' objection to a row, in words; `None` if the database failed otherwise.
pub(super) fn refused(error: &sqlx::Error) -> Option<String> {
    let error = error.as_database_error()?.try_downcast_ref::<sqlx::postgres::PgDatabaseError>()?;
    // 22: a value does not fit its column; 23: a constraint; P0: a trigger; 42: the name means
    // another thing now, or one that is not ours to change.
    let ours = ["22", "23", "42", "P0", "44"].iter().any(|class| error.code().starts_with(class));
    let told = || [Some(error.message()), error.detail()].into_iter().flatten().collect::<Vec<_>>().join(": ");
    ours.then(|| told().trim_end_matches('.').to_owned())
}

/// True if another row may be in the way.
fn is_constraint(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code.starts_with("23"))
}
