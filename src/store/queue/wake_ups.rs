//! The table of all that is due at a time. The database keeps it in step with the rows it follows
//! from (migration `gather_wake_ups`), so nothing here writes it: code that settles a wake-up
//! records the result, and with that the wake-up is gone.

use chrono::{DateTime, Utc};
use sqlx::query_scalar;

use crate::domain::WakeUpKind;
use crate::store::{Store, StoreError, word};

impl Store {
    /// The kinds of which something is due. A kind that asks no model comes first and waits for no
    /// turn; among the others, the longest due comes first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn kinds_due(&self, now: DateTime<Utc>) -> Result<Vec<WakeUpKind>, StoreError> {
        let kinds = query_scalar!("SELECT kind FROM wake_ups WHERE at <= $1 GROUP BY kind ORDER BY min(at)", now);
        let kinds = kinds.fetch_all(&self.pool).await?;
        let mut kinds = kinds.iter().map(|kind| word(kind)).collect::<Result<Vec<WakeUpKind>, _>>()?;
        kinds.sort_by_key(|kind| kind.asks_model());
        Ok(kinds)
    }

    /// When something is due next, after `now`.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn next_wake_up(&self, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, StoreError> {
        Ok(query_scalar!("SELECT min(at) FROM wake_ups WHERE at > $1", now).fetch_one(&self.pool).await?)
    }
}
