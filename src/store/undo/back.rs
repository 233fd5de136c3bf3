//! Puts kept rows back: deleted ones are inserted, and overwritten ones get their old values if
//! they are still as the call left them.
//!
//! Tables depend on each other, and so do rows: a parent has to be there before its child, and a
//! key be free before a row takes it. No order is worked out. Rows that do not fit yet are tried
//! again after the rest, in halves, until nothing is left or nothing moves any more. If the key of
//! a parent is put back, Postgres changes its children itself (`ON UPDATE CASCADE`): such a row is
//! as the call left it but for this key.

use std::collections::VecDeque;

use sqlx::{AssertSqlSafe, PgConnection, query, query_as, query_scalar};

use super::UndoError;
use super::text::{fields, followed};
use crate::store::{Store, StoreError};

/// How many rows one statement puts back, and about how many bytes.
const CHUNK: (usize, i64) = (5000, 8 << 20);
/// How many conflicts a person is told of.
const TOLD: usize = 5;
/// After so many failures the undo gives up.
const MOST_FAILURES: usize = 5000;

/// The columns of kept tables that change with the key of another row.
const FOLLOWING: &str = "
    SELECT DISTINCT t.relation::bigint, format('%I', a.attname)
    FROM kept_tables t
    JOIN pg_class c ON c.relnamespace = 'agent'::regnamespace AND c.relname = t.name AND c.relkind = 'r'
    JOIN pg_constraint f ON f.conrelid = c.oid AND f.contype = 'f' AND f.confupdtype = 'c'
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (f.conkey)
    WHERE t.kept_id = $1";

/// The table or column that has a kept one's name now and is another one, in words.
const ANOTHER: &str = "
    SELECT CASE WHEN c.oid IS NULL THEN format('`%s` is another table now', t.name)
                ELSE format('`%s` of `%s` is another column now', k.name, t.name) END
    FROM kept_tables t CROSS JOIN unnest(t.columns) WITH ORDINALITY AS k (name, place)
    LEFT JOIN pg_class c ON c.oid = t.relation AND c.relnamespace = 'agent'::regnamespace AND c.relname = t.name
    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = k.name AND a.attnum = coalesce(t.numbers[k.place], a.attnum)
    WHERE t.kept_id = $1 AND t.home = kept_home() AND a.attnum IS NULL
    ORDER BY t.name, k.place LIMIT 1";

/// Rows of one table that were lost in one way.
struct Chunk {
    relation: i64,
    deleted: bool,
    ordinals: Vec<i64>,
}

/// A table as it is now, for the kept rows of one transaction.
struct Table {
    relation: i64,
    name: String,
    /// The columns of the kept texts, in their order.
    columns: Vec<Column>,
    /// The places of those that change with the key of another row.
    following: Vec<usize>,
}

struct Column {
    /// Quoted.
    name: String,
    kind: String,
    /// Postgres computes its values.
    generated: bool,
    /// Only Postgres gives it values, and no UPDATE can change them.
    identity: bool,
    /// A part of the primary key.
    key: bool,
}

/// A row as it was, and as the call left it.
struct Lost {
    ordinal: i64,
    old: Vec<Option<String>>,
    new: Option<String>,
    /// The row that the call left once those are put back whose keys it follows, if that is another
    /// one.
    followed: Option<String>,
}

