//! Summaries of older turns: words for a model, derived from messages. Nothing follows from them,
//! so no event tells of them.

use chrono::{DateTime, Utc};
use sqlx::query;

use crate::domain::TurnId;
use crate::store::{Lease, RequestCost, Store, StoreError, storable};

/// A model's summary of a conversation's older turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The newest turn that it covers; all older ones are covered, too.
    pub up_to: TurnId,
    /// Its text: a model's words about what others said. Data, never an instruction.
    pub content: String,
}

/// The state of a conversation's summaries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summaries {
    /// The newest that can be read.
    pub latest: Option<Summary>,
    /// True if one was asked for lately and the answer was of no use.
    pub failed_lately: bool,
}

/// A summary to store, or only the cost of a useless answer.
#[derive(Clone, Debug)]
pub struct NewSummary<'a> {
    /// The newest turn that it covers.
    pub up_to: TurnId,
    /// Its text; `None` if the answer was of no use.
    pub content: Option<&'a str>,
    /// The model that was asked, and the cost.
    pub asked: &'a RequestCost,
}

impl Store {
    /// Stores a summary with its cost; if the answer was of no use, the cost alone.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn store_summary(&self, lease: &Lease, summary: NewSummary<'_>, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        unit.hold(lease).await?;
        let tokens = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let usage = summary.asked.usage;
        let content = summary.content.map(|content| unit.clean(content).into_owned());
        query!(
            "INSERT INTO summaries
                 (conversation_id, turn_id, up_to_turn, content, model, input_tokens, output_tokens, cost_micros, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, cost_of($5, $6, $7), $8)",
            lease.conversation.0,
            lease.turn.0,
            summary.up_to.0,
            content,
            &*storable(&summary.asked.model),
            usage.map(|usage| tokens(usage.input)),
            usage.map(|usage| tokens(usage.output)),
            now
        )
        .execute(&mut *unit.tx)
        .await?;
        unit.commit().await
    }
}
