//! `host.kv`: values that a capability keeps between calls, each capability its own.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::{query, query_scalar};

use super::operations::shown;
use crate::domain::OperationState;
use crate::failpoint::{self, Point};
use crate::store::{Lease, NewOperation, Store, StoreError, Unit};

/// Bytes of the longest key.
const KEY_BYTES: usize = 256;
/// Bytes of the largest value, written as JSON.
const VALUE_BYTES: usize = 64 * 1024;
/// Keys of one capability.
const KEYS: i64 = 10_000;
/// Keys that one list gives.
const LISTED: usize = 1_000;

/// An operation of a capability on its values.
#[derive(Clone, Debug, PartialEq)]
pub enum KvOp {
    /// The value of a key; `null` if there is none.
    Get(String),
    /// Keeps a value in place of the key's old one.
    Set(String, Value),
    /// Forgets a key.
    Delete(String),
    /// The keys with this beginning.
    List(String),
}

impl Store {
    /// Does one operation on the values of `capability`. A change is recorded in the ledger in the
    /// same transaction, so it happens exactly once; reading is not recorded. The answer is JSON:
    /// the value; `true` for a set; whether there was something to delete; or the sorted keys, with
    /// a hint if there are more than 1,000. A refusal, in words, is the inner error.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] when the turn is held by another or the operation was done before,
    /// or if the database does not answer.
    pub async fn run_kv(
        &self,
        lease: &Lease,
        operation: NewOperation<'_>,
        capability: &str,
        request: KvOp,
        now: DateTime<Utc>,
    ) -> Result<Result<String, String>, StoreError> {
        let (KvOp::Get(key) | KvOp::Set(key, _) | KvOp::Delete(key) | KvOp::List(key)) = &request;
        if let Some(refusal) = refused_key(key) {
            return Ok(Err(refusal));
        }
        let mut unit = self.begin(now).await?;
        unit.hold(lease).await?;
        let answer = match request {
            // It commits and is not dropped, so that the turn's row is free at once.
            KvOp::Get(key) => {
                let value = unit.kv_get(capability, &key).await?;
                return unit.commit().await.map(|()| Ok(value));
            }
            KvOp::List(prefix) => {
                let keys = unit.kv_list(capability, &prefix).await?;
                return unit.commit().await.map(|()| Ok(keys));
            }
            KvOp::Set(key, value) => unit.kv_set(capability, &key, &shown(&value)).await?,
            KvOp::Delete(key) => Ok(unit.kv_delete(capability, &key).await?),
        };
        // A refused set is recorded as well: it changed nothing, and a run after a crash refuses it
        // again unless there is room by then.
        let (state, text) = match &answer {
            Ok(text) => (OperationState::Done, text),
            Err(refusal) => (OperationState::Failed, refusal),
        };
        unit.end_operation(lease, &operation, state, Some(text)).await?;
        failpoint::hit(Point::MidKv).map_err(sqlx::Error::Io)?;
        unit.commit().await?;
        Ok(answer)
    }
}

fn refused_key(key: &str) -> Option<String> {
    if key.len() > KEY_BYTES {
        return Some(format!("The key has {} bytes; at most {KEY_BYTES} are allowed.", key.len()));
    }
    key.contains('\0').then(|| "The key holds a zero character; leave it out.".to_owned())
}

impl Unit {
    async fn kv_get(&mut self, capability: &str, key: &str) -> Result<String, StoreError> {
        let value = query_scalar!("SELECT value FROM kv_entries WHERE capability = $1 AND key = $2", capability, key)
            .fetch_optional(&mut *self.tx)
            .await?;
        Ok(value.unwrap_or(Value::Null).to_string())
    }

    async fn kv_set(&mut self, capability: &str, key: &str, value: &Value) -> Result<Result<String, String>, StoreError> {
        let bytes = value.to_string().len();
        if bytes > VALUE_BYTES {
            return Ok(Err(format!(
                "The value has {bytes} bytes as JSON; at most {VALUE_BYTES} are allowed. Keep it in parts, or in a table."
            )));
        }
        let changed = query!(
            "UPDATE kv_entries SET value = $3, updated_at = $4 WHERE capability = $1 AND key = $2",
            capability,
            key,
            value,
            self.now
        )
        .execute(&mut *self.tx)
        .await?;
        if changed.rows_affected() == 1 {
            return Ok(Ok("true".to_owned()));
        }
        let kept = query_scalar!(r#"SELECT count(*) AS "kept!" FROM kv_entries WHERE capability = $1"#, capability)
            .fetch_one(&mut *self.tx)
            .await?;
        if kept >= KEYS {
            return Ok(Err(format!("This capability keeps {kept} keys, and no more are allowed. Delete some, or use a table.")));
        }
        // Two turns may set the same new key at once.
        query!(
            "INSERT INTO kv_entries (capability, key, value, updated_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (capability, key) DO UPDATE SET value = $3, updated_at = $4",
            capability,
            key,
            value,
            self.now
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(Ok("true".to_owned()))
    }

    async fn kv_delete(&mut self, capability: &str, key: &str) -> Result<String, StoreError> {
        let gone =
            query!("DELETE FROM kv_entries WHERE capability = $1 AND key = $2", capability, key).execute(&mut *self.tx).await?;
        Ok((gone.rows_affected() == 1).to_string())
    }

    async fn kv_list(&mut self, capability: &str, prefix: &str) -> Result<String, StoreError> {
        let mut keys = query_scalar!(
            r#"SELECT key FROM kv_entries WHERE capability = $1 AND starts_with(key, $2) ORDER BY key COLLATE "C" LIMIT $3"#,
            capability,
            prefix,
            i64::try_from(LISTED).expect("a small number") + 1
        )
        .fetch_all(&mut *self.tx)
        .await?;
        if keys.len() <= LISTED {
            return Ok(json!(keys).to_string());
        }
        keys.truncate(LISTED);
        let cut = format!("Only the first {LISTED} keys are given; ask with a longer prefix.");
        Ok(json!({ "keys": keys, "cut": cut }).to_string())
    }
}
