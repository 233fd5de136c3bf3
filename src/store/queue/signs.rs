//! Signs of life of servers that hold turns, and turns that wait for a server.

use chrono::{DateTime, Utc};
use sqlx::query;

use crate::domain::{Machine, TurnId, TurnInput, TurnState};
use crate::store::{Store, StoreError};

/// The findings of a look at the turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// True if turns wait that nobody holds.
    pub free: bool,
    /// True if there is anything to look at again: turns that wait now or rest until later, or that
    /// others hold.
    pub more: bool,
    /// The other servers that hold turns, with the number of signs of each.
    pub holders: Vec<(String, i64)>,
}

impl Store {
    /// Gives a sign of life, and says which of these turns this server holds, with their fences.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn give_sign(&self, owner: &str, turns: &[TurnId]) -> Result<Vec<(TurnId, i64)>, StoreError> {
        let turns: Vec<_> = turns.iter().map(|turn| turn.0).collect();
        // One statement, which waits for no turn's row.
        let held = query!(
            "WITH given AS (
                 INSERT INTO servers (owner, signs) VALUES ($1, 1) ON CONFLICT (owner) DO UPDATE SET signs = servers.signs + 1)
             SELECT turn_id, fence FROM turns WHERE turn_id = ANY($2) AND state = ANY($3) AND lease_owner = $1",
            owner,
            &turns,
            &TurnState::before(TurnInput::Write)
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(held.into_iter().map(|row| (TurnId(row.turn_id), row.fence)).collect())
    }

    /// Looks for turns to take up, and for other servers that hold any.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn look(&self, owner: &str, now: DateTime<Utc>) -> Result<Look, StoreError> {
        let rows = query!(
            r#"SELECT t.lease_owner, coalesce(max(s.signs), 0) AS "signs!",
                      bool_or(coalesce(t.lease_until, '-infinity') <= $2) AS "rested!"
               FROM turns t LEFT JOIN servers s ON s.owner = t.lease_owner
               WHERE t.ended_at IS NULL AND t.state = ANY($3) AND t.lease_owner IS DISTINCT FROM $1
               GROUP BY t.lease_owner"#,
            owner,
            now,
            &TurnState::before(TurnInput::Claim)
        )
        .fetch_all(&self.pool)
        .await?;
        let mut look = Look { more: !rows.is_empty(), ..Look::default() };
        for row in rows {
            match row.lease_owner {
                Some(owner) => look.holders.push((owner, row.signs)),
                None => look.free = row.rested,
            }
        }
        Ok(look)
    }
}
