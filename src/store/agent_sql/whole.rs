//! Counts the rows of relations that statements drop or empty whole. No trigger sees them go, so
//! they are counted before.

use sqlx::{AssertSqlSafe, PgConnection, Row, query_as};

use super::Failure;
use super::told::describe;
use crate::domain::RowLoss;
use crate::governor::sql::WholeLoss;
use crate::store::{Store, StoreError};

/// Relations of the agent, with all that goes with them: their partitions and heirs, and if `$2`,
/// the tables that refer to them. Each as it is written, as it is called, and if it has rows of its
/// own.
const LOST: &str = "\
    WITH RECURSIVE lost AS (
        SELECT oid FROM pg_class WHERE relnamespace = 'agent'::regnamespace AND relname::text = ANY($1)
        UNION SELECT further.oid FROM lost, LATERAL (
            SELECT inhrelid AS oid FROM pg_inherits WHERE inhparent = lost.oid
            UNION ALL SELECT conrelid FROM pg_constraint WHERE confrelid = lost.oid AND contype = 'f' AND $2) further)
    SELECT format('%I.%I', n.nspname, c.relname), c.relname::text, c.oid::bigint, c.relkind = 'r'
    FROM lost JOIN pg_class c ON c.oid = lost.oid JOIN pg_namespace n ON n.oid = c.relnamespace
    ORDER BY c.relname";

impl Store {
    /// Counts them, table by table; `None` if none of them is there. If they are `held`, nobody
    /// else changes them until the transaction ends.
    pub(super) async fn count_whole(
        &self,
        connection: &mut PgConnection,
        loss: &WholeLoss,
        held: bool,
    ) -> Result<Option<Vec<RowLoss>>, Failure> {
        let lost = query_as::<_, (String, String, i64, bool)>(LOST).bind(&loss.names).bind(loss.cascades);
        let lost = lost.fetch_all(&self.pool).await?;
        if lost.is_empty() {
            return Ok(None);
        }
        let tables: Vec<_> = lost.into_iter().filter(|(.., has_rows)| *has_rows).collect();
        let told = |error| describe(error, "", 0);
        if held && !tables.is_empty() {
            let written: Vec<_> = tables.iter().map(|(written, ..)| written.as_str()).collect();
            let lock = format!("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE", written.join(", "));
            sqlx::raw_sql(AssertSqlSafe(lock)).execute(&mut *connection).await.map_err(told)?;
        }
        let mut losses = Vec::with_capacity(tables.len());
        for (written, table, relation, _) in tables {
            // A policy of the agent's would hide rows from the count that go nevertheless, and its
            // functions would run here. The setting of a session is `on`, see `session::SETTINGS`.
            let count = format!(
                "SET LOCAL row_security = off;
                 SELECT pg_catalog.count(*)::pg_catalog.text FROM ONLY {written};
                 SET LOCAL row_security = on"
            );
            let row = sqlx::raw_sql(AssertSqlSafe(count)).fetch_one(&mut *connection).await.map_err(told)?;
            let count = row.try_get_unchecked::<Option<String>, _>(0)?.and_then(|count| count.parse().ok());
            let deleted = count.ok_or_else(|| StoreError::Unreadable(format!("a number of rows of {table}")))?;
            losses.push(RowLoss { table, relation: Some(relation), deleted, overwritten: 0 });
        }
        Ok(Some(losses))
    }
}
