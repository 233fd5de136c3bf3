//! The tools that were used lately, for the order in which a model is offered them.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::query_as;

use super::catalogue::Catalogue;
use crate::domain::TurnId;
use crate::store::{Store, StoreError};

/// How many of the newest calls tell which tools were used lately. Each costs a look at its turn
/// and conversation, in each step of whoever has more tools than a model takes.
const CALLS_LOOKED_AT: i64 = 200;

impl Store {
    /// The names of tools, the newest first: those that the turn's user called, or that were
    /// installed, last when the turn began. Calls in other conversations during the turn do not
    /// change it, but installations do. Calls long ago do not count.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn tools_used_lately(&self, turn: TurnId) -> Result<Vec<String>, StoreError> {
        // Every server has the installations in its catalogue, which the step has just compared
        // with the database.
        let called = query_as::<_, (String, DateTime<Utc>)>(
            "SELECT name, max(created_at) FROM (
                 SELECT name, created_at FROM tool_calls
                 WHERE created_at <= (SELECT created_at FROM turns WHERE turn_id = $1)
                   AND (SELECT c.user_id FROM turns t JOIN conversations c USING (conversation_id) WHERE t.turn_id = tool_calls.turn_id)
                     = (SELECT c.user_id FROM turns t JOIN conversations c USING (conversation_id) WHERE t.turn_id = $1)
                 ORDER BY tool_call_id DESC LIMIT $2) calls
             GROUP BY name",
        );
        let called = called.bind(turn.0).bind(CALLS_LOOKED_AT).fetch_all(&self.pool).await?;
        Ok(newest_first(called, &self.catalogue.newest()))
    }
}

/// The names of tools that were called, and of capabilities that were installed: first the one
/// whose last call or change is the newest.
fn newest_first(called: Vec<(String, DateTime<Utc>)>, catalogue: &Catalogue) -> Vec<String> {
    let mut used: HashMap<String, DateTime<Utc>> = called.into_iter().collect();
    for listed in catalogue.capabilities() {
        let at = used.entry(listed.summary.name.clone()).or_insert(listed.updated_at);
        *at = listed.updated_at.max(*at);
    }
    let mut used: Vec<_> = used.into_iter().collect();
    used.sort_unstable_by(|(name, at), (other, before)| before.cmp(at).then_with(|| name.cmp(other)));
    used.into_iter().map(|(name, _)| name).collect()
}
