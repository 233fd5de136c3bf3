//! The account of a turn for a person: the requests that it made to models, and how long it took.

use sqlx::query;

use crate::domain::{Requests, TurnId};
use crate::store::{StoreError, Unit};

impl Unit {
    /// The requests of a turn that ends now, those of this transaction among them, and the
    /// milliseconds since it was accepted, without those in which it waited for a person.
    pub(super) async fn account_of(&mut self, turn: TurnId) -> Result<(Requests, Option<i64>), StoreError> {
        let row = query!(
            r#"SELECT asked.requests AS "requests!", asked.input AS "input!", asked.output AS "output!", asked.cost AS "cost?",
                      greatest(0, (extract(epoch FROM $2::timestamptz - t.created_at) - waited.seconds) * 1000)::bigint AS "ms!"
               FROM turns t,
                   LATERAL (
                       SELECT count(*) AS requests,
                              least(coalesce(sum(input_tokens), 0), 9223372036854775807)::bigint AS input,
                              least(coalesce(sum(output_tokens), 0), 9223372036854775807)::bigint AS output,
                              CASE WHEN count(*) = count(cost_micros)
                                   THEN least(coalesce(sum(cost_micros), 0), 9223372036854775807)::bigint END AS cost
                       FROM model_requests m WHERE m.turn_id = t.turn_id AND m.model <> 'level3') asked,
                   LATERAL (
                       SELECT coalesce(sum(extract(epoch FROM coalesce(a.decided_at, $2::timestamptz) - a.created_at)), 0) AS seconds
                       FROM approvals a WHERE a.turn_id = t.turn_id) waited
               WHERE t.turn_id = $1"#,
            turn.0,
            self.now
        )
        .fetch_one(&mut *self.tx)
        .await?;
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let requests = Requests {
            requests: count(row.requests),
            input_tokens: count(row.input),
            output_tokens: count(row.output),
            cost_micros: row.cost.map(count),
        };
        Ok((requests, Some(row.ms)))
    }
}
