//! The calls of capabilities: summed up for a person, and those of a turn since a new version.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::query;

use super::usage::midnight;
use crate::domain::shortened;
use crate::facts::failure;
use crate::store::{Lease, Store, StoreError, word};
use crate::wire::api::{CapabilityUse, LastError};

/// The days that are summed up, today among them.
const DAYS: i64 = 30;
/// The most bytes of a failure.
const MOST_SAID: usize = 300;

impl Store {
    /// Tool and arguments of the calls of a turn that have their outcome, since the turn last made
    /// a version of this capability.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn made_since_version(&self, lease: &Lease, capability: &str) -> Result<Vec<(String, String)>, StoreError> {
        let made = sqlx::query_as::<_, (String, String)>(
            "WITH of_turn AS (
                 SELECT sequence, kind, payload FROM events
                 WHERE conversation_id = $1 AND kind IN ('tool_call_ended', 'capability_installed')
                   AND sequence > (SELECT min(sequence) FROM events
                                   WHERE conversation_id = $1 AND kind = 'turn_started' AND payload ->> 'turn' = ($2::bigint)::text))
             SELECT c.name, c.arguments FROM of_turn e JOIN tool_calls c ON c.tool_call_id = (e.payload ->> 'call')::bigint
             WHERE e.kind = 'tool_call_ended' AND c.turn_id = $2::bigint
               AND e.sequence > coalesce((SELECT max(sequence) FROM of_turn
                                          WHERE kind = 'capability_installed' AND payload ->> 'name' = $3), 0)
             ORDER BY e.sequence",
        );
        Ok(made.bind(lease.conversation.0).bind(lease.turn.0).bind(capability).fetch_all(&self.pool).await?)
    }

    /// The calls of each live capability in the last 30 days, by its name; one that was not called
    /// is not there.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn capability_use(&self, now: DateTime<Utc>) -> Result<BTreeMap<String, CapabilityUse>, StoreError> {
        let since = midnight(now) - TimeDelta::days(DAYS - 1);
        let counts = query!(
            r#"SELECT t.name, count(*) AS "calls!", count(*) FILTER (WHERE t.state = 'failed') AS "failures!",
                      percentile_disc(0.5) WITHIN GROUP (ORDER BY t.ms) AS p50
               FROM tool_calls t JOIN capabilities c ON c.name = t.name
               WHERE t.created_at >= $1 AND t.state <> 'proposed' GROUP BY t.name"#,
            since
        );
        let days = query!(
            r#"SELECT t.name, floor(extract(epoch FROM t.created_at - $1::timestamptz) / 86400)::bigint AS "day!", count(*) AS "calls!"
               FROM tool_calls t JOIN capabilities c ON c.name = t.name
               WHERE t.created_at >= $1 AND t.state <> 'proposed' GROUP BY 1, 2"#,
            since
        );
        let errors = query!(
            r#"SELECT DISTINCT ON (t.name) t.name, t.ended_at AS "ended_at!", t.refusal, m.content
               FROM tool_calls t JOIN capabilities c ON c.name = t.name JOIN messages m ON m.tool_call_id = t.tool_call_id
               WHERE t.created_at >= $1 AND t.state = 'failed' ORDER BY t.name, t.tool_call_id DESC"#,
            since
        );
        let (counts, days, errors) =
            tokio::try_join!(counts.fetch_all(&self.pool), days.fetch_all(&self.pool), errors.fetch_all(&self.pool))?;
        let mut used: BTreeMap<String, CapabilityUse> = BTreeMap::new();
        for row in counts {
            let (calls, failures, p50_ms) = (row.calls, row.failures, row.p50);
            let per_day = vec![0; usize::try_from(DAYS).unwrap_or_default()];
            used.insert(row.name, CapabilityUse { calls, failures, p50_ms, per_day, last_error: None });
        }
        for row in days {
            let place = usize::try_from(row.day).ok();
            // A clock that was set back dates a call after today.
            let day = used.get_mut(&row.name).zip(place).and_then(|(used, place)| used.per_day.get_mut(place));
            if let Some(day) = day {
                *day = row.calls;
            }
        }
        for row in errors {
            if let Some(used) = used.get_mut(&row.name) {
                let code = row.refusal.as_deref().map(word).transpose()?;
                let said = shortened(&failure(code, &self.clean(&row.content)), MOST_SAID).into_owned();
                used.last_error = Some(LastError { at: row.ended_at, said });
            }
        }
        Ok(used)
    }
}
