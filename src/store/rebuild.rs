//! The database's part of replay: the chain of events, fresh tables in which projections are
//! rebuilt, and their comparison with the live ones. All of it sees one moment, and is rolled back
//! at its end: nothing of it stays, whatever is killed when.

use std::collections::HashMap;

use serde_json::{Map, Value};
use sqlx::{AssertSqlSafe, PgTransaction, query, query_as, query_scalar};

use super::{Store, StoreError, Theirs, value};
use crate::domain::{ConversationId, TurnId};
use crate::facts::{Change, EventRecord, TABLES, Table};

/// One look at the database, with tables of its own.
pub struct Rebuild {
    tx: PgTransaction<'static>,
    schema: String,
}

/// A fault of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Its content, its place, or the event before it has changed since it was written.
    Changed {
        /// The conversation of the stream.
        conversation: ConversationId,
        /// The number of the event.
        sequence: i64,
    },
    /// Events between others, or at the beginning, are gone.
    Missing {
        /// The conversation of the stream.
        conversation: ConversationId,
        /// The first that is gone.
        from: i64,
        /// The last that is gone.
        to: i64,
    },
    /// The conversation names another end of its stream than the stream has.
    End {
        /// The conversation of the stream.
        conversation: ConversationId,
        /// The number of the newest event that exists.
        found: i64,
        /// The number that the conversation names as its newest.
        expected: i64,
    },
}

/// A row that differs from what events say.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferingRow {
    /// The key of the row.
    pub key: String,
    /// The live row; `None` if there is none.
    pub live: Option<Map<String, Value>>,
    /// The row that follows from events; `None` if none does.
    pub rebuilt: Option<Map<String, Value>>,
}

/// The rows of a table as they are compared, if it has these columns: all of them but those that no
/// event says, so a new one as well.
fn seen(table: &Table, columns: &[String]) -> String {
    let Table { name, key, unsaid, instead, rows } = table;
    let is_left = |column: &&String| !unsaid.contains(&column.as_str()) && instead.iter().all(|(name, _)| name != column);
    let plain = columns.iter().filter(is_left).map(|column| format!("\"{column}\""));
    let shown: Vec<_> = plain.chain(instead.iter().map(|(name, what)| format!("{what} AS {name}"))).collect();
    format!("SELECT {key} AS row_key, {} FROM {name} WHERE {rows}", shown.join(", "))
}

impl Store {
    /// Begins a look at the database as it is now, with an empty table for every projection.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn rebuild(&self) -> Result<Rebuild, StoreError> {
        let mut tx = self.pool.begin().await?;
        query!("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").execute(&mut *tx).await?;
        // No other look can have this name at the same time, and none is left over: it never
        // commits.
        let schema = query_scalar!(r#"SELECT 'replay_' || pg_backend_pid() AS "schema!""#).fetch_one(&mut *tx).await?;
        let columns = query_as::<_, (String, Vec<String>)>(
            "SELECT c.relname::text, array_agg(a.attname::text ORDER BY a.attnum)
             FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
             WHERE c.relnamespace = 'level3'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
             GROUP BY c.relname",
        );
        let columns: HashMap<_, _> = columns.fetch_all(&mut *tx).await?.into_iter().collect();
        let mut make = format!("CREATE SCHEMA {schema};");
        for table in TABLES {
            let (name, seen) = (table.name, seen(table, columns.get(table.name).map(Vec::as_slice).unwrap_or_default()));
            make += &format!(
                "CREATE VIEW {schema}.live_{name} AS {seen};
                 CREATE TABLE {schema}.{name} (row_key TEXT PRIMARY KEY, row JSONB NOT NULL);"
            );
        }
        sqlx::raw_sql(AssertSqlSafe(make)).execute(&mut *tx).await?;
        Ok(Rebuild { tx, schema })
    }
}

impl Theirs {
    /// Every event of a turn, oldest first; `None` if they have no such turn.
    ///
    /// # Errors
    /// If the database does not answer or holds an event of a newer version.
    pub async fn events_of_turn(&self, turn: TurnId) -> Result<Option<Vec<EventRecord>>, StoreError> {
        let conversation = query_scalar!(
            "SELECT conversation_id FROM turns JOIN conversations USING (conversation_id) WHERE turn_id = $1 AND user_id = $2",
            turn.0,
            self.user.0
        );
        let Some(conversation) = conversation.fetch_optional(&self.store.pool).await? else { return Ok(None) };
        let rows = query!(
            "SELECT sequence, payload, created_at FROM events
             WHERE conversation_id = $1 AND payload -> 'turn' = to_jsonb($2::bigint) ORDER BY sequence",
            conversation,
            turn.0
        );
        let conversation = ConversationId(conversation);
        let read =
            rows.fetch_all(&self.store.pool).await?.into_iter().map(|row| {
                Ok(EventRecord { conversation, sequence: row.sequence, at: row.created_at, event: value(row.payload)? })
            });
        read.collect::<Result<_, StoreError>>().map(Some)
    }
}

/// A stored event with its place in the order of all streams.
pub type StoredEvent = (i64, ConversationId, i64, Result<EventRecord, StoreError>);

