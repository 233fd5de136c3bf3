//! Puts kept rows back: deleted ones are inserted, and overwritten ones get their old values if
//! they are still as the call left them.
//!
//! Tables depend on each other, and so do rows: a parent has to be there before its child, and a
//! key be free before a row takes it. No order is worked out. Rows that do not fit yet are tried
//! again after the rest, in halves, until nothing is left or nothing moves any more. Then those
//! that are left in a table are put back at once: they may hold each other's keys.
//!
//! If the key of a parent is put back, Postgres changes its children itself (`ON UPDATE CASCADE`):
//! such a row is as the call left it but for this key.

use std::collections::VecDeque;

use sqlx::{PgConnection, query, query_as, query_scalar};

use super::UndoError;
use super::table::{Column, KeptTable, Lost, PutBackError, Way, refused};
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

/// The columns that the texts of kept rows do not have.
const FURTHER: &str = "
    SELECT t.relation::bigint, format('%I', a.attname)
    FROM kept_tables t
    JOIN pg_class c ON c.relnamespace = 'agent'::regnamespace AND c.relname = t.name AND c.relkind = 'r'
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    WHERE t.kept_id = $1 AND a.attname <> ALL (t.columns)";

/// For each kept table, another one whose rows Postgres deletes or changes with the rows of this.
const TAKEN_ALONG: &str = "
    SELECT t.relation::bigint, min(o.relname)
    FROM kept_tables t
    JOIN pg_class c ON c.relnamespace = 'agent'::regnamespace AND c.relname = t.name AND c.relkind = 'r'
    JOIN pg_constraint f ON f.confrelid = c.oid AND f.contype = 'f' AND f.confdeltype IN ('c', 'n', 'd')
    JOIN pg_class o ON o.oid = f.conrelid
    WHERE t.kept_id = $1 GROUP BY t.relation";

