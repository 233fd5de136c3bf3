//! The second model's judgements of proposals and their cost, and the calls that came before one.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{query, query_scalar};

use crate::domain::{CallInput, CallState, Classification, Machine, Rate, ToolCallId, TurnId, Usage};
use crate::facts::ProposalClassified;
use crate::governor::Opinion;
use crate::store::{Lease, Store, StoreError, Unit, storable, value};

/// One request that was made for a call: to the governor's model, or to break a task down.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestCost {
    /// The model that answered.
    pub model: String,
    /// Its tokens, if the provider counted.
    pub usage: Option<Usage>,
    /// The model's rate, for a model without one in the table of rates.
    pub rate: Option<Rate>,
}

/// A classification to store.
#[derive(Clone, Copy, Debug)]
pub struct NewReview<'a> {
    /// The judgement, or the strictest there is.
    pub classification: &'a Classification,
    /// True if the model gave an answer that could be read.
    pub answered: bool,
    /// True if the action is recorded for it.
    pub recorded: bool,
    /// The requests for it; none if no model answered.
    pub asked: &'a [RequestCost],
}

impl Store {
    /// Stores the second model's judgement of a call, with its event and its cost. One that is
    /// stored already stays.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn classify_call(
        &self,
        lease: &Lease,
        call: ToolCallId,
        review: NewReview<'_>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        unit.hold(lease).await?;
        let done = query!(
            "UPDATE tool_calls SET classification = $3
             WHERE tool_call_id = $1 AND turn_id = $2 AND state = ANY($4) AND classification IS NULL",
            call.0,
            lease.turn.0,
            json!(review.classification),
            &CallState::before(CallInput::Classify)
        )
        .execute(&mut *unit.tx)
        .await?;
        if done.rows_affected() == 0 {
            return Ok(());
        }
        unit.pay_for(lease, call, review.asked).await?;
        let NewReview { classification, answered, recorded, .. } = review;
        let classified = ProposalClassified { turn: lease.turn, call, classification: *classification, answered, recorded };
        unit.append(lease.conversation, classified.into()).await?;
        unit.commit().await
    }

    /// The second model's judgement of a call, if it was asked.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn classification_of_call(&self, call: ToolCallId) -> Result<Option<Classification>, StoreError> {
        let stored = query_scalar!("SELECT classification FROM tool_calls WHERE tool_call_id = $1", call.0);
        stored.fetch_optional(&self.pool).await?.flatten().map(value).transpose()
    }

    /// The law's evidence of the second model's judgement of a call, if it was asked.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn opinion_of_call(&self, call: ToolCallId) -> Result<Option<Opinion>, StoreError> {
        let Some(stored) = self.classification_of_call(call).await? else { return Ok(None) };
        // The strictest also stands for an answer that could not be read, and only the event tells
        // the two apart.
        let given = stored != Classification::STRICTEST || self.governor_answered(call).await?;
        Ok(Some(if given { Opinion::Given(stored) } else { Opinion::Unread }))
    }

    /// True if the second model's answer about a call could be read.
    async fn governor_answered(&self, call: ToolCallId) -> Result<bool, StoreError> {
        let answered = query_scalar::<_, bool>(
            "SELECT coalesce((payload ->> 'answered')::boolean, TRUE) FROM events
             WHERE kind = 'proposal_classified' AND payload ->> 'call' = $1 ORDER BY position DESC LIMIT 1",
        );
        Ok(answered.bind(call.to_string()).fetch_optional(&self.pool).await?.unwrap_or(true))
    }

    /// A person's task for a turn: the words that it reacts to, and those said into it that a step
    /// has seen.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn task_of(&self, turn: TurnId) -> Result<String, StoreError> {
        let words = query_scalar!(
            r#"SELECT coalesce(string_agg(content, E'\n\n' ORDER BY message_id), '') AS "task!" FROM messages
               WHERE turn_id = $1 AND role = 'user' AND (NOT steered OR from_step IS NOT NULL)"#,
            turn.0
        );
        Ok(words.fetch_one(&self.pool).await?)
    }

    /// The words that a turn reacts to.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn input_of(&self, turn: TurnId) -> Result<String, StoreError> {
        let words = query_scalar!(
            "SELECT content FROM messages WHERE turn_id = $1 AND role = 'user' ORDER BY message_id LIMIT 1",
            turn.0
        );
        Ok(words.fetch_optional(&self.pool).await?.unwrap_or_default())
    }
}

impl Unit {
    /// Records the cost of requests that were made for a call, beside those of its turn's steps.
    /// The caller holds the turn.
    pub(super) async fn pay_for(&mut self, lease: &Lease, call: ToolCallId, asked: &[RequestCost]) -> Result<(), StoreError> {
        let tokens = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        for asked in asked {
            query!(
                "INSERT INTO reviews (tool_call_id, turn_id, model, input_tokens, output_tokens, cost_micros, created_at)
                 VALUES ($1, $2, $3, $4, $5, cost_at($3, $4, $5, $7, $8), $6)",
                call.0,
                lease.turn.0,
                &*storable(&asked.model),
                asked.usage.map(|usage| tokens(usage.input)),
                asked.usage.map(|usage| tokens(usage.output)),
                self.now,
                asked.rate.map(|rate| tokens(rate.input_micros)),
                asked.rate.map(|rate| tokens(rate.output_micros))
            )
            .execute(&mut *self.tx)
            .await?;
        }
        Ok(())
    }
}
