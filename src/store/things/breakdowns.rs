//! The breakdown of a task that a call is about to make: kept before the task is, so that a model
//! is never asked, and paid, twice.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{query, query_scalar};

use super::reviews::RequestCost;
use crate::domain::{CallInput, CallState, Machine, ToolCallId};
use crate::facts::TaskBrokenDown;
use crate::store::{Lease, Store, StoreError, value};

/// A breakdown to keep.
#[derive(Clone, Copy, Debug)]
pub struct NewBreakdown<'a> {
    /// The titles of the subtasks; none if no answer could be used.
    pub subtasks: &'a [String],
    /// The requests for it.
    pub asked: &'a [RequestCost],
}

impl Store {
    /// Keeps the breakdown for a call, with its event and its cost. One that is kept already stays.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn keep_breakdown(
        &self,
        lease: &Lease,
        call: ToolCallId,
        new: NewBreakdown<'_>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        unit.hold(lease).await?;
        let subtasks: Vec<_> = new.subtasks.iter().map(|title| unit.clean(title).into_owned()).collect();
        let kept = query!(
            "UPDATE tool_calls SET breakdown = $3
             WHERE tool_call_id = $1 AND turn_id = $2 AND state = ANY($4) AND breakdown IS NULL",
            call.0,
            lease.turn.0,
            json!(subtasks),
            &CallState::before(CallInput::Classify)
        )
        .execute(&mut *unit.tx)
        .await?;
        if kept.rows_affected() == 0 {
            return Ok(());
        }
        unit.pay_for(lease, call, new.asked).await?;
        unit.append(lease.conversation, TaskBrokenDown { turn: lease.turn, call, subtasks }.into()).await?;
        unit.commit().await
    }

    /// The breakdown that is kept for a call.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn breakdown_of_call(&self, call: ToolCallId) -> Result<Option<Vec<String>>, StoreError> {
        let kept = query_scalar!("SELECT breakdown FROM tool_calls WHERE tool_call_id = $1", call.0);
        kept.fetch_optional(&self.pool).await?.flatten().map(value).transpose()
    }
}
