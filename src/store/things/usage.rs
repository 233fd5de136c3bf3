//! The use of models: for budgets, and for the person who pays. Money is counted at the rate of the
//! day; without a rate it is unknown.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use sqlx::query;

use crate::domain::Rate;
use crate::store::{Store, StoreError, Theirs};
use crate::wire::api::{CallCounts, Day, ModelUsage, Requests, Span, UsageReport};

/// Days that a report shows one by one, today among them.
const REPORT_DAYS: i64 = 30;

/// Midnight before `now`, UTC, at which a day of budgets begins.
pub(super) fn midnight(now: DateTime<Utc>) -> DateTime<Utc> {
    now.date_naive().and_time(chrono::NaiveTime::MIN).and_utc()
}

pub(super) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

impl Store {
    /// The rates of models. A model without one costs an unknown amount.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn rates(&self) -> Result<BTreeMap<String, Rate>, StoreError> {
        let rows = query!("SELECT model, input_micros, output_micros FROM model_rates").fetch_all(&self.pool).await?;
        let rate = |input, output| Rate { input_micros: count(input), output_micros: count(output) };
        Ok(rows.into_iter().map(|row| (row.model, rate(row.input_micros, row.output_micros))).collect())
    }

    /// Sets a model's rate from now on; `None` makes it unknown. Earlier requests keep their price.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn set_rate(&self, model: &str, rate: Option<Rate>, now: DateTime<Utc>) -> Result<(), StoreError> {
        let stored = |micros: u64| i64::try_from(micros).unwrap_or(i64::MAX);
        match rate {
            Some(rate) => query!(
                "INSERT INTO model_rates (model, input_micros, output_micros, updated_at) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (model) DO UPDATE SET input_micros = $2, output_micros = $3, updated_at = $4",
                model,
                stored(rate.input_micros),
                stored(rate.output_micros),
                now
            ),
            None => query!("DELETE FROM model_rates WHERE model = $1", model),
        }
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