/// Rows of one table that come back in one way.
struct Chunk {
    relation: i64,
    way: Way,
    ordinals: Vec<i64>,
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
        let mut rows = 0;
        // The obstacles of the rows tried since the last success, and the number of all failures.
        let (mut stuck, mut failures, mut at_once) = (Vec::new(), 0, false);
        while let Some(chunk) = chunks.pop_front() {
            let table = tables.iter().find(|table| table.relation == chunk.relation);
            let table = table.ok_or_else(|| StoreError::Unreadable(format!("kept rows of table {}", chunk.relation)))?;
            let lost = self.lost(kept, &chunk.ordinals, &table.following).await?;
            sqlx::raw_sql("SAVEPOINT chunk").execute(&mut *connection).await?;
            let failed = match table.put_back(connection, chunk.way, &lost).await {
                Ok(()) => {
                    sqlx::raw_sql("RELEASE chunk").execute(&mut *connection).await?;
                    rows += lost.iter().filter(|row| !row.added).count();
                    stuck.clear();
                    continue;
                }
                Err(failed) => failed,
            };
            sqlx::raw_sql("ROLLBACK TO chunk").execute(&mut *connection).await?;
            failures += 1;
            match failed {
                PutBackError::Error(error) => return Err(error),
                PutBackError::Never(why) if chunk.ordinals.len() == 1 => return Err(UndoError::Conflicts(vec![why])),
                // The person has to hear which of them it is.
                PutBackError::Never(_) => chunk.halves().for_each(|half| chunks.push_front(half)),
                PutBackError::NotYet(_) if chunk.ordinals.len() > 1 && chunk.way != Way::Replace => {
                    stuck.clear();
                    chunk.halves().for_each(|half| chunks.push_back(half));
                }
                PutBackError::NotYet(why) => {
                    stuck.push(why);
                    chunks.push_back(chunk);
                }
            }
            if !stuck.is_empty() && (stuck.len() >= chunks.len() || failures > MOST_FAILURES) {
                if std::mem::replace(&mut at_once, true) {
                    stuck.truncate(TOLD);
                    return Err(UndoError::Conflicts(stuck));
                }
                stuck.clear();
                chunks = united(chunks);
            }
        }
        Ok(i64::try_from(rows).unwrap_or(i64::MAX))
    }

    /// The tables of one transaction, as they are now.
    async fn kept_tables(&self, kept: i64) -> Result<Vec<KeptTable>, UndoError> {
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
        let mut tables: Vec<KeptTable> = Vec::new();
        for row in rows {
            let (Some(kind), Some(generated), Some(identity)) = (row.kind, row.generated, row.identity) else {
                let gone = format!("`{}` is gone, or has no column `{}` any more", row.table, row.name);
                return Err(UndoError::Conflicts(vec![gone]));
            };
            if tables.last().is_none_or(|table| table.relation != row.relation) {
                let (columns, following, further) = (Vec::new(), Vec::new(), Vec::new());
                tables.push(KeptTable {
                    relation: row.relation,
                    name: row.quoted,
                    columns,
                    following,
                    further,
                    takes_along: None,
                });
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
        for (relation, name) in query_as::<_, (i64, String)>(FURTHER).bind(kept).fetch_all(&self.pool).await? {
            tables.iter_mut().filter(|table| table.relation == relation).for_each(|table| table.further.push(name.clone()));
        }
        for (relation, name) in query_as::<_, (i64, String)>(TAKEN_ALONG).bind(kept).fetch_all(&self.pool).await? {
            let table = tables.iter_mut().find(|table| table.relation == relation);
            table.into_iter().for_each(|table| table.takes_along = Some(name.clone()));
        }
        Ok(tables)
    }

    /// The rows of one transaction in chunks, the last ones first.
    async fn chunks(&self, kept: i64) -> Result<VecDeque<Chunk>, UndoError> {
        let rows = query!(
            r#"SELECT ordinal, relation::bigint AS "relation!", new IS NULL AS "deleted!", old IS NULL AS "added!",
                      (coalesce(octet_length(old), 0) + coalesce(octet_length(new), 0))::bigint AS "bytes!"
               FROM kept_rows WHERE kept_id = $1 ORDER BY ordinal DESC"#,
            kept
        )
        .fetch_all(&self.pool)
        .await?;
        let mut chunks: VecDeque<Chunk> = VecDeque::new();
        let mut bytes = 0;
        for row in rows {
            let way = match (row.deleted, row.added) {
                (true, _) => Way::Insert,
                (_, true) => Way::Replace,
                _ => Way::Update,
            };
            let same = |chunk: &Chunk| chunk.relation == row.relation && chunk.way == way;
            bytes += row.bytes;
            match chunks.back_mut() {
                Some(chunk) if same(chunk) && chunk.ordinals.len() < CHUNK.0 && bytes <= CHUNK.1 => {
                    chunk.ordinals.push(row.ordinal);
                }
                _ => {
                    bytes = row.bytes;
                    chunks.push_back(Chunk { relation: row.relation, way, ordinals: vec![row.ordinal] });
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
            let text = row.old.as_ref().or(row.new.as_ref());
            let old = text.and_then(|text| fields(text));
            let old = old.ok_or_else(|| StoreError::Unreadable(format!("kept row {} of {kept}", row.ordinal)))?;
            let both = row.old.as_ref().zip(row.new.as_ref());
            let followed = both.and_then(|(old, new)| followed(old, new, following));
            Ok(Lost { ordinal: row.ordinal, added: row.old.is_none(), old, new: row.new, followed })
        });
        lost.collect()
    }
}

impl Chunk {
    fn halves(&self) -> impl Iterator<Item = Self> + use<> {
        let halves: Vec<_> = self.ordinals.chunks(self.ordinals.len().div_ceil(2)).map(<[i64]>::to_vec).collect();
        let (relation, way) = (self.relation, self.way);
        halves.into_iter().map(move |ordinals| Self { relation, way, ordinals })
    }
}

/// The rows of each table that are there come back at once, and those that are not behind them.
fn united(chunks: VecDeque<Chunk>) -> VecDeque<Chunk> {
    let mut united: VecDeque<Chunk> = VecDeque::new();
    for chunk in chunks {
        let there = chunk.way != Way::Insert;
        match united.iter_mut().find(|other| there && other.way == Way::Replace && other.relation == chunk.relation) {
            Some(other) => other.ordinals.extend(chunk.ordinals),
            None if there => united.push_front(Chunk { way: Way::Replace, ..chunk }),
            None => united.push_back(chunk),
        }
    }
    united
}
