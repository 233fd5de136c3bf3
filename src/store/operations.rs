//! The ledger of what a call did outside: a capability outside its sandbox, level3 at an external server. A call that is run again after a
//! crash finds here what happened already, in the order in which it was begun: nothing happens twice.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::{query, query_scalar};

use super::{Lease, Store, StoreError, Unit, storable, word};
use crate::domain::{EffectClass, OperationKind, OperationState, ToolCallId};
use crate::facts::{EventRecord, OperationRecorded};
use crate::governor::Permit;

/// One operation of a call, before it is begun.
#[derive(Clone, Debug)]
pub struct NewOperation<'a> {
    /// The permit of the call.
    pub permit: &'a Permit,
    /// Its place among the operations of the call, from 1, in the order in which they were begun.
    pub ordinal: i32,
    /// What it works on.
    pub kind: OperationKind,
    /// How often it can have happened after a crash.
    pub class: EffectClass,
    /// What is asked for, as it may be shown: with placeholders, never with a secret's value.
    pub request: &'a Value,
    /// Fingerprint of what is asked for.
    pub request_sha256: [u8; 32],
}

/// What the ledger knows of an operation that is about to be begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// It was not begun before.
    New,
    /// It is over; the capability gets this answer again, and nothing is done.
    Done(Result<String, String>),
    /// It was begun, and nobody knows what came of it.
    Intended,
    /// Something else has this place in the ledger: the call took another way this time.
    Different,
}

impl Store {
    /// What the ledger knows of this operation.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn earlier_operation(&self, operation: &NewOperation<'_>) -> Result<Earlier, StoreError> {
        let row = query!(
            "SELECT kind, request_sha256, state, answer FROM operations WHERE tool_call_id = $1 AND ordinal = $2",
            operation.permit.call().0,
            operation.ordinal
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(Earlier::New) };
        if row.kind != operation.kind.as_str() || row.request_sha256 != operation.request_sha256 {
            return Ok(Earlier::Different);
        }
        let answer = row.answer.unwrap_or_default();
        Ok(match word(&row.state)? {
            OperationState::Done => Earlier::Done(Ok(answer)),
            OperationState::Failed => Earlier::Done(Err(answer)),
            OperationState::Intended | OperationState::Unknown => Earlier::Intended,
        })
    }

    /// What was asked for by the operations of a call of which nobody knows whether they happened, in order.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn uncertain_operations(&self, call: ToolCallId) -> Result<Vec<Value>, StoreError> {
        let requests = query_scalar!(
            "SELECT request FROM operations WHERE tool_call_id = $1 AND state IN ('intended', 'unknown') ORDER BY ordinal",
            call.0
        );
        Ok(requests.fetch_all(&self.pool).await?)
    }

    /// Writes down that an operation is about to be sent. Committed before anything leaves the house.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] when the turn is held by another or the operation was begun before; or the database is not there.
    pub async fn intend_operation(
        &self,
        lease: &Lease,
        operation: &NewOperation<'_>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.end_operation(lease, operation, OperationState::Intended, None, now).await
    }

    /// Writes down what came of an operation, with the answer the capability gets. One that was not intended before is recorded whole.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] when the turn is held by another, or the operation is over already or another than the one that was
    /// intended; or the database is not there.
    pub async fn end_operation(
        &self,
        lease: &Lease,
        operation: &NewOperation<'_>,
        state: OperationState,
        answer: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        unit.end_operation(lease, operation, state, answer).await?;
        unit.commit().await
    }
}

impl Unit {
    /// Writes down what came of an operation, in the transaction of its effect.
    ///
    /// # Errors
    /// As [`Store::end_operation`].
    pub async fn end_operation(
        &mut self,
        lease: &Lease,
        operation: &NewOperation<'_>,
        state: OperationState,
        answer: Option<&str>,
    ) -> Result<(), StoreError> {
        let request = shown(operation.request);
        let answer = answer.map(|answer| self.clean(answer));
        let sequence = query_scalar!(
            r#"SELECT end_operation($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS "sequence!""#,
            lease.turn.0,
            lease.fence,
            operation.permit.call().0,
            operation.ordinal,
            operation.kind.as_str(),
            operation.class.as_str(),
            &operation.request_sha256[..],
            request,
            state.as_str(),
            answer.as_deref(),
            self.now
        )
        .fetch_one(&mut *self.tx)
        .await?;
        self.note(operation.recorded(lease, state, answer.as_deref(), sequence, self.now));
        Ok(())
    }
}

impl NewOperation<'_> {
    /// The event by which it was recorded.
    pub(super) fn recorded(
        &self,
        lease: &Lease,
        state: OperationState,
        answer: Option<&str>,
        sequence: i64,
        at: DateTime<Utc>,
    ) -> EventRecord {
        let event = OperationRecorded {
            turn: lease.turn,
            call: self.permit.call(),
            ordinal: self.ordinal,
            power: self.kind,
            class: self.class,
            request: shown(self.request),
            request_sha256: hex::encode(self.request_sha256),
            answer_sha256: answer.map(|answer| hex::encode(Sha256::digest(answer))),
            state,
        };
        EventRecord { conversation: lease.conversation, sequence, at, event: event.into() }
    }
}

/// A request as Postgres can hold it: JSON there knows no zero characters.
pub(super) fn shown(request: &Value) -> Value {
    match request {
        Value::String(text) => Value::String(storable(text).into_owned()),
        Value::Array(items) => items.iter().map(shown).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (storable(name).into_owned(), shown(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn zero_characters_are_replaced_wherever_they_stand() {
        assert_eq!(shown(&json!({"a\0": ["b\0", 1, null]})), json!({"a\u{FFFD}": ["b\u{FFFD}", 1, null]}));
    }
}
