//! Numbers for a person who watches the server: see `docs/operations.md`.

use chrono::{DateTime, Utc};
use sqlx::query;

use super::usage;
use crate::domain::{Budget, Spent};
use crate::store::{Store, StoreError};
use crate::telemetry::{Metrics, StoredFigures};

impl Store {
    /// The same database, whose ended turns `metrics` counts from now on.
    pub fn counted(mut self, metrics: Metrics) -> Self {
        self.signals = self.signals.counted(metrics);
        self
    }

    /// Connections of each pool: its name, how many are in use, how many are idle.
    pub fn pools(&self) -> Vec<(&'static str, u32, u32)> {
        let of = |name, (all, idle): (u32, u32)| (name, all.saturating_sub(idle), idle);
        vec![of("app", self.pool.counts()), of("agent", self.agent.counts())]
    }

    /// The database's numbers of this moment. The use of all conversations in a day is compared
    /// with the limits of `profile`.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn measures(&self, profile: &str, now: DateTime<Utc>) -> Result<StoredFigures, StoreError> {
        // A turn that waited for a person waits in the queue since the decision. A turn behind
        // another of its conversation waits for that one, however long a person thinks about it.
        let turns = query!(
            r#"SELECT count(*) FILTER (WHERE state = 'queued') AS "queued!", count(*) FILTER (WHERE state = 'running') AS "running!",
                      count(*) FILTER (WHERE state = 'awaiting_approval') AS "awaiting!",
                      extract(epoch FROM $1 - min(greatest(created_at,
                          (SELECT max(decided_at) FROM approvals a WHERE a.turn_id = t.turn_id)))
                      FILTER (WHERE state = 'queued' AND NOT EXISTS (
                          SELECT FROM turns earlier
                          WHERE earlier.conversation_id = t.conversation_id AND earlier.turn_id < t.turn_id
                            AND earlier.ended_at IS NULL)))::float8 AS age
               FROM turns t WHERE ended_at IS NULL"#,
            now
        )
        .fetch_one(&self.pool);
        let (turns, day, policy) = tokio::try_join!(async { Ok(turns.await?) }, self.used_today(now), self.policy(profile))?;
        let word = |count: i64| u64::try_from(count).unwrap_or(0);
        Ok(StoredFigures {
            turns: vec![
                ("queued", word(turns.queued)),
                ("running", word(turns.running)),
                ("awaiting_approval", word(turns.awaiting)),
            ],
            queue_age_seconds: turns.age.unwrap_or(0.0).max(0.0),
            day_tokens: vec![("input", day.input_tokens), ("output", day.output_tokens)],
            day_cost_dollars: day.money_micros as f64 / 1e6,
            day_calls: vec![("model_requests", day.steps), ("tool_calls", day.tool_calls)],
            budget_used: used_up(&day, &policy.budgets.day),
        })
    }

    async fn used_today(&self, now: DateTime<Utc>) -> Result<Spent, StoreError> {
        let row = query!(
            r#"SELECT coalesce(sum(step), 0) AS "steps!",
                      least(coalesce(sum(input_tokens), 0), 9223372036854775807)::bigint AS "input!",
                      least(coalesce(sum(output_tokens), 0), 9223372036854775807)::bigint AS "output!",
                      least(coalesce(sum(cost_micros), 0), 9223372036854775807)::bigint AS "cost!",
                      (SELECT count(*) FROM tool_calls c JOIN steps s USING (step_id)
                       WHERE c.state <> 'proposed' AND s.created_at >= $1) AS "called!"
               FROM model_requests WHERE created_at >= $1"#,
            usage::midnight(now)
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(Spent {
            steps: usage::count(row.steps),
            input_tokens: usage::count(row.input),
            output_tokens: usage::count(row.output),
            money_micros: usage::count(row.cost),
            tool_calls: usage::count(row.called),
            ..Spent::default()
        })
    }
}

/// The used part of each limit.
fn used_up(used: &Spent, limits: &Budget) -> Vec<(&'static str, f64)> {
    let kinds = [
        ("steps", used.steps, limits.steps),
        ("input_tokens", used.input_tokens, limits.input_tokens),
        ("output_tokens", used.output_tokens, limits.output_tokens),
        ("tokens", used.tokens(), limits.tokens),
        ("money", used.money_micros, limits.money_micros),
        ("tool_calls", used.tool_calls, limits.tool_calls),
    ];
    // A limit of zero is used up.
    let ratio = |used: u64, limit: u64| if limit == 0 { 1.0 } else { used as f64 / limit as f64 };
    kinds.into_iter().filter_map(|(kind, used, limit)| Some((kind, ratio(used, limit?)))).collect()
}

#[cfg(test)]
mod tests;
