//! The ledger of a call's effects outside: a capability's outside its sandbox, level3's at an
//! external server. A call that is run again after a crash finds here everything that happened
//! already, in the order in which it began: nothing happens twice.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::{query, query_as, query_scalar};

use crate::domain::{EffectClass, Machine, OperationInput, OperationKind, OperationState, ToolCallId};
use crate::facts::{EventRecord, OperationRecorded};
use crate::governor::Permit;
use crate::store::{Lease, Store, StoreError, Unit, storable, word};

/// One operation of a call, before it begins.
#[derive(Clone, Debug)]
pub struct NewOperation<'a> {
    /// The permit of the call.
    pub permit: &'a Permit,
    /// Its place among the operations of the call, from 1, in the order in which they begin.
    pub ordinal: i32,
    /// The thing that it works on.
    pub kind: OperationKind,
    /// How often it can have happened after a crash.
    pub class: EffectClass,
    /// The request without secrets: placeholders stand for them.
    pub request: &'a Value,
    /// Fingerprint of the request.
    pub request_sha256: [u8; 32],
}

/// The ledger's knowledge of an operation that is about to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// It did not begin before.
    New,
    /// It is over; the capability gets this answer again, and nothing is done.
    Done(Result<String, String>),
    /// It began, and nobody knows its end.
    Intended,
    /// Another operation has this place in the ledger: the call took another way this time.
    Different,
}

impl Store {
    /// The ledger's knowledge of this operation.
    ///
    /// # Errors
    /// If the database does not answer.
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

    /// The requests of a call's operations of which nobody knows whether they happened, in order.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn uncertain_operations(&self, call: ToolCallId) -> Result<Vec<Value>, StoreError> {
        let requests = query_scalar!(
            "SELECT request FROM operations WHERE tool_call_id = $1 AND state IN ('intended', 'unknown') ORDER BY ordinal",
            call.0
        );
        Ok(requests.fetch_all(&self.pool).await?)
    }

    /// The requests of a call's operations that are done, in order, each with the status of a
    /// peer's answer.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn done_operations(&self, call: ToolCallId) -> Result<Vec<(Value, Option<String>)>, StoreError> {
        // An answer is JSON but for the names of secrets in it.
        let done = query_as(
            r#"SELECT request, CASE WHEN kind = 'http' THEN substring(answer FROM '"status":(\d+)') END
               FROM operations WHERE tool_call_id = $1 AND state = 'done' ORDER BY ordinal"#,
        );
        Ok(done.bind(call.0).fetch_all(&self.pool).await?)
    }

    /// Records that an operation is about to be sent. This commits before anything leaves the
    /// house.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] if another server holds the turn or the operation was begun
    /// before, or an error if the database does not answer.
    pub async fn intend_operation(
        &self,
        lease: &Lease,
        operation: &NewOperation<'_>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.end_operation(lease, operation, OperationState::Intended, None, now).await
    }

    /// Ends the operations of a call that began and that nobody goes on with: whether they happened
    /// is unknown.
    ///
    /// # Errors
    /// As [`Store::end_operation`].
    pub async fn give_up_operations(&self, lease: &Lease, permit: &Permit, now: DateTime<Utc>) -> Result<(), StoreError> {
        let begun = query_as::<_, (i32, String, String, Value, Vec<u8>)>(
            "SELECT ordinal, kind, class, request, request_sha256 FROM operations WHERE tool_call_id = $1 AND state = ANY($2)
             ORDER BY ordinal",
        );
        let begun = begun.bind(permit.call().0).bind(OperationState::before(OperationInput::Lose));
        for (ordinal, kind, class, request, sha256) in begun.fetch_all(&self.pool).await? {
            let request_sha256 =
                sha256.try_into().map_err(|_| StoreError::Unreadable("a fingerprint has 32 bytes".to_owned()))?;
            let (kind, class) = (word(&kind)?, word(&class)?);
            let operation = NewOperation { permit, ordinal, kind, class, request: &request, request_sha256 };
            self.end_operation(lease, &operation, OperationState::Unknown, None, now).await?;
        }
        Ok(())
    }

    /// Records the end of an operation, with the capability's answer. One that was not intended
    /// before is recorded whole.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] if another server holds the turn, or the operation is over already
    /// or another than the one that was intended; or an error if the database does not answer.
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
    /// Records the end of an operation, in the transaction of its effect.
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
    /// The event that recorded it.
    pub(in crate::store) fn recorded(
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

/// A request in the form that Postgres can hold: JSON there knows no zero characters.
pub(in crate::store) fn shown(request: &Value) -> Value {
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
mod tests;