impl Rebuild {
    /// Every place at which a stream is not as it was written, in order.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn broken_links(&mut self) -> Result<Vec<Break>, StoreError> {
        let mut broken = Vec::new();
        let links = query!(
            r#"SELECT conversation_id, sequence, coalesce(before, 0) AS "before!", hash = expected AS "holds!"
               FROM (SELECT conversation_id, sequence, hash, lag(sequence) OVER stream AS before,
                            event_hash(lag(hash) OVER stream, conversation_id, sequence, position, kind, payload, created_at) AS expected
                     FROM events WINDOW stream AS (PARTITION BY conversation_id ORDER BY sequence)) links
               WHERE sequence <> coalesce(before, 0) + 1 OR hash <> expected
               ORDER BY conversation_id, sequence"#
        );
        for link in links.fetch_all(&mut *self.tx).await? {
            let (conversation, sequence) = (ConversationId(link.conversation_id), link.sequence);
            // Behind a gap nobody knows the hash of the event before, so the next event cannot be
            // judged.
            broken.push(match link.before + 1 {
                next if next == sequence => Break::Changed { conversation, sequence },
                from => Break::Missing { conversation, from, to: sequence - 1 },
            });
        }
        let ends = query!(
            r#"SELECT conversation_id, last_sequence AS "expected!", found AS "found!"
               FROM (SELECT c.conversation_id, last_sequence, coalesce(max(sequence), 0) AS found
                     FROM conversations c LEFT JOIN events USING (conversation_id) GROUP BY c.conversation_id) ends
               WHERE last_sequence <> found ORDER BY conversation_id"#
        );
        for end in ends.fetch_all(&mut *self.tx).await? {
            let conversation = ConversationId(end.conversation_id);
            broken.push(Break::End { conversation, found: end.found, expected: end.expected });
        }
        Ok(broken)
    }

    /// The events after `position` in the order of all streams, at most `limit` of them.
    ///
    /// # Errors
    /// If the database does not answer. An event that cannot be read is an error of its own.
    pub async fn events(&mut self, position: i64, limit: i64) -> Result<Vec<StoredEvent>, StoreError> {
        let rows = query!(
            "SELECT position, conversation_id, sequence, payload, created_at FROM events WHERE position > $1
             ORDER BY position LIMIT $2",
            position,
            limit
        );
        let read = rows.fetch_all(&mut *self.tx).await?.into_iter().map(|row| {
            let (conversation, sequence, at) = (ConversationId(row.conversation_id), row.sequence, row.created_at);
            let record = value(row.payload).map(|event| EventRecord { conversation, sequence, at, event });
            (row.position, conversation, sequence, record)
        });
        Ok(read.collect())
    }

    /// Applies changes to the fresh tables, in their order.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn write(&mut self, changes: impl IntoIterator<Item = Change>) -> Result<(), StoreError> {
        // Changes of one row are put together here, so that each table is written once.
        let mut rows: HashMap<&str, HashMap<String, Folded>> = HashMap::new();
        for Change { table, key, row } in changes {
            let folded = rows.entry(table.name).or_default().entry(key).or_default();
            match row {
                None => *folded = Folded { gone: true, row: None },
                Some(new) => fold(folded.row.get_or_insert_default(), new),
            }
        }
        for (name, rows) in rows {
            let gone: Vec<_> = rows.iter().filter(|(_, folded)| folded.gone).map(|(key, _)| key.clone()).collect();
            let (keys, rows): (Vec<_>, Vec<_>) =
                rows.into_iter().filter_map(|(key, folded)| Some((key, Value::Object(folded.row?)))).unzip();
            let schema = &self.schema;
            let delete = format!("DELETE FROM {schema}.{name} WHERE row_key = ANY($1)");
            if !gone.is_empty() {
                sqlx::query(AssertSqlSafe(delete)).persistent(false).bind(gone).execute(&mut *self.tx).await?;
            }
            let upsert = format!(
                "INSERT INTO {schema}.{name} AS kept SELECT * FROM unnest($1::text[], $2::jsonb[])
                 ON CONFLICT (row_key) DO UPDATE SET row = kept.row || (EXCLUDED.row - 'created_at')"
            );
            sqlx::query(AssertSqlSafe(upsert)).persistent(false).bind(keys).bind(rows).execute(&mut *self.tx).await?;
        }
        Ok(())
    }

    /// The first `limit` rows of a table that are not what the fresh table says.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn differences(&mut self, table: &Table, limit: i64) -> Result<Vec<DifferingRow>, StoreError> {
        let (schema, name) = (&self.schema, table.name);
        let compare = format!(
            "SELECT row_key, live.row, rebuilt.row
             FROM (SELECT row_key, to_jsonb(l) - 'row_key' AS row FROM {schema}.live_{name} l) live
             FULL JOIN (SELECT row_key, to_jsonb(jsonb_populate_record(NULL::{schema}.live_{name}, row)) - 'row_key' AS row
                        FROM {schema}.{name}) rebuilt USING (row_key)
             WHERE live.row IS DISTINCT FROM rebuilt.row ORDER BY row_key LIMIT $1"
        );
        type Row = (String, Option<Value>, Option<Value>);
        let rows: Vec<Row> = query_as(AssertSqlSafe(compare)).persistent(false).bind(limit).fetch_all(&mut *self.tx).await?;
        let object = |row: Option<Value>| row.map(value).transpose();
        rows.into_iter()
            .map(|(key, live, rebuilt)| Ok(DifferingRow { key, live: object(live)?, rebuilt: object(rebuilt)? }))
            .collect()
    }

    /// Drops the fresh tables.
    ///
    /// # Errors
    /// If the database does not answer; they are gone then as well.
    pub async fn end(self) -> Result<(), StoreError> {
        Ok(self.tx.rollback().await?)
    }
}

/// The changes of one row.
#[derive(Default)]
struct Folded {
    gone: bool,
    row: Option<Map<String, Value>>,
}

fn fold(row: &mut Map<String, Value>, new: Map<String, Value>) {
    let created = row.get("created_at").cloned();
    row.extend(new);
    if let Some(created) = created {
        row.insert("created_at".to_owned(), created);
    }
}