impl Theirs {
    /// Their use of models: today, day by day, model by model, and in all.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn usage_report(&self, now: DateTime<Utc>) -> Result<UsageReport, StoreError> {
        let today = midnight(now);
        let since = today - TimeDelta::days(REPORT_DAYS - 1);
        let (asked, called, mut models, times) = tokio::try_join!(
            self.requests_by_day(),
            self.calls_by_day(),
            self.requests_by_model(since),
            self.answer_times(since)
        )?;
        for model in &mut models {
            model.p50_ms = times.get(&model.model).copied();
        }
        let mut days: BTreeMap<NaiveDate, Span> = BTreeMap::new();
        for (day, requests) in asked {
            days.entry(day).or_insert_with(unused).model = requests;
        }
        for (day, counts) in called {
            days.entry(day).or_insert_with(unused).tool_calls = counts;
        }
        let total = days.values().fold(unused(), plus);
        let shown = days.iter().rev().filter(|(day, _)| **day >= since.date_naive());
        Ok(UsageReport {
            today: days.get(&today.date_naive()).copied().unwrap_or_else(unused),
            days: shown.map(|(day, usage)| Day { day: *day, usage: *usage }).collect(),
            models,
            total,
        })
    }

    async fn requests_by_day(&self) -> Result<Vec<(NaiveDate, Requests)>, StoreError> {
        let rows = query!(
            r#"SELECT (created_at AT TIME ZONE 'UTC')::date AS "day!", count(*) AS "requests!",
                      least(coalesce(sum(input_tokens), 0), 9223372036854775807)::bigint AS "input!",
                      least(coalesce(sum(output_tokens), 0), 9223372036854775807)::bigint AS "output!",
                      CASE WHEN count(*) = count(cost_micros) THEN least(sum(cost_micros), 9223372036854775807)::bigint END AS cost
               FROM model_requests WHERE model <> 'level3' AND turn_id IN (SELECT turn_id FROM turns JOIN conversations USING (conversation_id)
                                                                             WHERE user_id = $1)
               GROUP BY 1"#,
            self.user.0
        );
        let rows = rows.fetch_all(&self.store.pool).await?.into_iter();
        Ok(rows.map(|row| (row.day, requests(row.requests, row.input, row.output, row.cost))).collect())
    }

    async fn requests_by_model(&self, since: DateTime<Utc>) -> Result<Vec<ModelUsage>, StoreError> {
        let rows = query!(
            r#"SELECT model AS "model!", count(*) AS "requests!",
                      least(coalesce(sum(input_tokens), 0), 9223372036854775807)::bigint AS "input!",
                      least(coalesce(sum(output_tokens), 0), 9223372036854775807)::bigint AS "output!",
                      CASE WHEN count(*) = count(cost_micros) THEN least(sum(cost_micros), 9223372036854775807)::bigint END AS cost
               FROM model_requests WHERE model <> 'level3' AND created_at >= $1
                 AND turn_id IN (SELECT turn_id FROM turns JOIN conversations USING (conversation_id) WHERE user_id = $2)
               GROUP BY 1 ORDER BY 2 DESC, 1"#,
            since,
            self.user.0
        );
        let rows = rows.fetch_all(&self.store.pool).await?.into_iter();
        Ok(rows
            .map(|row| ModelUsage {
                usage: requests(row.requests, row.input, row.output, row.cost),
                model: row.model,
                p50_ms: None,
            })
            .collect())
    }

    /// How long half of each model's newest answers took at most, in milliseconds: from the event
    /// before the answer, with which the wait began as a rule, to the answer.
    async fn answer_times(&self, since: DateTime<Utc>) -> Result<BTreeMap<String, i64>, StoreError> {
        let rows = query!(
            r#"SELECT answered.payload ->> 'model' AS "model!",
                      percentile_disc(0.5) WITHIN GROUP (
                          ORDER BY (extract(epoch FROM answered.created_at - before.created_at) * 1000)::bigint) AS "p50!"
               FROM (SELECT * FROM events WHERE kind = 'step_answered' ORDER BY position DESC LIMIT 1000) answered
                   JOIN events before ON before.conversation_id = answered.conversation_id AND before.sequence = answered.sequence - 1
               WHERE answered.created_at >= $1
                 AND (SELECT user_id FROM conversations c WHERE c.conversation_id = answered.conversation_id) = $2
               GROUP BY 1"#,
            since,
            self.user.0
        );
        let rows = rows.fetch_all(&self.store.pool).await?.into_iter();
        Ok(rows.map(|row| (row.model, row.p50)).collect())
    }

    async fn calls_by_day(&self) -> Result<Vec<(NaiveDate, CallCounts)>, StoreError> {
        let rows = query!(
            r#"SELECT (created_at AT TIME ZONE 'UTC')::date AS "day!", count(*) FILTER (WHERE state = 'done') AS "done!",
                      count(*) FILTER (WHERE state = 'failed') AS "failed!", count(*) FILTER (WHERE state = 'proposed') AS "open!"
               FROM tool_calls WHERE turn_id IN (SELECT turn_id FROM turns JOIN conversations USING (conversation_id) WHERE user_id = $1)
               GROUP BY 1"#,
            self.user.0
        );
        let counts = |done, failed, open| CallCounts { done: count(done), failed: count(failed), open: count(open) };
        let rows = rows.fetch_all(&self.store.pool).await?.into_iter();
        Ok(rows.map(|row| (row.day, counts(row.done, row.failed, row.open))).collect())
    }
}

fn requests(number: i64, input: i64, output: i64, cost: Option<i64>) -> Requests {
    Requests { requests: count(number), input_tokens: count(input), output_tokens: count(output), cost_micros: cost.map(count) }
}

/// A span without a request: nothing was charged, so the cost of 0 is known.
fn unused() -> Span {
    Span { model: Requests { cost_micros: Some(0), ..Requests::default() }, tool_calls: CallCounts::default() }
}

/// The sum of both.
fn plus(one: Span, other: &Span) -> Span {
    let (model, calls) = (other.model, other.tool_calls);
    Span {
        model: Requests {
            requests: one.model.requests + model.requests,
            input_tokens: one.model.input_tokens.saturating_add(model.input_tokens),
            output_tokens: one.model.output_tokens.saturating_add(model.output_tokens),
            cost_micros: one.model.cost_micros.zip(model.cost_micros).map(|(a, b)| a.saturating_add(b)),
        },
        tool_calls: CallCounts {
            done: one.tool_calls.done + calls.done,
            failed: one.tool_calls.failed + calls.failed,
            open: one.tool_calls.open + calls.open,
        },
    }
}