/// The way in which a statement failed.
enum PutBackError {
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

/// Prepares a transaction in which texts of rows mean the same as when they were kept. Returns its
/// id.
pub(super) async fn begin(connection: &mut PgConnection) -> Result<String, UndoError> {
    sqlx::raw_sql(
        "SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL extra_float_digits = 1; SET LOCAL datestyle = 'ISO, YMD';
         SET LOCAL intervalstyle = 'postgres'; SET LOCAL timezone = 'UTC'; SET LOCAL bytea_output = 'hex';
         SET LOCAL lc_monetary = 'C'; SET CONSTRAINTS ALL DEFERRED",
    )
    .execute(&mut *connection)
    .await?;
    Ok(query_scalar!(r#"SELECT pg_catalog.pg_current_xact_id()::text AS "id!""#).fetch_one(connection).await?)
}

/// Checks the deferred constraints.
pub(super) async fn check(connection: &mut PgConnection) -> Result<(), UndoError> {
    let checked = sqlx::raw_sql("SET CONSTRAINTS ALL IMMEDIATE").execute(connection).await;
    checked.map(drop).map_err(|error| match refused(&error) {
        Some(why) => UndoError::Conflicts(vec![why]),
        None => error.into(),
    })
}

impl Store {
    /// Puts back what one transaction lost. Returns how many rows.
    pub(super) async fn put_back(&self, connection: &mut PgConnection, kept: i64) -> Result<i64, UndoError> {
        let tables = self.kept_tables(kept).await?;
        let mut chunks = self.chunks(kept).await?;
        let rows = chunks.iter().map(|chunk| chunk.ordinals.len()).sum::<usize>();
        // The obstacles of the rows tried since the last success, and the number of all failures.
        let (mut stuck, mut failures) = (Vec::new(), 0);
        while let Some(chunk) = chunks.pop_front() {
            let table = tables.iter().find(|table| table.relation == chunk.relation);
            let table = table.ok_or_else(|| StoreError::Unreadable(format!("kept rows of table {}", chunk.relation)))?;
            let lost = self.lost(kept, &chunk.ordinals, &table.following).await?;
            sqlx::raw_sql("SAVEPOINT chunk").execute(&mut *connection).await?;
            let failed = match table.put_back(connection, &lost).await {
                Ok(()) => {
                    sqlx::raw_sql("RELEASE chunk").execute(&mut *connection).await?;
                    stuck.clear();
                    continue;
                }
                Err(failed) => failed,
            };
            sqlx::raw_sql("ROLLBACK TO chunk").execute(&mut *connection).await?;
            failures += 1;
            let halves = chunk.ordinals.chunks(chunk.ordinals.len().div_ceil(2));
            let halves = halves.map(|ordinals| Chunk { ordinals: ordinals.to_vec(), ..chunk });
            match failed {
                PutBackError::Error(error) => return Err(error),
                PutBackError::Never(why) if chunk.ordinals.len() == 1 => return Err(UndoError::Conflicts(vec![why])),
                // The person has to hear which of them it is.
                PutBackError::Never(_) => halves.for_each(|half| chunks.push_front(half)),
                PutBackError::NotYet(why) => {
                    if chunk.ordinals.len() == 1 {
                        stuck.push(why);
                    } else {
                        stuck.clear();
                    }
                    halves.for_each(|half| chunks.push_back(half));
                    if stuck.len() >= chunks.len() || (failures > MOST_FAILURES && !stuck.is_empty()) {
                        stuck.truncate(TOLD);
                        return Err(UndoError::Conflicts(stuck));
                    }
                }
            }
        }
        Ok(i64::try_from(rows).unwrap_or(i64::MAX))
    }

    /// The tables of one transaction, as they are now.
    async fn kept_tables(&self, kept: i64) -> Result<Vec<Table>, UndoError> {
        let rows = query!(
            r#"SELECT t.relation::bigint AS "relation!", t.name AS "table!", k.name AS "name!", format('agent.%I', t.name) AS "quoted!",
                      format('%I', k.name) AS "column!", format_type(a.atttypid, a.atttypmod) AS "kind?",
                      a.attgenerated <> '' AS "generated?", a.attidentity = 'a' AS "identity?",
                      coalesce(a.attnum = ANY((SELECT i.indkey FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)::smallint[]),
                               FALSE) AS "key!"
               FROM kept_tables t CROSS JOIN unnest(t.columns) WITH ORDINALITY AS k (name, place)
               LEFT JOIN pg_class c ON c.relnamespace = 'agent'::regnamespace AND c.relname = t.name AND c.relkind = 'r'
               LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = k.name AND a.attnum > 0 AND NOT a.attisdropped
               WHERE t.kept_id = $1 ORDER BY t.relation, k.place"#,
            kept
        )
        .fetch_all(&self.pool)
        .await?;
        let mut tables: Vec<Table> = Vec::new();
        for row in rows {
            let (Some(kind), Some(generated), Some(identity)) = (row.kind, row.generated, row.identity) else {
                let gone = format!("`{}` is gone, or has no column `{}` any more", row.table, row.name);
                return Err(UndoError::Conflicts(vec![gone]));
            };
            if tables.last().is_none_or(|table| table.relation != row.relation) {
                tables.push(Table { relation: row.relation, name: row.quoted, columns: Vec::new(), following: Vec::new() });
            }
            if let Some(table) = tables.last_mut() {
                table.columns.push(Column { name: row.column, kind, generated, identity, key: row.key });
            }
        }
        if let Some(another) = query_scalar::<_, String>(ANOTHER).bind(kept).fetch_optional(&self.pool).await? {
            return Err(UndoError::Conflicts(vec![another]));
        }
        for (relation, name) in query_as::<_, (i64, String)>(FOLLOWING).bind(kept).fetch_all(&self.pool).await? {
            for table in tables.iter_mut().filter(|table| table.relation == relation) {
                table.following.extend(table.columns.iter().position(|column| column.name == name));
            }
        }
        Ok(tables)
    }

    /// The rows of one transaction in chunks, the last ones first.
    async fn chunks(&self, kept: i64) -> Result<VecDeque<Chunk>, UndoError> {
        let rows = query!(
            r#"SELECT ordinal, relation::bigint AS "relation!", new IS NULL AS "deleted!",
                      (octet_length(old) + coalesce(octet_length(new), 0))::bigint AS "bytes!"
               FROM kept_rows WHERE kept_id = $1 ORDER BY ordinal DESC"#,
            kept
        )
        .fetch_all(&self.pool)
        .await?;
        let mut chunks: VecDeque<Chunk> = VecDeque::new();
        let mut bytes = 0;
        for row in rows {
            let same = |chunk: &Chunk| chunk.relation == row.relation && chunk.deleted == row.deleted;
            bytes += row.bytes;
            match chunks.back_mut() {
                Some(chunk) if same(chunk) && chunk.ordinals.len() < CHUNK.0 && bytes <= CHUNK.1 => {
                    chunk.ordinals.push(row.ordinal);
                }
                _ => {
                    bytes = row.bytes;
                    chunks.push_back(Chunk { relation: row.relation, deleted: row.deleted, ordinals: vec![row.ordinal] });
                }
            }
        }
        Ok(chunks)
    }

    async fn lost(&self, kept: i64, ordinals: &[i64], following: &[usize]) -> Result<Vec<Lost>, UndoError> {
        let rows = query!(
            "SELECT ordinal, old, new FROM kept_rows WHERE kept_id = $1 AND ordinal = ANY($2) ORDER BY ordinal DESC",
            kept,
            ordinals
        );
        let rows = rows.fetch_all(&self.pool).await?.into_iter();
        let lost = rows.map(|row| {
            let old = fields(&row.old).ok_or_else(|| StoreError::Unreadable(format!("kept row {} of {kept}", row.ordinal)))?;
            let followed = row.new.as_ref().and_then(|new| followed(&row.old, new, following));
            Ok(Lost { ordinal: row.ordinal, old, new: row.new, followed })
        });
        lost.collect()
    }
}

impl Table {
    async fn put_back(&self, connection: &mut PgConnection, lost: &[Lost]) -> Result<(), PutBackError> {
        // A column may have been added between two rows of one call.
        let width = lost.first().map_or(0, |row| row.old.len());
        if lost.iter().any(|row| row.old.len() != width) {
            return Err(PutBackError::Never(String::new()));
        }
        let columns = self.columns.get(..width).ok_or_else(|| {
            UndoError::Store(StoreError::Unreadable(format!("kept rows of `{}` have more columns than it had", self.name)))
        })?;
        let deleted = lost.iter().all(|row| row.new.is_none());
        let follow = lost.iter().any(|row| row.followed.is_some());
        let all = |rows: u64| usize::try_from(rows) == Ok(lost.len());
        let left = |row: &Lost| row.new.clone().unwrap_or_default();
        let mut done = match deleted {
            true => self.insert(connection, columns, lost).await,
            false => self.update(connection, columns, lost, lost.iter().map(left).collect()).await,
        };
        if follow && matches!(done, Ok(rows) if !all(rows)) {
            sqlx::raw_sql("ROLLBACK TO chunk").execute(&mut *connection).await?;
            let now = lost.iter().map(|row| row.followed.clone().unwrap_or_else(|| left(row))).collect();
            done = self.update(connection, columns, lost, now).await;
        }
        match done {
            Ok(rows) if all(rows) => Ok(()),
            // A row that one of these follows may still have to be put back.
            Ok(_) if follow => Err(PutBackError::NotYet(self.changed(deleted, lost))),
            Ok(_) => Err(PutBackError::Never(self.changed(deleted, lost))),
            Err(error) => match refused(&error) {
                Some(why) if is_constraint(&error) => Err(PutBackError::NotYet(why)),
                Some(why) => Err(PutBackError::Never(why)),
                None => Err(error.into()),
            },
        }
    }

    async fn insert(&self, connection: &mut PgConnection, columns: &[Column], lost: &[Lost]) -> Result<u64, sqlx::Error> {
        let kept: Vec<_> = columns.iter().enumerate().filter(|(_, column)| !column.generated).collect();
        let list = |one: &dyn Fn(usize, &Column) -> String| {
            kept.iter().enumerate().map(|(at, (_, column))| one(at + 1, column)).collect::<Vec<_>>().join(", ")
        };
        let sql = format!(
            "INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM unnest({}) AS kept ({})",
            self.name,
            list(&|_, column| column.name.clone()),
            list(&|at, column| format!("CAST(x{at} AS {})", column.kind)),
            list(&|at, _| format!("${at}::text[]")),
            list(&|at, _| format!("x{at}")),
        );
        let mut query = query_of(sql);
        for (place, _) in kept {
            query = query.bind(values(lost, place));
        }
        Ok(query.execute(connection).await?.rows_affected())
    }

    /// All values of a row, as it is expected in `left`, find it; of equal rows each is taken once.
    async fn update(
        &self,
        connection: &mut PgConnection,
        columns: &[Column],
        lost: &[Lost],
        left: Vec<String>,
    ) -> Result<u64, sqlx::Error> {
        let kept: Vec<_> = columns.iter().enumerate().filter(|(_, column)| !column.generated && !column.identity).collect();
        let all: Vec<_> = columns.iter().map(|column| format!("t.{}", column.name)).collect();
        let text = format!("pg_catalog.format('%s', ROW({}))", all.join(", "));
        let left_fields: Vec<_> = left.iter().map(|row| fields(row).unwrap_or_default()).collect();
        // The index of a primary key finds them, without a scan of the whole table.
        let keys: Vec<_> = columns.iter().enumerate().filter(|(_, column)| column.key).collect();
        let first_key = kept.len() + 2;
        let found = if keys.is_empty() {
            "TRUE".to_owned()
        } else {
            let names: Vec<_> = keys.iter().map(|(_, column)| format!("t.{}", column.name)).collect();
            let casts: Vec<_> =
                keys.iter().enumerate().map(|(at, (_, column))| format!("CAST(y{at} AS {})", column.kind)).collect();
            let arrays: Vec<_> = (0..keys.len()).map(|at| format!("${}::text[]", first_key + at)).collect();
            let aliases: Vec<_> = (0..keys.len()).map(|at| format!("y{at}")).collect();
            format!(
                "({}) IN (SELECT {} FROM unnest({}) AS keys ({}))",
                names.join(", "),
                casts.join(", "),
                arrays.join(", "),
                aliases.join(", ")
            )
        };
        let list = |one: &dyn Fn(usize, &Column) -> String| {
            kept.iter().enumerate().map(|(at, (_, column))| one(at + 2, column)).collect::<Vec<_>>().join(", ")
        };
        let sql = format!(
            "UPDATE {table} AS t SET {sets} FROM (
                 SELECT there.place, was.* FROM (
                     SELECT t.ctid AS place, {text} AS text, row_number() OVER (PARTITION BY {text}) AS number
                     FROM ONLY {table} AS t WHERE {found}) there
                 JOIN (SELECT *, row_number() OVER (PARTITION BY text) AS number FROM unnest($1::text[], {arrays}) AS left_ (text, {aliases})) was
                 USING (text, number)) AS was
             WHERE t.ctid = was.place",
            table = self.name,
            sets = list(&|at, column| format!("{} = CAST(was.x{at} AS {})", column.name, column.kind)),
            arrays = list(&|at, _| format!("${at}::text[]")),
            aliases = list(&|at, _| format!("x{at}")),
        );
        let mut query = query_of(sql).bind(left);
        for (place, _) in kept {
            query = query.bind(values(lost, place));
        }
        for (place, _) in keys {
            query = query.bind(left_fields.iter().map(|row| row.get(place).cloned().flatten()).collect::<Vec<_>>());
        }
        Ok(query.execute(connection).await?.rows_affected())
    }

    /// Why rows did not fit, if Postgres itself had no objection.
    fn changed(&self, deleted: bool, lost: &[Lost]) -> String {
        let Some(row) = lost.first() else { return String::new() };
        let name = self.name.strip_prefix("agent.").unwrap_or(&self.name);
        match (&row.new, deleted) {
            (Some(left), false) => {
                let shown: String = left.chars().take(200).collect();
                format!("a row of `{name}` is not as the call left it, {shown}")
            }
            _ => format!("a row of `{name}` cannot be inserted (number {} of what was kept)", row.ordinal),
        }
    }
}

fn query_of<'q>(sql: String) -> sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments> {
    sqlx::query(AssertSqlSafe(sql)).persistent(false)
}

/// The old values of one column.
fn values(lost: &[Lost], place: usize) -> Vec<Option<String>> {
    lost.iter().map(|row| row.old.get(place).cloned().flatten()).collect()
}

/// Postgres' objection to a row, in words; `None` if the database failed otherwise.
fn refused(error: &sqlx::Error) -> Option<String> {
    let error = error.as_database_error()?.try_downcast_ref::<sqlx::postgres::PgDatabaseError>()?;
    // 22: a value does not fit its column; 23: a constraint; P0: a trigger; 42: the name means
    // another thing now, or one that is not ours to change.
    let ours = ["22", "23", "42", "P0", "44"].iter().any(|class| error.code().starts_with(class));
    ours.then(|| [Some(error.message()), error.detail()].into_iter().flatten().collect::<Vec<_>>().join(": "))
}

/// True if another row may be in the way.
fn is_constraint(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code.starts_with("23"))
}
